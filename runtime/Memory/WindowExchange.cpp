// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Descriptors cannot travel as bytes, so the bytes that are gathered name a socket of each process, and descriptors go
// from process to process through those (unix(7), SCM_RIGHTS).
#include "runtime/Memory/WindowExchange.h"

#include "runtime/Memory/ProcessNames.h"
#include "runtime/Memory/UnixSocket.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

#include <sys/random.h>

namespace interlock {

namespace {
using nlohmann::json;

/// Bound of handing over descriptors: every process is at it, so it takes milliseconds.
constexpr uint32_t handOverMs = 30'000;

Result<std::vector<json>> gather(const ProcessGroup &group, const json &mine) {
  ILK_ASSIGN_OR_RETURN(std::vector<std::string> all,
                       group.allgather(mine.dump(-1, ' ', false, json::error_handler_t::replace)));
  if (all.size() != group.processes)
    return makeError(Code::badInput, fmt::format("expected the allgather to return {} entries, one a process, got {}",
                                                 group.processes, all.size()));
  std::vector<json> records;
  for (const std::string &text : all) {
    json record = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!record.is_object() || !record.contains("error") || !record["error"].is_string())
      return makeError(Code::badInput, fmt::format("expected what process {} gave to the allgather, got something else",
                                                   records.size()));
    records.push_back(std::move(record));
  }
  return records;
}

json recordOf(const Status &status) { return {{"error", status ? std::string() : status.error().message}}; }

/// This process's own error as it was, or the first of the others.
Status firstFailure(const Status &mine, const std::vector<json> &records) {
  ILK_RETURN_IF_ERROR(mine);
  for (size_t process = 0; process < records.size(); ++process)
    if (auto error = records[process]["error"].get<std::string>(); !error.empty())
      return makeError(Code::device, fmt::format("process {} of the group could not go on: {}", process, error));
  return {};
}

/// The layer as bytes that are equal where layers are.
std::string canonicalLayer(const LayerSpec &layer) {
  KernelSpec spec;
  spec.layer = layer;
  return canonicalForm(spec);
}

/// Which process has which rank; every record is well formed or named.
Result<std::vector<uint32_t>> ownersOf(const std::vector<json> &records, uint32_t ranks) {
  constexpr uint32_t nobody = UINT32_MAX;
  std::vector<uint32_t> owners(ranks, nobody);
  for (uint32_t process = 0; process < records.size(); ++process)
    for (const json &entry : records[process].value("ranks", json::array())) {
      uint32_t rank = entry.is_number_unsigned() ? entry.get<uint32_t>() : ranks;
      if (rank >= ranks || owners[rank] != nobody)
        return makeError(Code::badInput,
                         fmt::format("expected every rank in one process, but process {} has rank {}{}", process,
                                     entry.dump(), rank < ranks ? fmt::format(" and so has {}", owners[rank]) : ""));
      owners[rank] = process;
    }
  if (auto missing = std::find(owners.begin(), owners.end(), nobody); missing != owners.end())
    return makeError(Code::badInput,
                     fmt::format("expected every rank in one process, but none has rank {}", missing - owners.begin()));
  return owners;
}

Status requireEqual(const std::vector<json> &records, const json &mine) {
  for (size_t process = 0; process < records.size(); ++process)
    for (const char *what : {"layer", "bytes"})
      if (records[process].value(what, json()) != mine[what])
        return makeError(Code::badInput, fmt::format("expected the same layer and driver in every process, but {} of "
                                                     "process {} differs from this one's",
                                                     what, process));
  return {};
}

/// An abstract name that nobody can guess or hold already.
Result<std::string> freshSocketName() {
  uint64_t random[2];
  if (getrandom(random, sizeof random, 0) != sizeof random)
    return makeError(Code::internal, "expected random bytes from the system, got none");
  return fmt::format("@interlock-{:016x}{:016x}", random[0], random[1]);
}

/// One process's part in the exchange.
class Exchange {
public:
  Exchange(Driver &driver, const ProcessGroup &group, uint64_t bytes, Windows &windows)
      : driver(driver), group(group), bytes(bytes), windows(windows), connections(group.processes) {}
  /// What can fail by this process alone; a socket's name for the others. Before they know it nobody waits for this
  /// one.
  Result<std::string> prepare();
  /// Sends first, then takes: what is sent waits in the sockets, so no order of the processes is wrong. Connections
  /// stay open as long as the object, for their end is the sign that a process is gone.
  Status handOver(const std::vector<json> &records);

private:
  Status sendTo(const std::string &socket, FileDescriptor &connection) const;
  Status takeAll(const std::vector<json> &records);
  Result<uint32_t> takeOne(const FileDescriptor &from, const std::vector<json> &records, const Deadline &deadline);

