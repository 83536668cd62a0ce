// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The C ABI as a program sees it: this test links libinterlock.so and nothing of ours besides.
#include "interlock/handles.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <thread>

namespace {

namespace fs = std::filesystem;
namespace c = interlock::c;
using c::receive;
using testing::HasSubstr;

#define ILK_OK_OR_FAIL(call) ASSERT_EQ(call, ILK_OK) << ilk_message()

template <typename T> T sized() {
  T value;
  std::memset(static_cast<void *>(&value), 0, sizeof value);
  value.size = sizeof value;
  return value;
}

ilk_layer someLayer() {
  auto layer = sized<ilk_layer>();
  layer.ranks = 2;
  layer.experts = 8;
  layer.topk = 2;
  layer.hidden = 64;
  layer.max_tokens = 16;
  return layer;
}

class CApi : public testing::Test {
protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "interlock-capi-XXXXXX").string();
    folder = mkdtemp(pattern.data());
  }
  void TearDown() override { fs::remove_all(folder); }
  c::Driver emulator() {
    auto options = sized<ilk_driver_options>();
    options.kind = ILK_DRIVER_EMULATOR;
    options.devices = 2;
    c::Driver driver;
    EXPECT_EQ(ilk_driver_open(&options, receive(driver)), ILK_OK) << ilk_message();
    return driver;
  }
  c::Cache cache(const char *name = "cache") {
    auto options = sized<ilk_cache_options>();
    std::string directory = folder + "/" + name;
    options.directory = directory.c_str(); // copied: gone before the cache is used
    options.compiler_path = FAKE_PLUGIN;
    c::Cache cache;
    EXPECT_EQ(ilk_cache_open(&options, receive(cache)), ILK_OK) << ilk_message();
    return cache;
  }
  std::string kernels() {
    ilk_layer layers[] = {someLayer(), someLayer()};
    layers[1].max_tokens = 64;
    auto deployment = sized<ilk_deployment>();
    deployment.layers = layers;
    deployment.layer_count = 2;
    c::Text text;
    EXPECT_EQ(ilk_enumerate(&deployment, receive(text)), ILK_OK) << ilk_message();
    return text ? text.get() : "";
  }
  static void refused(ilk_status status, ilk_status expected, const char *part) {
    EXPECT_EQ(status, expected) << ilk_message();
    EXPECT_THAT(ilk_message(), HasSubstr(part));
  }
  std::string folder;
};

