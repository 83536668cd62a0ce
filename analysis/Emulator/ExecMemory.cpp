// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// ld, st and fences (PTX ISA "ld", "st", "membar / fence").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

#include <atomic>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

uint64_t widthMask(unsigned bits) { return bits >= 64 ? ~uint64_t(0) : (uint64_t(1) << bits) - 1; }

/// The usual case at once: every lane's bytes lie in the allocation that this instruction touched last, or in the own
/// CTA's shared memory, and nobody observes. False if the lanes have to be looked at one by one.
bool placeAll(const Exec &x, const Code &c, LaneMask lanes, const uint64_t *base, uint32_t bytes,
              uint8_t *(&hosts)[warpLanes]) {
  if (x.engine.observer)
    return false;
  Span span;
  uint64_t first = base[std::countr_zero(lanes)] + uint64_t(c.offset[0]);
  if (c.space == AddressKind::shared) {
    span = x.cta().sharedSpan;
  } else if (c.space == AddressKind::generic && first - window::shared < (1u << sharedRankShift)) {
    span = x.cta().sharedSpan;
    span.begin += window::shared;
    span.end += window::shared;
  } else if (c.space == AddressKind::global || c.space == AddressKind::generic) {
    span = c.cache;
  }
  if (span.end < span.begin + bytes)
    return false;
  uint64_t limit = span.end - span.begin - bytes, bad = 0, offset = uint64_t(c.offset[0]);
  auto one = [&](unsigned lane) {
    uint64_t address = base[lane] + offset, at = address - span.begin;
    bad |= (address & (bytes - 1)) | uint64_t(at > limit);
    hosts[lane] = span.host + at;
  };
  if (lanes == ~LaneMask(0))
    for (unsigned lane = 0; lane < warpLanes; ++lane)
      one(lane);
  else
    for (LaneMask m = lanes; m; m &= m - 1)
      one(unsigned(std::countr_zero(m)));
  return bad == 0;
}

/// Strong accesses are atomic and ordered for other processes too, which may share the memory (Machine::map).
template <typename T, bool strong> T loadFrom(const uint8_t *host) {
  if constexpr (strong)
    return __atomic_load_n(reinterpret_cast<const T *>(host), __ATOMIC_ACQUIRE);
  T raw;
  std::memcpy(&raw, host, sizeof(T));
  return raw;
}
template <typename T, bool strong> void storeTo(uint8_t *host, T value) {
  if constexpr (strong)
    __atomic_store_n(reinterpret_cast<T *>(host), value, __ATOMIC_RELEASE);
  else
    std::memcpy(host, &value, sizeof(T));
}

template <typename T, bool strong> Flow runLoad(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *base = x.src(c.src[0]);
  uint64_t keep = widthMask(c.dstBits);
  uint32_t bytes = uint32_t(sizeof(T)) * c.n;
  // Addresses first: a destination register may hold them.
  uint8_t *hosts[warpLanes];
  if (!placeAll(x, c, lanes, base, bytes, hosts)) {
    for (LaneMask m = lanes; m; m &= m - 1) {
      unsigned lane = unsigned(std::countr_zero(m));
      Place p;
      if (!x.place(c, c.space, base[lane] + uint64_t(c.offset[0]), bytes, bytes, lane, p))
        return Flow::fault;
      hosts[lane] = p.host;
      x.observe(c, p, AccessKind::load, bytes, lane);
    }
  }
  for (unsigned i = 0; i < c.n; ++i) {
    uint64_t *d = x.dst(c.dst[i]);
    auto one = [&](unsigned lane) {
      T raw = loadFrom<T, strong>(hosts[lane] + i * sizeof(T));
      d[lane] = c.signExtend ? uint64_t(int64_t(std::make_signed_t<T>(raw))) & keep : uint64_t(raw);
    };
    if (lanes == ~LaneMask(0))
      for (unsigned lane = 0; lane < warpLanes; ++lane)
        one(lane);
    else
      for (LaneMask m = lanes; m; m &= m - 1)
        one(unsigned(std::countr_zero(m)));
  }
  return Flow::next;
}

