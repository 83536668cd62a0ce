// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A function's hand-offs with everything that is done to them: what scope inference and the pair check look at.
#pragma once

#include "dialects/Sync/Sync.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace interlock {

inline constexpr llvm::StringLiteral scopeAttrName = "scope";
/// Marks a wait or arrive whose payload lies in shared memory alone, so that a restricted fence covers it.
inline constexpr llvm::StringLiteral sharedOnlyAttrName = "sync.shared_only";

/// What a use does to the order of the two actors.
enum class HandoffRole { producerAcquire, publish, consumerWait, consumerRelease, producerTail };

struct HandoffUse {
  mlir::Operation *op;
  HandoffRole role;
};

struct Handoff {
  sync::HandoffOp op;
  int64_t cluster;
  sync::Scope distance; ///< smallest scope that includes the producer and every consumer
  std::vector<HandoffUse> uses;
};

/// Whether the hardware fills the slots, through the async proxy (cluster launch control).
bool isFilledByCancel(const Handoff &handoff);

std::vector<Handoff> collectHandoffs(mlir::func::FuncOp function);

} // namespace interlock
