// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Runs waves, ends them, and says what they wait for.
#include "analysis/Emulator/AMDGCN/Wave.h"

#include <fmt/format.h>

namespace interlock::emu::gcn {
namespace {

constexpr uint32_t performOneIn = 8; ///< of instructions: something outstanding happens

} // namespace

uint32_t runWave(Engine &engine, Warp &warp, uint32_t quantum, uint32_t &sincePoll) {
  Wave &wave = *warp.wave;
  emu::Group &group = warp.groups[0];
  const std::vector<Op> &code = wave.image->code;
  WaveExec x(engine, warp, wave);
  uint32_t n = 0;
  while (n < quantum) {
    if (!wave.memory.pending.empty() && engine.random.below(performOneIn) == 0)
      performSome(engine, warp, wave, engine.random.below(64));
    const Op &op = code[wave.pc];
    ++n;
    x.next = wave.pc + 1;
    Flow flow = op.run(x, op);
    sincePoll = op.poll ? 0 : sincePoll + 1;
    if (flow == Flow::next || flow == Flow::yield) {
      wave.pc = x.next;
      if (flow == Flow::yield)
        break;
    } else if (flow == Flow::blocked) {
      group.awake = false;
      engine.blocked(warp, group);
      break;
    } else {
      if (wave.ended)
        endWave(engine, warp, wave);
      break;
    }
  }
  return n;
}

void endWave(Engine &engine, Warp &warp, Wave &wave) {
  Cta &cta = *warp.cta;
  warp.live = 0;
  warp.groups.clear();
  engine.setUnready(warp);
  --cta.workgroup->waves;
  cta.liveThreads -= wave.threads;
  cta.cluster->liveThreads -= wave.threads;
  engine.progress();
  if (engine.caches)
    engine.caches->unlist(warp);
  checkBarrier(engine, cta);
  if (cta.liveThreads == 0) {
    if (engine.caches)
      engine.caches->leave(cta.workgroup->caches);
    engine.finishCta(cta);
    checkClusterBarrier(engine, *cta.cluster);
  }
}

std::string describe(const Warp &warp, const emu::Group &group) {
  const Wave &wave = *warp.wave;
  const Cta &cta = *warp.cta;
  const amdgcn::Instruction *in = wave.image->code[wave.pc].in;
  std::string where = in ? fmt::format("line {}: {}", in->at.line, in->text()) : std::string("its end");
  std::string what = "runs in a loop that changes nothing";
  if (!group.awake) {
    if (group.wait.kind == WaitKind::barrier)
      what = fmt::format("waits at the workgroup's barrier, {} of {} waves are there", cta.workgroup->signalled,
                         cta.workgroup->waves);
    else if (group.wait.kind == WaitKind::cluster)
      what = fmt::format("waits at the cluster's barrier, {} of {} workgroups have signalled", cta.cluster->arrived,
                         cta.cluster->ctas.size());
    else if (group.wait.kind == WaitKind::sleep)
      what = "sleeps";
  }
  return fmt::format("{} ({})", what, where);
}

} // namespace interlock::emu::gcn
