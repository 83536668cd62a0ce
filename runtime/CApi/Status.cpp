// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/CApi/Status.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace interlock::capi {
namespace {

thread_local std::string lastMessage;

struct CodeRow {
  Code code;
  ilk_status status;
};
constexpr CodeRow codes[] = {
    {Code::badInput, ILK_BAD_INPUT},       {Code::unsupported, ILK_UNSUPPORTED}, {Code::notFound, ILK_NOT_FOUND},
    {Code::compile, ILK_COMPILE},          {Code::device, ILK_DEVICE},           {Code::timeout, ILK_TIMEOUT},
    {Code::notPrepared, ILK_NOT_PREPARED}, {Code::internal, ILK_INTERNAL},
};

} // namespace

ilk_status fail(const Error &error) {
  try {
    lastMessage = error.message;
  } catch (const std::bad_alloc &) {
    lastMessage.clear();
  }
  for (const CodeRow &row : codes)
    if (row.code == error.code)
      return row.status;
  return ILK_INTERNAL;
}

void remark(std::string message) { lastMessage = std::move(message); }

Status fromCallback(ilk_status status, const char *callback) {
  if (status == ILK_OK)
    return {};
  Code code = Code::internal;
  for (const CodeRow &row : codes)
    if (row.status == status)
      code = row.code;
  return makeError(code, fmt::format("the callback {} returned status {}", callback, status));
}

} // namespace interlock::capi

extern "C" {

uint32_t ilk_abi(void) { return ILK_ABI; }

const char *ilk_message(void) { return interlock::capi::lastMessage.c_str(); }

void ilk_text_free(char *text) { std::free(text); }
}
