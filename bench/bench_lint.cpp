// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-lint: time and memory of scope-lint by the size of the PTX, for many kernels, for one huge one, and
// for loops in loops. See bench/README.md.
#include "bench/common/Options.h"
#include "bench/common/Report.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace interlock;
namespace fs = std::filesystem;

namespace {

/// A round of a kernel: a stage is waited for, read, changed, fenced and given back; a counter is released; a loop
/// polls.
/// `{0}` makes the labels different.
constexpr std::string_view round = R"(  .loc 1 {0} 3
$wait_{0}:
  mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p1, [full], %r4;
  @!%p1 bra $wait_{0};
  ld.shared.v4.f32 {{%f1, %f2, %f3, %f4}}, [%r1+16];
  fma.rn.f32 %f1, %f2, %f3, %f4;
  add.s64 %rd4, %rd1, 64;
  st.global.v4.f32 [%rd4+{1}], {{%f1, %f2, %f3, %f4}};
  fence.proxy.async.shared::cta;
  mbarrier.arrive.shared::cta.b64 _, [empty];
  xor.b32 %r4, %r4, 1;
  bar.sync 0;
  @%p2 red.release.gpu.global.add.u32 [%rd2], 1;
$poll_{0}:
  ld.acquire.gpu.global.u32 %r5, [%rd3];
  setp.lt.u32 %p3, %r5, {0};
  @%p3 bra $poll_{0};
  ld.global.f32 %f5, [%rd1+{1}];
  setp.ne.s32 %p4, %r5, 0;
  @%p4 bra $skip_{0};
  st.shared.f32 [%r1+{1}], %f5;
$skip_{0}:
)";