TEST_F(CApi, StatesItsVersions) {
  EXPECT_EQ(ilk_abi(), uint32_t(ILK_ABI));
  EXPECT_THAT(ilk_version(), testing::MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+"));
}

TEST_F(CApi, MessagesAreTheThreads) {
  refused(ilk_driver_device_count(nullptr, nullptr), ILK_BAD_INPUT, "expected a driver, got NULL");
  std::thread([] {
    EXPECT_STREQ(ilk_message(), "");
    EXPECT_EQ(ilk_cache_freeze(nullptr), ILK_BAD_INPUT);
    EXPECT_THAT(ilk_message(), HasSubstr("a cache"));
  }).join();
  EXPECT_THAT(ilk_message(), HasSubstr("a driver"));
}

TEST_F(CApi, ADriverMovesMemory) {
  c::Driver driver = emulator();
  uint32_t count = 0;
  ILK_OK_OR_FAIL(ilk_driver_device_count(driver.get(), &count));
  EXPECT_EQ(count, 2u);
  auto info = sized<ilk_device_info>();
  ILK_OK_OR_FAIL(ilk_driver_device_info(driver.get(), 1, &info));
  EXPECT_STREQ(info.target, "sm_90a");
  EXPECT_STREQ(info.name, "emulated sm_90a");
  ilk_address one = 0, two = 0;
  ilk_stream stream = 0;
  ILK_OK_OR_FAIL(ilk_driver_allocate(driver.get(), 0, 64, &one));
  ILK_OK_OR_FAIL(ilk_driver_allocate(driver.get(), 1, 64, &two));
  ILK_OK_OR_FAIL(ilk_driver_stream_create(driver.get(), 0, &stream));
  char in[64] = "dispatch", out[64] = {};
  ilk_graph graph = 0;
  ILK_OK_OR_FAIL(ilk_driver_copy_in(driver.get(), stream, one, in, sizeof in));
  ILK_OK_OR_FAIL(ilk_driver_begin_capture(driver.get(), stream));
  ILK_OK_OR_FAIL(ilk_driver_copy(driver.get(), stream, two, one, sizeof in));
  ILK_OK_OR_FAIL(ilk_driver_fill(driver.get(), stream, two + 1, 'I', 1));
  ILK_OK_OR_FAIL(ilk_driver_end_capture(driver.get(), stream, &graph));
  ILK_OK_OR_FAIL(ilk_driver_launch_graph(driver.get(), stream, graph));
  ILK_OK_OR_FAIL(ilk_driver_copy_out(driver.get(), stream, out, two, sizeof out));
  ILK_OK_OR_FAIL(ilk_driver_synchronize(driver.get(), stream));
  EXPECT_STREQ(out, "dIspatch");
  ILK_OK_OR_FAIL(ilk_driver_destroy_graph(driver.get(), graph));
  ILK_OK_OR_FAIL(ilk_driver_stream_destroy(driver.get(), stream));
  ILK_OK_OR_FAIL(ilk_driver_release(driver.get(), one));
  refused(ilk_driver_release(driver.get(), one), ILK_BAD_INPUT, "expected");
  refused(ilk_driver_synchronize(driver.get(), stream), ILK_BAD_INPUT, "expected");
}

TEST_F(CApi, ACacheIsPreparedFrozenAndReported) {
  c::Cache cache = this->cache();
  std::string list = kernels();
  auto report = sized<ilk_prewarm_report>();
  auto options = sized<ilk_prewarm_options>();
  uint64_t last = 0;
  options.threads = 2;
  options.user = &last;
  options.progress = [](void *user, uint64_t done, uint64_t of, uint64_t) {
    EXPECT_EQ(of, 4u);
    *static_cast<uint64_t *>(user) = done;
  };
  ILK_OK_OR_FAIL(ilk_cache_prewarm(cache.get(), list.c_str(), &options, &report));
  EXPECT_EQ(report.compiled, 4u);
  EXPECT_EQ(last, 4u);
  ILK_OK_OR_FAIL(ilk_cache_freeze(cache.get()));
  // The fake's text is no PTX, so loading it fails; but it was found, so it is not "not prepared".
  c::Driver driver = emulator();
  c::Operation operation;
  ilk_layer layer = someLayer();
  EXPECT_NE(ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)), ILK_NOT_PREPARED);
  layer.max_tokens = 17;
  refused(ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)), ILK_NOT_PREPARED,
          "prepared before the cache was frozen");
  EXPECT_FALSE(operation);
  ILK_OK_OR_FAIL(ilk_cache_thaw(cache.get()));
  auto counters = sized<ilk_cache_counters>();
  ILK_OK_OR_FAIL(ilk_cache_get_counters(cache.get(), &counters));
  EXPECT_EQ(counters.compiled, 4u);
  EXPECT_EQ(counters.refused, 1u);
  EXPECT_EQ(counters.misses, 5u);
  c::Text text;
  ILK_OK_OR_FAIL(ilk_cache_report(cache.get(), receive(text)));
  auto json = nlohmann::json::parse(text.get(), nullptr, false);
  EXPECT_EQ(json["counters"]["refused"], 1);
  EXPECT_EQ(json["misses"].size(), 5u);
  EXPECT_EQ(json["misses"][4]["failure"], "the cache is frozen");
  EXPECT_EQ(json["directory"], folder + "/cache");
}

TEST_F(CApi, ArchivesMoveACache) {
  std::string list = kernels(), file = folder + "/archive";
  c::Cache from = cache("from"), to = cache("to");
  ILK_OK_OR_FAIL(ilk_cache_prewarm(from.get(), list.c_str(), nullptr, nullptr));
  auto moved = sized<ilk_archive_report>();
  ILK_OK_OR_FAIL(ilk_cache_export(from.get(), file.c_str(), &moved));
  EXPECT_EQ(moved.entries, 4u);
  ILK_OK_OR_FAIL(ilk_cache_import(to.get(), file.c_str(), nullptr));
  auto report = sized<ilk_prewarm_report>();
  ILK_OK_OR_FAIL(ilk_cache_prewarm(to.get(), list.c_str(), nullptr, &report));
  EXPECT_EQ(report.cached, 4u);
  fs::resize_file(file, 30);
  refused(ilk_cache_import(to.get(), file.c_str(), nullptr), ILK_BAD_INPUT, file.c_str());
}

