// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The expanded kernel as the program that emitted text was compiled from: the lines that it prints as are the lines
// that
// `.loc` names, and each has the name of the protocol step that stands there.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <cstdint>
#include <map>
#include <string>

namespace interlock {

class SourceLines {
public:
  /// Prints the module, and marks every operation with its line; diagnostics still name the places that operations came
  /// from. `file` is the text's name in locations.
  static SourceLines of(mlir::ModuleOp module, const std::string &file);

  /// The module as it prints.
  const std::string &text() const { return printed; }
  /// The step of each line that is one.
  const std::map<uint32_t, std::string> &steps() const { return names; }

  /// From here on the operations' places are those in the text.
  static void apply(mlir::ModuleOp module);

private:
  std::string printed;
  std::map<uint32_t, std::string> names;
};

} // namespace interlock
