// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Structs that state their size: those of older and of newer headers are read, and written, as far as both sides know
// them.
#pragma once

#include "interlock/interlock.h"
#include "interlock/status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace interlock::capi {

/// The size that a struct had in the first version of the ABI. A struct that grows gets a specialisation with the
/// offset of its first new field.
template <typename T> constexpr size_t firstSize = sizeof(T);

template <> inline constexpr size_t firstSize<ilk_driver_options> = offsetof(ilk_driver_options, cached_windows);
template <> inline constexpr size_t firstSize<ilk_layer> = offsetof(ilk_layer, own_in_place);
template <> inline constexpr size_t firstSize<ilk_landed> = offsetof(ilk_landed, absent);
template <> inline constexpr size_t firstSize<ilk_operation_options> = offsetof(ilk_operation_options, packing);

inline Status checkSize(const char *name, size_t size, size_t least) {
  // Nothing of ours comes near a megabyte: a size like that was never set.
  if (size >= least && size < (size_t(1) << 20))
    return {};
  return makeError(Code::badInput, fmt::format("expected {0} to state its size, at least {1} bytes, got {2}: "
                                               "`.size = sizeof({0})` would do",
                                               name, least, size));
}

/// The struct with 0 for what an older header does not know. `unsupported` if a field is set that only a newer one has.
template <typename T> Result<T> read(const char *name, const T *given) {
  if (!given)
    return makeError(Code::badInput, fmt::format("expected {}, got NULL", name));
  size_t size = given->size;
  ILK_RETURN_IF_ERROR(checkSize(name, size, firstSize<T>));
  T value{};
  std::memcpy(&value, given, std::min(size, sizeof(T)));
  value.size = sizeof(T);
  const char *bytes = reinterpret_cast<const char *>(given);
  if (size > sizeof(T) && std::any_of(bytes + sizeof(T), bytes + size, [](char byte) { return byte != 0; }))
    return makeError(Code::unsupported, fmt::format("expected {} of at most {} bytes, got {} with a field set that a "
                                                    "newer library knows: that library would do",
                                                    name, sizeof(T), size));
  return value;
}

/// The same, with every field 0 for NULL.
template <typename T> Result<T> readOptional(const char *name, const T *given) {
  if (given)
    return read(name, given);
  T value{};
  value.size = sizeof(T);
  return value;
}

/// Writes as much as the caller's header knows; what a newer one knows becomes 0.
template <typename T> Status write(const char *name, T *out, T value) {
  if (!out)
    return makeError(Code::badInput, fmt::format("expected {}, got NULL", name));
  size_t size = out->size;
  ILK_RETURN_IF_ERROR(checkSize(name, size, firstSize<T>));
  value.size = size;
  std::memcpy(out, &value, std::min(size, sizeof(T)));
  if (size > sizeof(T))
    std::memset(reinterpret_cast<char *>(out) + sizeof(T), 0, size - sizeof(T));
  return {};
}

/// The same where the caller may not want it.
template <typename T> Status writeOptional(const char *name, T *out, const T &value) {
  return out ? write(name, out, value) : Status();
}

/// Element `index` of an array of structs, each as large as the first one says.
template <typename T> Result<T> readElement(const char *name, const T *array, size_t index) {
  if (!array)
    return makeError(Code::badInput, fmt::format("expected an array of {}, got NULL", name));
  const char *at = reinterpret_cast<const char *>(array) + index * array->size;
  return read(name, reinterpret_cast<const T *>(at));
}

/// `value` if it is an enumerator of C up to `last`.
inline Result<int32_t> requireEnum(const char *what, int32_t value, int32_t last) {
  if (value >= 0 && value <= last)
    return value;
  return makeError(Code::badInput, fmt::format("expected {} from 0 to {}, got {}", what, last, value));
}

} // namespace interlock::capi