template <typename T, bool strong> Flow runStore(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *base = x.src(c.src[0]);
  uint32_t bytes = uint32_t(sizeof(T)) * c.n;
  uint8_t *hosts[warpLanes];
  if (!placeAll(x, c, lanes, base, bytes, hosts)) {
    for (LaneMask m = lanes; m; m &= m - 1) {
      unsigned lane = unsigned(std::countr_zero(m));
      Place p;
      if (!x.place(c, c.space, base[lane] + uint64_t(c.offset[0]), bytes, bytes, lane, p))
        return Flow::fault;
      if (p.readOnly)
        return x.fault(c, lane, "expected kernel parameters only to be read");
      hosts[lane] = p.host;
      x.observe(c, p, AccessKind::store, bytes, lane);
    }
  }
  // Lane after lane: where lanes store to one address, the highest one's whole vector stays.
  const uint64_t *values[8];
  for (unsigned i = 0; i < c.n; ++i)
    values[i] = x.src(c.src[1 + i]);
  T changed = 0;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    for (unsigned i = 0; i < c.n; ++i) {
      T value = T(values[i][lane]), old = loadFrom<T, false>(hosts[lane] + i * sizeof(T));
      changed |= T(old ^ value);
      storeTo<T, strong>(hosts[lane] + i * sizeof(T), value);
    }
  }
  if (changed)
    x.engine.progress();
  return Flow::next;
}

Flow runFence(Exec &x, const Code &c, LaneMask lanes) {
  std::atomic_thread_fence(std::memory_order_seq_cst); // for other processes; in this one all is in order anyway
  x.observeSyncs(c, c.flags ? SyncKind::proxyFence : SyncKind::fence, lanes);
  return Flow::next;
}

Handler pick(const Handler (&bySize)[4], unsigned bytes) { return bySize[std::countr_zero(bytes)]; }
template <bool strong>
constexpr Handler loads[4] = {runLoad<uint8_t, strong>, runLoad<uint16_t, strong>, runLoad<uint32_t, strong>,
                              runLoad<uint64_t, strong>};
template <bool strong>
constexpr Handler stores[4] = {runStore<uint8_t, strong>, runStore<uint16_t, strong>, runStore<uint32_t, strong>,
                               runStore<uint64_t, strong>};
bool isStrong(const ptx::Instruction &in) {
  Code code{};
  decodeQualifiers(in, code);
  return code.sem != Sem::weak;
}

/// Slots of the registers of a vector operand (or of a single one); 128-bit elements have two.
bool elements(Decoder &d, const Operand &o, ptx::Type type, bool isDest, std::array<Slot, 8> &slots, unsigned at,
              unsigned &n) {
  std::vector<const Operand *> list;
  if (o.kind == OperandKind::vector)
    for (const Operand &e : o.elements)
      list.push_back(&e);
  else
    list.push_back(&o);
  bool wide = type == ptx::Type::b128;
  bool whole = o.kind == OperandKind::reg && !o.component && d.source.registers[o.index].lanes > 1;
  unsigned lanes = whole ? d.source.registers[o.index].lanes : 1;
  for (const Operand *e : list)
    for (unsigned half = 0; half < (wide ? 2u : lanes); ++half) {
      if (at + n >= slots.size())
        return d.fail("expected at most 8 elements of 32 bits in a vector");
      Slot slot = isDest ? d.dest(*e) : d.value(*e, type);
      slots[at + n++] = slot == sinkSlot || slot < 0 ? slot : slot + Slot(half);
    }
  return true;
}

} // namespace

AddressKind addressKind(const ptx::Instruction &in, AddressKind none) {
  for (std::string_view mod : in.mods) {
    if (mod == "global")
      return AddressKind::global;
    if (mod == "shared" || mod == "shared::cta")
      return AddressKind::shared;
    if (mod == "shared::cluster")
      return AddressKind::sharedCluster;
    if (mod == "local")
      return AddressKind::local;
    if (mod == "param" || mod == "param::entry" || mod == "param::func")
      return AddressKind::param;
    if (mod == "const")
      return AddressKind::constant;
  }
  return none;
}

