// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// From the reader's instructions to what the waves run: opcodes looked up, operands resolved. An instruction that
// cannot be run becomes one that says so when a wave reaches it.
#include "analysis/AMDGCN/Expression.h"
#include "analysis/Emulator/AMDGCN/Access.h"
#include "analysis/Emulator/AMDGCN/Define.h"
#include "analysis/Emulator/AMDGCN/Layout.h"
#include "analysis/Emulator/FloatFormat.h"

#include <fmt/format.h>

#include <charconv>

namespace interlock::emu::gcn {
namespace {

using amdgcn::Instruction;
using amdgcn::Operand;
using amdgcn::OperandKind;
using amdgcn::RegisterFile;

using Table = std::unordered_map<std::string_view, const Entry *>;

const Table &opcodes() {
  static const Table table = [] {
    Table t;
    for (auto entries :
         {scalarEntries(), scalarFloatEntries(), controlEntries(), vectorEntries(), vectorIntegerEntries(),
          vectorFloatEntries(), vectorHalfEntries(), vectorConvertEntries(), vectorFp8Entries(), vectorCompareEntries(),
          vectorLaneEntries(), memoryEntries(), localEntries()})
      for (const Entry &e : entries)
        t.emplace(e.name, &e);
    return t;
  }();
  return table;
}

Flow unknown(WaveExec &x, const Op &op) {
  return x.fault(op, x.wave.image->messages[op.target], ErrorKind::unsupported);
}

struct Named {
  std::string_view name;
  uint32_t index;
  uint8_t words;
};
constexpr Named named[] = {
    {"vcc", sreg::vcc, 2},
    {"vcc_lo", sreg::vcc, 1},
    {"vcc_hi", sreg::vcc + 1, 1},
    {"exec", sreg::exec, 2},
    {"exec_lo", sreg::exec, 1},
    {"exec_hi", sreg::exec + 1, 1},
    {"m0", sreg::m0, 1},
    {"scc", sreg::scc, 1},
    {"src_scc", sreg::scc, 1},
    {"flat_scratch", sreg::flatScratch, 2},
    {"flat_scratch_lo", sreg::flatScratch, 1},
    {"flat_scratch_hi", sreg::flatScratch + 1, 1},
    {"xnack_mask", sreg::xnackMask, 2},
    {"xnack_mask_lo", sreg::xnackMask, 1},
    {"xnack_mask_hi", sreg::xnackMask + 1, 1},
    {"src_shared_base", sreg::sharedBase, 2},
    {"src_shared_base_lo", sreg::sharedBase, 1},
    {"src_shared_limit", sreg::sharedLimit, 2},
    {"src_private_base", sreg::privateBase, 2},
    {"src_private_base_lo", sreg::privateBase, 1},
    {"src_private_limit", sreg::privateLimit, 2},
    {"src_flat_scratch_base_lo", sreg::flatScratchBase, 1},
    {"src_flat_scratch_base_hi", sreg::flatScratchBase + 1, 1},
};

/// A constant as an operand of the type takes it.
uint64_t constantOf(const Operand &o, Ty type) {
  if (o.kind == OperandKind::integer) {
    uint64_t v = o.bits;
    bool isInline = int64_t(v) >= -16 && int64_t(v) <= 64;
    if (type == Ty::f64 && !isInline && v <= 0xffffffff)
      return v << 32; // a literal is the upper half
    if (type == Ty::i64 && !isInline && v <= 0xffffffff)
      return uint64_t(int64_t(int32_t(v)));
    return v;
  }
  double v = o.value;
  switch (type) {
  case Ty::f64:
  case Ty::b64:
  case Ty::i64:
    return std::bit_cast<uint64_t>(v);
  case Ty::b16:
  case Ty::f16:
  case Ty::pkf16:
    return alu::encode(alu::formatF16, v, alu::Rounding::rn);
  case Ty::bf16:
  case Ty::pkbf16:
    return alu::encode(alu::formatBf16, v, alu::Rounding::rn);
  default:
    return std::bit_cast<uint32_t>(float(v));
  }
}

class Decoder {
public:
  Decoder(Image &image, const Layout &layout) : image(image), layout(layout) {}

