// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Ops/LocalRun.h"

#include "runtime/Memory/DeviceBuffer.h"
#include "runtime/Ops/TestRows.h"

#include <fmt/format.h>

#include <cstring>
#include <numeric>
#include <optional>

namespace interlock {

namespace {
/// A pattern that is no sum or copy of test rows: a NaN in every type.
constexpr uint8_t sentinel = 0xff;

class Run {
public:
  Run(Driver &driver, KernelCache &cache, const LocalRunOptions &options)
      : driver(driver), cache(cache), options(options), epilogue(options.spec.kernel == KernelKind::dispatchEpilogue),
        work(makeGroups(options.groups, options.spec.layer.topk, options.seed)), rowBytes(localRowBytes(options.spec)) {
  }
  ~Run() {
    if (stream)
      (void)driver.destroyStream(*stream);
  }

  Result<LocalRunReport> run() {
    ILK_RETURN_IF_ERROR(validate(work));
    ILK_ASSIGN_OR_RETURN(LocalKernel kernel, LocalKernel::load(driver, cache, options.device, options.spec));
    LocalRunReport report;
    report.kernel = kernel.report();
    report.launchMode = kernel.launchMode();
    ILK_ASSIGN_OR_RETURN(report.residentCtas, kernel.residentCtas());
    report.kernel.grid = options.grid;
    if (!options.grid) {
      ILK_ASSIGN_OR_RETURN(report.kernel.grid, kernel.defaultGrid(options.groups));
    }
    ILK_ASSIGN_OR_RETURN(stream, driver.createStream(options.device));
    ILK_RETURN_IF_ERROR(upload());
    std::optional<LocalKernel> before;
    if (options.spec.programmatic) {
      ILK_ASSIGN_OR_RETURN(before, predecessor());
    }
    ILK_ASSIGN_OR_RETURN(EventId begin, driver.createEvent());
    ILK_ASSIGN_OR_RETURN(EventId end, driver.createEvent());
    ILK_RETURN_IF_ERROR(driver.recordEvent(*stream, begin));
    if (before) {
      ILK_ASSIGN_OR_RETURN(uint32_t grid, before->defaultGrid(uint32_t(identity.size())));
      ILK_RETURN_IF_ERROR(before->launch(*stream, grid, predecessorParams()));
    }
    ILK_RETURN_IF_ERROR(kernel.launch(*stream, report.kernel.grid, params(), options.forceCooperative));
    ILK_RETURN_IF_ERROR(driver.recordEvent(*stream, end));
    ILK_RETURN_IF_ERROR(driver.synchronize(*stream));
    ILK_ASSIGN_OR_RETURN(report.nanoseconds, driver.elapsedNs(begin, end));
    (void)driver.destroyEvent(begin);
    (void)driver.destroyEvent(end);
    ILK_RETURN_IF_ERROR(driver.copyOut(*stream, &report.status, status.address(), sizeof report.status));
    std::vector<std::byte> got(destination.size());
    ILK_RETURN_IF_ERROR(driver.copyOut(*stream, got.data(), destinationBuffer().address(), got.size()));
    ILK_RETURN_IF_ERROR(driver.synchronize(*stream));
    if (options.check)
      compare(got, report);
    return report;
  }

private:
  DeviceBuffer &sourceBuffer() { return epilogue ? tokenRows : expertRows; }
  DeviceBuffer &destinationBuffer() { return epilogue ? expertRows : tokenRows; }

  template <typename T> Status put(DeviceBuffer &to, const std::vector<T> &from) {
    ILK_ASSIGN_OR_RETURN(to, DeviceBuffer::create(driver, options.device, from.size() * sizeof(T)));
    return driver.copyIn(*stream, to.address(), from.data(), from.size() * sizeof(T));
  }

