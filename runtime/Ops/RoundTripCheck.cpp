// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The comparisons of a round trip. Rows are read back source by source, so that the host never holds a whole window.
#include "runtime/Ops/RoundTripCheck.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace interlock {

namespace {
using Bytes = std::vector<std::byte>;

Result<Bytes> readBack(Driver &driver, StreamId stream, DeviceAddress from, size_t size) {
  Bytes bytes(size);
  if (size)
    ILK_RETURN_IF_ERROR(driver.copyOut(stream, bytes.data(), from, size));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  return bytes;
}

bool isCanary(std::span<const std::byte> bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return uint8_t(b) == canaryByte; });
}

/// The first place where two ranges of equal size differ, or their size.
size_t firstDifference(std::span<const std::byte> a, std::span<const std::byte> b) {
  return size_t(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
}

void compareRow(uint32_t rank, const std::string &what, std::span<const std::byte> got,
                std::span<const std::byte> expected, Differences &differences) {
  if (std::memcmp(got.data(), expected.data(), expected.size()) == 0)
    return;
  size_t at = firstDifference(got, expected);
  differences.add(rank, fmt::format("{}: expected byte {} to be {:#04x}, got {:#04x}", what, at, uint8_t(expected[at]),
                                    uint8_t(got[at])));
}

void compareUnwritten(uint32_t rank, const std::string &what, std::span<const std::byte> got,
                      Differences &differences) {
  if (!isCanary(got))
    differences.add(rank, fmt::format("{}: expected it to stay unwritten, but it was written", what));
}

void compareResult(const CheckedStep &step, uint32_t rank, KernelKind kind, const OperationResult &got,
                   Differences &differences) {
  auto expect = [&](const char *what, uint64_t wanted, uint64_t found) {
    if (wanted != found)
      differences.add(
          rank, fmt::format("rank {}, {} result: expected {} to be {}, got {}", rank, name(kind), what, wanted, found));
  };
  const ReferenceRank &expected = step.expected[rank];
  bool isDispatch = kind == KernelKind::dispatch;
  expect("operation number", 2 * step.step + (isDispatch ? 1 : 2), got.number);
  expect("overflow", isDispatch && (expected.status & opOverflow), got.overflow);
  expect("bad id", isDispatch && (expected.status & opBadId), got.badId);
  expect("peer lost", 0, got.peerLost);
  expect("lost ranks", 0, got.lost);
  if (!isDispatch)
    return;
  expect("dropped", expected.dropped, got.dropped);
  expect("received", expected.received, got.received);
  expect("wanted", expected.wanted, got.wanted);
}

/// A meta row's fields; the bytes between them belong to nobody.
void compareMeta(const CheckedStep &step, uint32_t rank, const std::string &what, std::span<const std::byte> got,
                 const SourceTokens &source, uint32_t token, const LandedRows &landed, Differences &differences) {
  const LayerSpec &layer = step.layer;
  Bytes expected(landed.metaStride);
  referenceMetaRow(layer, source, token, expected);
  auto field = [&](const char *name, uint64_t offset, uint64_t size) {
    if (std::memcmp(&got[offset], &expected[offset], size) != 0)
      compareRow(rank, fmt::format("{}, {}", what, name), got.subspan(offset, size),
                 std::span(expected).subspan(offset, size), differences);
  };
  field("ids", 0, layer.topk * sizeof(int32_t));
  field("weights", landed.metaWeights, layer.topk * sizeof(float));
  field("token index", landed.metaToken, sizeof(int32_t));
  if (layer.scaleBytes)
    field("scales", landed.metaScales, layer.scaleBytes);
}

Status compareLanded(const CheckedStep &step, uint32_t rank, uint32_t source, StreamId stream, const LandedRows &landed,
                     Differences &differences) {
  const LayerSpec &layer = step.layer;
  uint64_t first = uint64_t(source) * layer.rowsPerSource();
  ILK_ASSIGN_OR_RETURN(Bytes rows, readBack(step.driver, stream, landed.rows + first * landed.rowStride,
                                            layer.rowsPerSource() * landed.rowStride));
  ILK_ASSIGN_OR_RETURN(Bytes meta, readBack(step.driver, stream, landed.meta + first * landed.metaStride,
                                            layer.rowsPerSource() * landed.metaStride));
  const std::vector<uint32_t> &tokens = step.expected[rank].landed[source];
  const SourceTokens &sent = step.sources[source];
  for (uint32_t slot = 0; slot < layer.rowsPerSource(); ++slot) {
    std::string what = fmt::format("rank {}, row {} from rank {}", rank, slot, source);
    auto row = std::span(rows).subspan(slot * landed.rowStride, landed.rowStride);
    auto metaRow = std::span(meta).subspan(slot * landed.metaStride, landed.metaStride);
    if (slot >= tokens.size()) {
      compareUnwritten(rank, what, row, differences);
      compareUnwritten(rank, what + ", meta", metaRow, differences);
      continue;
    }
    compareRow(rank, what, row, sent.x.subspan(tokens[slot] * rowBytes(layer), rowBytes(layer)), differences);
    compareMeta(step, rank, what, metaRow, sent, tokens[slot], landed, differences);
  }
  return {};
}
} // namespace