TEST_F(CApi, NotesGoToTheLog) {
  std::vector<std::string> notes;
  auto options = sized<ilk_cache_options>();
  options.directory = "/proc/self/interlock";
  options.user = &notes;
  options.log = [](void *user, const char *note) { static_cast<std::vector<std::string> *>(user)->push_back(note); };
  c::Cache cache;
  ILK_OK_OR_FAIL(ilk_cache_open(&options, receive(cache)));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("the disk cache is off"));
}

/// A pool over memory of the driver's own, which counts.
struct Pool {
  ilk_driver *driver = nullptr;
  std::map<ilk_address, size_t> given;
  int calls = 0, failAt = -1;
  uint64_t shift = 0;
};
ilk_allocator allocatorOf(Pool &pool) {
  auto allocator = sized<ilk_allocator>();
  allocator.user = &pool;
  allocator.allocate = [](void *user, uint32_t device, size_t bytes, ilk_address *address) -> ilk_status {
    Pool &pool = *static_cast<Pool *>(user);
    if (pool.calls++ == pool.failAt)
      return ILK_DEVICE;
    ilk_status status = ilk_driver_allocate(pool.driver, device, bytes, address);
    pool.given[*address] = bytes;
    *address += pool.shift;
    return status;
  };
  allocator.release = [](void *user, ilk_address address) {
    Pool &pool = *static_cast<Pool *>(user);
    EXPECT_EQ(pool.given.erase(address - pool.shift), 1u);
  };
  return allocator;
}

TEST_F(CApi, BadInputIsASentence) {
  refused(ilk_driver_open(nullptr, nullptr), ILK_BAD_INPUT, "a place for the driver");
  c::Driver driver;
  auto options = sized<ilk_driver_options>();
  options.kind = 7;
  refused(ilk_driver_open(&options, receive(driver)), ILK_BAD_INPUT, "kinds of drivers, got 7");
  options.kind = ILK_DRIVER_EMULATOR;
  options.target = "gfx9000";
  EXPECT_NE(ilk_driver_open(&options, receive(driver)), ILK_OK);
  EXPECT_THAT(ilk_message(), HasSubstr("gfx9000"));
  options.target = nullptr;
  options.size = 0;
  refused(ilk_driver_open(&options, receive(driver)), ILK_BAD_INPUT, ".size = sizeof(ilk_driver_options)");
  options.size = sizeof options;
  auto allocator = sized<ilk_allocator>();
  options.allocator = &allocator;
  refused(ilk_driver_open(&options, receive(driver)), ILK_BAD_INPUT, "both callbacks");
  EXPECT_FALSE(driver);

  driver = emulator();
  c::Cache cache = this->cache();
  c::Operation operation;
  ilk_layer layer = someLayer();
  auto create = [&] { return ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)); };
  refused(ilk_operation_create(driver.get(), cache.get(), nullptr, nullptr, receive(operation)), ILK_BAD_INPUT,
          "ilk_layer, got NULL");
  layer.topk = 33;
  refused(create(), ILK_BAD_INPUT, "33");
  layer = someLayer();
  layer.dtype = 99;
  refused(create(), ILK_BAD_INPUT, "a dtype from 0 to 6, got 99");
  auto how = sized<ilk_operation_options>();
  layer = someLayer();
  how.kernels = 2;
  refused(ilk_operation_create(driver.get(), cache.get(), &layer, &how, receive(operation)), ILK_BAD_INPUT,
          "an origin of kernels from 0 to 1, got 2");
  refused(ilk_cache_prewarm(cache.get(), "kernel=tea\n", nullptr, nullptr), ILK_BAD_INPUT, "kernel 1 of the list");
  refused(ilk_operation_dispatch(nullptr, 0, 0, nullptr, nullptr), ILK_BAD_INPUT, "an operation");
  ilk_driver_close(nullptr);
  ilk_cache_close(nullptr);
  ilk_operation_destroy(nullptr);
  ilk_routing_destroy(nullptr);
  ilk_text_free(nullptr);
}

