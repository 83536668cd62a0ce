// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The scheduler: which warp runs next and for how long, which of its groups, when asynchronous operations complete,
// and how virtual time goes by. All choices come from one seeded generator.
#include "analysis/Emulator/AMDGCN/Wave.h"
#include "analysis/Emulator/Exec.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace interlock::emu {
namespace {

constexpr uint32_t rotationStreak = 96;   ///< instructions after which a spinning group lets others go
constexpr uint32_t workWithoutPoll = 128; ///< instructions without a poll after which a warp counts as working
constexpr uint64_t firstLeapNs = 1000;
constexpr uint64_t longestLeapNs = 20'000'000'000;
constexpr uint64_t longestPauseNs = 100'000;
constexpr uint64_t idleLimitNs = 100'000'000'000;
constexpr uint64_t quietLimit = 100'000'000; ///< instructions in which no memory changed

/// Lets other processes run, and returns how long that took.
uint64_t pause(uint64_t ns) {
  auto begin = std::chrono::steady_clock::now();
  std::this_thread::sleep_for(std::chrono::nanoseconds(std::min(ns, longestPauseNs)));
  return uint64_t(std::chrono::nanoseconds(std::chrono::steady_clock::now() - begin).count());
}

} // namespace

Engine::Engine(const MachineOptions &given, Chip chipFound) : options(given), chip(std::move(chipFound)) {
  devices.resize(options.devices);
  for (Device &device : devices) {
    device.slots.assign(options.residency, false);
    device.free = options.residency;
  }
  random.state = options.seed * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u;
  if (chip.amd && options.memory == MemoryMode::cached)
    caches = std::make_unique<gcn::MemorySystem>(*this, *chip.amd);
}

void Engine::fail(ErrorKind kind, std::string message) {
  if (!error)
    error = Error{kind, std::move(message)};
}

void Engine::setReady(Warp &warp) {
  if (warp.readyIndex >= 0 || warp.live == 0)
    return;
  warp.readyIndex = int64_t(ready.size());
  ready.push_back(&warp);
}

void Engine::setUnready(Warp &warp) {
  if (warp.readyIndex < 0)
    return;
  ready[size_t(warp.readyIndex)] = ready.back();
  ready.back()->readyIndex = warp.readyIndex;
  ready.pop_back();
  warp.readyIndex = -1;
}

void Engine::wake(Warp &warp, WaitKind kind) {
  for (Group &g : warp.groups)
    if (!g.awake && g.wait.kind == kind) {
      g.awake = true;
      setReady(warp);
    }
}

void Engine::wake(Cta &cta, WaitKind kind) {
  for (Warp &warp : cta.warps)
    wake(warp, kind);
}

void Engine::dropCaches() {
  for (auto &[id, program] : programs) {
    for (DecodedFunction &fn : program->functions)
      for (Code &code : fn.code)
        code.cache = {};
    if (program->image)
      for (gcn::Op &op : program->image->code)
        op.cache = {};
  }
}

/// The group that runs next: the deepest call first, then the lowest program counter, so that lanes meet again; but a
/// group that has had its streak lets another one go.
bool Engine::chooseGroup(Warp &warp) {
  auto &groups = warp.groups;
  if (groups.size() == 1) {
    warp.current = 0;
    return groups[0].awake;
  }
  if (warp.turn && warp.current < groups.size() && groups[warp.current].awake) {
    --warp.turn;
    return true;
  }
  warp.turn = 0;
  int best = -1;
  uint32_t others = 0;
  for (size_t i = 0; i < groups.size(); ++i) {
    const Group &g = groups[i];
    if (!g.awake)
      continue;
    ++others;
    if (best < 0)
      best = int(i);
    const Group &b = groups[size_t(best)];
    if (g.frame->depth > b.frame->depth || (g.frame->depth == b.frame->depth && g.pc < b.pc))
      best = int(i);
  }
  if (best < 0)
    return false;
  warp.current = uint32_t(best);
  Group &chosen = groups[size_t(best)];
  if (others > 1 && ++chosen.streak > rotationStreak) {
    chosen.streak = 0;
    uint32_t pick = random.below(others - 1);
    for (size_t i = 0; i < groups.size(); ++i)
      if (groups[i].awake && int(i) != best && pick-- == 0) {
        warp.current = uint32_t(i);
        warp.turn = rotationStreak;
        break;
      }
  }
  return true;
}

/// Lanes that meet at one instruction of one frame go on together.
void Engine::mergeCurrent(Warp &warp) {
  auto &groups = warp.groups;
  Group *mine = &groups[warp.current];
  for (size_t i = groups.size(); i-- > 0;) {
    Group &other = groups[i];
    if (i == warp.current || other.pc != mine->pc || other.frame != mine->frame || mine->wait.kind != WaitKind::none ||
        (other.wait.kind != WaitKind::none && other.wait.kind != WaitKind::warp))
      continue;
    mine->lanes |= other.lanes;
    mine->streak = std::max(mine->streak, other.streak);
    if (warp.current == groups.size() - 1)
      warp.current = uint32_t(i);
    groups[i] = groups.back();
    if (warp.current == uint32_t(i))
      groups[i] = *mine;
    groups.pop_back();
    mine = &groups[warp.current];
  }
}

void Engine::blocked(Warp &warp, const Group &group) {
  if (group.wait.kind == WaitKind::sleep || group.wait.kind == WaitKind::mbarrier) {
    nextWake = std::min(nextWake, group.wait.until);
    if (!warp.listedSleeper) {
      warp.listedSleeper = true;
      sleeping.push_back(&warp);
    }
  }
}

