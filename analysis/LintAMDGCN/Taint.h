// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What becomes of one result: which registers hold something that was made of it.
#pragma once

#include "analysis/LintAMDGCN/Code.h"

namespace interlock::lint::gcn {

class Taint {
public:
  /// `choices`: what a comparison of it says counts too, so that branches can be asked.
  Taint(const Code &code, const Graph &graph, uint32_t from, bool choices);

  /// Calls `visit(instruction, registers)` for each one behind, with what holds before it.
  template <class Visit> void walk(Visit visit) const {
    for (uint32_t b : graph.order) {
      std::vector<bool> here = in[b];
      for (uint32_t i = code.blocks[b].first; i < code.blocks[b].first + code.blocks[b].count; ++i) {
        visit(i, static_cast<const std::vector<bool> &>(here));
        apply(here, i);
      }
    }
  }
  bool any(const std::vector<Register> &of, const std::vector<bool> &here) const;

private:
  void apply(std::vector<bool> &here, uint32_t instruction) const;
  bool throughLds() const;

  const Code &code;
  const Graph &graph;
  uint32_t from;
  bool choices, lds = false;         ///< it was stored to LDS, so that what is loaded from there may be it
  std::vector<std::vector<bool>> in; ///< by block
};

} // namespace interlock::lint::gcn
