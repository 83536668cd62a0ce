// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// mbarrier.* (PTX ISA "Parallel Synchronization and Communication Instructions: mbarrier").
#include "analysis/Emulator/Decoder.h"
#include "analysis/Emulator/Exec.h"
#include "analysis/Emulator/Mbarrier.h"

#include <fmt/format.h>

namespace interlock::emu {

std::string Mbarrier::transact(int64_t bytes) {
  int64_t sum = tx + bytes;
  if (sum > int64_t(maxCount) || sum < -int64_t(maxCount))
    return fmt::format("expected the mbarrier's tx-count to stay within 2^20 - 1, found {}", sum);
  tx = int32_t(sum);
  return {};
}

std::string Mbarrier::arrive(uint32_t count, bool drop) {
  if (count == 0 || count > pending)
    return fmt::format(
        "expected an arrival count of 1 to the {} arrivals that the mbarrier's phase still misses, found {}", pending,
        count);
  if (drop)
    expected -= std::min(expected, count);
  pending -= count;
  return {};
}

namespace {

using ptx::OperandKind;

enum Sub : uint8_t { init, inval, expectTx, completeTx, arrive, arriveDrop, testWait, tryWait, pendingCount };
enum Flag : uint8_t { parity = 1, withExpect = 2, noComplete = 4, hasCount = 8 };

/// Waiters look again when a phase has ended.
void store(Engine &engine, Cta &owner, uint8_t *host, Mbarrier &b, bool ended) {
  uint64_t word = b.pack();
  std::memcpy(host, &word, 8);
  engine.progress();
  if (ended)
    engine.wake(owner, WaitKind::mbarrier);
}

/// The mbarrier at a lane's address. Forms that only reach the own CTA refuse a peer's.
bool load(Exec &x, const Code &c, unsigned lane, Place &p, Mbarrier &b) {
  if (!x.place(c, c.space, x.src(c.src[0])[lane] + uint64_t(c.offset[0]), 8, 8, lane, p))
    return false;
  if (p.space != MemorySpace::shared || (c.space != AddressKind::sharedCluster && p.owner != &x.cta())) {
    x.fault(c, lane,
            p.space == MemorySpace::shared
                ? fmt::format("expected an mbarrier of the own CTA, found one of CTA {} of the cluster; the "
                              ".shared::cluster form reaches it",
                              p.owner->rank)
                : std::string("expected an mbarrier in shared memory"));
    return false;
  }
  uint64_t word;
  std::memcpy(&word, p.host, 8);
  b = Mbarrier::unpack(word);
  if (!b.valid && c.sub != init) {
    x.fault(c, lane,
            fmt::format("expected an initialised mbarrier at shared address {:#x}",
                        x.src(c.src[0])[lane] + uint64_t(c.offset[0])));
    return false;
  }
  return true;
}

Flow runChange(Exec &x, const Code &c, LaneMask lanes) {
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    Place p;
    Mbarrier b;
    if (!load(x, c, lane, p, b))
      return Flow::fault;
    uint64_t operand = c.flags & hasCount ? x.src(c.src[1])[lane] & 0xffffffff : 1;
    uint64_t before = b.pack();
    std::string why;
    bool ended = false;
    switch (c.sub) {
    case init:
      if (operand == 0 || operand > Mbarrier::maxCount)
        return x.fault(c, lane, fmt::format("expected an mbarrier count of 1 to 2^20 - 1, found {}", operand));
      b = Mbarrier();
      b.valid = true;
      b.pending = b.expected = uint32_t(operand);
      x.observeSync(c, SyncKind::mbarrierInit, lane, p.observed, operand);
      break;
    case inval:
      b.valid = false;
      x.observeSync(c, SyncKind::mbarrierInval, lane, p.observed);
      break;
    case expectTx:
      why = b.transact(int64_t(operand));
      ended = why.empty() && b.settle();
      x.observeSync(c, SyncKind::mbarrierExpect, lane, p.observed, operand);
      break;
    case completeTx:
      why = b.transact(-int64_t(operand));
      ended = why.empty() && b.settle();
      x.observeSync(c, SyncKind::mbarrierComplete, lane, p.observed, operand);
      break;
    default: {
      uint32_t count = c.flags & withExpect ? 1 : uint32_t(operand);
      if (c.flags & withExpect) {
        why = b.transact(int64_t(operand));
        x.observeSync(c, SyncKind::mbarrierExpect, lane, p.observed, operand);
      }
      if (why.empty())
        why = b.arrive(count, c.sub == arriveDrop);
      x.observeSync(c, SyncKind::mbarrierArrive, lane, p.observed, count);
      if (why.empty())
        ended = b.settle();
      if (ended && c.flags & noComplete)
        why = "expected an arrival with .noComplete not to complete the phase";
      x.dst(c.dst[0])[lane] = before;
    }
    }
    if (!why.empty())
      return x.fault(c, lane, why);
    store(x.engine, *p.owner, p.host, b, ended);
  }
  return Flow::next;
}

Flow runWait(Exec &x, const Code &c, LaneMask lanes) {
  bool again = x.group->wait.kind == WaitKind::mbarrier;
  bool late = again && x.engine.now() >= x.group->wait.until;
  LaneMask done = 0;
  uint64_t address = 0, phase = 0, hint = 0;
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    Place p;
    Mbarrier b;
    if (!load(x, c, lane, p, b))
      return Flow::fault;
    uint64_t operand = x.src(c.src[1])[lane];
    bool waited = c.flags & parity ? operand & 1 : Mbarrier::unpack(operand).phase;
    if (b.phase != waited) {
      done |= m & -m;
    } else {
      address = x.src(c.src[0])[lane] + uint64_t(c.offset[0]);
      phase = waited;
      if (c.flags & hasCount)
        hint = x.src(c.src[2])[lane] & 0xffffffff;
    }
  }
  // try_wait suspends the thread for a time that the machine chooses; lanes that are through go on with the others.
  if (c.sub == tryWait && done != lanes && !late) {
    uint64_t until = again ? x.group->wait.until : x.engine.now() + (hint ? hint : 10000);
    return x.block(WaitKind::mbarrier, address, phase, until);
  }
  x.group->wait = {};
  uint64_t *d = x.dst(c.dst[0]);
  for (LaneMask m = lanes; m; m &= m - 1) {
    unsigned lane = unsigned(std::countr_zero(m));
    d[lane] = done >> lane & 1;
    if (x.engine.observer && (done >> lane & 1)) {
      Place p;
      Mbarrier b;
      if (load(x, c, lane, p, b))
        x.observeSync(c, SyncKind::mbarrierWait, lane, p.observed);
    }
  }
  return Flow::next;
}

