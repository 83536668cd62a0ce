// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Files, standard input, and files with PTX or code objects inside.
#include "analysis/Lint/tool/Inputs.h"
#include "analysis/Lint/tool/CodeObjects.h"
#include "analysis/Lint/tool/Process.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

namespace interlock::lint {
namespace {

/// Far beyond any PTX, and small enough for positions of 32 bits.
constexpr uint64_t largestInput = uint64_t(1) << 30;

/// What the first bytes say that a file is, if it is one that cuobjdump reads; else nothing.
std::string_view containerOf(std::string_view bytes) {
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return "an ELF file";
  if (bytes.starts_with("\x50\xed\x55\xba"))
    return "a fatbin";
  if (bytes.starts_with("!<arch>\n"))
    return "a static library";
  return {};
}

std::string systemSays(std::string_view what) { return fmt::format("{}: {}", what, std::strerror(errno)); }

tl::expected<std::string, std::string> readAll(int file) {
  struct stat facts;
  if (fstat(file, &facts) != 0)
    return tl::unexpected(systemSays("expected a file that can be read"));
  if (S_ISDIR(facts.st_mode))
    return tl::unexpected<std::string>("expected a file, got a directory");
  const std::string tooLarge = fmt::format("expected at most {} MiB", largestInput >> 20);
  if (S_ISREG(facts.st_mode) && uint64_t(facts.st_size) > largestInput)
    return tl::unexpected(tooLarge);
  std::string bytes;
  if (S_ISREG(facts.st_mode))
    bytes.reserve(size_t(facts.st_size));
  for (;;) {
    char buffer[1 << 16];
    ssize_t got = read(file, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return tl::unexpected(systemSays("expected a file that can be read"));
    if (got == 0)
      return bytes;
    bytes.append(buffer, size_t(got));
    if (bytes.size() > largestInput)
      return tl::unexpected(tooLarge);
  }
}

tl::expected<std::vector<InputText>, std::string> extract(const std::string &name, std::string_view container,
                                                          const std::string &searchPath) {
  if (name == "-")
    return tl::unexpected(fmt::format("expected PTX on standard input, got {}: name it as a file", container));
  auto cuobjdump = findProgram("cuobjdump", searchPath);
  if (!cuobjdump)
    return tl::unexpected(
        fmt::format("expected cuobjdump to read the PTX in {}, found none in PATH or CUDA_HOME/bin", container));
  std::error_code error;
  // Absolute, so that no name is taken for an option.
  std::string file = std::filesystem::absolute(name, error).string();
  auto listing = runProcess({*cuobjdump, "-ptx", file}, std::chrono::seconds(60));
  if (!listing)
    return tl::unexpected(std::move(listing.error()));
  auto texts = splitListing(listing->out, name);
  if (texts.empty()) {
    std::string says = listing->err.substr(0, std::min<size_t>(listing->err.find('\n'), 200));
    return tl::unexpected(fmt::format("expected embedded PTX in {}, found none{}{}", container,
                                      says.empty() ? "" : "; cuobjdump says: ", says));
  }
  return texts;
}

} // namespace

tl::expected<std::string, std::string> readBytes(const std::string &name) {
  int file = name == "-" ? STDIN_FILENO : open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return tl::unexpected(systemSays("expected a file that can be read"));
  auto bytes = readAll(file);
  if (file != STDIN_FILENO)
    close(file);
  return bytes;
}

tl::expected<std::vector<InputText>, std::string> textsOf(const std::string &name, const std::string &searchPath) {
  auto bytes = readBytes(name);
  if (!bytes)
    return tl::unexpected(std::move(bytes.error()));
  if (holdsAmdCode(*bytes))
    return disassemble(name, searchPath);
  if (std::string_view container = containerOf(*bytes); !container.empty())
    return extract(name, container, searchPath);
  std::vector<InputText> texts;
  texts.push_back({name, std::move(*bytes)});
  return texts;
}

std::vector<InputText> splitListing(std::string_view listing, const std::string &name) {
  // `Fatbin ptx code:`, a rule, lines `key = value` or words, an empty line, the text.
  constexpr std::string_view any = "\nFatbin ", ptx = "\nFatbin ptx code:\n";
  std::vector<InputText> texts;
  for (size_t at = listing.find(ptx); at != listing.npos; at = listing.find(ptx, at)) {
    size_t end = std::min(listing.find(any, at + 1), listing.size());
    std::string_view section = listing.substr(at + 1, end - at - 1);
    size_t blank = section.find("\n\n");
    at = end;
    if (blank == section.npos)
      continue;
    std::string_view head = section.substr(0, blank), arch = "unknown";
    if (size_t key = head.find("\narch = "); key != head.npos)
      arch = head.substr(key + 8, head.find('\n', key + 1) - key - 8);
    texts.push_back(
        {fmt::format("{}:{}.{}.ptx", name, texts.size() + 1, arch), std::string(section.substr(blank + 2))});
  }
  return texts;
}

} // namespace interlock::lint