std::string header(size_t kernel) {
  return fmt::format(R"(.visible .entry kernel_{}(.param .u64 data, .param .u64 counter, .param .u64 flag)
{{
  .reg .pred %p<6>; .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<8>;
  .shared .align 8 .b64 full; .shared .align 8 .b64 empty; .shared .align 16 .b8 stage[65536];
  ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [counter]; ld.param.u64 %rd3, [flag];
  mov.u32 %r2, %tid.x;
  setp.eq.u32 %p2, %r2, 0;
  shl.b32 %r3, %r2, 4;
  mov.u32 %r1, stage;
  add.u32 %r1, %r1, %r3;
  mov.u32 %r4, 0;
  @%p2 mbarrier.init.shared::cta.b64 [full], 1;
  @%p2 mbarrier.init.shared::cta.b64 [empty], 1;
  bar.sync 0;
)",
                     kernel);
}

/// PTX of about so many bytes: kernels of `roundsPerKernel` rounds each, or one kernel for 0.
std::string generate(size_t bytes, size_t roundsPerKernel) {
  std::string text = ".version 8.6\n.target sm_90a\n.address_size 64\n.file 1 \"generated.cu\"\n";
  size_t kernels = 0;
  for (size_t n = 1; text.size() < bytes; ++n) {
    bool first = roundsPerKernel ? n % roundsPerKernel == 1 : n == 1;
    if (first && kernels)
      text += "  ret;\n}\n";
    if (first)
      text += header(kernels++);
    text += fmt::format(round, n, n % 1024 * 16);
  }
  return text + "  ret;\n}\n";
}

/// One kernel of loops, each inside the one before; innermost a hand-off.
std::string generateNested(size_t bytes) {
  constexpr size_t bytesPerLoop = 104;
  size_t loops = std::max<size_t>(1, bytes / bytesPerLoop);
  std::string text = fmt::format(".version 8.6\n.target sm_90a\n.address_size 64\n"
                                 ".visible .entry nested(.param .u64 data, .param .u32 trips)\n{{\n"
                                 "  .reg .pred %p<2>; .reg .b32 %r<{}>; .reg .b64 %rd<2>;\n"
                                 "  ld.param.u64 %rd1, [data]; ld.param.u32 %r0, [trips];\n",
                                 loops + 1);
  for (size_t i = 1; i <= loops; ++i)
    text += fmt::format("  mov.u32 %r{0}, 0;\n$loop_{0}:\n", i);
  text += "  ld.acquire.gpu.global.u32 %r1, [%rd1];\n  st.global.u32 [%rd1+4], %r1;\n"
          "  st.release.gpu.global.u32 [%rd1+8], %r1;\n";
  for (size_t i = loops; i > 0; --i)
    text += fmt::format("  add.u32 %r{0}, %r{0}, 1;\n  setp.lt.u32 %p1, %r{0}, %r0;\n  @%p1 bra $loop_{0};\n", i);
  return text + "  ret;\n}\n";
}

struct Shape {
  const char *name;
  std::string (*make)(size_t bytes);
};
constexpr Shape shapes[] = {
    {"many_kernels", [](size_t bytes) { return generate(bytes, 20); }},
    {"one_kernel", [](size_t bytes) { return generate(bytes, 0); }},
    {"nested_loops", generateNested},
};

struct Cost {
  double seconds = 0, cpuSeconds = 0, megabytes = 0;
  int exitCode = 0;
};

/// One run of the program, as `time` would measure it.
Cost measure(const std::string &program, const std::string &file) {
  auto start = std::chrono::steady_clock::now();
  pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
    execl(program.c_str(), program.c_str(), file.c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  auto inSeconds = [](const timeval &t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return {took.count(), inSeconds(usage.ru_utime) + inSeconds(usage.ru_stime), double(usage.ru_maxrss) / 1024,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128};
}

struct Flags : bench::ReportOptions {
  std::string lint;
  std::vector<double> megabytes = {1, 3, 10, 30};
  uint32_t runs = 5;
};

Status run(const Flags &flags, nlohmann::json report) {
  std::string folder = (fs::temp_directory_path() / "interlock-bench-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return makeError(Code::badInput, "expected a temporary folder, got none");
  std::string file = folder + "/kernels.ptx";
  for (const Shape &shape : shapes)
    for (double megabytes : flags.megabytes) {
      std::string text = shape.make(size_t(megabytes * 1e6));
      std::ofstream(file, std::ios::binary) << text;
      std::vector<double> seconds, cpu, memory;
      for (uint32_t i = 0; i < flags.runs; ++i) {
        Cost cost = measure(flags.lint, file);
        if (cost.exitCode > 1)
          return makeError(Code::badInput, fmt::format("expected {} to judge {} MB of PTX, it ended with {}",
                                                       flags.lint, megabytes, cost.exitCode));
        seconds.push_back(cost.seconds);
        cpu.push_back(cost.cpuSeconds);
        memory.push_back(cost.megabytes);
      }
      nlohmann::json row = {{"shape", shape.name}, {"ptx_bytes", text.size()}};
      bench::addRuns(row, "time", "s", seconds);
      bench::addRuns(row, "cpu", "s", cpu);
      bench::addRuns(row, "peak_memory", "mb", memory);
      row["cpu_seconds_per_megabyte"] = bench::median(cpu) / (double(text.size()) / 1e6);
      report["sizes"].push_back(std::move(row));
    }
  std::error_code error;
  fs::remove_all(folder, error);
  return bench::writeReport(report, flags.output);
}

} // namespace

int main(int argc, char **argv) {
  Flags flags;
  std::error_code error;
  flags.lint = (fs::canonical("/proc/self/exe", error).parent_path() / "scope-lint").string();
  CLI::App app("time and memory of scope-lint by the size of the PTX");
  app.add_option("--lint", flags.lint, "the program (default: beside this one)");
  app.add_option("--megabytes", flags.megabytes, "sizes of PTX")->delimiter(',');
  app.add_option("--runs", flags.runs, "runs of each size");
  bench::addOptions(app, static_cast<bench::ReportOptions &>(flags));
  CLI11_PARSE(app, argc, argv);
  return bench::finish("interlock-bench-lint", run(flags, bench::newReport("lint", flags.commit, argc, argv)));
}