// A header that is newer by a field: with it unset everything works, set it is refused.
TEST_F(CApi, StructsOfANewerHeader) {
  struct {
    ilk_cache_options known;
    uint64_t later;
  } newer{sized<ilk_cache_options>(), 0};
  newer.known.size = sizeof newer;
  c::Cache cache;
  ILK_OK_OR_FAIL(ilk_cache_open(&newer.known, receive(cache)));
  newer.later = 1;
  refused(ilk_cache_open(&newer.known, receive(cache)), ILK_UNSUPPORTED, "newer library");
}

// The bootstrap is the caller's: what it returns ends the creation, and what it gives is counted.
TEST_F(CApi, ABootstrapThatFailsIsNamed) {
  struct Meeting {
    ilk_status status = ILK_OK;
    int gives = 2, calls = 0;
  } meeting;
  const uint32_t ranks[] = {1};
  auto group = sized<ilk_group>();
  group.process = 1;
  group.processes = 2;
  group.ranks = ranks;
  group.rank_count = 1;
  group.user = &meeting;
  c::Driver driver = emulator();
  c::Cache cache = this->cache();
  c::Operation operation;
  ilk_layer layer = someLayer();
  auto create = [&] {
    return ilk_operation_create_in_group(driver.get(), cache.get(), &layer, &group, nullptr, receive(operation));
  };
  refused(create(), ILK_BAD_INPUT, "expected a bootstrap for a group of 2 processes");
  group.allgather = [](void *user, const void *bytes, size_t size, void (*take)(void *, const void *, size_t),
                       void *sink) -> ilk_status {
    Meeting &meeting = *static_cast<Meeting *>(user);
    ++meeting.calls;
    for (int i = 0; i < meeting.gives; ++i)
      take(sink, bytes, size); // as if the other one said the same
    return meeting.status;
  };
  meeting.status = ILK_TIMEOUT;
  refused(create(), ILK_TIMEOUT, "the callback allgather returned status 6");
  EXPECT_EQ(meeting.calls, 1);
  meeting = {ILK_OK, 1, 0};
  refused(create(), ILK_BAD_INPUT, "each of 2 processes gave, got 1");
  refused(ilk_operation_create_in_group(driver.get(), cache.get(), &layer, nullptr, nullptr, receive(operation)),
          ILK_BAD_INPUT, "ilk_group, got NULL");
}

TEST_F(CApi, TheLibrarysMemoryIsTheCallers) {
  Pool pool;
  ilk_allocator allocator = allocatorOf(pool);
  auto options = sized<ilk_driver_options>();
  options.kind = ILK_DRIVER_EMULATOR;
  options.allocator = &allocator;
  c::Driver driver;
  ILK_OK_OR_FAIL(ilk_driver_open(&options, receive(driver)));
  pool.driver = driver.get();
  c::Cache cache = this->cache();
  c::Operation operation;
  ilk_layer layer = someLayer();
  layer.ranks = 5; // for which the fake makes kernels that can be loaded
  layer.experts = 10;
  auto create = [&] { return ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)); };
  ILK_OK_OR_FAIL(create());
  EXPECT_FALSE(pool.given.empty());
  // In any order: the operation keeps what it needs.
  driver.reset();
  cache.reset();
  operation.reset();
  EXPECT_TRUE(pool.given.empty());

  ILK_OK_OR_FAIL(ilk_driver_open(&options, receive(driver)));
  pool.driver = driver.get();
  cache = this->cache();
  pool.calls = 0;
  pool.failAt = 1; // after something was taken, which must be given back
  refused(create(), ILK_DEVICE, "the callback allocate returned status 5");
  EXPECT_TRUE(pool.given.empty());
  pool.failAt = -1;
  pool.shift = 8;
  refused(create(), ILK_BAD_INPUT, "a multiple of 256");
  EXPECT_TRUE(pool.given.empty());
}

