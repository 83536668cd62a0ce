// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Issue of asynchronous operations and waits for them: cp.async, cp.async.bulk, cp.reduce.async.bulk, st.async and
// red.async (PTX ISA "Data Movement and Conversion Instructions: Asynchronous copy", "st.async", "red.async").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Reduction.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

using ptx::Operand;
using ptx::OperandKind;

enum Flag : uint8_t {
  bulk = 1,
  signals = 2,
  multicast = 4,
  readOnly = 8,
  isReduce = 16,
  noIncrement = 32,
  masked = 64
};

AsyncOp makeOp(Exec &x, const Code &c, unsigned lane) {
  AsyncOp op;
  op.issuer = &x.cta();
  op.warp = &x.warp;
  op.lane = lane;
  op.code = &c;
  op.type = c.type;
  op.sub = c.sub;
  return op;
}

/// Generic addresses become addresses of the space that they lie in.
bool settleSpace(AddressKind &kind, uint64_t &address) {
  if (kind == AddressKind::generic)
    kind = address - window::shared < window::size ? AddressKind::sharedCluster : AddressKind::global;
  if (kind != AddressKind::global && address - window::shared < window::size)
    address &= window::size - 1;
  return true;
}

/// src: destination, source, size, mbarrier, cta mask or byte mask; offset: the same for the addresses.
Flow runBulk(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    AsyncOp op = makeOp(x, c, lane);
    op.kind = c.flags & isReduce ? AsyncOp::Kind::reduce : AsyncOp::Kind::copy;
    op.toKind = c.space;
    op.fromKind = c.space2;
    op.to = x.src(c.src[0])[lane] + uint64_t(c.offset[0]);
    op.from = x.src(c.src[1])[lane] + uint64_t(c.offset[1]);
    op.bytes = uint32_t(x.src(c.src[2])[lane]);
    settleSpace(op.toKind, op.to);
    settleSpace(op.fromKind, op.from);
    if (op.bytes % 16 || op.to % 16 || op.from % 16)
      return x.fault(c, lane,
                     fmt::format("expected a bulk copy of whole 16-byte packets, found {} bytes from {:#x} to "
                                 "{:#x}",
                                 op.bytes, op.from, op.to));
    if (c.flags & signals) {
      op.signals = true;
      op.mbarrier = (x.src(c.src[3])[lane] + uint64_t(c.offset[3])) & (window::size - 1);
      if (c.flags & multicast)
        op.multicast = uint32_t(x.src(c.src[4])[lane] & 0xffff);
      if (c.flags & multicast && (op.multicast == 0 || op.multicast >> x.cta().cluster->ctas.size()))
        return x.fault(c, lane,
                       fmt::format("expected a mask of the {} CTAs of the cluster, found {:#x}",
                                   x.cta().cluster->ctas.size(), op.multicast));
    } else {
      op.group = AsyncOp::Group::bulk;
    }
    if (c.flags & masked)
      op.byteMask = x.src(c.src[4])[lane] & 0xffff;
    x.engine.enqueue(std::move(op));
  }
  return Flow::next;
}

/// src: destination, source, source size; bytes: the copy's size.
Flow runCopyAsync(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    AsyncOp op = makeOp(x, c, lane);
    op.group = AsyncOp::Group::copies;
    op.toKind = c.space;
    op.fromKind = c.space2;
    op.to = x.src(c.src[0])[lane] + uint64_t(c.offset[0]);
    op.from = x.src(c.src[1])[lane] + uint64_t(c.offset[1]);
    uint64_t given = c.nsrc > 2 ? x.src(c.src[2])[lane] & 0xffffffff : c.bytes;
    if (c.flags & masked) // ignore-src
      given = x.src(c.src[2])[lane] & 1 ? 0 : c.bytes;
    if (given > c.bytes)
      return x.fault(c, lane, fmt::format("expected a source size of at most {}, found {}", unsigned(c.bytes), given));
    settleSpace(op.toKind, op.to);
    settleSpace(op.fromKind, op.from);
    if (op.to % c.bytes || op.from % c.bytes)
      return x.fault(c, lane,
                     fmt::format("expected addresses that are multiples of {}, found {:#x} and {:#x}",
                                 unsigned(c.bytes), op.from, op.to));
    op.bytes = uint32_t(given);
    op.zeroFill = uint32_t(c.bytes - given);
    x.engine.enqueue(std::move(op));
  }
  return Flow::next;
}

