// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// NVRTC, found and opened at run time.
#pragma once

#include "interlock/source.hpp"

#include <memory>
#include <string>

namespace interlock {

/// What is wanted beside the PTX. The instructions are the same whatever it is.
struct NvrtcWish {
  bool cubin = true;  ///< the PTX assembled too
  bool lines = false; ///< .loc directives that say where instructions came from
};

struct NvrtcOutput {
  std::string ptx, cubin;
  std::string entry;   ///< the kernel's name in them
  std::string version; ///< "NVRTC 13.0"
};

/// A place where NVRTC was found. It is opened by the first call that compiles, and stays open. Calls are thread safe.
class Nvrtc {
public:
  /// Looks for `path`, or, if it is empty, for libnvrtc.so.13 and .12. `notFound`, in one sentence, if there is none.
  static Result<std::shared_ptr<Nvrtc>> find(const std::string &path);

  /// What a cache key needs to know of it: the builds of the libraries that it consists of. Nothing is loaded for that.
  const std::string &identity() const { return build; }

  /// The first line of an error says what is wrong and where, the log follows.
  Result<NvrtcOutput> compile(const SourceKernel &kernel, const NvrtcWish &wish) const;
  ~Nvrtc();

private:
  struct Symbols;
  Nvrtc(std::string path, std::string build);
  Result<const Symbols *> open() const;

  std::string path, build;
  mutable std::unique_ptr<Symbols> symbols;
};

} // namespace interlock
