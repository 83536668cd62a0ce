// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/tools/RunLocal.h"

#include <fmt/format.h>

namespace interlock::tool {

bool failed(const LocalRunReport &report) { return report.wrongRows || report.status; }

nlohmann::json asJson(const LocalRunReport &report, const DeviceInfo &device) {
  const KernelSpec &spec = report.kernel.spec;
  return {{"kernel", name(spec.kernel)},
          {"device", device.name},
          {"target", spec.target},
          {"hidden", spec.layer.hidden},
          {"topk", spec.layer.topk},
          {"stages", spec.stages},
          {"block_threads", spec.blockThreads},
          {"programmatic", spec.programmatic},
          {"launch_mode", name(report.launchMode)},
          {"grid", report.kernel.grid},
          {"resident_ctas", report.residentCtas},
          {"cache", report.kernel.outcome},
          {"us", report.nanoseconds / 1000},
          {"status", report.status},
          {"rows", report.rows},
          {"wrong_rows", report.wrongRows},
          {"first_wrong", report.firstWrong}};
}

void printLocalRun(const LocalRunReport &report, const DeviceInfo &device, bool checked) {
  const KernelSpec &spec = report.kernel.spec;
  fmt::print("{} on {}: {} CTAs of {} threads, {} of which can be resident (launch mode {}), {} stages, {:.1f} us\n",
             name(spec.kernel), device.name, report.kernel.grid, spec.blockThreads, report.residentCtas,
             name(report.launchMode), spec.stages, report.nanoseconds / 1000);
  if (report.status)
    fmt::print("the kernel found groups that name rows out of range (status {})\n", report.status);
  if (!checked)
    return;
  if (report.wrongRows)
    fmt::print("{} of {} rows are wrong, the first one: {}\n", report.wrongRows, report.rows, report.firstWrong);
  else
    fmt::print("checked: {} rows bit for bit\n", report.rows);
}

} // namespace interlock::tool