  void run() {
    auto n = uint32_t(image.module.instructions.size());
    image.code.reserve(n + 1);
    for (uint32_t i = 0; i < n; ++i) {
      at = i;
      image.code.push_back(instruction(image.module.instructions[i]));
    }
    at = n;
    image.code.push_back(refusal(nullptr, "expected the program to end with s_endpgm, found the end of the text"));
  }

private:
  Image &image;
  const Layout &layout;
  uint32_t at = 0;
  std::string problem;

  Op refusal(const Instruction *in, std::string why) {
    Op op;
    op.in = in;
    op.run = unknown;
    op.target = uint32_t(image.messages.size());
    image.messages.push_back(std::move(why));
    return op;
  }

  void need(std::string what) {
    if (problem.empty())
      problem = std::move(what);
  }

  void vectorUse(const Src &s) {
    uint32_t end = s.index + s.words;
    if (s.index >= agprBase)
      image.agprs = std::max(image.agprs, end - agprBase);
    else
      image.vgprs = std::max(image.vgprs, end);
  }
  /// AGPRs are numbered from here until the number of VGPRs is known.
  static constexpr uint32_t agprBase = 8192;

  Src operand(const Operand &o, Ty type, bool destination = false) {
    Src s;
    s.type = type;
    s.words = uint8_t(type == Ty::mask ? 2 : std::max(1u, words(type)));
    s.negated = o.negated;
    s.absolute = o.absolute;
    s.sext = o.sext;
    s.half = o.half == 'l' ? 1 : o.half == 'h' ? 2 : 0;
    switch (o.kind) {
    case OperandKind::reg:
      if (o.file == RegisterFile::vgpr || o.file == RegisterFile::agpr) {
        s.kind = SrcKind::vector;
        s.index = o.index + (o.file == RegisterFile::agpr ? agprBase : 0);
        if (type == Ty::none)
          s.words = uint8_t(o.count);
        s.words = uint8_t(std::min<uint32_t>(s.words, 4));
        if (o.count > 32 || o.index + std::max<uint32_t>(o.count, s.words) > 1024)
          need(fmt::format("expected registers below v1024, found v{}", o.index));
        else
          vectorUse({.words = uint8_t(std::max<uint32_t>(o.count, s.words)), .index = s.index});
        return s;
      }
      s.kind = SrcKind::scalar;
      if (type == Ty::none)
        s.words = uint8_t(o.count);
      if (o.index + std::max<uint32_t>(o.count, s.words) > (o.file == RegisterFile::ttmp ? 16u : 106u))
        need(fmt::format("expected scalar registers that exist, found number {}", o.index));
      s.index = o.index + (o.file == RegisterFile::ttmp ? sreg::ttmp : 0);
      return s;
    case OperandKind::special:
      if (o.name == "null") {
        s.kind = SrcKind::scalar;
        s.index = destination ? sreg::sink : sreg::zero;
        return s;
      }
      if (o.name == "off") {
        s.kind = SrcKind::none;
        return s;
      }
      for (const Named &n : named)
        if (n.name == o.name) {
          s.kind = SrcKind::scalar;
          s.index = n.index;
          if (type == Ty::none)
            s.words = n.words;
          return s;
        }
      need(fmt::format("expected a register that is emulated, found {}", o.name));
      return s;
    case OperandKind::integer:
    case OperandKind::real:
      s.kind = SrcKind::constant;
      s.value = constantOf(o, type);
      if (type == Ty::none)
        s.words = 1;
      return s;
    case OperandKind::symbol:
    case OperandKind::label:
    case OperandKind::expression: {
      auto v = layout.value(image, o, at);
      if (!v)
        need(v.error());
      s.kind = SrcKind::constant;
      s.value = v.value_or(0);
      if (o.relocation != "rel64" && o.relocation != "abs64")
        s.value = uint32_t(s.value);
      return s;
    }
    default:
      need("expected a register or a constant");
      return s;
    }
  }

