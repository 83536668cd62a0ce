// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One measured case: ranks on one device or several dispatch and combine by graph replay, and a plain copy moves the
// same bytes beside them.
#pragma once

#include "interlock/operation.hpp"

#include <nlohmann/json.hpp>

namespace interlock::bench {

struct CaseOptions {
  LayerSpec layer; ///< with maxTokens; every rank dispatches that many, routed uniformly
  OperationOptions operation;
  uint32_t warmups = 5, runs = 20;
  uint64_t seed = 0;
  bool copies = true;  ///< also time the plain copy of each phase, and a combine without weights
  bool signals = true; ///< also time both kernels with no token at all: launch and signals
  bool eager = false;  ///< also time both kernels launched without a graph
  uint32_t chain = 0;  ///< also time graphs of this many dispatches, and of this many steps, one after another
};

/// Measures it. The object has the geometry, bytes from the actual routing (`read`: every distinct row once; `written`:
/// once per destination; combine: every row once, one result a token; `peer`: the part that a rank sends to, or gathers
/// from, other devices, as the ranks' mean), all runs, and `copy_ratio` = copy time / kernel time. For dispatch also
/// `fan_out_ratio`, against a kernel that reads and writes as many bytes as the dispatch, each piece once and to as
/// many places; for combine `unweighted_ratio`, against the same kernel that neither applies nor returns weights.
/// Before anything is timed, a step's counts are compared with the oracle's; a status other than ok is an error.
[[nodiscard]] Result<nlohmann::json> measureCase(Driver &driver, KernelCache &cache, const CaseOptions &options);

} // namespace interlock::bench
