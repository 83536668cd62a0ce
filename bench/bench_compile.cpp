// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// interlock-bench-compile: from process start to PTX and to a cubin of the dispatch kernel with nothing cached, for
// this library and for NVRTC on an equivalent CUDA C++ kernel. Every run is a process of its own. See bench/README.md.
#include "bench/common/Options.h"
#include "bench/common/Report.h"
#include "interlock/operation.hpp"
#include "runtime/Cache/KernelCache.h"
#include "runtime/Ops/RoundTrip.h"
#include "runtime/SourceJit/Nvrtc.h"
#include "runtime/SourceJit/SourceTemplates.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

using namespace interlock;

namespace {
using nlohmann::json;
using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

struct Flags : bench::ReportOptions {
  std::string self, child, interlock, compiler, nvrtc, target = "sm_90a";
  uint32_t runs = 10;
  bool check = false;
};

double millisecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

/// The kernel of the target figures: DeepSeek-V3, 8 ranks, 4096 tokens.
Result<KernelSpec> specOf(const Flags &flags) {
  KernelSpec spec;
  ILK_ASSIGN_OR_RETURN(ModelPreset model, findModel("deepseek-v3"));
  ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(flags.target));
  spec.layer.ranks = 8;
  spec.layer.experts = model.experts;
  spec.layer.topk = model.topk;
  spec.layer.hidden = model.hidden;
  spec.layer.maxTokens = 4096;
  spec.target = target.name;
  spec.wait = target.restrictedFence ? WaitStrategy::relaxedFence : WaitStrategy::acquire;
  LaunchGeometry geometry = defaultGeometry(spec.layer, spec.kernel, 1, DeviceInfo{"", spec.target, 132, 0, 0}, 1);
  spec.blockThreads = geometry.blockThreads;
  spec.tileTokens = geometry.tileTokens;
  return spec;
}

/// What a child process does and tells in JSON on its standard output.
Result<json> generateInProcess(const Flags &flags, const std::string &product) {
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, specOf(flags));
  auto begin = Clock::now();
  auto compiler = makePluginCompiler({flags.compiler, {}});
  ILK_ASSIGN_OR_RETURN(auto parts, compiler->compile(spec, {product, "meta"}));
  double ms = millisecondsSince(begin);
  if (parts[product].empty())
    return makeError(Code::notFound, fmt::format("expected a {}, got none (is there an nvJitLink?)", product));
  json meta = json::parse(parts["meta"], nullptr, false);
  return json{{"in_process_ms", ms},
              {"bytes", parts[product].size()},
              {"steps_ms", meta.value("timings_ms", json::object())},
              {"assembler", meta.value("assembler", "")}};
}

Result<json> nvrtcInProcess(const Flags &flags, bool cubin) {
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, specOf(flags));
  auto begin = Clock::now();
  ILK_ASSIGN_OR_RETURN(SourceKernel kernel, sourceOf(spec));
  ILK_ASSIGN_OR_RETURN(auto nvrtc, Nvrtc::find(flags.nvrtc));
  ILK_ASSIGN_OR_RETURN(NvrtcOutput output, nvrtc->compile(kernel, {.cubin = cubin}));
  return json{{"in_process_ms", millisecondsSince(begin)},
              {"bytes", (cubin ? output.cubin : output.ptx).size()},
              {"assembler", output.version}};
}

Result<json> childWork(const Flags &flags) {
  if (flags.child == "generate-ptx")
    return generateInProcess(flags, "ptx");
  if (flags.child == "generate-cubin")
    return generateInProcess(flags, "cubin");
  if (flags.child == "nvrtc-ptx")
    return nvrtcInProcess(flags, /*cubin=*/false);
  if (flags.child == "nvrtc-cubin")
    return nvrtcInProcess(flags, /*cubin=*/true);
  return makeError(Code::badInput, fmt::format("expected a kind of child, got '{}'", flags.child));
}

struct Ran {
  double ms = 0, cpuMs = 0;
  int exitCode = 0;
  std::string output;
};

