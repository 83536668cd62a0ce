// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the emulator's tests share: one machine, kernels from the body of an entry, and typed memory.
#pragma once

#include "analysis/Emulator/Machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace interlock::emu::test {

/// A module with one entry `k` that takes 64-bit parameters p0, p1, …; `%p`, `%r`, `%rd`, `%f`, `%d`, `%h` and `%q`
/// are declared, and %rd0… hold the parameters (%rd100 holds p0, %rd101 p1, …).
inline std::string kernelText(const std::string &body, unsigned params, const std::string &target = "sm_90a",
                              const std::string &directives = "", const std::string &declarations = "",
                              const std::string &version = "8.6") {
  std::string text =
      ".version " + version + "\n.target " + target + "\n.address_size 64\n" + declarations + "\n.visible .entry k(";
  for (unsigned i = 0; i < params; ++i)
    text += (i ? ", " : "") + std::string(".param .u64 p") + std::to_string(i);
  text += ")\n" + directives +
          "\n{\n.reg .pred %p<20>;\n.reg .b16 %h<20>;\n.reg .b32 %r<60>;\n.reg .b64 %rd<120>;\n.reg .f32 %f<40>;\n.reg "
          ".f64 %d<20>;\n.reg .b128 %q<4>;\n";
  for (unsigned i = 0; i < params; ++i)
    text += "ld.param.u64 %rd" + std::to_string(100 + i) + ", [p" + std::to_string(i) + "];\n";
  return text + body + "\nret;\n}\n";
}

class MachineTest : public testing::Test {
protected:
  MachineOptions options;
  std::unique_ptr<Machine> machine;
  std::vector<StreamId> streams;

  void open() {
    auto m = Machine::create(options);
    ASSERT_TRUE(m) << m.error().message;
    machine = std::move(*m);
    streams.clear();
    for (uint32_t d = 0; d < options.devices; ++d)
      streams.push_back(*machine->createStream(d));
  }
  void SetUp() override { open(); }

  template <typename T> uint64_t upload(const std::vector<T> &values, uint32_t device = 0) {
    uint64_t at = *machine->allocate(device, values.size() * sizeof(T));
    EXPECT_TRUE(machine->write(at, values.data(), values.size() * sizeof(T)));
    return at;
  }
  template <typename T> std::vector<T> download(uint64_t at, size_t n) {
    std::vector<T> values(n);
    auto ok = machine->read(values.data(), at, n * sizeof(T));
    EXPECT_TRUE(ok) << ok.error().message;
    return values;
  }
  uint64_t zeros(size_t bytes, uint32_t device = 0) { return upload(std::vector<uint8_t>(bytes), device); }

  KernelId load(const std::string &text, uint32_t device = 0) {
    auto m = machine->load(device, text, "test.ptx");
    EXPECT_TRUE(m) << m.error().message << "\n" << text;
    if (!m)
      return KernelId(0);
    auto k = machine->kernel(*m, "k");
    EXPECT_TRUE(k) << k.error().message;
    return k ? *k : KernelId(0);
  }
  Result<void> enqueue(KernelId kernel, LaunchConfig config, const std::vector<uint64_t> &params, uint32_t device = 0) {
    return machine->launch(streams[device], kernel, config, std::as_bytes(std::span(params)));
  }
  /// Loads, launches and synchronises; the error of whichever failed.
  Result<void> tryRun(const std::string &text, LaunchConfig config, const std::vector<uint64_t> &params) {
    auto m = machine->load(0, text, "test.ptx");
    if (!m)
      return tl::unexpected(m.error());
    auto k = machine->kernel(*m, "k");
    if (!k)
      return tl::unexpected(k.error());
    if (auto ok = enqueue(*k, config, params); !ok)
      return ok;
    return machine->synchronizeAll();
  }
  void run(const std::string &text, LaunchConfig config, const std::vector<uint64_t> &params) {
    auto ok = tryRun(text, config, params);
    ASSERT_TRUE(ok) << ok.error().message << "\n" << text;
  }
  std::string errorOf(const std::string &text, LaunchConfig config, const std::vector<uint64_t> &params) {
    auto ok = tryRun(text, config, params);
    return ok ? "no error" : ok.error().message;
  }

  static LaunchConfig grid(uint32_t ctas, uint32_t threads, uint32_t cluster = 1, uint32_t dynamicShared = 0) {
    LaunchConfig c;
    c.grid.x = ctas;
    c.block.x = threads;
    c.cluster.x = cluster;
    c.dynamicSharedBytes = dynamicShared;
    return c;
  }
};

} // namespace interlock::emu::test
