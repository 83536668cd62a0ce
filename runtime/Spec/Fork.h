// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Whether this process is a fork of the one in which an object was made: then other threads' locks in it are held by
// nobody, and its device contexts are another process's.
#pragma once

#include <cstdint>

namespace interlock {

/// How often the line of processes that leads here was forked, counted from the first call. Cheap: no system call.
uint64_t forkCount();

} // namespace interlock
