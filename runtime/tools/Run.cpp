// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// `interlock run`: dispatch, identity experts and combine on every rank, or one local kernel, compared with the scalar
// reference.
#include "runtime/Cache/KernelCache.h"
#include "runtime/Ops/RoundTrip.h"
#include "runtime/tools/CacheFlags.h"
#include "runtime/tools/LocalFlags.h"
#include "runtime/tools/PackFlags.h"
#include "runtime/tools/Processes.h"
#include "runtime/tools/RunLocal.h"
#include "runtime/tools/RunReport.h"
#include "runtime/tools/Tool.h"

#include <fmt/format.h>

#include <chrono>

namespace interlock::tool {

namespace {
struct RunFlags {
  LayerFlags layer;
  LocalFlags local;
  PackFlags packing;
  std::string kernel;
  std::optional<uint32_t> groups;
  bool cooperative = false;
  std::string device, target, routing = "uniform", kernels = "generated", memory = "sc", load = "text";
  double mask = 0;
  uint32_t residency = 0, steps = 1, timeoutMs = 10'000, meetTimeoutMs = 120'000;
  uint32_t processes = 1;
  std::optional<uint32_t> process;
  std::string rendezvous;
  uint64_t seed = 0;
  bool check = false, graph = false, sum = false;
};

Result<std::unique_ptr<Driver>> openDevice(const Context &context, const RunFlags &flags, uint32_t ranks) {
  if (!flags.device.empty() && flags.device != "emulator" && flags.device != "cuda" && flags.device != "hip")
    return makeError(Code::badInput, fmt::format("expected --device emulator, cuda or hip, got '{}'", flags.device));
  if (flags.memory != "sc" && flags.memory != "cached")
    return makeError(Code::badInput, fmt::format("expected --memory sc or cached, got '{}'", flags.memory));
  bool amd = flags.device == "hip";
  if (!flags.target.empty()) {
    ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(flags.target));
    amd |= target.isAMD();
  }
  if (flags.memory == "cached" && (!amd || flags.device == "hip"))
    return makeError(Code::badInput,
                     "expected --memory cached with --target of an AMD chip in the emulator, whose caches "
                     "nothing keeps coherent, got another");
  if (flags.load != "text" && flags.load != "binary")
    return makeError(Code::badInput, fmt::format("expected --load text or binary, got '{}'", flags.load));
  if (flags.load == "binary" && (!amd || flags.device == "hip"))
    return makeError(Code::badInput,
                     "expected --load binary with --target of an AMD chip in the emulator, got another");
  if (flags.device != "emulator" && flags.memory == "sc" && flags.load == "text") {
    bool insists = flags.device == "cuda" || flags.device == "hip";
    auto gpu = amd ? openHip() : openCuda();
    if (!gpu && flags.device.empty() && flags.target.empty())
      if (auto other = openHip())
        gpu = std::move(other);
    if (!gpu && insists)
      return gpu;
    if (gpu) {
      ILK_ASSIGN_OR_RETURN(DeviceInfo info, (*gpu)->info(0));
      if (flags.target.empty() || flags.target == info.target)
        return gpu;
      if (insists)
        return makeError(Code::unsupported,
                         fmt::format("expected --target {} on {}, got {}; --device emulator would do", info.target,
                                     info.name, flags.target));
    }
    note(fmt::format("interlock: running in the emulator: {}",
                     gpu ? fmt::format("the GPU here is no {}", flags.target) : gpu.error().message));
  }
  EmulatorOptions options;
  if (flags.memory == "cached")
    options.memory = EmulatorMemory::cached;
  if (!flags.target.empty())
    options.target = flags.target;
  options.devices = (ranks - flags.process.value_or(0) + flags.processes - 1) / flags.processes;
  options.residency = flags.residency;
  if (flags.load == "binary")
    options.loads = EmulatorLoads::binary;
  options.disassembler = pluginDisassembler(context.compilerPath);
  options.seed = flags.seed + flags.process.value_or(0);
  return openEmulator(options);
}

/// The ranks of this process, every `processes`-th one: on GPUs one after the other, emulated each on its own device.
std::vector<OwnRank> ownRanks(const RunFlags &flags, const Driver &driver, uint32_t ranks) {
  std::vector<OwnRank> own;
  for (uint32_t rank = flags.process.value_or(0); rank < ranks; rank += flags.processes)
    own.push_back({rank, (driver.kind() != "emulator" ? rank : uint32_t(own.size())) % driver.deviceCount()});
  return own;
}

/// Starts the processes with this one's arguments and puts their reports together.
Result<nlohmann::json> runProcesses(const Context &context, const RunFlags &flags) {
  ILK_ASSIGN_OR_RETURN(TemporaryFolder folder, TemporaryFolder::create());
  std::vector<std::vector<std::string>> arguments;
  for (uint32_t process = 0; process < flags.processes; ++process) {
    arguments.push_back(context.arguments);
    for (const std::string &more : {std::string("--json"), std::string("--process"), std::to_string(process),
                                    std::string("--rendezvous"), folder.path() + "/rendezvous"})
      arguments.back().push_back(more);
  }
  ILK_ASSIGN_OR_RETURN(std::vector<ProcessEnd> ends, runSelf(arguments));
  std::vector<nlohmann::json> runs;
  std::string lost;
  bool refused = true; // by all: what was asked for cannot be
  for (size_t process = 0; process < ends.size(); ++process) {
    refused &= ends[process].code == exitBadInput;
    nlohmann::json run = nlohmann::json::parse(ends[process].output, nullptr, /*allow_exceptions=*/false);
    if (run.is_object() && run.contains("ranks"))
      runs.push_back(std::move(run));
    else if (lost.empty())
      lost = ends[process].signal ? fmt::format("process {} was ended by signal {}", process, ends[process].signal)
             : run.is_object() && run.contains("error")
                 ? fmt::format("process {}: {}", process, run["error"].value("message", ""))
                 : fmt::format("process {} ended with code {} and no report", process, ends[process].code);
  }
  if (!lost.empty())
    return makeError(refused ? Code::badInput : Code::device, lost);
  return mergeRuns(std::move(runs));
}

Status checkProcesses(const RunFlags &flags, uint32_t ranks) {
  if (flags.processes == 0 || flags.processes > ranks)
    return makeError(Code::badInput, fmt::format("expected --processes from 1 to the number of ranks, {}, got {}",
                                                 ranks, flags.processes));
  if (flags.process.has_value() != !flags.rendezvous.empty())
    return makeError(Code::badInput, "expected --process and --rendezvous together, got one of them");
  if (flags.process && *flags.process >= flags.processes)
    return makeError(Code::badInput,
                     fmt::format("expected --process below --processes, {}, got {}", flags.processes, *flags.process));
  return {};
}

Result<nlohmann::json> run(Context &context, const RunFlags &flags) {
  // Everything that can be refused without a device is refused before one is opened.
  RoundTripOptions options;
  ILK_ASSIGN_OR_RETURN(options.layer, flags.layer.layer());
  ILK_ASSIGN_OR_RETURN(options.operation, flags.layer.operation());
  ILK_ASSIGN_OR_RETURN(options.operation.packing, flags.packing.options());
  if (options.operation.packing)
    options.operation.packing->grid = flags.layer.geometry.grid;
  if (flags.kernels == "source")
    options.operation.kernels = KernelOrigin::source;
  else if (flags.kernels != "generated")
    return makeError(Code::badInput, fmt::format("expected --kernels generated or source, got '{}'", flags.kernels));
  if (!(flags.mask >= 0 && flags.mask <= 1))
    return makeError(Code::badInput, fmt::format("expected --mask from 0 to 1, got {}", flags.mask));
  if (flags.steps == 0)
    return makeError(Code::badInput, "expected --steps of at least 1, got 0");
  ILK_ASSIGN_OR_RETURN(RoutingOptions routing, parseRouting(flags.routing));
  routing.mask = flags.mask;
  routing.seed = flags.seed;
  options.tokens = flags.layer.tokens;
  options.seed = flags.seed;
  options.weighted = !flags.sum;
  options.graph = flags.graph;
  options.check = flags.check;
  options.operation.timeoutNs = uint64_t(flags.timeoutMs) * 1'000'000;
  ILK_RETURN_IF_ERROR(makeRouting(options.layer, routing, std::vector<uint32_t>(options.layer.ranks, 0)));

  uint32_t step = 0;
  options.progress = [&, last = std::chrono::steady_clock::now()](std::string_view phase) mutable {
    // Only what takes long is worth a line.
    auto now = std::chrono::steady_clock::now();
    if (now - last < std::chrono::seconds(2))
      return;
    last = now;
    note(fmt::format("step {} of {}: {}", step + 1, flags.steps, phase));
  };
  ILK_RETURN_IF_ERROR(checkProcesses(flags, options.layer.ranks));
  if (flags.processes > 1 && !flags.process)
    return runProcesses(context, flags);

  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, openDevice(context, flags, options.layer.ranks));
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver->info(0));
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<KernelCache> cache, openCache(context, {}));
  if (flags.process) {
    ProcessGroup group{*flags.process, flags.processes, ownRanks(flags, *driver, options.layer.ranks), {}};
    ILK_ASSIGN_OR_RETURN(group.allgather,
                         meet({flags.rendezvous, group.process, group.processes, flags.meetTimeoutMs}));
    options.group = std::move(group);
  }
  ILK_ASSIGN_OR_RETURN(RoundTrip trip, RoundTrip::create(*driver, *cache, options));
  RunReport report;
  for (; step < flags.steps; ++step) {
    ILK_ASSIGN_OR_RETURN(auto ids, makeRouting(trip.layer(), routing, trip.tokens(), step));
    ILK_ASSIGN_OR_RETURN(StepReport done, trip.step(ids));
    report.add(std::move(done));
  }
  return report.json(*driver, info, trip);
}

