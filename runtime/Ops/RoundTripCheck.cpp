// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The comparisons of a round trip. Rows are read back source by source, so that the host never holds a whole window.
#include "runtime/Ops/RoundTripCheck.h"

#include "runtime/Ops/Numeric.h"

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
/// Words that the device wrote, against those of the oracle.
template <typename T>
Status compareList(const CheckedStep &step, uint32_t rank, StreamId stream, const char *what, DeviceAddress at,
                   const std::vector<T> &expected, Differences &differences) {
  ILK_ASSIGN_OR_RETURN(Bytes got, readBack(step.driver, stream, at, expected.size() * sizeof(T)));
  for (size_t i = 0; i < expected.size(); ++i) {
    T value;
    std::memcpy(&value, &got[i * sizeof(T)], sizeof value);
    if (std::memcmp(&value, &expected[i], sizeof value) != 0)
      differences.add(rank, fmt::format("rank {}: expected {} {} of the packed rows to be {}, got {}", rank, what, i,
                                        expected[i], value));
  }
  return {};
}

/// The received rows of a rank, in order: which token of which source.
struct Received {
  uint32_t source, token;
};
std::vector<Received> receivedRows(const ReferenceRank &expected) {
  std::vector<Received> rows;
  for (uint32_t source = 0; source < expected.landed.size(); ++source)
    for (uint32_t token : expected.landed[source])
      rows.push_back({source, token});
  return rows;
}

void comparePackedRow(const CheckedStep &step, uint32_t rank, const PackedArrays &at, uint32_t row,
                      const std::vector<Received> &received, std::span<const std::byte> got,
                      std::span<const std::byte> gotScales, Differences &differences) {
  const LayerSpec &layer = step.layer;
  const PackedExperts &packed = step.packed[rank];
  std::string what = fmt::format("rank {}, packed row {}", rank, row);
  if (row < packed.rows() && packed.sources[row] >= 0) {
    Received from = received[size_t(packed.sources[row])];
    const SourceTokens &source = step.sources[from.source];
    compareRow(rank, what, got, source.x.subspan(from.token * rowBytes(layer), rowBytes(layer)), differences);
    if (at.scales)
      compareRow(rank, what + ", scales", gotScales,
                 source.scales.subspan(uint64_t(from.token) * layer.scaleBytes, layer.scaleBytes), differences);
    return;
  }
  if (row < packed.rows() && at.options.zeroPadding)
    compareRow(rank, what + ", padding", got, Bytes(got.size()), differences);
  else
    compareUnwritten(rank, what, got, differences);
  compareUnwritten(rank, what + ", scales", gotScales, differences);
}

/// What convert_combine_input must make of a received row: its local experts' rows, times its weights, in the order of
/// its top-k, in f32 from +0, rounded once.
void reduceLocalRows(const CheckedStep &step, uint32_t rank, uint32_t group, Received from, bool weighted,
                     bool distinctExperts, std::span<std::byte> out) {
  const LayerSpec &layer = step.layer;
  const DedupGroups &groups = step.packed[rank].groups;
  const SourceTokens &source = step.sources[from.source];
  auto scales = layer.scaleBytes ? source.scales.subspan(uint64_t(from.token) * layer.scaleBytes, layer.scaleBytes)
                                 : std::span<const std::byte>();
  std::vector<float> sum(layer.hidden);
  Bytes row(combineRowBytes(layer));
  for (uint32_t k = 0; k < layer.topk; ++k) {
    size_t entry = size_t(group) * layer.topk + k;
    if (groups.rows[entry] < 0)
      continue;
    uint32_t expert = uint32_t(source.ids[size_t(from.token) * layer.topk + k]) % layer.expertsPerRank();
    scaledExpertRow(layer, source.x.subspan(from.token * rowBytes(layer), rowBytes(layer)), scales,
                    expertFactor(distinctExperts, rank, expert), row);
    for (uint32_t h = 0; h < layer.hidden; ++h)
      sum[h] = fusedMultiplyAdd(weighted ? groups.weights[entry] : 1.0f, loadElement(layer.combineDType, row.data(), h),
                                sum[h]);
  }
  for (uint32_t h = 0; h < layer.hidden; ++h)
    storeElement(layer.combineDType, out.data(), h, sum[h]);
}
} // namespace

