// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Cluster launch control: a running cluster cancels the launch of one that has not begun (PTX ISA
// "clusterlaunchcontrol.try_cancel", "clusterlaunchcontrol.query_cancel").
//
// The answer is opaque to programs. Here it is four words: x, y and z of the cancelled cluster's first CTA, and a mark.
// Which cluster is cancelled is the hardware's choice; the seed decides whether it is the next or the last to start.
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"

#include <fmt/format.h>

namespace interlock::emu {
namespace {

constexpr uint32_t canceledMark = 0xc1c00001, refusedMark = 0xc1c00000;

enum Sub : uint8_t { isCanceled, firstX, firstY, firstZ, firstAll };

/// src: destination, mbarrier; offset: the same.
Flow runTryCancel(Exec &x, const Code &c, LaneMask lanes) {
  Cluster &cluster = *x.cta().cluster;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    if (cluster.cancelRefused)
      return x.fault(c, lane, "expected no try_cancel after one whose answer was no");
    AsyncOp op;
    op.issuer = &x.cta();
    op.warp = &x.warp;
    op.lane = lane;
    op.code = &c;
    op.kind = AsyncOp::Kind::cancel;
    op.toKind = AddressKind::sharedCluster;
    op.to = (x.src(c.src[0])[lane] + uint64_t(c.offset[0])) & (window::size - 1);
    op.mbarrier = (x.src(c.src[1])[lane] + uint64_t(c.offset[1])) & (window::size - 1);
    op.signals = true;
    if (op.to % 16)
      return x.fault(c, lane, fmt::format("expected an address that is a multiple of 16, found {:#x}", op.to));
    if (c.flags) { // to every CTA of the cluster, none of which may have ended
      for (const auto &cta : cluster.ctas)
        if (cta->finished)
          return x.fault(c, lane,
                         fmt::format("expected all CTAs of the cluster to run, but that of rank {} has ended", cta->rank));
      op.multicast = (1u << cluster.ctas.size()) - 1;
    }
    x.engine.enqueue(std::move(op));
  }
  return Flow::next;
}

/// src: the answer's halves; dst: a predicate, or one or four registers.
Flow runQueryCancel(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *low = x.src(c.src[0]), *high = x.src(c.src[1]);
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    uint32_t first[4] = {uint32_t(low[lane]), uint32_t(low[lane] >> 32), uint32_t(high[lane]), 0};
    uint32_t mark = uint32_t(high[lane] >> 32);
    if (mark != canceledMark && mark != refusedMark)
      return x.fault(c, lane, "expected the answer to a try_cancel, found other bits");
    if (c.sub == isCanceled) {
      x.cta().cluster->cancelRefused |= mark == refusedMark;
      x.dst(c.dst[0])[lane] = mark == canceledMark;
    } else if (c.sub == firstAll) {
      for (unsigned i = 0; i < 4; ++i)
        x.dst(c.dst[i])[lane] = first[i];
    } else {
      x.dst(c.dst[0])[lane] = first[c.sub - firstX];
    }
  }
  return Flow::next;
}

bool decodeTryCancel(Decoder &d, const ptx::Instruction &in) {
  std::array<Slot, 2> src{};
  std::array<int64_t, 2> offset{};
  if (in.operands.size() != 2 || !in.has("mbarrier::complete_tx::bytes"))
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  for (size_t i = 0; i < 2; ++i)
    if (!d.address(in.operands[i], src[i], offset[i]))
      return false;
  Code &c = d.emit(in, runTryCancel);
  for (size_t i = 0; i < 2; ++i) {
    c.src[i] = src[i];
    c.offset[i] = offset[i];
  }
  c.proxy = Proxy::async;
  c.flags = in.has("multicast::cluster::all");
  return true;
}

} // namespace

std::optional<uint32_t> Engine::cancelCluster(Grid &grid) {
  if (grid.nextCluster == grid.endCluster)
    return std::nullopt;
  ++grid.finishedClusters;
  grid.ctasReleased += grid.clusterSize;
  pumpNeeded = true;
  return random.below(2) ? --grid.endCluster : grid.nextCluster++;
}

std::vector<uint8_t> Engine::answerToCancel(Grid &grid) {
  uint32_t words[4] = {0xdeadbeef, 0xdeadbeef, 0xdeadbeef, refusedMark};
  if (std::optional<uint32_t> cluster = cancelCluster(grid)) {
    const Dim3 &k = grid.config.cluster;
    uint32_t across = grid.config.grid.x / k.x, down = grid.config.grid.y / k.y;
    words[0] = *cluster % across * k.x;
    words[1] = *cluster / across % down * k.y;
    words[2] = *cluster / across / down * k.z;
    words[3] = canceledMark;
  }
  std::vector<uint8_t> bytes(sizeof words);
  std::memcpy(bytes.data(), words, sizeof words);
  return bytes;
}

bool decodeLaunchControl(Decoder &d, const ptx::Instruction &in) {
  if (in.has("try_cancel"))
    return decodeTryCancel(d, in);
  std::optional<Sub> sub;
  if (in.has("is_canceled"))
    sub = isCanceled;
  else if (in.has("get_first_ctaid::x"))
    sub = firstX;
  else if (in.has("get_first_ctaid::y"))
    sub = firstY;
  else if (in.has("get_first_ctaid::z"))
    sub = firstZ;
  else if (in.has("get_first_ctaid"))
    sub = firstAll;
  if (!in.has("query_cancel") || !sub || in.operands.size() != 2 || d.width(in.operands[1]) != 128)
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  std::array<Slot, 4> dst{sinkSlot, sinkSlot, sinkSlot, sinkSlot};
  const ptx::Operand &to = in.operands[0];
  if (*sub == firstAll) {
    if (to.kind != ptx::OperandKind::vector || to.elements.size() != 4)
      return d.fail("expected a vector of four registers for the first CTA");
    for (size_t i = 0; i < 4; ++i)
      dst[i] = d.dest(to.elements[i]);
  } else {
    dst[0] = d.dest(to);
  }
  Slot answer = d.value(in.operands[1], 64u);
  Code &c = d.emit(in, runQueryCancel);
  std::copy(dst.begin(), dst.end(), c.dst.begin());
  c.src[0] = answer;
  c.src[1] = answer + 1; // the upper half of a b128 register
  c.sub = *sub;
  return true;
}

} // namespace interlock::emu
