// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Stands before MLIR's header of this name. MLIR identifies traits by the name that the compiler gives a local class,
// and the packaged libraries were compiled by clang, which writes `mlir::OpTrait::ConstantLike<Empty>` where GCC writes
// `mlir::OpTrait::ConstantLike<mlir::TypeID::get<mlir::OpTrait::ConstantLike>()::Empty>`. With two names, code of ours
// would not see the traits of MLIR's operations, nor MLIR those of ours, and nothing would say so. So GCC is made to
// give the names that clang gives.
#pragma once

#if defined(__GNUC__) && !defined(__clang__)

#include "llvm/Support/TypeName.h"

#include <string>

namespace llvm {

/// getTypeName, with clang's name for the local class `Empty`. The text lives as long as the process.
template <typename T> StringRef getTypeNameLikeClang() {
  static const std::string name = [] {
    std::string text = getTypeName<T>().str();
    const std::string begin = "mlir::TypeID::get<", end = ">()::Empty";
    size_t from = text.find(begin), to = text.rfind(end);
    if (from != std::string::npos && to != std::string::npos && from < to)
      text.replace(from, to + end.size() - from, "Empty");
    return text;
  }();
  return name;
}

} // namespace llvm

#define getTypeName getTypeNameLikeClang
#include_next "mlir/Support/TypeID.h"
#undef getTypeName

#else
#include_next "mlir/Support/TypeID.h"
#endif