  Driver &driver;
  const ProcessGroup &group;
  uint64_t bytes;
  Windows &windows;
  std::vector<FileDescriptor> exported;    ///< this process's windows, in the order of group.own
  FileDescriptor listener;                 ///< where the others bring theirs
  std::vector<FileDescriptor> connections; ///< to each of the others; nothing comes on them but their end
};

Result<std::string> Exchange::prepare() {
  for (const OwnRank &own : group.own) {
    ILK_ASSIGN_OR_RETURN(int descriptor, driver.exportWindow(*windows[own.rank]));
    exported.emplace_back(descriptor);
  }
  ILK_ASSIGN_OR_RETURN(std::string name, freshSocketName());
  ILK_ASSIGN_OR_RETURN(listener, listenAt(name, group.processes));
  return name;
}

Status Exchange::handOver(const std::vector<json> &records) {
  Status handed;
  for (uint32_t process = 0; process < group.processes && handed; ++process)
    if (process != group.process) {
      handed = sendTo(records[process].value("socket", ""), connections[process]);
      if (!handed)
        handed = tl::unexpected(about(process, std::move(handed).error()));
    }
  if (handed)
    handed = takeAll(records);
  if (!handed)
    listener = FileDescriptor(); // so that nobody waits for what this process will not send
  return handed;
}

Status Exchange::sendTo(const std::string &socket, FileDescriptor &connection) const {
  // All listened before they gave their names, so one that no longer does is gone.
  ILK_ASSIGN_OR_RETURN(connection, connectTo(socket, Deadline(0)));
  return sendDescriptors(connection, std::to_string(group.process), exported);
}

/// The windows of all others, in any order.
Status Exchange::takeAll(const std::vector<json> &records) {
  Deadline deadline(handOverMs);
  std::set<uint32_t> awaited;
  for (uint32_t process = 0; process < group.processes; ++process)
    if (process != group.process)
      awaited.insert(process);
  while (!awaited.empty()) {
    std::vector<const FileDescriptor *> sockets{&listener};
    for (uint32_t process : awaited)
      sockets.push_back(&connections[process]);
    Status taken = [&]() -> Status {
      ILK_ASSIGN_OR_RETURN(size_t ready, firstReady(sockets, deadline));
      if (ready > 0)
        return makeError(Code::device, "a process of the group has ended or given up");
      ILK_ASSIGN_OR_RETURN(FileDescriptor from, acceptOne(listener, deadline));
      ILK_ASSIGN_OR_RETURN(uint32_t process, takeOne(from, records, deadline));
      awaited.erase(process);
      return {};
    }();
    if (!taken)
      return makeError(taken.error().code,
                       fmt::format("the windows of {} did not come: {}", processNames(awaited), taken.error().message));
  }
  return {};
}

/// The windows of one process, by the connection that it made. Returns its number.
Result<uint32_t> Exchange::takeOne(const FileDescriptor &from, const std::vector<json> &records,
                                   const Deadline &deadline) {
  ILK_ASSIGN_OR_RETURN(ReceivedDescriptors received, receiveDescriptors(from, deadline));
  size_t process = std::strtoul(received.message.c_str(), nullptr, 10);
  if (process >= records.size() || records[process]["ranks"].size() != received.descriptors.size())
    return makeError(Code::device, fmt::format("expected a window for each rank of a process, got {} from '{}'",
                                               received.descriptors.size(), received.message));
  for (size_t i = 0; i < received.descriptors.size(); ++i) {
    std::optional<WindowId> &window = windows[records[process]["ranks"][i].get<uint32_t>()];
    if (window)
      return makeError(Code::device, fmt::format("expected the windows of process {} once, got them again", process));
    ILK_ASSIGN_OR_RETURN(window, driver.importWindow(received.descriptors[i].get(), bytes));
  }
  return uint32_t(process);
}
} // namespace