void decodeQualifiers(const ptx::Instruction &in, Code &code) {
  for (std::string_view mod : in.mods) {
    if (mod == "relaxed")
      code.sem = Sem::relaxed;
    else if (mod == "acquire")
      code.sem = Sem::acquire;
    else if (mod == "release")
      code.sem = Sem::release;
    else if (mod == "acq_rel")
      code.sem = Sem::acqRel;
    else if (mod == "sc")
      code.sem = Sem::sc;
    else if (mod == "volatile")
      code.sem = Sem::isVolatile, code.scope = Scope::sys;
    else if (mod == "cta")
      code.scope = Scope::cta;
    else if (mod == "cluster")
      code.scope = Scope::cluster;
    else if (mod == "gpu")
      code.scope = Scope::gpu;
    else if (mod == "sys")
      code.scope = Scope::sys;
  }
}

bool decodeLoad(Decoder &d, const ptx::Instruction &in) {
  if (in.operands.size() < 2)
    return d.fail("expected ld to have a destination and an address");
  Slot base;
  int64_t offset;
  if (!d.address(in.operands[1], base, offset))
    return false;
  ptx::Type type = in.type();
  unsigned bits = type == ptx::Type::b128 ? 64 : ptx::bitWidth(type);
  if (bits < 8)
    return d.fail("expected a type of at least 8 bits on ld");
  std::array<Slot, 8> dst{};
  unsigned n = 0;
  if (!elements(d, in.operands[0], type, true, dst, 0, n))
    return false;
  const Operand &first = in.operands[0].kind == OperandKind::vector ? in.operands[0].elements[0] : in.operands[0];
  unsigned width = d.width(first);
  if ((n & (n - 1)) || n * bits > 256)
    return d.fail("expected 1, 2, 4 or 8 elements and at most 32 bytes");
  Code &c = d.emit(in, pick(isStrong(in) ? loads<true> : loads<false>, bits / 8));
  c.space = addressKind(in);
  decodeQualifiers(in, c);
  c.dst = dst;
  c.src[0] = base;
  c.offset[0] = offset;
  c.n = uint8_t(n);
  c.bytes = uint8_t(bits / 8);
  c.signExtend = ptx::isSigned(type);
  c.dstBits = uint8_t(width ? width : 64);
  c.poll = c.sem != Sem::weak || in.has("cv") || in.has("cg");
  c.type = type;
  return true;
}

bool decodeStore(Decoder &d, const ptx::Instruction &in) {
  if (in.has("async"))
    return decodeStoreAsync(d, in);
  if (in.has("bulk"))
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  if (in.operands.size() < 2)
    return d.fail("expected st to have an address and a value");
  Slot base;
  int64_t offset;
  if (!d.address(in.operands[0], base, offset))
    return false;
  ptx::Type type = in.type();
  unsigned bits = type == ptx::Type::b128 ? 64 : ptx::bitWidth(type);
  if (bits < 8)
    return d.fail("expected a type of at least 8 bits on st");
  std::array<Slot, 8> values{};
  unsigned n = 0;
  if (!elements(d, in.operands[1], type, false, values, 0, n))
    return false;
  if ((n & (n - 1)) || n * bits > 256)
    return d.fail("expected 1, 2, 4 or 8 elements and at most 32 bytes");
  Code &c = d.emit(in, pick(isStrong(in) ? stores<true> : stores<false>, bits / 8));
  c.space = addressKind(in);
  decodeQualifiers(in, c);
  c.src[0] = base;
  for (unsigned i = 0; i < n; ++i)
    c.src[1 + i] = values[i];
  c.offset[0] = offset;
  c.n = uint8_t(n);
  c.bytes = uint8_t(bits / 8);
  c.type = type;
  return true;
}

bool decodeFence(Decoder &d, const ptx::Instruction &in) {
  Code &c = d.emit(in, runFence);
  decodeQualifiers(in, c);
  if (in.opcode == "membar") {
    c.sem = Sem::sc;
    c.scope = in.has("sys") ? Scope::sys : in.has("gl") || in.has("gpu") ? Scope::gpu : Scope::cta;
  } else if (c.sem == Sem::weak) {
    c.sem = Sem::acqRel; // "If no .sem is specified, .acq_rel is assumed"
  }
  for (std::string_view mod : in.mods)
    if (mod.substr(0, 5) == "proxy" || mod.substr(0, 5) == "async" || mod == "alias") {
      c.flags = 1;
      c.proxy = mod.find("tensormap") != mod.npos ? Proxy::tensormap
                : mod.find("alias") != mod.npos   ? Proxy::alias
                                                  : Proxy::async;
    }
  return true;
}

} // namespace interlock::emu
