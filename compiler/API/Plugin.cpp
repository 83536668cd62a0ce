// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The C boundary of libinterlock_compiler.so: translates requests, keeps nothing.
#include "compiler/API/Compile.h"
#include "compiler/Disassembly/Disassemble.h"
#include "runtime/Spec/CompilerPlugin.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"

#include <nlohmann/json.hpp>

#include <cstddef>

#define ILK_EXPORT extern "C" __attribute__((visibility("default")))

struct ilk_compiler_output {
  std::map<std::string, std::string> parts;
  std::string error;
};

ILK_EXPORT uint32_t ilk_compiler_abi(void) { return ILK_COMPILER_ABI; }

ILK_EXPORT const char *ilk_compiler_identity(void) { return interlock::compilerIdentity().c_str(); }

ILK_EXPORT int32_t ilk_compiler_compile(const ilk_compiler_request *request, ilk_compiler_output **out) {
  auto *output = new ilk_compiler_output;
  *out = output;
  auto fail = [&](std::string message) {
    output->error = std::move(message);
    return 1;
  };
  if (!request || request->size < sizeof(ilk_compiler_request) || !request->parts ||
      (!request->spec && !request->module))
    return fail("expected a request with its size, a spec or a module, and parts, got an incomplete one");
  interlock::CompileRequest compile;
  if (request->module) {
    compile.module.assign(request->module, request->module_size);
    if (request->module_file)
      compile.moduleFile = request->module_file;
  } else {
    auto spec = interlock::parseSpec(std::string_view(request->spec, request->spec_size));
    if (!spec)
      return fail(spec.error().message);
    compile.spec = *spec;
  }
  if (request->template_dir)
    compile.templateDir = request->template_dir;
  if (request->line_file)
    compile.lineFile = request->line_file;
  for (llvm::StringRef part : llvm::split(llvm::StringRef(request->parts), ','))
    if (!part.empty())
      compile.parts.insert(part.str());
  auto parts = interlock::compile(compile);
  if (!parts)
    return fail(parts.error().message);
  output->parts = std::move(*parts);
  return 0;
}

ILK_EXPORT int32_t ilk_compiler_disassemble(const ilk_compiler_disassembly *request, ilk_compiler_output **out) {
  auto *output = new ilk_compiler_output;
  *out = output;
  if (!request || request->size < sizeof(ilk_compiler_disassembly) || !request->object) {
    output->error = "expected a request with its size and the bytes of a code object, got an incomplete one";
    return 1;
  }
  auto made =
      interlock::disassembly::disassemble({request->object, request->object_size}, request->chip ? request->chip : "");
  if (!made) {
    output->error = std::move(made.error().message);
    return 1;
  }
  nlohmann::json objects = nlohmann::json::array();
  for (const auto &one : *made)
    objects.push_back({{"target", one.target}, {"asm", one.text}});
  // Names of symbols are bytes; a text that is no UTF-8 still has its lines.
  output->parts["objects"] = objects.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  output->parts["asm"] = std::move(made->front().text);
  return 0;
}

ILK_EXPORT const char *ilk_compiler_output_part(const ilk_compiler_output *out, const char *name, size_t *size) {
  auto part = out->parts.find(name);
  if (part == out->parts.end())
    return nullptr;
  *size = part->second.size();
  return part->second.data();
}

ILK_EXPORT const char *ilk_compiler_output_error(const ilk_compiler_output *out) { return out->error.c_str(); }

ILK_EXPORT void ilk_compiler_output_free(ilk_compiler_output *out) { delete out; }
