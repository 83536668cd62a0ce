// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The stand-in for the HIP runtime in a test program, which is built with its path as FAKE_HIP.
#pragma once

#include "tests/unit/driver/FakeHip.h"

#include <dlfcn.h>

/// Loaded by path, it is what the loader finds under its name from now on.
inline void *fakeHipLibrary() {
  static void *handle = dlopen(FAKE_HIP, RTLD_NOW | RTLD_GLOBAL);
  return handle;
}
inline FakeHipState &fakeHip() {
  static auto get = reinterpret_cast<FakeHipState *(*)()>(dlsym(fakeHipLibrary(), "fakeHipState"));
  return *get();
}
