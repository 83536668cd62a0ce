// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where a pointer of the ep and sync dialects leads: which piece of memory, and which place of it as a sum of terms.
#pragma once

#include "analysis/ScopeModel/Program.h"
#include "dialects/Sync/Sync.h"

#include "llvm/ADT/DenseMap.h"

#include <map>
#include <vector>

namespace interlock {

/// constant + sum of factor * value.
struct LinearForm {
  int64_t constant = 0;
  std::vector<std::pair<mlir::Value, int64_t>> terms; ///< no value twice, no factor 0
};

/// Takes integer arithmetic apart; what is not a sum or a product with a constant is a term of its own.
LinearForm linearForm(mlir::Value value);

/// Whether all threads of a CTA have the same value: it comes from constants, arguments and identities of the CTA
/// alone.
bool isUniform(mlir::Value value);

/// Turns pointers into accesses, and makes the objects that they speak of.
class ScopeAddresses {
public:
  ScopeAddresses(scope::Program &program, int64_t blockThreads) : program(program), blockThreads(blockThreads) {}

  /// The place behind a pointer or a barrier; not known where it leads is an access without an object.
  scope::Access of(mlir::Value pointer, uint32_t bytes);
  /// The object of that name, for what has no pointer (the slots of a hand-off).
  uint32_t objectOf(mlir::Operation *owner, llvm::StringRef what);
  /// Whether it is a region of the symmetric window that other ranks read or write, as far as has been seen.
  bool isShared(uint32_t object) const { return program.objects[object].reach == scope::Scope::sys; }

  /// Where a pointer leads, without an object made of it.
  struct Place {
    const void *root = nullptr; ///< the allocation or the argument that the address begins with; null: not known
    bool window = false, shared = false;
    bool peer = false; ///< in a window that may be another rank's
    LinearForm form;
  };
  static Place placeOf(mlir::Value pointer);

private:
  uint32_t objectAt(const Place &place);
  uint32_t formulaOf(const LinearForm &form);
  void describeTerms(scope::Access &access, const LinearForm &form, uint32_t bytes);

  scope::Program &program;
  int64_t blockThreads;
  std::map<std::pair<const void *, int64_t>, uint32_t>
      objects; ///< by root, and in global memory by what its terms begin at
  std::map<std::pair<const void *, std::string>, uint32_t> named;
  std::map<std::vector<std::pair<const void *, int64_t>>, uint32_t> formulas;
};

} // namespace interlock
