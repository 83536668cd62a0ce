// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// NVRTC, found with dlopen: what the compiler's times are compared with.
#pragma once

#include "interlock/status.hpp"

#include <string>
#include <vector>

namespace interlock::bench {

/// What NVRTC is to make of a source.
enum class NvrtcProduct { ptx, cubin };

class Nvrtc {
public:
  /// Opens `path`, or what the loader or the usual place of the toolkit has if it is empty. It stays loaded.
  [[nodiscard]] static Result<Nvrtc> open(const std::string &path);
  /// "NVRTC 13.0".
  const std::string &version() const { return versionName; }
  /// Compiles; `options` beside the architecture, which comes from `chip` (sm_90a). The error has NVRTC's log.
  [[nodiscard]] Result<std::string> compile(const std::string &source, const std::string &chip, NvrtcProduct product,
                                            std::vector<std::string> options) const;

private:
  using Program = struct NvrtcProgram *;
  struct Symbols {
    int (*version)(int *, int *);
    int (*create)(Program *, const char *, const char *, int, const char *const *, const char *const *);
    int (*compile)(Program, int, const char *const *);
    int (*destroy)(Program *);
    int (*logSize)(Program, size_t *);
    int (*log)(Program, char *);
    int (*ptxSize)(Program, size_t *);
    int (*ptx)(Program, char *);
    int (*cubinSize)(Program, size_t *);
    int (*cubin)(Program, char *);
  };
  Symbols symbols{};
  std::string versionName;
};

} // namespace interlock::bench