/// Runs a program to its end; wall clock from the spawn to the end of its process.
Result<Ran> spawn(const std::vector<std::string> &command, const std::vector<std::string> &environment) {
  std::vector<char *> arguments, variables;
  for (const std::string &each : command)
    arguments.push_back(const_cast<char *>(each.c_str()));
  arguments.push_back(nullptr);
  for (const std::string &each : environment) // the first of two equal names counts
    variables.push_back(const_cast<char *>(each.c_str()));
  for (char **each = environ; *each; ++each)
    variables.push_back(*each);
  variables.push_back(nullptr);
  int pipeEnds[2];
  if (pipe2(pipeEnds, O_CLOEXEC) != 0)
    return makeError(Code::internal, "expected a pipe, got none");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, pipeEnds[1], STDOUT_FILENO);
  Ran ran;
  pid_t child = 0;
  auto begin = Clock::now();
  int failed = posix_spawn(&child, command[0].c_str(), &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(pipeEnds[1]);
  char buffer[4096];
  for (ssize_t got; !failed && (got = read(pipeEnds[0], buffer, sizeof buffer)) > 0;)
    ran.output.append(buffer, size_t(got));
  close(pipeEnds[0]);
  if (failed)
    return makeError(Code::notFound, fmt::format("expected to run {}, could not", command[0]));
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  ran.ms = millisecondsSince(begin);
  for (const timeval &time : {used.ru_utime, used.ru_stime})
    ran.cpuMs += double(time.tv_sec) * 1e3 + double(time.tv_usec) / 1e3;
  ran.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  return ran;
}

/// A folder of its own, removed at the end.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::error_code error;
    path = (fs::temp_directory_path(error) / "interlock-bench-XXXXXX").string();
    if (!mkdtemp(path.data()))
      path.clear();
  }
  ~TemporaryFolder() {
    std::error_code error;
    if (!path.empty())
      fs::remove_all(path, error);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  std::string path;
};

/// One way to a product.
struct Way {
  std::string name, what;
  std::vector<double> runs, cpu, inProcess;
  json last = json::object();
};

std::vector<std::string> commandOf(const Flags &flags, const Way &way, const std::string &folder) {
  if (way.name == "command-cubin")
    return {
        flags.interlock, "compile", "--kernel", "dispatch",   "--model", "deepseek-v3", "--ranks", "8",
        "--tokens",      "4096",    "--target", flags.target, "--emit",  "cubin",       "-o",      folder + "/kernel"};
  std::vector<std::string> command = {flags.self, "--child", way.name, "--target", flags.target};
  if (!flags.compiler.empty())
    command.insert(command.end(), {"--compiler", flags.compiler});
  if (!flags.nvrtc.empty())
    command.insert(command.end(), {"--nvrtc", flags.nvrtc});
  return command;
}

Status runOnce(const Flags &flags, Way &way) {
  TemporaryFolder folder; // an empty cache for every process, of the driver's compiler too
  ILK_ASSIGN_OR_RETURN(Ran ran, spawn(commandOf(flags, way, folder.path),
                                      {"INTERLOCK_CACHE_DIR=" + folder.path, "CUDA_CACHE_DISABLE=1"}));
  if (ran.exitCode != 0)
    return makeError(Code::compile, fmt::format("expected exit code 0, got {}", ran.exitCode));
  way.runs.push_back(ran.ms);
  way.cpu.push_back(ran.cpuMs);
  if (json told = json::parse(ran.output, nullptr, false); told.is_object()) {
    way.inProcess.push_back(told.value("in_process_ms", 0.0));
    told.erase("in_process_ms");
    way.last = std::move(told);
  }
  return {};
}

json measure(const Flags &flags) {
  Way ways[] = {{"generate-ptx", "process start to PTX, by the plugin"},
                {"generate-cubin", "process start to cubin, by the plugin and nvJitLink"},
                {"command-cubin", "`interlock compile --emit cubin`, written to the cache and to a file"},
                {"nvrtc-ptx", "process start to PTX, by NVRTC from templates/cuda/dispatch.cu"},
                {"nvrtc-cubin", "process start to cubin, by NVRTC from templates/cuda/dispatch.cu"}};
  json cases = json::array();
  // In turns, so that all meet the same load; the first turn fills the file cache and is not counted.
  std::map<std::string, std::string> failures;
  for (uint32_t run = 0; run <= flags.runs; ++run)
    for (Way &way : ways) {
      if (failures.contains(way.name))
        continue;
      if (Status status = runOnce(flags, way); !status)
        failures[way.name] = status.error().message;
      if (run == 0) {
        way.runs.clear();
        way.cpu.clear();
        way.inProcess.clear();
      }
    }
  for (Way &way : ways) {
    json object = {{"way", way.name}, {"what", way.what}};
    if (failures.contains(way.name))
      object["error"] = failures[way.name];
    bench::addRuns(object, "process", "ms", way.runs);
    bench::addRuns(object, "cpu", "ms", way.cpu); // what a busy machine does not stretch
    if (!way.inProcess.empty())
      bench::addRuns(object, "in_process", "ms", way.inProcess);
    object.update(way.last);
    fmt::print(stderr, "{}: {:.1f} ms, {:.1f} ms of processor time ({}){}\n", way.name, bench::median(way.runs),
               bench::median(way.cpu), way.what, failures.contains(way.name) ? "; failed: " + failures[way.name] : "");
    cases.push_back(std::move(object));
  }
  return cases;
}