TEST_F(CApi, PackingIsAskedForByTheOptions) {
  c::Driver driver = emulator();
  c::Cache cache = this->cache();
  c::Operation operation;
  ilk_layer layer = someLayer();
  layer.ranks = 5; // for which the fake makes kernels that can be loaded
  layer.experts = 10;
  auto how = sized<ilk_operation_options>();
  auto create = [&] { return ilk_operation_create(driver.get(), cache.get(), &layer, &how, receive(operation)); };
  how.packing = 1;
  how.pack_alignment = 1u << 20;
  refused(create(), ILK_BAD_INPUT, "a multiple of 1 to 65536, got 1048576");
  how.pack_alignment = 8;
  how.packed_rows = 12;
  refused(create(), ILK_BAD_INPUT, "room for a multiple of 8 packed rows");
  // An older header ends before these fields, whatever lies there.
  how.size = offsetof(ilk_operation_options, packing);
  ILK_OK_OR_FAIL(create());
  ilk_stream stream = 0;
  c::Routing routing;
  auto nothing = sized<ilk_dispatch_arguments>();
  ILK_OK_OR_FAIL(ilk_driver_stream_create(driver.get(), 0, &stream));
  ILK_OK_OR_FAIL(ilk_operation_dispatch(operation.get(), 0, stream, &nothing, receive(routing)));
  auto packed = sized<ilk_packed>();
  auto result = sized<ilk_packing_result>();
  const char *why = "expected an operation whose options ask for packing, got one without";
  refused(ilk_operation_convert_dispatch_output(operation.get(), 0, stream, routing.get(), 256, 0), ILK_BAD_INPUT, why);
  refused(ilk_operation_convert_combine_input(operation.get(), 0, stream, routing.get(), 256, 1), ILK_BAD_INPUT, why);
  refused(ilk_operation_packed(operation.get(), routing.get(), &packed), ILK_BAD_INPUT, why);
  refused(ilk_operation_packing_result(operation.get(), routing.get(), stream, &result), ILK_BAD_INPUT, why);
  refused(ilk_operation_packed(operation.get(), nullptr, &packed), ILK_BAD_INPUT, "a routing handle");
}

TEST_F(CApi, OwnRowsStayInPlaceIfTheLayerSaysSo) {
  c::Driver driver = emulator();
  c::Cache cache = this->cache();
  ilk_layer layer = someLayer();
  layer.ranks = 5;
  layer.experts = 10;
  layer.own_in_place = 1;
  ilk_address first = 0, second = 0;
  ilk_stream stream = 0;
  ILK_OK_OR_FAIL(ilk_driver_stream_create(driver.get(), 0, &stream));
  {
    c::Operation operation;
    c::Routing routing;
    ILK_OK_OR_FAIL(ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)));
    ILK_OK_OR_FAIL(ilk_operation_own_rows(operation.get(), 2, 0, &first));
    ILK_OK_OR_FAIL(ilk_operation_own_rows(operation.get(), 2, 1, &second));
    refused(ilk_operation_own_rows(operation.get(), 2, 2, &second), ILK_BAD_INPUT, "a buffer below 2");
    refused(ilk_operation_own_rows(operation.get(), 2, 0, nullptr), ILK_BAD_INPUT, "a place for the address");
    auto nothing = sized<ilk_dispatch_arguments>();
    ILK_OK_OR_FAIL(ilk_operation_dispatch(operation.get(), 2, stream, &nothing, receive(routing)));
    auto at = sized<ilk_landed>();
    ILK_OK_OR_FAIL(ilk_operation_landed(operation.get(), routing.get(), &at));
    EXPECT_EQ(first, at.rows + 2 * at.rows_per_source * at.row_stride);
    EXPECT_EQ(second - first, 5 * at.rows_per_source * at.row_stride);
    EXPECT_NE(at.absent, 0u);
    // What an older header does not know is not written.
    ilk_landed older = at;
    older.size = offsetof(ilk_landed, absent);
    older.absent = 42;
    ILK_OK_OR_FAIL(ilk_operation_landed(operation.get(), routing.get(), &older));
    EXPECT_EQ(older.absent, 42u);
  }
  // An older header ends before the field, whatever lies there.
  c::Operation operation;
  layer.size = offsetof(ilk_layer, own_in_place);
  ILK_OK_OR_FAIL(ilk_operation_create(driver.get(), cache.get(), &layer, nullptr, receive(operation)));
  refused(ilk_operation_own_rows(operation.get(), 2, 0, &first), ILK_BAD_INPUT, "a layer with ownInPlace");
}

