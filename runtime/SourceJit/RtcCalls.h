// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What NVRTC and hiprtc have in common: C functions that are found by name and hand out texts by size and content.
#pragma once

#include <cstddef>
#include <string>

#include <dlfcn.h>

namespace interlock {

/// Whether the library has the function.
template <typename Fn> bool resolve(void *library, const char *symbol, Fn &function) {
  function = reinterpret_cast<Fn>(dlsym(library, symbol));
  return function != nullptr;
}

/// A program's log or what was made of it; empty if the compiler has none.
template <typename Program>
std::string bytesOf(Program program, int (*sizeOf)(Program, size_t *), int (*get)(Program, char *)) {
  size_t size = 0;
  std::string bytes;
  if (sizeOf(program, &size) == 0 && size > 0) {
    bytes.resize(size);
    if (get(program, bytes.data()) != 0)
      bytes.clear();
  }
  return bytes;
}

} // namespace interlock