Result<std::vector<PackedExperts>> referencePacking(const LayerSpec &layer, std::span<const SourceTokens> sources,
                                                    std::span<const ReferenceRank> expected,
                                                    const PackingOptions &options) {
  std::vector<PackedExperts> all;
  for (uint32_t rank = 0; rank < layer.ranks; ++rank) {
    std::vector<int32_t> ids;
    std::vector<float> weights;
    for (Received from : receivedRows(expected[rank])) {
      size_t first = size_t(from.token) * layer.topk;
      auto theirIds = sources[from.source].ids.subspan(first, layer.topk);
      auto theirWeights = sources[from.source].weights.subspan(first, layer.topk);
      ids.insert(ids.end(), theirIds.begin(), theirIds.end());
      weights.insert(weights.end(), theirWeights.begin(), theirWeights.end());
    }
    ILK_ASSIGN_OR_RETURN(PackedExperts packed,
                         packByExpert(layer, rank, ids, weights, options.alignment, options.capacity));
    all.push_back(std::move(packed));
  }
  return all;
}

Status checkPacked(const CheckedStep &step, uint32_t rank, StreamId stream, const PackedArrays &at,
                   const PackingResult &result, Differences &differences) {
  const LayerSpec &layer = step.layer;
  const PackedExperts &packed = step.packed[rank];
  std::vector<Received> received = receivedRows(step.expected[rank]);
  auto expect = [&](const char *what, uint64_t wanted, uint64_t found) {
    if (wanted != found)
      differences.add(rank,
                      fmt::format("rank {}, packing result: expected {} to be {}, got {}", rank, what, wanted, found));
  };
  expect("overflow", packed.dropped != 0, result.overflow);
  expect("received", received.size(), result.received);
  expect("rows", packed.rows(), result.rows);
  expect("wanted", packed.wanted, result.wanted);
  expect("dropped", packed.dropped, result.dropped);
  std::vector<int32_t> landed;
  for (uint32_t source = 0; source < layer.ranks; ++source)
    for (uint32_t slot = 0; slot < step.expected[rank].landed[source].size(); ++slot)
      landed.push_back(int32_t(source * layer.rowsPerSource() + slot));
  auto list = [&](const char *what, DeviceAddress where, const auto &expected) {
    return compareList(step, rank, stream, what, where, expected, differences);
  };
  ILK_RETURN_IF_ERROR(list("count", at.lists.counts, packed.counts));
  ILK_RETURN_IF_ERROR(list("offset", at.lists.offsets, packed.offsets));
  ILK_RETURN_IF_ERROR(list("source", at.lists.sources, packed.sources));
  ILK_RETURN_IF_ERROR(list("slot", at.lists.slotMap, packed.groups.rows));
  ILK_RETURN_IF_ERROR(list("weight", at.lists.weights, packed.groups.weights));
  ILK_RETURN_IF_ERROR(list("landing row", at.lists.landed, landed));

  uint64_t bytes = rowBytes(layer), scaleBytes = at.scales ? layer.scaleBytes : 0;
  ILK_ASSIGN_OR_RETURN(Bytes rows, readBack(step.driver, stream, at.rows, at.lists.capacity * bytes));
  ILK_ASSIGN_OR_RETURN(Bytes scales, readBack(step.driver, stream, at.scales, at.lists.capacity * scaleBytes));
  for (uint32_t row = 0; row < at.lists.capacity; ++row)
    comparePackedRow(step, rank, at, row, received, std::span(rows).subspan(row * bytes, bytes),
                     std::span(scales).subspan(row * scaleBytes, scaleBytes), differences);
  return {};
}

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
  bool packs = !step.packed.empty();
  auto expertRow = [&](uint32_t at, uint32_t slot, uint32_t k) -> const std::byte * {
    uint64_t token = step.expected[at].landed[rank][slot];
    if (packs) {
      uint32_t group = slot; // behind the rows of the sources before this one
      for (uint32_t before = 0; before < rank; ++before)
        group += uint32_t(step.expected[at].landed[before].size());
      reduceLocalRows(step, at, group, {rank, uint32_t(token)}, weighted, distinctExperts, row);
      return row.data();
    }
    auto scales = layer.scaleBytes ? source.scales.subspan(token * layer.scaleBytes, layer.scaleBytes)
                                   : std::span<const std::byte>();
    scaledExpertRow(layer, source.x.subspan(token * rowBytes(layer), rowBytes(layer)), scales,
                    expertFactor(distinctExperts, at, k), row);
    return row.data();
  };
  ReferenceCombined expected =
      referenceCombine(layer, source, step.expected[rank].slots, weighted && !packs, expertRow);

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
