// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// One instruction in the words of the judgement: what it accesses, at which scope, which counter tells that it is done,
// what it writes back, invalidates or waits for.
#pragma once

#include "analysis/AMDGCN/Module.h"
#include "analysis/LintAMDGCN/Chip.h"

#include <array>

namespace interlock::lint::gcn {

enum class Kind : uint8_t {
  none,
  load,
  store,
  atomic,
  scalarLoad,
  scalarInvalidate,
  writeBack,
  invalidate,
  writeBackInvalidate,
  wait,
  barrier, ///< arrives and waits
  barrierSignal,
  barrierWait,
  branch,
  conditional,
  end,
  call,
};

enum class Memory : uint8_t { none, global, flat, buffer, scratch, lds };

enum class Counter : uint8_t { loads, stores, lds, async, none };
inline constexpr size_t counters = size_t(Counter::none);

struct Effect {
  Kind kind = Kind::none;
  Memory memory = Memory::none;
  Counter counter = Counter::none;
  /// How far the access itself reaches: what a flag needs.
  Scope reach = Scope::thread;
  /// How far the data of a load comes from, past caches that may be stale, or that of a store goes.
  Scope past = Scope::thread;
  bool scoped = false;         ///< its scope is written out, so that somebody meant other waves
  bool returns = false;        ///< an atomic: the old value
  bool nonTemporal = false;    ///< nt, slc, th:…NT
  bool returnForScope = false; ///< an atomic with sc0 and no sc1
  uint8_t parts = 0;           ///< written back or invalidated, as Demand
  bool cluster = false;        ///< a barrier of the cluster
  /// A wait: the most operations of a counter that may be outstanding behind it; 255: any number.
  std::array<uint8_t, counters> atMost{255, 255, 255, 255};
  std::optional<uint32_t> address; ///< operand: the vector (or only) address
  std::optional<uint32_t> base;    ///< operand: the scalar base, or the descriptor of a buffer
  std::optional<uint32_t> data;    ///< operand: what is stored
  bool accesses() const {
    return kind == Kind::load || kind == Kind::store || kind == Kind::atomic || kind == Kind::scalarLoad;
  }
  bool writes() const { return kind == Kind::store || kind == Kind::atomic; }
  /// Memory that other workgroups may see.
  bool shared() const { return memory == Memory::global || memory == Memory::flat || memory == Memory::buffer; }
};

Effect decode(const amdgcn::Instruction &in, Family family);
/// How many operands at the front are written.
size_t destinations(const amdgcn::Instruction &in, const Effect &effect);

} // namespace interlock::lint::gcn