  static uint8_t selection(std::string_view word) {
    constexpr std::string_view names[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    for (uint8_t i = 0; i < std::size(names); ++i)
      if (names[i] == word)
        return i;
    return 6;
  }

  void dpp(const Instruction &in, Op &op) {
    struct Row {
      std::string_view name;
      DppKind kind;
    };
    constexpr Row rows[] = {{"quad_perm", DppKind::quadPerm},       {"row_shl", DppKind::rowShl},
                            {"row_shr", DppKind::rowShr},           {"row_ror", DppKind::rowRor},
                            {"wave_shl", DppKind::waveShl},         {"wave_rol", DppKind::waveRol},
                            {"wave_shr", DppKind::waveShr},         {"wave_ror", DppKind::waveRor},
                            {"row_mirror", DppKind::rowMirror},     {"row_half_mirror", DppKind::rowHalfMirror},
                            {"row_share", DppKind::rowShare},       {"row_xmask", DppKind::rowXmask},
                            {"row_newbcast", DppKind::rowNewbcast}, {"dpp8", DppKind::dpp8}};
    for (const Row &r : rows)
      if (const amdgcn::Modifier *m = in.find(r.name)) {
        op.dpp.kind = r.kind;
        for (size_t i = 0; i < m->numbers.size() && i < 8; ++i)
          op.dpp.select[i] = uint8_t(m->numbers[i] & 15);
      }
    if (in.has("row_bcast"))
      op.dpp.kind = in.number("row_bcast") == 15 ? DppKind::rowBcast15 : DppKind::rowBcast31;
    if (op.dpp.kind == DppKind::none)
      return;
    op.dpp.zeroFill = in.has("bound_ctrl"); // `bound_ctrl:0` is how older assemblers wrote it
    op.dpp.fetchInactive = in.number("fi") != 0;
    op.dpp.rowMask = uint8_t(in.number("row_mask", 15));
    op.dpp.bankMask = uint8_t(in.number("bank_mask", 15));
    op.plain = false;
  }

  void vectorModifiers(const Instruction &in, Op &op) {
    auto list = [&](std::string_view name, uint8_t otherwise) {
      const amdgcn::Modifier *m = in.find(name);
      if (!m)
        return otherwise;
      uint8_t bits = 0;
      for (size_t i = 0; i < m->numbers.size() && i < 4; ++i)
        bits |= uint8_t((m->numbers[i] & 1) << i);
      return bits;
    };
    bool mix = op.entry->name.find("_mix") != std::string_view::npos;
    op.opSel = list("op_sel", 0);
    op.opSelHi = list("op_sel_hi", mix ? 0 : 7);
    op.negLo = list("neg_lo", 0);
    op.negHi = list("neg_hi", 0);
    bool packed = op.entry->name.starts_with("v_pk_") || mix || op.entry->name.starts_with("v_dot");
    if (const amdgcn::Modifier *m = in.find("op_sel"); m && !packed && m->numbers.size() < 4) {
      // The last one is the destination's, which is bit 3.
      uint8_t last = uint8_t(1 << (m->numbers.size() - 1));
      if (m->numbers.size() == op.nsrc + 1u && (op.opSel & last))
        op.opSel = uint8_t((op.opSel & ~last) | 8);
    }
    if (mix)
      for (unsigned i = 0; i < 3; ++i) {
        op.negLo |= uint8_t(op.src[i].negated << i);
        op.negHi |= uint8_t(op.src[i].absolute << i);
        op.src[i].negated = op.src[i].absolute = false;
      }
    op.clamp = in.has("clamp");
    if (in.has("mul") || in.has("div"))
      op.outputScale = in.has("div") ? 3 : in.number("mul") == 4 ? 2 : 1;
    op.imm = in.has("bitop3") ? in.number("bitop3") : in.number("byte_sel");
    if (op.entry->name.starts_with("v_cvt_f32_") && op.entry->name.ends_with("8") && op.imm == 0)
      op.imm = (op.opSel & 1) << 1 | (op.opSel >> 1 & 1);
    if (in.has("src0_sel") || in.has("dst_sel")) {
      op.src[0].sel = selection(in.word("src0_sel"));
      op.src[1].sel = selection(in.word("src1_sel"));
      op.dstSel = in.has("dst_sel") ? selection(in.word("dst_sel")) : 6;
      op.dstUnused = in.word("dst_unused") == "UNUSED_PRESERVE" ? 2 : in.word("dst_unused") == "UNUSED_SEXT" ? 1 : 0;
    }
    dpp(in, op);
    op.plain = op.dpp.kind == DppKind::none && !op.opSel && !op.clamp && !op.outputScale && op.dstSel == 6;
  }

  /// `offset:0x8055`, or `offset:swizzle(NAME,…)` as LLVM writes the codes that have a name.
  static std::optional<int64_t> swizzle(const Instruction &in) {
    const amdgcn::Modifier *m = in.find("offset");
    if (!m)
      return 0;
    if (m->numbers.size() == 1)
      return m->numbers[0];
    std::string_view v = m->value;
    if (!v.starts_with("swizzle(") || !v.ends_with(")"))
      return {};
    amdgcn::Cursor c{v.substr(8, v.size() - 9), 0, {}};
    std::string_view name = c.name();
    std::vector<int64_t> n;
    std::string_view mask;
    while (c.accept(',')) {
      c.skipBlanks();
      if (c.peek() == '"') {
        mask = c.rest().substr(1, 5);
        break;
      }
      auto number = amdgcn::unsignedNumber(c);
      if (!number)
        return {};
      n.push_back(int64_t(*number & 31));
    }
    auto code = [](int64_t land, int64_t lor, int64_t lxor) { return land | lor << 5 | lxor << 10; };
    if (name == "QUAD_PERM" && n.size() == 4)
      return 0x8000 | (n[0] & 3) | (n[1] & 3) << 2 | (n[2] & 3) << 4 | (n[3] & 3) << 6;
    if (name == "SWAP" && n.size() == 1)
      return code(31, 0, n[0]);
    if (name == "REVERSE" && n.size() == 1)
      return code(31, 0, n[0] - 1);
    if (name == "BROADCAST" && n.size() == 2)
      return code(32 - n[0], n[1], 0);
    if (name == "BITMASK_PERM" && mask.size() == 5) {
      int64_t land = 0, lor = 0, lxor = 0;
      for (unsigned i = 0; i < 5; ++i) {
        int64_t bit = 16 >> i;
        land |= mask[i] == 'p' || mask[i] == 'i' ? bit : 0;
        lor |= mask[i] == '1' ? bit : 0;
        lxor |= mask[i] == 'i' ? bit : 0;
      }
      return code(land, lor, lxor);
    }
    return {};
  }

  void plain(const Instruction &in, Op &op) {
    const Entry &e = *op.entry;
    size_t n = 0;
    auto take = [&]() -> const Operand * { return n < in.operands.size() ? &in.operands[n++] : nullptr; };
    size_t sources = 0;
    while (sources < 4 && e.src[sources] != Ty::none)
      ++sources;
    if (e.flags & tied)
      --sources;
    // v_cmpx has no destination from gfx10 on; a comparison's is implied in some old texts.
    bool noDst = e.dst == Ty::mask && in.operands.size() == sources;
    bool isGetreg = e.name == "s_getreg_b32" || e.name.starts_with("s_sendmsg_rtn");
    bool isSetreg = e.name.starts_with("s_setreg");
    if (e.dst != Ty::none && !noDst) {
      const Operand *o = take();
      if (!o)
        return need("expected a destination");
      op.dst = operand(*o, e.dst, true);
      if (op.dst.kind == SrcKind::constant || op.dst.kind == SrcKind::none)
        return need("expected a register as the destination");
    } else if (noDst && e.run == runCompare) {
      op.dst = {.kind = SrcKind::scalar, .type = Ty::mask, .words = 2, .index = sreg::vcc};
    }
    if (e.flags & secondDst) {
      const Operand *o = take();
      if (!o)
        return need("expected a mask as the second destination");
      op.dst2 = operand(*o, Ty::mask, true);
      if (op.dst2.kind != SrcKind::scalar)
        return need("expected a scalar register as the second destination");
    }
    if (isGetreg)
      return;
    for (size_t i = 0; i < sources; ++i) {
      if (isSetreg && i == 0) {
        take();
        continue;
      }
      const Operand *o = take();
      if (!o && e.src[i] == Ty::mask) { // v_dual_cndmask: VCC is implied
        op.src[i] = {.kind = SrcKind::scalar, .type = Ty::mask, .words = 2, .index = sreg::vcc};
        continue;
      }
      if (!o)
        return need(fmt::format("expected {} sources, found {}", sources, i));
      op.src[i] = operand(*o, e.src[i]);
      if (op.src[i].kind == SrcKind::none)
        return need("expected a register or a constant as a source");
    }
    op.nsrc = uint8_t(sources);
    if (e.flags & tied) {
      Src self = op.dst;
      self.type = e.src[sources];
      op.src[sources] = self;
      ++op.nsrc;
    }
    if (e.name.starts_with("v_")) {
      // Masks, lane numbers and selectors are scalars.
      bool selects = e.name.starts_with("v_readlane") || e.name.starts_with("v_permlane16_b32") ||
                     e.name.starts_with("v_permlanex16");
      for (size_t i = 0; i < sources; ++i)
        if (op.src[i].kind == SrcKind::vector &&
            (e.src[i] == Ty::mask || (selects && i > 0) || e.name == "v_writelane_b32"))
          return need("expected a scalar register or a constant as a source");
      if (e.name == "v_writelane_b32" && op.dst.kind != SrcKind::vector)
        return need("expected a vector register as the destination");
      bool lane = e.name.starts_with("v_readlane") || e.name.starts_with("v_readfirst");
      bool scalarResult = lane || e.dst == Ty::mask || e.dst == Ty::none;
      if (!scalarResult && op.dst.kind != SrcKind::vector && op.dst.kind != SrcKind::none && !scalarOk(e))
        return need("expected a vector register as the destination");
      if (e.dst == Ty::mask && !noDst && op.dst.kind != SrcKind::scalar)
        return need("expected a scalar register as the destination");
      if (lane && op.dst.kind != SrcKind::scalar)
        return need("expected a scalar register as the destination");
      vectorModifiers(in, op);
      if (e.name.ends_with("_swap_b32") && op.src[0].kind != SrcKind::vector)
        return need("expected two vector registers");
      if (op.clamp)
        if (auto it = opcodes().find(std::string(e.name) + ".clamp"); it != opcodes().end()) {
          op.compute = it->second->compute;
          op.clamp = false;
          op.plain = false;
        }
    } else if (e.name.starts_with("ds_")) {
      op.imm = in.number("offset");
      if (op.dst.kind != SrcKind::vector)
        return need("expected a vector register as the destination");
      if (e.name == "ds_swizzle_b32") {
        auto code = swizzle(in);
        if (!code)
          return need("expected an offset that says how lanes are exchanged");
        op.imm = *code;
      }
    } else {
      for (size_t i = 0; i < sources; ++i)
        if (op.src[i].kind == SrcKind::vector)
          return need("expected a scalar register as a source");
      if (op.dst.kind == SrcKind::vector)
        return need("expected a scalar register as the destination");
    }
  }
  /// v_s_* write a scalar register.
  static bool scalarOk(const Entry &e) { return e.name.starts_with("v_s_"); }

  void waits(const Instruction &in, Op &op) {
    std::string_view name = op.entry->name;
    uint64_t list = 0;
    unsigned n = 0;
    auto add = [&](uint8_t counters, int64_t left) {
      list |= (uint64_t(counters) << 8 | uint64_t(std::clamp<int64_t>(left, 0, 255))) << 16 * n++;
    };
    constexpr uint8_t loads = Transfer::loads, stores = Transfer::stores, local = Transfer::local,
                      scalar = Transfer::scalar;
    bool gfx9 = image.target->family <= Family::gfx940;
    int64_t imm = 0;
    for (const Operand &o : in.operands)
      if (o.kind == OperandKind::integer)
        imm = int64_t(o.bits);
    if (name == "s_sleep" || name.ends_with("_mode")) {
      op.imm = imm;
      return;
    }
    uint8_t vector = gfx9 ? loads | stores : loads;
    if (name == "s_waitcnt") {
      bool words = false;
      for (const Operand &o : in.operands)
        words |= o.kind == OperandKind::call;
      if (words) {
        if (auto v = in.argument("vmcnt"))
          add(vector, *v);
        if (auto v = in.argument("lgkmcnt"))
          add(local | scalar, *v);
      } else if (gfx9) {
        add(vector, (imm & 15) | (imm >> 10 & 0x30));
        add(local | scalar, imm >> 8 & 15);
      } else {
        add(vector, imm >> 10 & 63);
        add(local | scalar, imm >> 4 & 63);
      }
    } else if (name == "s_waitcnt_vmcnt" || name == "s_wait_loadcnt") {
      add(loads, imm);
    } else if (name == "s_waitcnt_vscnt" || name == "s_wait_storecnt") {
      add(stores, imm);
    } else if (name == "s_waitcnt_lgkmcnt") {
      add(local | scalar, imm);
    } else if (name == "s_wait_dscnt") {
      add(local, imm);
    } else if (name == "s_wait_kmcnt") {
      add(scalar, imm);
    } else if (name == "s_wait_loadcnt_dscnt" || name == "s_wait_storecnt_dscnt") {
      add(name == "s_wait_loadcnt_dscnt" ? loads : stores, imm >> 8 & 63);
      add(local, imm & 63);
    } else {
      add(loads | stores | local | scalar, 0);
    }
    op.imm = int64_t(list);
  }

  /// Cache bits as a scope (User Guide for AMDGPU Backend, "Memory Model" of each chip).
  Scope scopeOf(const Instruction &in, bool atomic) const {
    switch (image.target->family) {
    case Family::gfx90a:
      // gbl: past the L1; whether system scope is meant only the write-backs around say.
      return in.has("glc") || atomic ? Scope::agent : Scope::wave;
    case Family::gfx940:
      if (atomic)
        return in.has("sc1") ? Scope::system : Scope::agent;
      return in.has("sc1") ? (in.has("sc0") ? Scope::system : Scope::agent)
                           : (in.has("sc0") ? Scope::workgroup : Scope::wave);
    case Family::gfx11:
      return in.has("glc") || in.has("dlc") || atomic ? Scope::agent : Scope::wave;
    case Family::gfx12:
    case Family::gfx1250: {
      std::string_view w = in.word("scope");
      return w == "SCOPE_SYS"   ? Scope::system
             : w == "SCOPE_DEV" ? Scope::agent
             : w == "SCOPE_SE"  ? Scope::cluster
                                : Scope::wave;
    }
    }
    return Scope::wave;
  }

  void memory(const Instruction &in, Op &op) {
    const Entry &e = *op.entry;
    AccessKind kind = AccessKind::of(e.sub);
    bool atomic = kind.what == AccessKind::atomic, load = kind.what == AccessKind::load;
    std::vector<const Operand *> o;
    for (const Operand &one : in.operands)
      o.push_back(&one);
    op.imm = in.number("offset");
    op.scope = uint8_t(scopeOf(in, atomic));
    op.poll = true;
    if (in.has("scale_offset"))
      op.flags |= scaleOffset;
    if (in.has("lds") || in.has("tfe"))
      return need("expected no lds and no tfe modifier");
    size_t n = 0;
    auto next = [&](std::string_view what) -> const Operand * {
      if (n < o.size())
        return o[n++];
      need(fmt::format("expected {}", what));
      return nullptr;
    };
    auto vectorOrOff = [&](Src &s) {
      if (const Operand *v = next("an address")) {
        s = operand(*v, Ty::none);
        if (s.kind != SrcKind::vector && s.kind != SrcKind::none)
          need("expected a vector register, or off, as the address");
      }
    };
    auto vectorDst = [&] {
      if (const Operand *v = next("a destination")) {
        op.dst = operand(*v, Ty::none);
        if (op.dst.kind != SrcKind::vector)
          need("expected a vector register as the destination");
      }
    };
    auto vectorData = [&](Src &s) {
      if (const Operand *v = next("data")) {
        s = operand(*v, Ty::none);
        if (s.kind != SrcKind::vector)
          need("expected a vector register as the data");
      }
    };
    auto scalarOrOff = [&](Src &s) {
      if (n >= o.size())
        return;
      s = operand(*o[n++], Ty::none);
      if (s.kind == SrcKind::scalar && s.index == sreg::zero)
        s.kind = SrcKind::none;
      if (s.kind == SrcKind::vector)
        need("expected a scalar register, or off");
    };
    switch (e.form) {
    case Form::global:
    case Form::flat:
    case Form::scratch: {
      // A returned value is a destination in front: the text has an operand more.
      bool flat = e.form == Form::flat;
      size_t without = flat ? 2 : 3;
      bool returns = atomic && (in.word("th").find("RETURN") != std::string_view::npos || in.has("glc") ||
                                (in.has("sc0") && image.target->family == Family::gfx940));
      if (atomic && o.size() > without + (flat && in.operands.back().kind == OperandKind::special))
        returns = flat ? returns : true;
      if (returns)
        op.flags |= returnsValue;
      if (load || returns)
        vectorDst();
      vectorOrOff(op.src[0]);
      if (!load)
        vectorData(op.src[1]);
      scalarOrOff(op.src[2]);
      if (e.form != Form::scratch && op.src[0].kind == SrcKind::none && op.src[2].kind == SrcKind::none)
        need("expected an address");
      if (flat && op.src[0].kind != SrcKind::vector)
        need("expected a vector register as the address");
      break;
    }
    case Form::buffer: {
      if (load) {
        vectorDst();
      } else {
        vectorData(op.src[1]);
        if (atomic && (in.has("glc") || in.has("sc0") || in.word("th").find("RETURN") != std::string_view::npos)) {
          op.dst = op.src[1];
          op.flags |= returnsValue;
        }
      }
      vectorOrOff(op.src[0]);
      scalarOrOff(op.src[2]);
      if (op.src[2].kind != SrcKind::scalar || op.src[2].words != 4)
        return need("expected four scalar registers as the resource");
      if (const Operand *v = next("a scalar offset"))
        op.src[3] = operand(*v, Ty::b32);
      if (op.src[3].kind == SrcKind::vector || op.src[3].kind == SrcKind::none)
        need("expected a scalar register or a constant as the offset");
      op.flags |= (in.has("offen") ? offsetEnable : 0u) | (in.has("idxen") ? indexEnable : 0u);
      break;
    }
    case Form::local: {
      bool returns = kind.returns;
      if (load || returns)
        vectorDst();
      if (returns)
        op.flags |= returnsValue;
      if (e.name.starts_with("ds_cmpst_") || e.name.starts_with("ds_mskor"))
        op.flags |= comparesFirst;
      vectorOrOff(op.src[0]);
      if (op.src[0].kind == SrcKind::none)
        return need("expected an address");
      unsigned data = load ? 0 : kind.two || kind.op == Atomic::cmpswap || kind.op == Atomic::mskor ? 2 : 1;
      for (unsigned i = 0; i < data; ++i)
        vectorData(op.src[1 + i]);
      op.nsrc = uint8_t(1 + data);
      op.scope = uint8_t(Scope::workgroup);
      if (kind.two) {
        int64_t unit = kind.bytes * (kind.stride64 ? 64 : 1);
        op.imm = in.number("offset0") * unit;
        op.imm2 = in.number("offset1") * unit;
      }
      break;
    }
    case Form::scalar: {
      const Operand *d = next("a destination");
      const Operand *b = next("an address");
      if (!d || !b)
        return;
      op.dst = operand(*d, Ty::none, true);
      op.src[0] = operand(*b, Ty::none);
      uint32_t width = e.sub & 0xff;
      if (op.dst.kind != SrcKind::scalar || op.src[0].kind != SrcKind::scalar || op.src[0].words < 2 ||
          op.dst.index + std::max(1u, width / 4) > sreg::sink + 16)
        return need("expected scalar registers");
      if (n < o.size()) {
        Src offset = operand(*o[n++], Ty::b32);
        if (offset.kind == SrcKind::constant)
          op.imm += int64_t(int32_t(offset.value));
        else
          op.src[1] = offset;
      }
      break;
    }
    default:
      break;
    }
    if (op.src[0].kind == SrcKind::vector && e.form == Form::scratch)
      op.src[0].words = 1;
    checkWidth(op, kind);
  }

  /// Registers that an access reaches although the text names fewer.
  void checkWidth(const Op &op, const AccessKind &kind) {
    if (op.entry->form == Form::scalar)
      return;
    uint32_t n = uint32_t(std::max(1, kind.bytes / 4)) * (kind.two ? 2 : 1);
    if (op.dst.kind == SrcKind::vector)
      vectorUse({.words = uint8_t(n), .index = op.dst.index});
    uint32_t data =
        uint32_t(std::max(1, kind.bytes / 4)) * (kind.op == Atomic::cmpswap && op.entry->form != Form::local ? 2 : 1);
    for (unsigned i : {1u, 2u})
      if (op.src[i].kind == SrcKind::vector)
        vectorUse({.words = uint8_t(data), .index = op.src[i].index});
  }

  Op instruction(const Instruction &in, bool second = false) {
    problem.clear();
    std::string_view opcode = in.opcode;
    std::string single;
    if (opcode.starts_with("v_dual_")) {
      single = "v_" + std::string(opcode.substr(7));
      opcode = single;
    }
    auto it = opcodes().find(opcode);
    if (it == opcodes().end())
      it = opcodes().find(in.mnemonic);
    if (it == opcodes().end())
      return refusal(&in, fmt::format("the emulator does not know {}", in.mnemonic));
    Op op;
    op.in = &in;
    op.entry = it->second;
    op.run = op.entry->run;
    op.compute = op.entry->compute;
    op.compare = op.entry->compare;
    op.sub = op.entry->sub;
    switch (op.entry->form) {
    case Form::plain:
      plain(in, op);
      op.scope = uint8_t(scopeOf(in, false));
      if (op.entry->name == "buffer_wbl2" && image.target->family == Family::gfx90a)
        op.scope = uint8_t(Scope::system); // the one write-back that gfx90a has
      break;
    case Form::branch: {
      if (op.entry->dst != Ty::none && !in.operands.empty())
        op.dst = operand(in.operands[0], op.entry->dst, true);
      if (op.entry->dst != Ty::none && op.dst.kind != SrcKind::scalar)
        need("expected a scalar register as the destination");
      const Operand *o = in.operands.empty() ? nullptr : &in.operands.back();
      if (o && o->kind == OperandKind::label)
        op.target = o->index;
      else
        need("expected a label of the text");
      break;
    }
    case Form::wait:
      waits(in, op);
      break;
    default:
      memory(in, op);
    }
    if (!in.second.empty() && !second && problem.empty()) {
      Op other = instruction(in.second[0], true);
      if (other.run == unknown)
        return refusal(&in, image.messages[other.target]);
      auto single = [](const Op &o) { return (o.compute || o.entry->name == "v_cndmask_b32"); };
      if (!single(op) || !single(other))
        need("expected a pair of instructions that compute");
      op.run = opcodes().at("v_dual")->run;
      op.target = uint32_t(image.second.size());
      image.second.push_back(std::move(other));
    }
    if (!problem.empty())
      return refusal(&in, fmt::format("cannot run {}: {}", in.mnemonic, problem));
    return op;
  }

public:
  /// Now that all are counted, AGPRs get their place behind the VGPRs.
  void placeAgprs() {
    auto place = [&](Src &s) {
      if (s.kind == SrcKind::vector && s.index >= agprBase)
        s.index += image.vgprs - agprBase;
    };
    for (auto *list : {&image.code, &image.second})
      for (Op &op : *list) {
        for (Src &s : op.src)
          place(s);
        place(op.dst);
      }
  }
};

} // namespace

const Entry *findEntry(std::string_view opcode, const Target &) {
  auto it = opcodes().find(opcode);
  return it == opcodes().end() ? nullptr : it->second;
}

uint32_t Image::at(uint64_t wanted) const {
  auto it = std::lower_bound(address.begin(), address.end(), wanted);
  return it != address.end() && *it == wanted ? uint32_t(it - address.begin()) : uint32_t(code.size());
}

Result<std::shared_ptr<Image>> decode(amdgcn::Module module, const Target &target, uint32_t device,
                                      AddressSpace &memory, std::vector<uint64_t> &owned) {
  auto image = std::make_shared<Image>();
  image->module = std::move(module);
  image->target = &target;
  Layout layout;
  if (auto ok = layout.place(*image, device, memory, owned); !ok)
    return tl::unexpected(ok.error());
  Decoder decoder(*image, layout);
  decoder.run();
  decoder.placeAgprs();
  return image;
}

} // namespace interlock::emu::gcn
