// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/Digest.h"

#include <openssl/sha.h>

#include <array>
#include <cstdint>

namespace interlock {

std::string digestOf(std::string_view bytes) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
  SHA256(reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size(), digest.data());
  constexpr char digits[] = "0123456789abcdef";
  std::string text;
  for (unsigned char byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::string digestOfFields(std::span<const std::string> fields) {
  std::string bytes;
  for (const std::string &field : fields) {
    uint64_t size = field.size();
    for (int i = 0; i < 8; ++i)
      bytes += static_cast<char>(size >> (8 * i));
    bytes += field;
  }
  return digestOf(bytes);
}

} // namespace interlock
