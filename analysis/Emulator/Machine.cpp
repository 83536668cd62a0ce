// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The public face of the emulator: handles and checks in front of the engine.
#include "analysis/Emulator/Machine.h"

#include "analysis/AMDGCN/Reader.h"
#include "analysis/Emulator/AMDGCN/Image.h"
#include "analysis/Emulator/Engine.h"
#include "analysis/PTX/Reader.h"

#include <fmt/format.h>

#include <cstring>

namespace interlock::emu {
namespace {

tl::unexpected<Error> bad(std::string message) {
  return tl::unexpected(Error{ErrorKind::badInput, std::move(message)});
}
/// A kernel's handle is its module's, with the function's number in the upper bits.
KernelId kernelId(uint64_t module, uint32_t function) { return KernelId(module | uint64_t(function + 1) << 40); }

} // namespace

struct Machine::Impl {
  Engine engine;
  Impl(const MachineOptions &options, Chip chip) : engine(options, std::move(chip)) {}

  Stream *stream(StreamId id) {
    auto it = engine.streams.find(uint64_t(id));
    return it == engine.streams.end() ? nullptr : &it->second;
  }
  Event *event(EventId id) {
    auto it = engine.events.find(uint64_t(id));
    return it == engine.events.end() ? nullptr : &it->second;
  }
  Program *program(uint64_t module) const {
    auto it = engine.programs.find(module);
    return it == engine.programs.end() ? nullptr : it->second.get();
  }
  struct Found {
    Program *program;
    const DecodedFunction *entry; ///< null on an AMD chip
    const gcn::Kernel *kernel;    ///< an AMD chip's
  };
  Result<Found> kernel(KernelId id) const {
    Program *p = program(uint64_t(id) & ((uint64_t(1) << 40) - 1));
    uint64_t function = uint64_t(id) >> 40;
    if (!p || function == 0 || function > (p->image ? p->image->kernels.size() : p->functions.size()))
      return bad("expected the handle of a kernel that is loaded");
    if (p->image)
      return Found{p, nullptr, &p->image->kernels[function - 1]};
    return Found{p, &p->functions[function - 1], nullptr};
  }
  Result<void> enqueue(StreamId id, Work work) {
    Stream *s = stream(id);
    if (!s)
      return bad("expected the handle of a stream");
    if (auto *event = std::get_if<EventWork>(&work); event && !s->capturing)
      number(*event);
    (s->capturing ? s->captured : s->queue).push_back(std::move(work));
    return {};
  }
  /// Records are numbered when they are queued, so that a wait knows which one it means.
  void number(EventWork &work) {
    if (auto it = engine.events.find(work.event); it != engine.events.end())
      work.generation = work.wait ? it->second.recordsQueued : ++it->second.recordsQueued;
  }
  /// Memory goes away: caches hold nothing of it.
  void forget(uint64_t) {
    if (engine.caches)
      engine.caches->settle();
  }
  Result<ModuleId> loadAmd(uint32_t device, std::string_view text, std::string_view name) {
    auto module = amdgcn::read(text, name);
    if (!module)
      return bad(module.error().str());
    if (!module->processor().empty() && module->processor() != engine.chip.name)
      return tl::unexpected(
          Error{ErrorKind::unsupported,
                fmt::format("{}: expected code for {}, found .amdgcn_target \"{}\"; emulate that chip "
                            "instead",
                            name, engine.chip.name, module->target)});
    auto program = std::make_unique<Program>();
    program->name = std::string(name);
    program->device = device;
    auto image = gcn::decode(std::move(*module), *engine.chip.amd, device, engine.memory, program->ownedMemory);
    if (!image) {
      for (uint64_t address : program->ownedMemory)
        engine.memory.release(address);
      return tl::unexpected(Error{image.error().kind, fmt::format("{}: {}", name, image.error().message)});
    }
    program->image = std::move(*image);
    uint64_t id = engine.nextHandle++;
    engine.programs.emplace(id, std::move(program));
    return ModuleId(id);
  }
  bool busy() const {
    for (const auto &[id, s] : engine.streams)
      if (!s.idle())
        return true;
    return false;
  }
};

Machine::Machine() = default;
Machine::~Machine() = default;

Result<std::unique_ptr<Machine>> Machine::create(const MachineOptions &given) {
  MachineOptions options = given;
  auto chip = findChip(options.chip);
  if (!chip)
    return tl::unexpected(chip.error());
  if (options.devices == 0 || options.devices > 64)
    return bad(fmt::format("expected 1 to 64 devices, found {}", options.devices));
  if (options.memory == MemoryMode::cached && !chip->amd)
    return bad(fmt::format("expected an AMD chip for the cached memory mode, found {}", options.chip));
  if (!chip->amd && options.warpWidth != warpLanes)
    return bad(fmt::format("expected a warp width of 32, which is PTX's, found {}", options.warpWidth));
  if (options.residency == 0)
    options.residency = 132;
  if (options.sharedLimit == 0)
    options.sharedLimit = chip->sharedLimit;
  if (options.sharedLimit >= (1u << sharedRankShift) - 2 * sharedBase)
    return bad("expected a shared memory limit below 16 MiB");
  std::unique_ptr<Machine> machine(new Machine);
  machine->impl = std::make_unique<Impl>(options, *chip);
  return machine;
}

const MachineOptions &Machine::options() const { return impl->engine.options; }

Result<uint64_t> Machine::allocate(uint32_t device, uint64_t bytes, uint64_t align) {
  if (device >= impl->engine.options.devices)
    return bad(fmt::format("expected a device below {}, found {}", impl->engine.options.devices, device));
  if (align == 0 || (align & (align - 1)) || align > (uint64_t(1) << 30))
    return bad(fmt::format("expected an alignment that is a power of two up to 2^30, found {}", align));
  uint64_t address = impl->engine.memory.allocate(device, bytes, align);
  if (!address)
    return bad(fmt::format("expected host memory for {} bytes, found too little", bytes));
  return address;
}

Result<void> Machine::release(uint64_t address) {
  impl->forget(address);
  if (!impl->engine.memory.release(address))
    return bad(fmt::format("expected the start of an allocation, found {:#x}", address));
  impl->engine.dropCaches();
  return {};
}

Result<uint64_t> Machine::map(std::span<const HostMemory> pieces) {
  if (pieces.empty())
    return bad("expected at least one piece of host memory, found none");
  for (const HostMemory &piece : pieces)
    if (piece.device >= impl->engine.options.devices || !piece.host || piece.bytes == 0 || piece.bytes >> 46)
      return bad(fmt::format("expected host memory for a device below {}, found {} bytes for device {}",
                             impl->engine.options.devices, piece.bytes, piece.device));
  return impl->engine.memory.map(pieces);
}

Result<void> Machine::unmap(uint64_t address) {
  impl->forget(address);
  if (!impl->engine.memory.unmap(address))
    return bad(fmt::format("expected the start of mapped host memory, found {:#x}", address));
  impl->engine.dropCaches();
  return {};
}

Result<void> Machine::read(void *to, uint64_t from, size_t bytes) const {
  Span span = impl->engine.memory.find(from, bytes);
  if (bytes && !span.host)
    return bad(
        fmt::format("expected {} allocated bytes at {:#x}, {}", bytes, from, impl->engine.memory.describe(from)));
  if (bytes)
    std::memcpy(to, span.at(from), bytes);
  return {};
}

Result<void> Machine::write(uint64_t to, const void *from, size_t bytes) {
  Span span = impl->engine.memory.find(to, bytes);
  if (bytes && !span.host)
    return bad(fmt::format("expected {} allocated bytes at {:#x}, {}", bytes, to, impl->engine.memory.describe(to)));
  if (bytes)
    std::memcpy(span.at(to), from, bytes);
  return {};
}

Result<ModuleId> Machine::load(uint32_t device, std::string_view text, std::string_view name) {
  Engine &e = impl->engine;
  if (device >= e.options.devices)
    return bad(fmt::format("expected a device below {}, found {}", e.options.devices, device));
  if (e.chip.amd)
    return impl->loadAmd(device, text, name);
  auto module = ptx::read(text, name);
  if (!module)
    return bad(module.error().str());
  if (auto ok = checkTarget(e.chip, *module); !ok)
    return tl::unexpected(Error{ok.error().kind, fmt::format("{}: {}", name, ok.error().message)});
  auto program = decode(std::move(*module), std::string(name), e.chip, device, e.memory);
  if (!program)
    return tl::unexpected(program.error());
  uint64_t id = e.nextHandle++;
  e.programs.emplace(id, std::move(*program));
  return ModuleId(id);
}

Result<void> Machine::unload(ModuleId module) {
  Engine &e = impl->engine;
  Program *p = impl->program(uint64_t(module));
  if (!p)
    return bad("expected the handle of a module that is loaded");
  auto uses = [p](const auto &works) {
    return std::any_of(works.begin(), works.end(), [p](const Work &work) {
      auto *launch = std::get_if<LaunchWork>(&work);
      return launch && launch->program == p;
    });
  };
  for (const auto &[id, stream] : e.streams)
    if (uses(stream.queue) || uses(stream.captured) ||
        std::any_of(stream.running.begin(), stream.running.end(), [p](const Grid *grid) { return grid->program == p; }))
      return bad("expected the streams that use a module to be synchronised before it is unloaded");
  for (const auto &[id, works] : e.graphs)
    if (uses(works))
      return bad("expected no graph to use a module that is unloaded");
  for (uint64_t address : p->ownedMemory)
    e.memory.release(address);
  e.programs.erase(uint64_t(module));
  e.dropCaches();
  return {};
}

Result<KernelId> Machine::kernel(ModuleId module, std::string_view entry) const {
  Program *p = impl->program(uint64_t(module));
  if (!p)
    return bad("expected the handle of a module that is loaded");
  std::string names;
  if (p->image)
    for (size_t i = 0; i < p->image->kernels.size(); ++i) {
      const gcn::Kernel &k = p->image->kernels[i];
      if (k.name == entry)
        return kernelId(uint64_t(module), uint32_t(i));
      names += (names.empty() ? "" : ", ") + k.name;
    }
  for (const DecodedFunction &fn : p->functions) {
    if (!fn.source->entry || !fn.decoded)
      continue;
    if (fn.source->name == entry)
      return kernelId(uint64_t(module), fn.index);
    names += (names.empty() ? "" : ", ") + std::string(fn.source->name);
  }
  return bad(
      fmt::format("expected a kernel of {}, which has {}; found {}", p->name, names.empty() ? "none" : names, entry));
}

Result<KernelInfo> Machine::info(KernelId kernel) const {
  auto k = impl->kernel(kernel);
  if (!k)
    return tl::unexpected(k.error());
  const auto &[program, fn, amd] = *k;
  if (amd)
    return KernelInfo{amd->name,
                      amd->explicitBytes,
                      amd->ldsBytes,
                      amd->scratchBytes,
                      uint32_t(amd->source->directive("next_free_vgpr", program->image->vgprs)),
                      amd->lanes};
  return KernelInfo{std::string(fn->source->name), fn->source->paramBytes, program->sharedBytes[fn->index],
                    fn->localBytes, uint32_t(fn->source->registers.size())};
}

Result<uint64_t> Machine::symbol(ModuleId module, std::string_view name) const {
  Program *p = impl->program(uint64_t(module));
  if (!p)
    return bad("expected the handle of a module that is loaded");
  if (p->image) {
    auto it = p->image->symbols.find(name);
    if (it != p->image->symbols.end() && it->second >= window::globalBase)
      return it->second;
  }
  for (size_t i = 0; i < p->module.variables.size(); ++i)
    if (p->module.variables[i].name == name && p->variableAddress[i] >= window::globalBase)
      return p->variableAddress[i];
  return bad(fmt::format("expected a .global or .const variable of {}, found {}", p->name, name));
}

Result<StreamId> Machine::createStream(uint32_t device) {
  Engine &e = impl->engine;
  if (device >= e.options.devices)
    return bad(fmt::format("expected a device below {}, found {}", e.options.devices, device));
  uint64_t id = e.nextHandle++;
  e.streams[id].device = device;
  return StreamId(id);
}

Result<void> Machine::destroyStream(StreamId stream) {
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  if (!s->idle())
    return bad("expected a stream to be synchronised before it is destroyed");
  impl->engine.streams.erase(uint64_t(stream));
  return {};
}

Result<void> Machine::launch(StreamId stream, KernelId kernel, const LaunchConfig &config,
                             std::span<const std::byte> params) {
  auto k = impl->kernel(kernel);
  if (!k)
    return tl::unexpected(k.error());
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  if (s->device != k->program->device)
    return bad(fmt::format("expected a stream of device {}, where the module is loaded, found one of device {}",
                           k->program->device, s->device));
  const auto *bytes = reinterpret_cast<const uint8_t *>(params.data());
  LaunchWork work{k->program, k->entry, config, {bytes, bytes + params.size()}, k->kernel};
  if (auto ok = impl->engine.checkLaunch(work); !ok)
    return ok;
  return impl->enqueue(stream, std::move(work));
}

Result<void> Machine::copyIn(StreamId stream, uint64_t to, const void *from, size_t bytes) {
  return impl->enqueue(stream, CopyWork{to, 0, nullptr, from, bytes});
}
Result<void> Machine::copyOut(StreamId stream, void *to, uint64_t from, size_t bytes) {
  return impl->enqueue(stream, CopyWork{0, from, to, nullptr, bytes});
}
Result<void> Machine::copy(StreamId stream, uint64_t to, uint64_t from, size_t bytes) {
  return impl->enqueue(stream, CopyWork{to, from, nullptr, nullptr, bytes});
}
Result<void> Machine::fill(StreamId stream, uint64_t to, uint8_t value, size_t bytes) {
  return impl->enqueue(stream, FillWork{to, value, bytes});
}
Result<void> Machine::callback(StreamId stream, std::function<void()> function) {
  return impl->enqueue(stream, CallbackWork(std::move(function)));
}

Result<EventId> Machine::createEvent() {
  uint64_t id = impl->engine.nextHandle++;
  impl->engine.events[id];
  return EventId(id);
}

Result<void> Machine::destroyEvent(EventId event) {
  if (!impl->engine.events.erase(uint64_t(event)))
    return bad("expected the handle of an event");
  return {};
}

Result<void> Machine::recordEvent(StreamId stream, EventId event) {
  if (!impl->event(event))
    return bad("expected the handle of an event");
  return impl->enqueue(stream, EventWork{uint64_t(event), false, 0});
}

Result<void> Machine::waitEvent(StreamId stream, EventId event) {
  if (!impl->event(event))
    return bad("expected the handle of an event");
  return impl->enqueue(stream, EventWork{uint64_t(event), true, 0});
}

Result<uint64_t> Machine::eventTime(EventId event) const {
  Event *e = impl->event(event);
  if (!e)
    return bad("expected the handle of an event");
  if (e->recordsRun == 0 || e->recordsRun < e->recordsQueued)
    return bad("expected an event whose record has run");
  return e->time;
}

Result<void> Machine::beginCapture(StreamId stream) {
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  if (s->capturing)
    return bad("expected a stream that does not capture yet");
  s->capturing = true;
  s->captured.clear();
  return {};
}

Result<GraphId> Machine::endCapture(StreamId stream) {
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  if (!s->capturing)
    return bad("expected a stream that captures");
  s->capturing = false;
  uint64_t id = impl->engine.nextHandle++;
  impl->engine.graphs[id] = std::move(s->captured);
  s->captured.clear();
  return GraphId(id);
}

Result<void> Machine::launchGraph(StreamId stream, GraphId graph) {
  auto it = impl->engine.graphs.find(uint64_t(graph));
  if (it == impl->engine.graphs.end())
    return bad("expected the handle of a graph");
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  for (const Work &work : it->second) {
    if (auto *launch = std::get_if<LaunchWork>(&work); launch && launch->program->device != s->device)
      return bad(fmt::format("expected a stream of device {}, where the graph was captured", launch->program->device));
    if (auto ok = impl->enqueue(stream, work); !ok)
      return ok;
  }
  return {};
}

Result<void> Machine::destroyGraph(GraphId graph) {
  if (!impl->engine.graphs.erase(uint64_t(graph)))
    return bad("expected the handle of a graph");
  return {};
}

Result<bool> Machine::isIdle(StreamId stream) const {
  Stream *s = impl->stream(stream);
  if (!s)
    return bad("expected the handle of a stream");
  return s->idle();
}

Result<void> Machine::synchronize(StreamId stream) {
  if (!impl->stream(stream))
    return bad("expected the handle of a stream");
  return impl->engine.run([&] { return impl->stream(stream)->idle(); });
}

Result<void> Machine::synchronizeAll() {
  return impl->engine.run([&] { return !impl->busy(); });
}

uint64_t Machine::now() const { return impl->engine.now(); }
Statistics Machine::statistics() const { return impl->engine.statistics; }
void Machine::setObserver(MemoryObserver *observer) { impl->engine.observer = observer; }

} // namespace interlock::emu
