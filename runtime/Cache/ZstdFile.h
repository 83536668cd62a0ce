// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Files that are one Zstandard frame, written and read in pieces.
#pragma once

#include "interlock/status.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace interlock {

using OwnedFile = std::unique_ptr<std::FILE, int (*)(std::FILE *)>;

/// A new file of this name appears when all is written, and not before.
class ZstdWriter {
public:
  static Result<ZstdWriter> create(const std::string &path);
  ZstdWriter(ZstdWriter &&) noexcept = default;
  /// Leaves nothing behind if `finish` was not called.
  ~ZstdWriter();

  Status write(std::string_view bytes) { return compress(bytes, false); }
  Status finish();

private:
  ZstdWriter(std::string path, std::string temporary, std::FILE *file);
  Status compress(std::string_view bytes, bool last);

  std::string path, temporary;
  OwnedFile file;
  std::unique_ptr<ZSTD_CCtx_s, size_t (*)(ZSTD_CCtx_s *)> context;
  std::vector<char> buffer;
};

class ZstdReader {
public:
  /// A regular file; nothing else is read.
  static Result<ZstdReader> open(const std::string &path);

  /// The next `size` bytes, or why there are not as many.
  Result<std::string> read(size_t size);
  /// Whether the file ends here, as a whole frame.
  Result<bool> atEnd();

private:
  ZstdReader(std::string path, std::FILE *file);
  /// Gets more of what is decompressed into `ready`; false at the end of the file.
  Result<bool> refill();
  tl::unexpected<Error> damaged(std::string_view why) const;

  std::string path;
  OwnedFile file;
  std::unique_ptr<ZSTD_DCtx_s, size_t (*)(ZSTD_DCtx_s *)> context;
  std::vector<char> input;
  size_t inputAt = 0, inputSize = 0;
  std::string ready;
  size_t readyAt = 0;
  bool frameOpen = true; ///< the frame has not ended
};

} // namespace interlock
