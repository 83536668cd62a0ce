// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/ZstdFile.h"

#include "runtime/Cache/Files.h"

#include <fmt/format.h>

#include <cstdlib>
#include <zstd.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace interlock {

ZstdWriter::ZstdWriter(std::string path, std::string temporary, std::FILE *file)
    : path(std::move(path)), temporary(std::move(temporary)), file(file, &std::fclose),
      context(ZSTD_createCCtx(), &ZSTD_freeCCtx), buffer(ZSTD_CStreamOutSize()) {
  // Without the checksum a flipped bit might only show in a digest: with it zstd itself says so.
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
}

Result<ZstdWriter> ZstdWriter::create(const std::string &path) {
  std::string temporary = path + ".XXXXXX";
  int descriptor = ::mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0)
    return systemError(fmt::format("make a file beside {}", path));
  std::FILE *file = ::fdopen(descriptor, "wb");
  if (!file) {
    ::close(descriptor);
    ::unlink(temporary.c_str());
    return systemError(fmt::format("write {}", path));
  }
  return ZstdWriter(path, std::move(temporary), file);
}

ZstdWriter::~ZstdWriter() {
  if (file)
    ::unlink(temporary.c_str());
}

Status ZstdWriter::compress(std::string_view bytes, bool last) {
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t left = 0;
  do {
    ZSTD_outBuffer out{buffer.data(), buffer.size(), 0};
    left = ZSTD_compressStream2(context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
    if (ZSTD_isError(left))
      return makeError(Code::internal, fmt::format("could not compress {}: {}", path, ZSTD_getErrorName(left)));
    if (std::fwrite(out.dst, 1, out.pos, file.get()) != out.pos)
      return systemError(fmt::format("write {}", path));
  } while (last ? left != 0 : in.pos < in.size);
  return {};
}

Status ZstdWriter::finish() {
  ILK_RETURN_IF_ERROR(compress({}, true));
  if (std::fflush(file.get()) != 0 || ::fchmod(::fileno(file.get()), 0644) != 0 || ::fsync(::fileno(file.get())) != 0 ||
      ::rename(temporary.c_str(), path.c_str()) != 0)
    return systemError(fmt::format("write {}", path));
  file.reset();
  return {};
}

ZstdReader::ZstdReader(std::string path, std::FILE *file)
    : path(std::move(path)), file(file, &std::fclose), context(ZSTD_createDCtx(), &ZSTD_freeDCtx),
      input(ZSTD_DStreamInSize()) {}

Result<ZstdReader> ZstdReader::open(const std::string &path) {
  struct stat status{};
  int descriptor = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  std::FILE *file = descriptor < 0 ? nullptr : ::fdopen(descriptor, "rb");
  if (!file || ::fstat(descriptor, &status) != 0) {
    tl::unexpected<Error> error = systemError(fmt::format("read the archive {}", path));
    error.value().code = Code::badInput;
    return error;
  }
  ZstdReader reader(path, file);
  if (!S_ISREG(status.st_mode))
    return makeError(Code::badInput, fmt::format("expected an archive at {}, found no regular file", path));
  return reader;
}

tl::unexpected<Error> ZstdReader::damaged(std::string_view why) const {
  return makeError(Code::badInput, fmt::format("expected a whole archive at {}, but {}", path, why));
}

Result<bool> ZstdReader::refill() {
  ready.resize(ZSTD_DStreamOutSize());
  readyAt = 0;
  ZSTD_outBuffer out{ready.data(), ready.size(), 0};
  while (out.pos == 0) {
    if (inputAt == inputSize) {
      inputAt = 0;
      inputSize = std::fread(input.data(), 1, input.size(), file.get());
      if (inputSize == 0)
        break;
    }
    if (!frameOpen)
      return damaged("something follows its end");
    ZSTD_inBuffer in{input.data(), inputSize, inputAt};
    size_t left = ZSTD_decompressStream(context.get(), &out, &in);
    if (ZSTD_isError(left))
      return damaged(fmt::format("it cannot be decompressed: {}", ZSTD_getErrorName(left)));
    inputAt = in.pos;
    frameOpen = left != 0;
  }
  ready.resize(out.pos);
  return !ready.empty();
}

Result<std::string> ZstdReader::read(size_t size) {
  std::string bytes;
  while (bytes.size() < size) {
    if (readyAt == ready.size()) {
      ILK_ASSIGN_OR_RETURN(bool more, refill());
      if (!more)
        return damaged("it ends too early");
    }
    size_t take = std::min(size - bytes.size(), ready.size() - readyAt);
    bytes.append(ready, readyAt, take);
    readyAt += take;
  }
  return bytes;
}

Result<bool> ZstdReader::atEnd() {
  if (readyAt < ready.size())
    return false;
  ILK_ASSIGN_OR_RETURN(bool more, refill());
  return !more && !frameOpen;
}

} // namespace interlock
