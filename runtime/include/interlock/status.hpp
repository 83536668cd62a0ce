// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Errors as values: what every call of the library returns when it can fail.
#pragma once

#include <tl/expected.hpp>

#include <string>
#include <utility>

/// What libinterlock.so exports: the declarations of these headers.
#define INTERLOCK_API __attribute__((visibility("default")))

namespace interlock INTERLOCK_API {

/// What kind of failure an Error is; a command turns `badInput` into exit code 2.
enum class Code {
  badInput,    ///< the caller asked for something that cannot be: the message says what would do
  unsupported, ///< the target, driver or device lacks a feature: the message names both
  notFound,    ///< a file, library, device or cache entry is missing
  compile,     ///< the compiler refused the kernel (diagnostics are in the message)
  device,      ///< the driver or the emulator reported a failure
  timeout,     ///< a bounded wait ran out
  notPrepared, ///< the cache is frozen and does not hold this kernel: compiling it was not wanted
  internal,    ///< a broken promise of the library itself
};

/// One lower-case sentence that says what was expected, what was found, and what would do.
struct Error {
  Code code = Code::internal;
  std::string message;
};

template <typename T> using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> makeError(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

} // namespace interlock INTERLOCK_API

#define ILK_CONCAT_INNER(a, b) a##b
#define ILK_CONCAT(a, b) ILK_CONCAT_INNER(a, b)

/// Returns the error of a Status from the enclosing function, if there is one.
#define ILK_RETURN_IF_ERROR(expr)                                                                                      \
  do {                                                                                                                 \
    if (auto ilkStatus = (expr); !ilkStatus)                                                                           \
      return ::tl::unexpected<::interlock::Error>(std::move(ilkStatus).error());                                       \
  } while (false)

/// Declares `decl` from the value of a Result, or returns its error from the enclosing function.
#define ILK_ASSIGN_OR_RETURN(decl, expr) ILK_ASSIGN_OR_RETURN_IMPL(ILK_CONCAT(ilkResult, __LINE__), decl, expr)
#define ILK_ASSIGN_OR_RETURN_IMPL(tmp, decl, expr)                                                                     \
  auto tmp = (expr);                                                                                                   \
  if (!tmp)                                                                                                            \
    return ::tl::unexpected<::interlock::Error>(std::move(tmp).error());                                               \
  decl = std::move(*tmp)