  Status upload() {
    source.resize((epilogue ? work.tokenRows : work.expertRows) * rowBytes);
    destination.assign((epilogue ? work.expertRows : work.tokenRows) * rowBytes, std::byte(sentinel));
    DType dtype = epilogue ? options.spec.layer.dtype : options.spec.layer.combineDType;
    fillTestRows(dtype, options.seed, 0, 0, source);
    ILK_RETURN_IF_ERROR(put(destinationBuffer(), destination));
    if (options.spec.programmatic) {
      // What the kernel reads is not there before its predecessor has written it.
      ILK_RETURN_IF_ERROR(put(staged, source));
      ILK_ASSIGN_OR_RETURN(sourceBuffer(), DeviceBuffer::create(driver, options.device, source.size()));
      ILK_RETURN_IF_ERROR(driver.fill(*stream, sourceBuffer().address(), sentinel, source.size()));
      identity.resize(source.size() / rowBytes);
      std::iota(identity.begin(), identity.end(), 0);
      ILK_RETURN_IF_ERROR(put(identityRows, identity));
    } else {
      ILK_RETURN_IF_ERROR(put(sourceBuffer(), source));
    }
    ILK_RETURN_IF_ERROR(put(tokens, work.tokens));
    ILK_RETURN_IF_ERROR(put(rows, work.rows));
    ILK_RETURN_IF_ERROR(put(weights, work.weights));
    ILK_ASSIGN_OR_RETURN(status, DeviceBuffer::create(driver, options.device, sizeof(uint32_t)));
    return driver.fill(*stream, status.address(), 0, sizeof(uint32_t));
  }

  Result<LocalKernel> predecessor() {
    const LayerSpec &layer = options.spec.layer;
    KernelSpec copy = localKernel(KernelKind::dispatchEpilogue, 1, layer.hidden,
                                  epilogue ? layer.dtype : layer.combineDType, options.spec.target);
    copy.programmatic = true;
    return LocalKernel::load(driver, cache, options.device, copy);
  }
  LocalParams predecessorParams() {
    uint32_t count = uint32_t(identity.size());
    return {.tokenRows = staged.address(),
            .expertRows = sourceBuffer().address(),
            .rows = identityRows.address(),
            .status = status.address(),
            .groups = count,
            .tokenRowCount = count,
            .expertRowCount = count};
  }
  LocalParams params() {
    return {.tokenRows = tokenRows.address(),
            .expertRows = expertRows.address(),
            .tokens = tokens.address(),
            .rows = rows.address(),
            .weights = options.weighted ? weights.address() : 0,
            .status = status.address(),
            .groups = work.count(),
            .tokenRowCount = work.tokenRows,
            .expertRowCount = work.expertRows};
  }

  void compare(const std::vector<std::byte> &got, LocalRunReport &report) {
    if (epilogue)
      referenceDispatchEpilogue(options.spec, work, source, destination);
    else
      referenceCombinePrologue(options.spec, work, options.weighted, source, destination);
    report.rows = got.size() / rowBytes;
    for (uint64_t row = 0; row < report.rows; ++row) {
      const std::byte *mine = &got[row * rowBytes], *wanted = &destination[row * rowBytes];
      if (std::memcmp(mine, wanted, rowBytes) == 0)
        continue;
      if (report.wrongRows++ == 0) {
        uint64_t at = 0;
        while (mine[at] == wanted[at])
          ++at;
        report.firstWrong = fmt::format("{} row {}, byte {}: expected {:#04x}, got {:#04x}",
                                        epilogue ? "expert" : "token", row, at, uint8_t(wanted[at]), uint8_t(mine[at]));
      }
    }
  }

  Driver &driver;
  KernelCache &cache;
  const LocalRunOptions &options;
  bool epilogue;
  DedupGroups work;
  uint64_t rowBytes;
  std::optional<StreamId> stream;
  std::vector<std::byte> source, destination; ///< the latter with what the kernel must leave behind, once compared
  std::vector<int32_t> identity;
  DeviceBuffer tokenRows, expertRows, staged, identityRows, tokens, rows, weights, status;
};
} // namespace

Result<LocalRunReport> runLocal(Driver &driver, KernelCache &cache, const LocalRunOptions &options) {
  return Run(driver, cache, options).run();
}

} // namespace interlock