/// A local kernel by itself. Prints what came out; the error is of what could not be run.
Status runKernel(Context &context, const RunFlags &flags) {
  ILK_ASSIGN_OR_RETURN(KernelKind kind, parseKernelKind(flags.kernel));
  if (!worksOnGroups(kind))
    return makeError(Code::badInput,
                     fmt::format("expected --kernel dispatch_epilogue or combine_prologue, got {}: {}", flags.kernel,
                                 kind == KernelKind::packExperts
                                     ? "what it packs comes from a dispatch, --packed would do"
                                     : "dispatch and combine run together, without --kernel"));
  constexpr uint32_t mostGroups = 1u << 24;
  if (!flags.groups || *flags.groups > mostGroups)
    return makeError(Code::badInput, fmt::format("expected --groups from 0 to {} with --kernel {}, got {}", mostGroups,
                                                 flags.kernel, flags.groups ? std::to_string(*flags.groups) : "none"));
  // Everything that can be refused without a device is refused before one is opened.
  ILK_RETURN_IF_ERROR(flags.local.spec(kind, flags.layer, flags.target.empty() ? "sm_90a" : flags.target));
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, openDevice(context, flags, 1));
  ILK_ASSIGN_OR_RETURN(DeviceInfo info, driver->info(0));
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<KernelCache> cache, openCache(context, {}));
  LocalRunOptions options;
  ILK_ASSIGN_OR_RETURN(options.spec, flags.local.spec(kind, flags.layer, info.target));
  options.groups = *flags.groups;
  options.grid = flags.layer.geometry.grid;
  options.seed = flags.seed;
  options.weighted = !flags.sum;
  options.check = flags.check;
  options.forceCooperative = flags.cooperative;
  ILK_ASSIGN_OR_RETURN(LocalRunReport report, runLocal(*driver, *cache, options));
  if (context.json) {
    nlohmann::json object = asJson(report, info);
    object["groups"] = options.groups;
    object["checked"] = flags.check;
    print(object);
  } else {
    printLocalRun(report, info, flags.check);
  }
  context.exitCode = failed(report) ? exitMismatch : exitOk;
  return {};
}
} // namespace