void Engine::runWarp(Warp &warp, uint32_t quantum) {
  if (warp.wave) {
    if (!warp.groups[0].awake)
      return setUnready(warp);
    uint32_t since = warp.sincePoll;
    ran = gcn::runWave(*this, warp, quantum, since);
    if (since >= workWithoutPoll) {
      since = 0;
      worked = true;
    }
    warp.sincePoll = since;
    statistics.warpInstructions += ran;
    if (!warp.groups.empty() && !warp.groups[0].awake)
      setUnready(warp);
    return;
  }
  Exec x(*this, warp);
  if (!chooseGroup(warp))
    return setUnready(warp);
  x.refresh();
  uint32_t n = 0, sincePoll = warp.sincePoll;
  while (n < quantum) {
    const Code &c = x.frame->fn->code[x.group->pc];
    LaneMask lanes = x.group->lanes;
    ++n;
    if (c.guard >= 0) {
      const uint64_t *p = x.regs + size_t(c.guard) * warpLanes;
      LaneMask set = 0;
      for (unsigned lane = 0; lane < warpLanes; ++lane)
        set |= LaneMask(p[lane] & 1) << lane;
      lanes &= c.guardNegated ? ~set : set;
    }
    Flow flow = lanes ? c.run(x, c, lanes) : Flow::next;
    sincePoll = c.poll ? 0 : sincePoll + 1;
    if (flow == Flow::next) {
      ++x.group->pc;
    } else if (flow == Flow::jumped) {
      if (warp.groups.empty())
        break;
      x.refresh();
    } else if (flow == Flow::blocked) {
      x.group->awake = false;
      blocked(warp, *x.group);
      // Lanes that the guard holds back do not wait with the others.
      if (LaneMask off = x.group->lanes & ~lanes)
        x.split(off, x.frame, x.group->pc + 1);
      if (!chooseGroup(warp)) {
        setUnready(warp);
        break;
      }
      x.refresh();
    } else if (flow == Flow::fault) {
      break;
    }
    if (warp.groups.size() > 1) {
      if (x.group->awake)
        mergeCurrent(warp);
      if (!chooseGroup(warp)) {
        setUnready(warp);
        break;
      }
      x.refresh();
    }
    if (flow == Flow::yield)
      break;
  }
  if (sincePoll >= workWithoutPoll) {
    sincePoll = 0;
    worked = true;
  }
  warp.sincePoll = sincePoll;
  ran = n;
  statistics.warpInstructions += n;
}

void Engine::wakeSleepers() {
  nextWake = ~uint64_t(0);
  for (size_t i = 0; i < sleeping.size();) {
    Warp &warp = *sleeping[i];
    bool stays = false;
    for (Group &g : warp.groups) {
      if (g.awake || (g.wait.kind != WaitKind::sleep && g.wait.kind != WaitKind::mbarrier))
        continue;
      if (g.wait.until <= timeNs) {
        g.awake = true;
        setReady(warp);
      } else {
        nextWake = std::min(nextWake, g.wait.until);
        stays = true;
      }
    }
    if (stays) {
      ++i;
    } else {
      warp.listedSleeper = false;
      sleeping[i] = sleeping.back();
      sleeping.pop_back();
    }
  }
}

/// Time goes ahead when nobody gets anywhere; false when it has done so for long enough.
bool Engine::leap() {
  // Stores that caches still hold back are no reason for time to go ahead.
  if (caches && caches->advance())
    return true;
  uint64_t step = leapStep;
  if (ready.empty()) {
    if (nextWake == ~uint64_t(0))
      return false;
    step = std::max(step, nextWake > timeNs ? nextWake - timeNs : 1);
  }
  if (memory.shared())
    step = pause(step);
  timeNs += step;
  idleNs += step;
  leapStep = std::min(2 * leapStep, longestLeapNs);
  return idleNs <= idleLimitNs;
}

Result<void> Engine::run(const std::function<bool()> &finished) {
  pumpNeeded = true;
  leapStep = firstLeapNs;
  idleNs = 0;
  uint64_t seen = progressCount, idle = 0, quiet = 0;
  for (;;) {
    if (pumpNeeded)
      pump();
    if (error) {
      Error e = std::move(*error);
      discard();
      return tl::unexpected(std::move(e));
    }
    if (finished())
      return {};
    ran = 0;
    worked = false;
    if (caches)
      caches->tick();
    if (!pending.empty() && (ready.empty() || random.below(4) == 0)) {
      for (size_t steps = 1 + pending.size() / 16; steps && !pending.empty() && !error; --steps)
        stepAsync(random.below(uint32_t(pending.size())));
    } else if (!ready.empty()) {
      uint64_t r = random.next();
      uint32_t quantum = (r & 3) == 0 ? 1 + uint32_t(r >> 8 & 3) : 1 + uint32_t(r >> 8 & 63);
      runWarp(*ready[random.below(uint32_t(ready.size()))], quantum);
      timeFraction += ran;
      timeNs += timeFraction / options.devices;
      timeFraction %= options.devices;
    } else if (!leap()) {
      fail(ErrorKind::deadlock, report("nothing can run any more"));
      continue;
    }
    if (timeNs >= nextWake)
      wakeSleepers();
    if (progressCount != seen) {
      seen = progressCount;
      idle = quiet = 0;
      leapStep = firstLeapNs;
      idleNs = 0;
      continue;
    }
    quiet += ran;
    idle = worked ? 0 : idle + ran;
    if (quiet > quietLimit && !memory.shared()) {
      fail(ErrorKind::deadlock, report("no memory has changed for 100 million warp instructions"));
    } else if (pending.empty() && idle > 1000 + 4 * workWithoutPoll * ready.size()) {
      idle = 0;
      if (!leap())
        fail(ErrorKind::deadlock, report("nothing has changed for 100 seconds of emulated time"));
    }
  }
}

} // namespace interlock::emu
