// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Readers of routing traces: NumPy's .npy format and comma-separated text. Both read bytes that anybody may have
// written, so every length is checked before it is used.
#include "runtime/Ops/Routing.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>

namespace interlock {

namespace {
tl::unexpected<Error> refuse(const std::string &path, std::string_view why) {
  return makeError(Code::badInput, fmt::format("routing trace {}: {}", path, why));
}

constexpr uint32_t widest = 1024; ///< ids per token that a reader accepts; the layer's own bound is tighter

bool storeId(RoutingTrace &trace, int64_t id) {
  if (id < std::numeric_limits<int32_t>::min() || id > std::numeric_limits<int32_t>::max())
    return false;
  trace.ids.push_back(int32_t(id));
  return true;
}

/// The text after `'key':` in a .npy header, up to the header's end.
std::string_view headerValue(std::string_view header, std::string_view key) {
  for (char quote : {'\'', '"'}) {
    size_t at = header.find(fmt::format("{0}{1}{0}", quote, key));
    if (at == std::string_view::npos)
      continue;
    at = header.find(':', at);
    if (at == std::string_view::npos)
      return {};
    at = header.find_first_not_of(" ", at + 1);
    return at == std::string_view::npos ? std::string_view() : header.substr(at);
  }
  return {};
}

/// The dimensions of `(64, 8)`; empty if it is not a tuple of numbers.
std::vector<uint64_t> shapeOf(std::string_view text) {
  std::vector<uint64_t> shape;
  if (text.empty() || text[0] != '(')
    return {};
  text.remove_prefix(1);
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.empty() || text[0] == ')')
      return shape;
    uint64_t dimension = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dimension);
    if (error != std::errc())
      return {};
    shape.push_back(dimension);
    text.remove_prefix(size_t(end - text.data()));
  }
  return {};
}

Result<RoutingTrace> parseNpy(const std::string &path, std::string_view bytes) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (bytes.substr(0, magic.size()) != magic || bytes.size() < 12)
    return refuse(path, "expected the NumPy magic at its start, found something else");
  uint32_t version = uint8_t(bytes[6]), lengthBytes = version == 1 ? 2 : 4;
  if (version < 1 || version > 3)
    return refuse(path, fmt::format("expected .npy version 1, 2 or 3, found {}", version));
  uint32_t headerSize = 0;
  for (uint32_t i = 0; i < lengthBytes; ++i)
    headerSize |= uint32_t(uint8_t(bytes[8 + i])) << (8 * i);
  std::string_view data = bytes.substr(8 + lengthBytes);
  if (headerSize > data.size())
    return refuse(path, fmt::format("expected a header of {} bytes, found {}", headerSize, data.size()));
  std::string_view header = data.substr(0, headerSize);
  data.remove_prefix(headerSize);

  std::string_view descr = headerValue(header, "descr");
  descr = descr.empty() ? descr : descr.substr(1, descr.find(descr[0], 1) - 1);
  if (descr != "<i4" && descr != "<i8")
    return refuse(path, fmt::format("expected little-endian integers (<i4 or <i8), found '{}'", descr));
  if (headerValue(header, "fortran_order").substr(0, 5) != "False")
    return refuse(path, "expected C order, found Fortran order; numpy.ascontiguousarray would do");
  std::vector<uint64_t> shape = shapeOf(headerValue(header, "shape"));
  if (shape.size() != 2 || shape[0] == 0 || shape[1] == 0 || shape[1] > widest)
    return refuse(path, fmt::format("expected the shape (tokens, top-k), found ({})", fmt::join(shape, ", ")));
  uint64_t width = descr == "<i4" ? 4 : 8, row = width * shape[1];
  if (shape[0] > data.size() / row || data.size() != shape[0] * row)
    return refuse(path, fmt::format("expected {} x {} ids of {} bytes, found {} bytes of data", shape[0], shape[1],
                                    width, data.size()));

  RoutingTrace trace{shape[0], uint32_t(shape[1]), {}};
  trace.ids.reserve(shape[0] * shape[1]);
  for (size_t at = 0; at < data.size(); at += width) {
    int64_t id = 0;
    int32_t narrow = 0;
    std::memcpy(width == 4 ? static_cast<void *>(&narrow) : &id, data.data() + at, width);
    if (!storeId(trace, width == 4 ? narrow : id))
      return refuse(path, fmt::format("expected ids of 32 bits, found {}", id));
  }
  return trace;
}

/// The ids of one line; empty if one of its fields is no number.
std::vector<int64_t> csvLine(std::string_view line) {
  std::vector<int64_t> ids;
  while (true) {
    size_t comma = std::min(line.find(','), line.size());
    std::string_view field = line.substr(0, comma);
    field.remove_prefix(std::min(field.find_first_not_of(" \t"), field.size()));
    field = field.substr(0, field.find_last_not_of(" \t") + 1);
    int64_t id = 0;
    auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), id);
    if (field.empty() || error != std::errc() || end != field.data() + field.size())
      return {};
    ids.push_back(id);
    if (comma == line.size())
      return ids;
    line.remove_prefix(comma + 1);
  }
}

Result<RoutingTrace> parseCsv(const std::string &path, std::string_view bytes) {
  RoutingTrace trace;
  for (uint64_t number = 1; !bytes.empty(); ++number) {
    size_t end = std::min(bytes.find('\n'), bytes.size());
    std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
    line = line.substr(0, line.find_last_not_of(" \t\r") + 1);
    if (line.empty())
      continue;
    std::vector<int64_t> ids = csvLine(line);
    if (ids.empty() && number == 1)
      continue; // a header
    if (ids.empty() || ids.size() > widest)
      return refuse(path,
                    fmt::format("expected ids separated by commas at line {}, found '{}'", number, line.substr(0, 40)));
    if (trace.topk == 0)
      trace.topk = uint32_t(ids.size());
    if (ids.size() != trace.topk)
      return refuse(path, fmt::format("expected {} ids at line {} as in the lines before, found {}", trace.topk, number,
                                      ids.size()));
    for (int64_t id : ids)
      if (!storeId(trace, id))
        return refuse(path, fmt::format("expected ids of 32 bits at line {}, found {}", number, id));
    ++trace.tokens;
  }
  if (trace.tokens == 0)
    return refuse(path, "expected at least one line of ids, found none");
  return trace;
}

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}
} // namespace

Result<RoutingTrace> parseRoutingTrace(const std::string &path, std::string_view bytes) {
  if (endsWith(path, ".npy"))
    return parseNpy(path, bytes);
  if (endsWith(path, ".csv"))
    return parseCsv(path, bytes);
  return makeError(
      Code::badInput,
      fmt::format("expected uniform, zipf:S or the name of a .npy or .csv file as routing, got '{}'", path));
}

Result<RoutingTrace> readRoutingTrace(const std::string &path) {
  if (!endsWith(path, ".npy") && !endsWith(path, ".csv"))
    return parseRoutingTrace(path, {});
  std::ifstream file(path, std::ios::binary);
  if (!file)
    return makeError(Code::badInput, fmt::format("routing trace {}: expected a readable file, found none", path));
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return parseRoutingTrace(path, bytes);
}

} // namespace interlock
