// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From Result to ilk_status: the message is kept per thread, and no exception leaves a call.
#pragma once

#include "interlock/interlock.h"
#include "interlock/status.hpp"

#include <exception>

namespace interlock::capi {

/// Keeps the message for the calling thread.
ilk_status fail(const Error &error);
/// A message without a failure: a call that did its work has something to say.
void remark(std::string message);
/// The other way round, for callbacks: what they return becomes an Error that names them.
Status fromCallback(ilk_status status, const char *callback);

/// Runs the body of a call, which returns a Status.
template <typename Body> ilk_status call(Body body) noexcept {
  try {
    Status status = body();
    return status ? ILK_OK : fail(status.error());
  } catch (const std::exception &thrown) {
    return fail({Code::internal, thrown.what()}); // std::bad_alloc, or a defect
  }
}

/// A field that has no meaning yet must be 0, so that it can get one.
inline Status requireUnused(const char *name, uint32_t reserved) {
  if (reserved == 0)
    return {};
  return makeError(Code::unsupported, std::string("expected 0 in the reserved field of ") + name +
                                          ", got another value: a newer library may know it");
}

/// `badInput` if one of the pointers is null.
template <typename... Pointers> Status require(const char *what, const Pointers *...pointers) {
  if ((pointers && ...))
    return {};
  return makeError(Code::badInput, std::string("expected ") + what + ", got NULL");
}

} // namespace interlock::capi