/// src: destination, mbarrier, then the values.
Flow runStoreAsync(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    AsyncOp op = makeOp(x, c, lane);
    op.kind = c.flags & isReduce ? AsyncOp::Kind::reduce : AsyncOp::Kind::store;
    op.read = true;
    op.toKind = c.space;
    op.to = x.src(c.src[0])[lane] + uint64_t(c.offset[0]);
    settleSpace(op.toKind, op.to);
    op.bytes = uint32_t(c.bytes) * c.n;
    if (op.to % op.bytes)
      return x.fault(c, lane,
                     fmt::format("expected an address that is a multiple of {}, found {:#x}", op.bytes, op.to));
    op.data.resize(op.bytes);
    for (unsigned i = 0; i < c.n; ++i)
      std::memcpy(op.data.data() + i * c.bytes, &x.src(c.src[2 + i])[lane], c.bytes);
    if (c.flags & signals) {
      op.signals = true;
      op.mbarrier = (x.src(c.src[1])[lane] + uint64_t(c.offset[1])) & (window::size - 1);
    }
    x.engine.enqueue(std::move(op));
  }
  return Flow::next;
}

Flow runCommit(Exec &x, const Code &c, LaneMask lanes) {
  WarpAsync &state = x.warp.asyncState();
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    (c.flags & bulk ? state.bulk : state.copies)[lane].commit();
  }
  x.observeSyncs(c, SyncKind::groupCommit, lanes);
  return Flow::next;
}

/// offset[0]: groups that may be pending; -1 for wait_all, which commits first.
Flow runWaitGroup(Exec &x, const Code &c, LaneMask lanes) {
  WarpAsync &state = x.warp.asyncState();
  bool isBulk = c.flags & bulk, again = x.group->wait.kind != WaitKind::none;
  for (LaneMask m = lanes; m; m &= m - 1) {
    AsyncGroups &groups = (isBulk ? state.bulk : state.copies)[std::countr_zero(m)];
    if (c.offset[0] < 0 && !again)
      groups.commit();
    if (!groups.done(c.offset[0] < 0 ? 0 : uint64_t(c.offset[0]), c.flags & readOnly))
      return x.block(isBulk ? WaitKind::bulkGroup : WaitKind::asyncGroup, uint64_t(std::max<int64_t>(0, c.offset[0])));
  }
  x.group->wait = {};
  x.observeSyncs(c, SyncKind::groupWait, lanes, c.flags & readOnly, uint64_t(c.offset[0]));
  return Flow::next;
}

/// cp.async.mbarrier.arrive: an arrival that happens when the thread's earlier cp.async are complete.
Flow runCopyArrive(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    AsyncOp op = makeOp(x, c, lane);
    op.kind = AsyncOp::Kind::arrive;
    op.mbarrier = (x.src(c.src[0])[lane] + uint64_t(c.offset[0])) & (window::size - 1);
    op.read = true;
    Place p;
    if (!x.place(c, AddressKind::shared, op.mbarrier, 8, 8, lane, p))
      return Flow::fault;
    if (!(c.flags & noIncrement)) {
      std::string why = x.engine.mbarrierIncrement(p.host);
      if (!why.empty())
        return x.fault(c, lane, why);
    }
    x.engine.enqueue(std::move(op));
  }
  return Flow::next;
}

/// The spaces of an instruction in the order in which they stand.
std::vector<AddressKind> spacesOf(const ptx::Instruction &in) {
  std::vector<AddressKind> out;
  for (std::string_view mod : in.mods) {
    if (mod == "global")
      out.push_back(AddressKind::global);
    else if (mod == "shared" || mod == "shared::cta")
      out.push_back(AddressKind::shared);
    else if (mod == "shared::cluster")
      out.push_back(AddressKind::sharedCluster);
  }
  return out;
}

bool decodeGroup(Decoder &d, const ptx::Instruction &in, bool isBulk) {
  if (in.has("commit_group")) {
    d.emit(in, runCommit).flags = isBulk ? bulk : 0;
    return true;
  }
  int64_t keep = -1;
  if (in.has("wait_group")) {
    if (in.operands.size() != 1 || !in.operands[0].isImmediate())
      return d.fail("expected wait_group to have a constant");
    keep = int64_t(in.operands[0].bits);
  }
  Code &c = d.emit(in, runWaitGroup);
  c.flags = uint8_t((isBulk ? bulk : 0) | (in.has("read") ? readOnly : 0));
  c.offset[0] = keep;
  return true;
}

