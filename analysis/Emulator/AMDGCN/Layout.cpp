// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Addresses. Code has addresses that nothing is stored at: only differences between them and data, and jumps, count.
#include "analysis/Emulator/AMDGCN/Layout.h"

#include "analysis/AMDGCN/Expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace interlock::emu::gcn {
namespace {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;

/// Bytes of an instruction. Exact for scalar instructions, between which LLVM counts (s_getpc and what adds to it).
uint32_t codeBytes(const Instruction &in) {
  std::string_view op = in.opcode;
  auto literal = [&] {
    for (const Operand &o : in.operands) {
      if (o.kind == OperandKind::symbol || o.kind == OperandKind::expression)
        return true;
      if (o.kind == OperandKind::integer && (int64_t(o.bits) < -16 || int64_t(o.bits) > 64))
        return true;
      if (o.kind == OperandKind::real)
        for (double v : {0.5, 1.0, 2.0, 4.0, 0.15915494})
          if (o.value == v || o.value == -v)
            return false;
    }
    return false;
  };
  if (op.starts_with("s_")) {
    for (std::string_view memory : {"s_load", "s_store", "s_buffer", "s_atomic", "s_dcache", "s_mem", "s_scratch"})
      if (op.starts_with(memory))
        return 8;
    if (op == "s_setreg_imm32_b32")
      return 8;
    bool inside = op.starts_with("s_movk") || op.starts_with("s_addk") || op.starts_with("s_mulk") ||
                  op.starts_with("s_cmpk") || op.starts_with("s_cmovk") || op.starts_with("s_branch") ||
                  op.starts_with("s_cbranch") || op.starts_with("s_wait") || op == "s_nop" || op == "s_sleep" ||
                  op == "s_clause" || op == "s_delay_alu" || op.starts_with("s_inst") || op.starts_with("s_call");
    return inside || !literal() ? 4 : 8;
  }
  if (op == ".long")
    return 4;
  if (op.starts_with("v_"))
    return (in.encoding == "e32" ? 4u : 8u) + (literal() ? 4u : 0u);
  return 8;
}

constexpr uint64_t codeBase = window::code + (uint64_t(1) << 32);

tl::unexpected<Error> bad(std::string message) {
  return tl::unexpected(Error{ErrorKind::badInput, std::move(message)});
}

} // namespace