Flow runPendingCount(Exec &x, const Code &c, LaneMask lanes) {
  const uint64_t *s = x.src(c.src[0]);
  uint64_t *d = x.dst(c.dst[0]);
  for (LaneMask m = lanes; m; m &= m - 1)
    d[std::countr_zero(m)] = Mbarrier::unpack(s[std::countr_zero(m)]).pending;
  return Flow::next;
}

} // namespace

std::string Engine::mbarrierTransaction(Cta &owner, uint8_t *host, int64_t expect) {
  uint64_t word;
  std::memcpy(&word, host, 8);
  Mbarrier b = Mbarrier::unpack(word);
  if (!b.valid)
    return "expected an initialised mbarrier";
  std::string why = b.transact(expect);
  if (why.empty())
    store(*this, owner, host, b, b.settle());
  return why;
}

std::string Engine::mbarrierArrive(Cta &owner, uint8_t *host) {
  uint64_t word;
  std::memcpy(&word, host, 8);
  Mbarrier b = Mbarrier::unpack(word);
  if (!b.valid)
    return "expected an initialised mbarrier";
  std::string why = b.arrive(1, false);
  if (why.empty())
    store(*this, owner, host, b, b.settle());
  return why;
}

bool decodeMbarrier(Decoder &d, const ptx::Instruction &in) {
  size_t n = in.operands.size();
  uint8_t flags = 0;
  Sub sub;
  if (in.has("init"))
    sub = init;
  else if (in.has("inval"))
    sub = inval;
  else if (in.has("arrive"))
    sub = arrive;
  else if (in.has("arrive_drop"))
    sub = arriveDrop;
  else if (in.has("expect_tx"))
    sub = expectTx;
  else if (in.has("complete_tx"))
    sub = completeTx;
  else if (in.has("test_wait"))
    sub = testWait;
  else if (in.has("try_wait"))
    sub = tryWait;
  else if (in.has("pending_count"))
    sub = pendingCount;
  else
    return d.fail(fmt::format("the emulator does not know {}", in.mnemonic()));
  if (sub == pendingCount) {
    if (n != 2)
      return d.fail("expected mbarrier.pending_count to have two operands");
    Slot to = d.dest(in.operands[0]), state = d.value(in.operands[1], 64u);
    Code &c = d.emit(in, runPendingCount);
    c.dst[0] = to;
    c.src[0] = state;
    return true;
  }
  bool hasDest = sub >= arrive;
  size_t at = hasDest ? 1 : 0;
  if (n <= at)
    return d.fail(fmt::format("expected more operands on {}", in.mnemonic()));
  // A remote arrive may be written without its destination.
  if (hasDest && in.operands[0].kind == OperandKind::address)
    hasDest = false, at = 0;
  Slot base, to = hasDest ? d.dest(in.operands[0]) : sinkSlot;
  int64_t offset;
  if (!d.address(in.operands[at], base, offset))
    return false;
  bool wait = sub == testWait || sub == tryWait;
  if ((wait || sub == init || sub == expectTx || sub == completeTx) && n < at + 2)
    return d.fail(fmt::format("expected more operands on {}", in.mnemonic()));
  Slot operand = n > at + 1 ? d.value(in.operands[at + 1], wait && !in.has("parity") ? 64u : 32u) : 0;
  Slot hint = wait && n > at + 2 ? d.value(in.operands[at + 2], 32u) : 0;
  if (wait ? n > at + 2 : n > at + 1)
    flags |= hasCount;
  if (in.has("parity"))
    flags |= parity;
  if (in.has("expect_tx") && sub != expectTx)
    flags |= withExpect;
  if (in.has("noComplete"))
    flags |= noComplete;
  Code &c = d.emit(in, wait ? runWait : runChange);
  decodeQualifiers(in, c);
  if (c.sem == Sem::weak && (sub == arrive || sub == arriveDrop))
    c.sem = Sem::release, c.scope = Scope::cta;
  if (c.sem == Sem::weak && wait)
    c.sem = Sem::acquire, c.scope = Scope::cta;
  c.space = addressKind(in);
  c.sub = sub;
  c.flags = flags;
  c.dst[0] = to;
  c.src = {base, operand, hint};
  c.offset[0] = offset;
  c.poll = wait;
  return true;
}

} // namespace interlock::emu