ilk_source_kernel addSource() {
  auto source = sized<ilk_source_kernel>();
  source.name = "add.cu";
  source.source = "#include \"n.h\"\nextern \"C\" __global__ void add(int *x, int n) {\n"
                  "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) x[i] += N * M;\n}\n";
  source.entry = "add";
  return source;
}

TEST_F(CApi, ASourceIsCompiledLoadedAndLaunched) {
  c::Driver driver = emulator();
  c::Cache kernels = cache();
  auto source = addSource();
  auto header = sized<ilk_source_header>();
  header.name = "n.h";
  header.text = "#define N 3\n";
  const char *options[] = {"-DM=2"};
  source.headers = &header;
  source.header_count = 1;
  source.options = options;
  source.option_count = 1;
  c::Kernel kernel;
  ilk_status status = ilk_kernel_compile(kernels.get(), &source, receive(kernel));
  if (status == ILK_NOT_FOUND)
    GTEST_SKIP() << ilk_message();
  ASSERT_EQ(status, ILK_OK) << ilk_message();
  auto facts = sized<ilk_kernel_facts>();
  ILK_OK_OR_FAIL(ilk_kernel_get_facts(kernel.get(), &facts));
  EXPECT_EQ(facts.cluster, 1u);
  const void *bytes = nullptr;
  size_t size = 0;
  ILK_OK_OR_FAIL(ilk_kernel_get_part(kernel.get(), ILK_PART_TEXT, &bytes, &size));
  EXPECT_THAT(std::string(static_cast<const char *>(bytes), size), HasSubstr(".visible .entry add"));

  std::vector<int32_t> values(100, 1), out(100);
  ilk_stream stream = 0;
  ilk_address at = 0;
  ilk_loaded loaded = 0;
  ILK_OK_OR_FAIL(ilk_driver_stream_create(driver.get(), 0, &stream));
  ILK_OK_OR_FAIL(ilk_driver_allocate(driver.get(), 0, 400, &at));
  ILK_OK_OR_FAIL(ilk_driver_copy_in(driver.get(), stream, at, values.data(), 400));
  ILK_OK_OR_FAIL(ilk_driver_load(driver.get(), 0, kernel.get(), &loaded));
  struct {
    uint64_t x;
    int32_t n, padding;
  } parameters{at, 90, 0};
  auto launch = sized<ilk_launch>();
  launch.grid = 4;
  launch.block = 32;
  launch.parameters = &parameters;
  launch.parameter_bytes = sizeof parameters;
  ILK_OK_OR_FAIL(ilk_driver_launch(driver.get(), stream, kernel.get(), loaded, &launch));
  ILK_OK_OR_FAIL(ilk_driver_copy_out(driver.get(), stream, out.data(), at, 400));
  ILK_OK_OR_FAIL(ilk_driver_synchronize(driver.get(), stream));
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(out[i], i < 90 ? 7 : 1) << i;
  ILK_OK_OR_FAIL(ilk_driver_unload(driver.get(), loaded));
  refused(ilk_driver_launch(driver.get(), stream, kernel.get(), loaded, &launch), ILK_BAD_INPUT, "kernel");
}

TEST_F(CApi, WhatIsNoSourceIsRefused) {
  c::Cache kernels = cache();
  c::Kernel kernel;
  auto source = addSource();
  source.entry = nullptr;
  refused(ilk_kernel_compile(kernels.get(), &source, receive(kernel)), ILK_BAD_INPUT, "the name of its kernel");
  source = addSource();
  source.option_count = 1;
  refused(ilk_kernel_compile(kernels.get(), &source, receive(kernel)), ILK_BAD_INPUT, "expected options and headers");
  source = addSource();
  source.nvrtc_path = "/no/such/libnvrtc.so";
  refused(ilk_kernel_compile(kernels.get(), &source, receive(kernel)), ILK_NOT_FOUND, "expected NVRTC");
  EXPECT_EQ(kernel, nullptr);
  auto facts = sized<ilk_kernel_facts>();
  refused(ilk_kernel_get_facts(nullptr, &facts), ILK_BAD_INPUT, "expected a kernel, got NULL");
}

} // namespace
