// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// meet(): a star of Unix sockets around process 0.
#include "interlock/group.hpp"

#include "runtime/Memory/ProcessNames.h"
#include "runtime/Memory/UnixSocket.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <memory>

namespace interlock {

namespace {
/// The connections of one process: process 0 has one to each of the others (in their order), those have one to it.
class Star {
public:
  explicit Star(const SocketRendezvous &rendezvous) : options(rendezvous) {}
  Status connect();
  Result<std::vector<std::string>> allgather(std::string_view mine);

private:
  Status gatherSpokes();
  Status joinHub();
  std::vector<uint32_t> absent() const;
  void giveUp(const std::string &why);
  /// At process 0: what all gave, or who is gone. Everybody is told.
  Result<std::vector<std::string>> hub(std::string_view mine);
  Result<std::vector<std::string>> spoke(std::string_view mine);

  SocketRendezvous options;
  std::vector<FileDescriptor> connections;
  std::string broken; ///< why nothing can be exchanged any more
};

Status Star::connect() {
  if (options.processes == 0 || options.process >= options.processes)
    return makeError(Code::badInput,
                     fmt::format("expected a process below {}, got {}", options.processes, options.process));
  if (options.process == 0) {
    Status met = gatherSpokes();
    if (!met)
      giveUp(met.error().message);
    return met;
  }
  Status met = joinHub();
  if (!met && met.error().code != Code::badInput)
    return tl::unexpected(about(0, std::move(met).error()));
  return met;
}

Status Star::joinHub() {
  Deadline deadline(options.timeoutMs);
  ILK_ASSIGN_OR_RETURN(FileDescriptor hub, connectTo(options.path, deadline));
  ILK_RETURN_IF_ERROR(sendMessage(hub, std::to_string(options.process), deadline));
  connections.push_back(std::move(hub));
  return {};
}

/// Those that have not come.
std::vector<uint32_t> Star::absent() const {
  std::vector<uint32_t> processes;
  for (uint32_t process = 1; process < options.processes; ++process)
    if (!connections[process - 1])
      processes.push_back(process);
  return processes;
}

Status Star::gatherSpokes() {
  Deadline deadline(options.timeoutMs);
  ILK_ASSIGN_OR_RETURN(FileDescriptor listener, listenAt(options.path, options.processes));
  connections.resize(options.processes - 1);
  Status met;
  for (uint32_t missing = options.processes - 1; missing && met;) {
    met = [&]() -> Status {
      ILK_ASSIGN_OR_RETURN(FileDescriptor one, acceptOne(listener, deadline));
      auto number = receiveMessage(one, deadline);
      if (!number && number.error().code == Code::device)
        return {}; // it has ended on the way: whichever it was, it is missed in the end
      ILK_RETURN_IF_ERROR(number);
      unsigned long process = std::strtoul(number->c_str(), nullptr, 10);
      if (process == 0 || process >= options.processes || connections[process - 1])
        return makeError(Code::badInput, fmt::format("expected each process from 1 to {} once, got '{}'",
                                                     options.processes - 1, *number));
      connections[process - 1] = std::move(one);
      --missing;
      return {};
    }();
    if (!met && met.error().code != Code::badInput)
      met = makeError(met.error().code,
                      fmt::format("{} did not come to the meeting: {}", processNames(absent()), met.error().message));
  }
  unlink(options.path.c_str());
  return met;
}

Result<std::vector<std::string>> Star::hub(std::string_view mine) {
  Deadline deadline(options.timeoutMs);
  std::vector<std::string> all{std::string(mine)};
  std::string error;
  for (uint32_t process = 1; process < options.processes && error.empty(); ++process) {
    auto given = receiveMessage(connections[process - 1], deadline);
    if (given)
      all.push_back(std::move(*given));
    else
      error = about(process, given.error()).message;
  }
  // Strings of bytes: CBOR keeps them as they are.
  nlohmann::json reply = nlohmann::json::array({error});
  for (const std::string &each : all)
    reply.push_back(nlohmann::json::binary({each.begin(), each.end()}));
  std::vector<uint8_t> encoded = nlohmann::json::to_cbor(reply);
  std::string_view bytes(reinterpret_cast<const char *>(encoded.data()), encoded.size());
  for (uint32_t process = 1; process < options.processes; ++process)
    if (Status sent = sendMessage(connections[process - 1], bytes, deadline); !sent && error.empty())
      error = about(process, sent.error()).message;
  if (!error.empty())
    return makeError(Code::device, error);
  return all;
}

Result<std::vector<std::string>> Star::spoke(std::string_view mine) {
  Deadline deadline(options.timeoutMs);
  // Process 0 may have gone and left word why: what it wrote last can be read also where nothing can be sent any more.
  Status sent = sendMessage(connections[0], mine, deadline);
  auto reply = receiveMessage(connections[0], deadline);
  if (!reply && !sent)
    reply = tl::unexpected(sent.error());
  if (!reply)
    return tl::unexpected(about(0, std::move(reply).error()));
  auto decoded = nlohmann::json::from_cbor(*reply, /*strict=*/true, /*allow_exceptions=*/false);
  if (!decoded.is_array() || decoded.empty() || !decoded[0].is_string())
    return makeError(Code::device, "expected a list from process 0, got something else");
  if (auto error = decoded[0].get<std::string>(); !error.empty())
    return makeError(Code::device, error);
  std::vector<std::string> all;
  for (size_t i = 1; i < decoded.size(); ++i) {
    if (!decoded[i].is_binary())
      return makeError(Code::device, "expected bytes from process 0, got something else");
    const auto &bytes = decoded[i].get_binary();
    all.emplace_back(bytes.begin(), bytes.end());
  }
  return all;
}

/// Nothing can be exchanged any more: nobody is to wait for this process, and process 0 has a last word to those that
/// are still there.
void Star::giveUp(const std::string &why) {
  broken = why;
  Deadline deadline(options.timeoutMs);
  std::vector<uint8_t> encoded = nlohmann::json::to_cbor(nlohmann::json::array({why}));
  std::string_view bytes(reinterpret_cast<const char *>(encoded.data()), encoded.size());
  for (FileDescriptor &connection : connections)
    if (options.process == 0 && connection)
      (void)sendMessage(connection, bytes, deadline); // one that is gone needs no word
  connections.clear();
}

Result<std::vector<std::string>> Star::allgather(std::string_view mine) {
  if (!broken.empty())
    return makeError(Code::device, broken);
  auto all = options.process == 0 ? hub(mine) : spoke(mine);
  if (!all)
    giveUp(all.error().message);
  return all;
}
} // namespace

Result<Allgather> meet(const SocketRendezvous &rendezvous) {
  auto star = std::make_shared<Star>(rendezvous);
  ILK_RETURN_IF_ERROR(star->connect());
  return Allgather([star](std::string_view mine) { return star->allgather(mine); });
}

} // namespace interlock