bool decodeBulk(Decoder &d, const ptx::Instruction &in) {
  auto spaces = spacesOf(in);
  bool reduces = in.has("reduce"), mbar = in.has("mbarrier::complete_tx::bytes"), group = in.has("bulk_group");
  if (in.has("tensor") || spaces.size() != 2 || mbar == group)
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  auto op = reductionOf(in);
  ptx::Type type = in.type();
  if (reduces && (!op || !reductionKnows(*op, type) || *op >= Reduction::exch))
    if (!op || !(*op >= Reduction::bitAnd && *op <= Reduction::bitXor && ptx::bitWidth(type) >= 32))
      return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  size_t need = mbar ? 4 : 3;
  if (in.operands.size() < need)
    return d.fail(fmt::format("expected {} operands on {}", need, in.mnemonic()));
  std::array<Slot, 9> src{};
  std::array<int64_t, 4> offset{};
  if (!d.address(in.operands[0], src[0], offset[0]) || !d.address(in.operands[1], src[1], offset[1]) ||
      (mbar && !d.address(in.operands[3], src[3], offset[3])))
    return false;
  src[2] = d.value(in.operands[2], 32u);
  bool multi = in.has("multicast::cluster"), byteMask = in.has("cp_mask");
  if (multi || byteMask) {
    size_t at = multi ? 4 : in.operands.size() - 1;
    if (in.operands.size() <= at)
      return d.fail(fmt::format("expected a mask on {}", in.mnemonic()));
    src[4] = d.value(in.operands[at], 16u);
  }
  Code &c = d.emit(in, runBulk);
  c.proxy = Proxy::async;
  c.space = spaces[0];
  c.space2 = spaces[1];
  c.src = src;
  c.offset = offset;
  c.type = type;
  c.sub = uint8_t(op.value_or(Reduction::add));
  c.flags = uint8_t(bulk | (mbar ? signals : 0) | (multi ? multicast : 0) | (reduces ? isReduce : 0) |
                    (byteMask ? masked : 0));
  return true;
}

} // namespace

bool decodeCopyAsync(Decoder &d, const ptx::Instruction &in) {
  bool isBulk = in.has("bulk");
  if (in.has("commit_group") || in.has("wait_group") || in.has("wait_all"))
    return decodeGroup(d, in, isBulk);
  if (isBulk && in.has("prefetch"))
    return decodeNothing(d, in);
  if (isBulk)
    return decodeBulk(d, in);
  if (in.has("mbarrier")) {
    Slot base;
    int64_t offset;
    if (in.operands.size() != 1 || !d.address(in.operands[0], base, offset))
      return d.fail("expected cp.async.mbarrier.arrive to have an address");
    Code &c = d.emit(in, runCopyArrive);
    c.src[0] = base;
    c.offset[0] = offset;
    c.flags = in.has("noinc") ? noIncrement : 0;
    return true;
  }
  auto spaces = spacesOf(in);
  if (!in.has("async") || spaces.size() != 2 || in.operands.size() < 3 || !in.operands[2].isImmediate())
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  uint64_t bytes = in.operands[2].bits;
  if (bytes != 4 && bytes != 8 && bytes != 16)
    return d.fail(fmt::format("expected cp.async of 4, 8 or 16 bytes, found {}", bytes));
  std::array<Slot, 9> src{};
  std::array<int64_t, 4> offset{};
  if (!d.address(in.operands[0], src[0], offset[0]) || !d.address(in.operands[1], src[1], offset[1]))
    return false;
  // What follows the size is the source size (or ignore-src, a predicate), then a cache policy, which is 64 bits wide.
  bool hasSize = false, ignore = false;
  if (in.operands.size() > 3 && !(in.has("L2::cache_hint") && in.operands.size() == 4)) {
    const Operand &o = in.operands[3];
    ignore = d.width(o) == 1;
    hasSize = true;
    src[2] = d.value(o, 32u);
  }
  Code &c = d.emit(in, runCopyAsync);
  c.space = spaces[0];
  c.space2 = spaces[1];
  c.src = src;
  c.offset = offset;
  c.bytes = uint8_t(bytes);
  c.nsrc = hasSize && !ignore ? 3 : 2;
  c.flags = ignore ? masked : 0;
  return true;
}

bool decodeStoreAsync(Decoder &d, const ptx::Instruction &in) {
  bool reduces = in.opcode == "red", mbar = in.has("mbarrier::complete_tx::bytes");
  auto op = reductionOf(in);
  ptx::Type type = in.type();
  unsigned bits = ptx::bitWidth(type);
  if (in.operands.size() < (mbar ? 3u : 2u) || bits < 8 || bits > 64 || (reduces && !op))
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  std::array<Slot, 9> src{};
  std::array<int64_t, 4> offset{};
  if (!d.address(in.operands[0], src[0], offset[0]) || (mbar && !d.address(in.operands[2], src[1], offset[1])))
    return false;
  const Operand &value = in.operands[1];
  unsigned n = 1;
  if (value.kind == OperandKind::vector) {
    n = unsigned(value.elements.size());
    if (n == 0 || n > 4)
      return d.fail("expected at most 4 elements in a vector");
    for (unsigned i = 0; i < n; ++i)
      src[2 + i] = d.value(value.elements[i], type);
  } else {
    src[2] = d.value(value, type);
  }
  Code &c = d.emit(in, runStoreAsync);
  decodeQualifiers(in, c);
  c.space = addressKind(in);
  c.src = src;
  c.offset = offset;
  c.n = uint8_t(n);
  c.bytes = uint8_t(bits / 8);
  c.type = type;
  c.sub = uint8_t(op.value_or(Reduction::add));
  c.flags = uint8_t((mbar ? signals : 0) | (reduces ? isReduce : 0));
  return true;
}

} // namespace interlock::emu
