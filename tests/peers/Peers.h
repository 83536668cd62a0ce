// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Processes that run `interlock run` as one group, started one by one so that they can be given different arguments,
// and killed.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

#include <sys/types.h>

namespace interlock::test {

/// On which device the processes run: "emulator" or "cuda"; and why they cannot, where they cannot. Each test program
/// that has these tests defines it.
struct PeerDevice {
  std::string name, missing;
};
PeerDevice peerDevice();

/// How one process ended.
struct PeerEnd {
  int code = -1;     ///< exit code, or 128 + the signal
  bool late = false; ///< it had to be ended because it ran past the bound
  std::string out, err;
  nlohmann::json json() const { return nlohmann::json::parse(out, nullptr, /*allow_exceptions=*/false); }
};

class Peers {
public:
  /// Starts a process for each entry of `arguments`, which come on top of `interlock run --json --device …` and of what
  /// makes them a group.
  explicit Peers(const std::vector<std::vector<std::string>> &arguments);
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;
  ~Peers();

  /// SIGKILL, now.
  void kill(size_t process);
  /// Waits for all; whoever has not ended after `seconds` is killed and marked.
  std::vector<PeerEnd> wait(double seconds);

private:
  std::string folder;
  std::vector<pid_t> processes; ///< 0 when waited for
};

/// `interlock run` by itself, with a bound.
PeerEnd runInterlock(const std::vector<std::string> &arguments, double seconds);

} // namespace interlock::test