void addRun(CLI::App &app, Context &context) {
  CLI::App *command =
      app.add_subcommand("run", "dispatch, identity experts, combine, or a local kernel; with --check bit for bit");
  auto flags = std::make_shared<RunFlags>();
  command->add_option("--kernels", flags->kernels,
                      "generated, or source: their peers in CUDA C++, compiled by NVRTC, with the same results");
  command->add_option("--device", flags->device, "emulator, cuda or hip (default: a GPU if there is one)");
  command->add_option("--target", flags->target, "the chip to generate for (default: the device's, sm_90a emulated)");
  flags->layer.addTo(*command);
  command->add_option("--kernel", flags->kernel, "instead run one local kernel: dispatch_epilogue or combine_prologue");
  command->add_option("--groups", flags->groups,
                      "with --kernel: dedup groups, each a token with its local expert rows");
  flags->local.addTo(*command);
  flags->packing.addTo(*command);
  command->add_flag("--cooperative", flags->cooperative,
                    "with --kernel: ask for the whole grid to be resident, which no local kernel needs");
  command->add_option("--grid", flags->layer.geometry.grid, "CTAs per launch (default: by layer and device)");
  command->add_option("--routing", flags->routing, "uniform, zipf:S, or a trace (.npy or .csv of token x top-k ids)");
  command->add_option("--mask", flags->mask, "probability that an id is masked");
  command->add_option("--memory", flags->memory,
                      "how an emulated AMD chip's accesses reach memory: sc (one after the other) or cached (through "
                      "caches that only the kernel keeps coherent)");
  command->add_option("--load", flags->load,
                      "what an emulated AMD chip loads: text (assembly) or binary (the code object, which the compiler "
                      "plugin disassembles)");
  command->add_option("--residency", flags->residency, "CTAs that an emulated device runs side by side");
  command->add_option("--seed", flags->seed, "of rows, routing and the emulator's scheduler");
  command->add_option("--steps", flags->steps, "steps, each with new routing; times are the best of them");
  command->add_option("--processes", flags->processes, "spread the ranks over processes, which this one starts");
  command->add_option("--process", flags->process, "be this one of them, started by somebody else");
  command->add_option("--rendezvous", flags->rendezvous, "with --process: a path, the same in all, where they meet");
  command->add_option("--meet-timeout-ms", flags->meetTimeoutMs,
                      "bound of the processes' waits for each other's set-up");
  command->add_option("--timeout-ms", flags->timeoutMs, "bound of every wait in a kernel");
  command->add_flag("--graph", flags->graph, "capture the launches once and replay them");
  command->add_flag("--sum", flags->sum, "combine adds the rows without their weights");
  command->add_flag("--check", flags->check, "compare everything with the scalar reference");
  command->callback([&context, flags] {
    if (!flags->kernel.empty()) {
      if (Status status = runKernel(context, *flags); !status)
        context.exitCode = fail(context, status.error());
      return;
    }
    auto report = run(context, *flags);
    if (!report) {
      context.exitCode = fail(context, report.error());
      return;
    }
    (*report)["graph"] = flags->graph;
    (*report)["checked"] = flags->check;
    if (context.json)
      print(*report);
    else
      printRun(*report);
    context.exitCode = runFailed(*report) ? exitMismatch : exitOk;
  });
}

} // namespace interlock::tool
