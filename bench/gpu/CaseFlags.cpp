// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/CaseFlags.h"

namespace interlock::bench {

Result<CaseOptions> CaseFlags::caseOf(uint32_t ranks, uint32_t tokens, bool ownInPlace,
                                      const LaunchGeometry &geometry) const {
  CaseOptions options;
  ILK_ASSIGN_OR_RETURN(ModelPreset preset, findModel(model));
  options.layer.ranks = ranks;
  options.layer.experts = preset.experts;
  options.layer.topk = preset.topk;
  options.layer.hidden = hidden ? hidden : preset.hidden;
  options.layer.maxTokens = tokens;
  options.layer.ownInPlace = ownInPlace;
  ILK_ASSIGN_OR_RETURN(options.operation.schedule, parseSchedule(schedule));
  options.operation.dispatch = options.operation.combine = geometry;
  options.operation.timeoutNs = uint64_t(timeoutMs) * 1'000'000;
  options.warmups = warmups;
  options.runs = runs;
  options.seed = seed;
  return options;
}

void addOptions(CLI::App &app, CaseFlags &flags) {
  app.add_option("--model", flags.model, "preset for hidden, experts and top-k");
  app.add_option("--hidden", flags.hidden, "elements per row, in place of the model's");
  app.add_option("--tokens", flags.tokens, "list: tokens per rank")->delimiter(',');
  app.add_option("--block", flags.block, "list: threads per CTA, 0 for the default")->delimiter(',');
  app.add_option("--tile", flags.tile, "list: tokens per tile, 0 for the default")->delimiter(',');
  app.add_option("--own-in-place", flags.ownInPlace,
                 "list: 1 where a rank's rows lie where its own rows land, 0 where they are copied there")
      ->delimiter(',');
  app.add_option("--schedule", flags.schedule, "grid_stride or claimed");
  app.add_option("--timeout-ms", flags.timeoutMs, "bound of every wait in a kernel");
  addOptions(app, static_cast<RepeatOptions &>(flags));
  addOptions(app, static_cast<ReportOptions &>(flags));
}

} // namespace interlock::bench