/// Runs the CUDA C++ kernels in the emulator through whole round trips, so that what is compared is the same work.
Status checkSource(const Flags &flags) {
  auto cache = KernelCache::open({});
  EmulatorOptions machine;
  machine.target = flags.target;
  ILK_ASSIGN_OR_RETURN(auto driver, openEmulator(machine));
  for (uint32_t capacity : {0u, 5u}) {
    RoundTripOptions trip;
    trip.layer.ranks = 4;
    trip.layer.experts = 14;
    trip.layer.topk = 4;
    trip.layer.hidden = 1096;
    trip.layer.scaleBytes = 12;
    trip.layer.capacity = capacity;
    trip.tokens = {37, 0, 8, 21};
    trip.distinctExperts = true;
    trip.operation.dispatch = {3, 128, 4};
    trip.operation.kernels = KernelOrigin::source;
    ILK_ASSIGN_OR_RETURN(RoundTrip made, RoundTrip::create(*driver, *cache, trip));
    for (uint64_t step = 0; step < 3; ++step) {
      RoutingOptions routing;
      routing.mask = 0.1;
      ILK_ASSIGN_OR_RETURN(auto ids, makeRouting(made.layer(), routing, made.tokens(), step));
      ids[0].ids[3] = 99;
      ILK_ASSIGN_OR_RETURN(StepReport report, made.step(ids));
      if (report.mismatches)
        return makeError(Code::internal,
                         fmt::format("the CUDA C++ kernels differ from the reference: {}", report.findings.front()));
    }
  }
  fmt::print(stderr, "the CUDA C++ kernels give every bit as in the reference\n");
  return {};
}

Status run(Flags &flags, json report) {
  if (!flags.child.empty()) {
    ILK_ASSIGN_OR_RETURN(json told, childWork(flags));
    fmt::print("{}\n", told.dump());
    return {};
  }
  if (flags.check)
    return checkSource(flags);
  ILK_ASSIGN_OR_RETURN(KernelSpec spec, specOf(flags));
  if (flags.interlock.empty())
    flags.interlock = (fs::path(flags.self).parent_path() / "interlock").string();
  report["spec"] = canonicalForm(spec);
  report["cases"] = measure(flags);
  std::map<std::string, double> medians;
  for (const json &each : report["cases"])
    medians[each["way"]] = each["process_median_ms"];
  for (const char *product : {"ptx", "cubin"})
    if (double mine = medians[fmt::format("generate-{}", product)], nvrtc = medians[fmt::format("nvrtc-{}", product)];
        mine > 0 && nvrtc > 0)
      report[fmt::format("nvrtc_over_generate_{}", product)] = nvrtc / mine;
  return bench::writeReport(report, flags.output);
}
} // namespace

int main(int argc, char **argv) {
  Flags flags;
  CLI::App app("process start to PTX and to cubin, for this library and for NVRTC");
  app.add_option("--interlock", flags.interlock, "the command (default: beside this program)");
  app.add_option("--compiler", flags.compiler, "the compiler plugin (default: as the library finds it)");
  app.add_option("--nvrtc", flags.nvrtc, "path of libnvrtc.so (default: as the loader or the toolkit has it)");
  app.add_option("--target", flags.target, "the chip to generate for");
  app.add_option("--runs", flags.runs, "processes of each kind");
  app.add_flag("--check", flags.check, "only run the CUDA C++ kernels against the reference, in the emulator");
  bench::addOptions(app, static_cast<bench::ReportOptions &>(flags));
  app.add_option("--child", flags.child)->group(""); // what this program starts itself with
  CLI11_PARSE(app, argc, argv);
  std::error_code error;
  flags.self = fs::canonical("/proc/self/exe", error).string();
  return bench::finish("interlock-bench-compile", run(flags, bench::newReport("compile", flags.commit, argc, argv)));
}
