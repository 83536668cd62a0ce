// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A compiler plugin without a compiler. FAKE_GOOD keeps the interface, and has no note; the others break
// it in one way each.
#include "runtime/Spec/CompilerPlugin.h"

#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#define ILK_TEXT_OF(value) #value
#define ILK_TEXT(macro) ILK_TEXT_OF(macro)

struct ilk_compiler_output {
  std::string request, parts, meta, error, text, objects;
};

#if defined(FAKE_NOTED)
// What its file tells is not what it states.
__attribute__((section(".note.interlock"), used, aligned(4))) static const struct {
  uint32_t ownerBytes = sizeof("Interlock"), textBytes = sizeof(text), type = 1;
  char owner[12] = "Interlock";
  char text[48] = "{\"abi\":" ILK_TEXT(ILK_COMPILER_ABI) ",\"llvm\":\"22.1.8\",\"templates\":\"t\"}";
} note;
#endif

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT uint32_t ilk_compiler_abi(void) {
#if defined(FAKE_OTHER_ABI)
  return ILK_COMPILER_ABI + 1;
#else
  return ILK_COMPILER_ABI;
#endif
}

EXPORT const char *ilk_compiler_identity(void) {
#if defined(FAKE_NO_JSON)
  return "version 1";
#else
  return R"({"assembler":"none","digest":"fake","llvm":"22.1.8","templates":"t"})";
#endif
}

EXPORT int32_t ilk_compiler_compile(const ilk_compiler_request *request, ilk_compiler_output **out) {
  // As LLVM does: a fork in here would leave the lock with nobody.
  static std::mutex busy;
  std::lock_guard lock(busy);
  std::this_thread::sleep_for(std::chrono::microseconds(200));
  auto *output = *out = new ilk_compiler_output;
  if (request->size != sizeof(*request)) {
    output->error = "expected this version's request";
    return 1;
  }
  output->request.assign(request->spec, request->spec_size);
  output->parts = request->parts;
  output->meta = R"({"entry":"kernel","ptx_isa":"8.6","block_threads":128,"cluster":1,"shared_bytes":0,)"
                 R"("cooperative":false,"template_dir":")" +
                 std::string(request->template_dir ? request->template_dir : "") + "\"}";
  // What a test asked for, as the text; for five ranks a kernel that can be loaded.
  output->text = output->request;
  if (output->request.find("ranks=5\n") != std::string::npos)
    output->text = ".version 8.0\n.target sm_90a\n.address_size 64\n.visible .entry kernel()\n{\n  ret;\n}\n";
  if (output->request.find("ranks=3\n") == std::string::npos)
    return 0;
  output->error = "dispatch.mlir:7:3: error: three is refused";
  return 1;
}

EXPORT int32_t ilk_compiler_disassemble(const ilk_compiler_disassembly *request, ilk_compiler_output **out) {
  auto *output = *out = new ilk_compiler_output;
  if (request->size != sizeof(*request) ||
      !std::string_view(request->object, request->object_size).starts_with("\x7f")) {
    output->error = "expected a code object";
    return 1;
  }
  output->objects = R"([{"target":"amdgcn-amd-amdhsa--gfx90a","asm":"s_endpgm\n"}])";
  return 0;
}

EXPORT const char *ilk_compiler_output_part(const ilk_compiler_output *out, const char *name, size_t *size) {
  const std::string *part = nullptr;
  if (!std::strcmp(name, "ptx"))
    part = &out->text;
  else if (!std::strcmp(name, "meta"))
    part = &out->meta;
  else if (!std::strcmp(name, "stages"))
    part = &out->parts;
  else if (!std::strcmp(name, "objects"))
    part = &out->objects;
  if (!part)
    return nullptr;
  *size = part->size();
  return part->data();
}

EXPORT const char *ilk_compiler_output_error(const ilk_compiler_output *out) { return out->error.c_str(); }

#if !defined(FAKE_INCOMPLETE)
EXPORT void ilk_compiler_output_free(ilk_compiler_output *out) { delete out; }
#endif
