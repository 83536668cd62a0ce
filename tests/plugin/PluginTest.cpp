// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The real plugin: what loading it does to a process, its identity, forks, and going without it (corpus A09, A17, A19).
#include "interlock/device.hpp"
#include "interlock/prepare.hpp"
#include "runtime/Cache/KernelCache.h"
#include "tests/plugin/Kernels.h"
#include "tests/unit/cache/FakeCompiler.h"
#include "tests/unit/cache/Processes.h"
#include "tests/unit/tool/Command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <csignal>
#include <fstream>
#include <iterator>
#include <thread>

#include <dlfcn.h>

namespace interlock {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using testing::HasSubstr;

std::unique_ptr<KernelCache> openCache(const std::string &directory, const std::string &plugin = INTERLOCK_PLUGIN) {
  return KernelCache::open({.directory = directory, .compiler = makePluginCompiler({.path = plugin})});
}

size_t entriesOf(const char *folder) {
  return size_t(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

bool isMapped(const std::string &library) {
  std::ifstream maps("/proc/self/maps");
  return std::string(std::istreambuf_iterator<char>(maps), {}).find(library) != std::string::npos;
}

// Loading it starts no thread, takes no signal, opens no file and prints nothing.
TEST(Plugin, A20LoadingItHasNoEffect) {
  int code = test::exitCodeOf(test::inProcess([] {
    if (isMapped("libinterlock_compiler"))
      return 1;
    struct sigaction before[NSIG] = {};
    for (int signal = 1; signal < NSIG; ++signal)
      ::sigaction(signal, nullptr, &before[signal]);
    size_t threads = entriesOf("/proc/self/task"), files = entriesOf("/proc/self/fd");
    if (!::dlopen(INTERLOCK_PLUGIN, RTLD_NOW | RTLD_LOCAL))
      return 2;
    for (int signal = 1; signal < NSIG; ++signal) {
      struct sigaction now = {};
      ::sigaction(signal, nullptr, &now);
      if (now.sa_handler != before[signal].sa_handler)
        return 3;
    }
    return threads == entriesOf("/proc/self/task") && files == entriesOf("/proc/self/fd") ? 0 : 4;
  }));
  EXPECT_EQ(code, 0);
}

std::vector<KernelSpec> amdKernels() {
  std::vector<KernelSpec> specs;
  for (const TargetInfo &target : targets())
    if (target.isAMD())
      for (KernelKind kind : {KernelKind::dispatch, KernelKind::combine}) {
        KernelSpec spec = test::kernels()[0];
        spec.kernel = kind;
        spec.target = std::string(target.name);
        spec.cluster = 1;
        spec.blockThreads = 256;
        specs.push_back(spec);
      }
  return specs;
}

// lld takes turns, leaves no file, no thread and no signal handler behind, and links the same bytes whoever else does.
TEST(Plugin, CodeObjectsFromManyThreadsHaveNoOtherEffect) {
  TempFolder folder;
  int code = test::exitCodeOf(test::inProcess(
      [&] {
        setenv("TMPDIR", folder.path().c_str(), 1);
        auto compiler = makePluginCompiler({.path = INTERLOCK_PLUGIN});
        std::vector<KernelSpec> specs = amdKernels();
        std::vector<std::string> alone(specs.size()), together(specs.size());
        auto link = [&](size_t i) {
          auto parts = compiler->compile(specs[i], {"hsaco"});
          return parts ? (*parts)["hsaco"] : std::string();
        };
        if (!compiler->identity())
          return 1;
        struct sigaction before[NSIG] = {};
        for (int signal = 1; signal < NSIG; ++signal)
          ::sigaction(signal, nullptr, &before[signal]);
        size_t tasks = entriesOf("/proc/self/task"), files = entriesOf("/proc/self/fd");
        for (size_t i = 0; i < specs.size(); ++i)
          if (alone[i] = link(i); !alone[i].starts_with("\x7f"
                                                        "ELF"))
            return 2;
        std::vector<std::thread> threads;
        for (size_t i = 0; i < specs.size(); ++i)
          threads.emplace_back([&, i] { together[i] = link(i); });
        for (std::thread &thread : threads)
          thread.join();
        if (alone != together)
          return 3;
        for (int signal = 1; signal < NSIG; ++signal) {
          struct sigaction now = {};
          ::sigaction(signal, nullptr, &now);
          if (now.sa_handler != before[signal].sa_handler)
            return 4;
        }
        if (tasks != entriesOf("/proc/self/task") || files != entriesOf("/proc/self/fd"))
          return 5;
        return entriesOf(folder.path().c_str()) == 0 ? 0 : 6;
      },
      120));
  EXPECT_EQ(code, 0);
}

// A directory that cannot be written is a sentence, not a crash.
TEST(Plugin, ACodeObjectNeedsATemporaryDirectory) {
  int code = test::exitCodeOf(test::inProcess([] {
    setenv("TMPDIR", "/nonexistent", 1);
    auto parts = makePluginCompiler({.path = INTERLOCK_PLUGIN})->compile(amdKernels()[0], {"hsaco"});
    return !parts && parts.error().message.find("TMPDIR") != std::string::npos ? 0 : 1;
  }));
  EXPECT_EQ(code, 0);
}

TEST(Plugin, IsLoadedWhenItIsNeeded) {
  EXPECT_EQ(test::exitCodeOf(test::inProcess([] {
              TempFolder folder;
              auto cache = openCache(folder.string());
              if (isMapped("libinterlock_compiler"))
                return 1;
              return cache->get(test::kernels()[0]) && isMapped("libinterlock_compiler") ? 0 : 2;
            })),
            0);
}

// Its file tells what it would state, so that a process with a warm cache maps none of it.
TEST(Plugin, AHitOnDiskLoadsNothing) {
  TempFolder folder;
  ASSERT_EQ(
      test::exitCodeOf(test::inProcess([&] { return openCache(folder.string())->get(test::kernels()[0]) ? 0 : 1; })),
      0);
  EXPECT_EQ(test::exitCodeOf(test::inProcess([&] {
              auto hit = openCache(folder.string())->get(test::kernels()[0]);
              if (!hit || hit->outcome != Outcome::disk)
                return 1;
              return isMapped("libinterlock_compiler") ? 2 : 0;
            })),
            0);
}

TEST(Plugin, ItsFileTellsWhatItStates) {
  std::string told = *makePluginCompiler({.path = INTERLOCK_PLUGIN})->identity();
  EXPECT_EQ(test::exitCodeOf(test::inProcess([&] {
              void *library = ::dlopen(INTERLOCK_PLUGIN, RTLD_NOW | RTLD_LOCAL);
              auto identity =
                  library ? reinterpret_cast<const char *(*)()>(::dlsym(library, "ilk_compiler_identity")) : nullptr;
              return identity && told == identity() ? 0 : 1;
            })),
            0)
      << told;
}

// A copy elsewhere, renamed and old, is the same compiler; one with another byte in its build id is another.
TEST(Plugin, A09ItsIdentityIsItsContent) {
  TempFolder folder;
  fs::path copy = folder.path() / "opt/renamed.so", changed = folder.path() / "changed.so";
  fs::create_directories(copy.parent_path());
  fs::copy_file(INTERLOCK_PLUGIN, copy);
  fs::last_write_time(copy, fs::file_time_type::clock::now() - std::chrono::hours(24 * 365));
  auto identity = [](const fs::path &plugin) { return *makePluginCompiler({.path = plugin.string()})->identity(); };
  std::string own = identity(INTERLOCK_PLUGIN);
  EXPECT_EQ(identity(copy), own);
  // The linker's digest of the plugin's content (--build-id=sha1), which stands in the file.
  std::string digest = nlohmann::json::parse(own)["digest"], raw;
  ASSERT_EQ(digest.size(), 40u);
  for (size_t i = 0; i < digest.size(); i += 2)
    raw += static_cast<char>(std::stoi(digest.substr(i, 2), nullptr, 16));
  std::string bytes = test::slurp(INTERLOCK_PLUGIN);
  size_t at = bytes.find(raw);
  ASSERT_NE(at, std::string::npos);
  bytes[at] ^= 1;
  test::spill(changed, bytes);
  EXPECT_NE(identity(changed), own);
}

TEST(Plugin, A19AChildOfAThreadedCompilerCompiles) {
  TempFolder folder;
  auto cache = openCache(folder.string());
  std::atomic<bool> stop{false};
  std::atomic<uint32_t> next{0};
  std::vector<std::thread> threads;
  auto numbered = [](uint32_t n) {
    KernelSpec spec = test::kernels()[0];
    spec.layer.maxTokens = n + 1;
    return spec;
  };
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&] {
      while (!stop)
        (void)cache->get(numbered(100 + next++));
    });
  for (uint32_t round = 0; round < 8; ++round) {
    int code = test::exitCodeOf(test::inProcess(
        [&] {
          auto fresh = cache->get(numbered(round));
          return fresh && fresh->outcome == Outcome::miss && !fresh->artifact->text.empty() ? 0 : 1;
        },
        60));
    EXPECT_EQ(code, 0) << "round " << round;
  }
  stop = true;
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(next, 0u);
}

TEST(Plugin, CachedKernelsWorkWithoutIt) {
  TempFolder folder;
  std::string plugin = folder.string("plugin.so");
  fs::copy_file(INTERLOCK_PLUGIN, plugin);
  // In another process: here it would stay loaded.
  ASSERT_EQ(test::exitCodeOf(test::inProcess(
                [&] { return int(prewarm(*openCache(folder.string(), plugin), test::kernels()).failures.size()); })),
            0);
  fs::remove(plugin);
  auto cache = openCache(folder.string(), plugin);
  auto driver = openEmulator({.target = "sm_90a"});
  ASSERT_TRUE(driver);
  for (const KernelSpec &kernel : test::kernels()) {
    auto hit = cache->get(kernel);
    ASSERT_TRUE(hit) << hit.error().message;
    EXPECT_EQ(hit->outcome, Outcome::disk);
    if (kernel.target == "sm_90a") {
      EXPECT_TRUE((*driver)->load(0, {hit->artifact->text, "", hit->artifact->facts.entry}));
    }
  }
  EXPECT_EQ(cache->notes().size(), 1u);
}

// With nothing on the PATH the compiler works in the process, and what needs a tool says which.
TEST(Plugin, A17WithoutAnyTool) {
  std::vector<std::string> bare = {"PATH=", "INTERLOCK_COMPILER=" INTERLOCK_PLUGIN};
  std::vector<std::string> compile = {"compile", "--kernel", "dispatch", "--ranks", "2",        "--experts", "8",
                                      "--topk",  "2",        "--hidden", "64",      "--tokens", "4",         "--emit"};
  auto with = [&](const char *emit) {
    std::vector<std::string> arguments = compile;
    arguments.push_back(emit);
    return arguments;
  };
  test::Outcome ptx = test::runCommand(with("ptx"), bare);
  EXPECT_EQ(ptx.code, 0) << ptx.err;
  EXPECT_THAT(ptx.out, HasSubstr(".visible .entry"));
  test::Outcome sass = test::runCommand(with("sass"), bare);
  EXPECT_EQ(sass.code, 2);
  EXPECT_THAT(sass.err, testing::AllOf(HasSubstr("nvdisasm"), HasSubstr("cuobjdump")));
  auto doctor = test::runCommand({"doctor", "--json"}, bare).json();
  EXPECT_EQ(doctor["disassembler"]["found"], false);
  EXPECT_EQ(doctor["compiler"]["found"], true);
}

// What the compiler refuses is told in its words, with the place, and nothing is loaded or cached.
TEST(Plugin, A17AFailureOfTheCompilerIsItsOwn) {
  TempFolder folder;
  fs::create_directories(folder.path() / "templates");
  test::spill(folder.path() / "templates/dispatch.mlir", "this is no template\n");
  auto compiler = makePluginCompiler({.path = INTERLOCK_PLUGIN, .templateDir = (folder.path() / "templates").string()});
  auto cache = KernelCache::open({.directory = folder.string(), .compiler = compiler});
  auto failed = cache->get(test::kernels()[0]);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::compile);
  EXPECT_THAT(failed.error().message, HasSubstr("dispatch.mlir"));
  EXPECT_TRUE(cache->disk()->list().empty());
  EXPECT_EQ(cache->report().misses[0].failure, failed.error().message);
}

} // namespace
} // namespace interlock