Result<void> Layout::place(Image &image, uint32_t device, AddressSpace &memory, std::vector<uint64_t> &owned) {
  const amdgcn::Module &m = image.module;
  uint64_t at = codeBase;
  for (const Instruction &in : m.instructions) {
    image.address.push_back(at);
    at += codeBytes(in);
  }
  image.address.push_back(at);
  for (const amdgcn::Label &l : m.labels)
    image.symbols.emplace(l.name, image.address[l.instruction]);

  std::vector<uint64_t> base(m.sections.size());
  for (size_t i = 0; i < m.sections.size(); ++i) {
    const amdgcn::Section &s = m.sections[i];
    if (s.size == 0)
      continue;
    base[i] = memory.allocate(device, s.size, std::max<uint64_t>(s.align, 256));
    if (!base[i])
      return bad(fmt::format("expected host memory for the {} bytes of section {}", s.size, s.name));
    owned.push_back(base[i]);
    uint8_t *host = memory.find(base[i], s.size).at(base[i]);
    std::memset(host, 0, s.size);
    if (!s.bytes.empty())
      std::memcpy(host, s.bytes.data(), s.bytes.size());
  }
  for (const amdgcn::Symbol &s : m.symbols) {
    if (s.kind == amdgcn::SymbolKind::local) {
      ldsBytes = uint32_t((ldsBytes + s.align - 1) / s.align * s.align);
      image.symbols.emplace(s.name, ldsBytes);
      ldsBytes += uint32_t(s.size);
    } else {
      image.symbols.emplace(s.name, base[s.section] + s.offset);
    }
  }
  for (size_t i = 0; i < m.sections.size(); ++i)
    for (const amdgcn::Relocation &r : m.sections[i].relocations) {
      auto it = image.symbols.find(r.symbol);
      if (it == image.symbols.end())
        continue; // of something that no text defines: whoever reads it gets a null
      uint64_t v = it->second + uint64_t(r.addend);
      std::memcpy(memory.find(base[i] + r.offset, r.width).at(base[i] + r.offset), &v, r.width);
    }

  // A table of addresses for @gotpcrel, one for each symbol that is asked for.
  std::vector<std::string_view> asked;
  for (const Instruction &in : m.instructions)
    for (const Operand &o : in.operands)
      if (o.relocation.starts_with("gotpcrel") && slots.emplace(o.name, asked.size() * 8).second)
        asked.push_back(o.name);
  if (!asked.empty()) {
    image.got = memory.allocate(device, asked.size() * 8, 256);
    if (!image.got)
      return bad("expected host memory for a table of addresses");
    owned.push_back(image.got);
    for (auto &[name, offset] : slots) {
      auto it = image.symbols.find(name);
      uint64_t v = it == image.symbols.end() ? 0 : it->second;
      std::memcpy(memory.find(image.got + offset, 8).at(image.got + offset), &v, 8);
      offset += image.got;
    }
  }

  for (const amdgcn::Kernel &k : m.kernels) {
    if (!k.function)
      continue;
    auto refuse = [&](std::string message) { return bad(fmt::format("kernel {}: {}", k.name, message)); };
    Kernel out;
    out.source = &k;
    out.name = std::string(k.name);
    out.begin = m.functions[*k.function].begin;
    bool wave32 = k.directive("wavefront_size32", image.target->waveLanes == 32);
    out.lanes = wave32 ? 32 : 64;
    if (image.target->family <= Family::gfx940 && wave32)
      return refuse(fmt::format("expected waves of 64 on {}, found .amdhsa_wavefront_size32", image.target->name));
    out.ldsBytes = std::max(uint32_t(k.directive("group_segment_fixed_size")), ldsBytes);
    out.scratchBytes = uint32_t(k.directive("private_segment_fixed_size"));
    if (k.directive("uses_dynamic_stack"))
      out.scratchBytes += 16384;
    if (out.ldsBytes > (1u << 20) || out.scratchBytes > (1u << 24))
      return refuse(fmt::format("expected at most 1 MiB of LDS and 16 MiB of scratch memory, found {} and {} bytes",
                                out.ldsBytes, out.scratchBytes));
    out.explicitBytes = k.explicitBytes();
    out.kernargBytes = std::max(uint32_t(k.directive("kernarg_size")), out.explicitBytes);
    for (const amdgcn::Argument &a : k.arguments)
      out.kernargBytes = std::max(out.kernargBytes, a.offset + a.size);
    if (out.kernargBytes > 65536)
      return refuse(fmt::format("expected at most 64 KiB of arguments, found {} bytes", out.kernargBytes));
    if (auto it = k.metadata.find("max_flat_workgroup_size"); it != k.metadata.end())
      out.maxThreads = uint32_t(it->second);
    out.workgroupProcessorMode =
        k.directive("workgroup_processor_mode",
                    image.target->family == Family::gfx11 || image.target->family == Family::gfx12) != 0 &&
        (image.target->family == Family::gfx11 || image.target->family == Family::gfx12);
    if (k.directive("float_round_mode_32") || k.directive("float_round_mode_16_64") ||
        k.directive("float_denorm_mode_32", 3) != 3 || k.directive("float_denorm_mode_16_64", 3) != 3)
      return refuse("expected rounding to nearest and denormals to be kept, which is all that is emulated");
    image.kernels.push_back(std::move(out));
  }
  return {};
}

tl::expected<uint64_t, std::string> Layout::value(const Image &image, const Operand &o, uint32_t at) const {
  auto find = [&](std::string_view name) -> std::optional<int64_t> {
    if (auto it = image.symbols.find(name); it != image.symbols.end())
      return int64_t(it->second);
    if (auto it = image.module.values.find(name); it != image.module.values.end())
      return it->second;
    return {};
  };
  if (o.kind == OperandKind::expression) {
    amdgcn::Cursor c{o.name, 0, {}};
    auto v = amdgcn::evaluate(c, find);
    if (!v)
      return tl::unexpected(fmt::format("expected an expression that can be computed, found {}", o.name));
    return uint64_t(*v);
  }
  std::string_view kind = o.relocation;
  uint64_t symbol = 0;
  if (kind.starts_with("gotpcrel")) {
    auto slot = slots.find(o.name);
    if (slot == slots.end())
      return tl::unexpected(fmt::format("expected an instruction of its own that reads {}", o.name));
    symbol = slot->second;
  } else {
    auto v = find(o.name);
    if (!v)
      return tl::unexpected(fmt::format("expected a symbol that the text defines, found {}", o.name));
    symbol = uint64_t(*v);
  }
  // Where the literal stands that the linker would fill.
  uint64_t place = image.address[at] + 4;
  uint64_t v = symbol + o.bits;
  if (kind.starts_with("rel") || kind.starts_with("gotpcrel"))
    v -= place;
  if (kind.ends_with("@hi"))
    v >>= 32;
  return v;
}

} // namespace interlock::emu::gcn