Result<DeviceAddress> Windows::map() const {
  std::vector<WindowId> all;
  for (const std::optional<WindowId> &id : ids) {
    if (!id)
      return makeError(Code::internal, "expected a window for every rank before they are mapped");
    all.push_back(*id);
  }
  return driver.mapWindows(all);
}

Status agree(const ProcessGroup &group, const Status &mine) {
  if (group.processes <= 1 || !group.allgather)
    return mine;
  auto records = gather(group, recordOf(mine));
  if (records)
    return firstFailure(mine, *records);
  if (mine)
    return tl::unexpected(std::move(records).error());
  // What failed here may come of what broke the group, so that is said too, unless an earlier exchange has said it.
  const std::string &own = mine.error().message, &groups = records.error().message;
  if (own.find(groups) != std::string::npos)
    return mine;
  return makeError(mine.error().code, fmt::format("{}; and then: {}", own, groups));
}

Status validate(const ProcessGroup &group, const LayerSpec &layer) {
  if (group.process >= group.processes)
    return makeError(Code::badInput,
                     fmt::format("expected a process below {}, got {}", group.processes, group.process));
  if (group.processes > 1 && !group.allgather)
    return makeError(Code::badInput, "expected an allgather for a group of several processes, got none");
  if (group.own.empty())
    return makeError(Code::badInput, "expected at least one rank in every process, got none");
  std::vector<bool> seen(layer.ranks);
  for (const OwnRank &own : group.own) {
    if (own.rank >= layer.ranks || seen[own.rank])
      return makeError(Code::badInput,
                       fmt::format("expected ranks below {}, each once, got {}", layer.ranks, own.rank));
    seen[own.rank] = true;
  }
  if (group.processes == 1 && group.own.size() != layer.ranks)
    return makeError(Code::badInput,
                     fmt::format("expected all {} ranks in the only process, got {}", layer.ranks, group.own.size()));
  return {};
}

Status exchangeWindows(Driver &driver, const ProcessGroup &group, const LayerSpec &layer, uint64_t bytes,
                       const Status &made, Windows &windows) {
  Exchange exchange(driver, group, bytes, windows);
  std::string name;
  Status ready = [&]() -> Status {
    ILK_RETURN_IF_ERROR(made);
    ILK_ASSIGN_OR_RETURN(name, exchange.prepare());
    return {};
  }();
  json mine = recordOf(ready);
  mine["layer"] = canonicalLayer(layer);
  mine["bytes"] = bytes;
  mine["socket"] = name;
  mine["ranks"] = json::array();
  for (const OwnRank &own : group.own)
    mine["ranks"].push_back(own.rank);
  auto records = gather(group, mine);
  ILK_RETURN_IF_ERROR(ready);
  ILK_RETURN_IF_ERROR(records);
  ILK_RETURN_IF_ERROR(firstFailure(ready, *records));
  ILK_RETURN_IF_ERROR(requireEqual(*records, mine));
  ILK_RETURN_IF_ERROR(ownersOf(*records, layer.ranks));
  return agree(group, exchange.handOver(*records));
}

} // namespace interlock