Status checkDispatch(const CheckedStep &step, uint32_t rank, StreamId stream, const LandedRows &landed,
                     DeviceAddress slots, const OperationResult &result, Differences &differences) {
  const LayerSpec &layer = step.layer;
  const ReferenceRank &expected = step.expected[rank];
  compareResult(step, rank, KernelKind::dispatch, result, differences);

  ILK_ASSIGN_OR_RETURN(Bytes slotBytes,
                       readBack(step.driver, stream, slots, size_t(layer.maxTokens) * layer.topk * sizeof(int32_t)));
  for (size_t i = 0; i < expected.slots.size(); ++i) {
    int32_t got;
    std::memcpy(&got, &slotBytes[i * sizeof got], sizeof got);
    if (got != expected.slots[i])
      differences.add(rank, fmt::format("rank {}, token {}, top-k index {}: expected slot {}, got {}", rank,
                                        i / layer.topk, i % layer.topk, expected.slots[i], got));
  }
  compareUnwritten(rank, fmt::format("rank {}, slots behind the last token", rank),
                   std::span(slotBytes).subspan(expected.slots.size() * sizeof(int32_t)), differences);

  ILK_ASSIGN_OR_RETURN(Bytes countBytes, readBack(step.driver, stream, landed.counts, layer.ranks * sizeof(uint32_t)));
  for (uint32_t source = 0; source < layer.ranks; ++source) {
    if ((step.dead >> source) & 1)
      continue; // a dead source announces nothing; its rows are nobody's
    uint32_t got;
    std::memcpy(&got, &countBytes[source * sizeof got], sizeof got);
    if (got != expected.counts[source])
      differences.add(rank, fmt::format("rank {}: expected a count of {} rows from rank {}, got {}", rank,
                                        expected.counts[source], source, got));
    ILK_RETURN_IF_ERROR(compareLanded(step, rank, source, stream, landed, differences));
  }
  return {};
}

Status checkCombine(const CheckedStep &step, uint32_t rank, StreamId stream, DeviceAddress out,
                    DeviceAddress outWeights, bool weighted, bool distinctExperts, const OperationResult &result,
                    Differences &differences) {
  const LayerSpec &layer = step.layer;
  const SourceTokens &source = step.sources[rank];
  compareResult(step, rank, KernelKind::combine, result, differences);

  uint64_t bytes = combineRowBytes(layer), weightBytes = layer.topk * sizeof(float);
  Bytes row(bytes);
  auto expertRow = [&](uint32_t at, uint32_t slot, uint32_t k) -> const std::byte * {
    uint64_t token = step.expected[at].landed[rank][slot];
    auto scales = layer.scaleBytes ? source.scales.subspan(token * layer.scaleBytes, layer.scaleBytes)
                                   : std::span<const std::byte>();
    scaledExpertRow(layer, source.x.subspan(token * rowBytes(layer), rowBytes(layer)), scales,
                    expertFactor(distinctExperts, at, k), row);
    return row.data();
  };
  ReferenceCombined expected = referenceCombine(layer, source, step.expected[rank].slots, weighted, expertRow);

  ILK_ASSIGN_OR_RETURN(Bytes rows, readBack(step.driver, stream, out, layer.maxTokens * bytes));
  ILK_ASSIGN_OR_RETURN(Bytes weights, readBack(step.driver, stream, outWeights, layer.maxTokens * weightBytes));
  auto expectedWeights = std::as_bytes(std::span<const float>(expected.outWeights));
  for (uint32_t t = 0; t < source.tokens; ++t) {
    std::string what = fmt::format("rank {}, combined token {}", rank, t);
    compareRow(rank, what, std::span(rows).subspan(t * bytes, bytes), std::span(expected.out).subspan(t * bytes, bytes),
               differences);
    compareRow(rank, what + ", weights", std::span(weights).subspan(t * weightBytes, weightBytes),
               expectedWeights.subspan(t * weightBytes, weightBytes), differences);
  }
  compareUnwritten(rank, fmt::format("rank {}, combined rows behind the last token", rank),
                   std::span(rows).subspan(source.tokens * bytes), differences);
  compareUnwritten(rank, fmt::format("rank {}, combined weights behind the last token", rank),
                   std::span(weights).subspan(source.tokens * weightBytes), differences);
  return {};
}

} // namespace interlock
