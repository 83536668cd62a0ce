// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Reports as JSON.
#include "bench/common/Report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

namespace interlock::bench {

namespace fs = std::filesystem;

namespace {
/// The processor's name as the system states it; empty where it does not.
std::string processorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (size_t colon = line.find(": "); line.starts_with("model name") && colon != std::string::npos)
      return line.substr(colon + 2);
  return {};
}

/// Of the last minute: figures from a busy machine are to be taken as such.
double loadAverage() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  return load;
}
} // namespace

double median(std::vector<double> values) {
  if (values.empty())
    return 0;
  std::sort(values.begin(), values.end());
  size_t middle = values.size() / 2;
  return values.size() % 2 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

void addRuns(nlohmann::json &object, const std::string &name, const std::string &unit,
             const std::vector<double> &runs) {
  object[fmt::format("{}_median_{}", name, unit)] = median(runs);
  object[fmt::format("{}_min_{}", name, unit)] = runs.empty() ? 0.0 : *std::min_element(runs.begin(), runs.end());
  object[fmt::format("{}_runs_{}", name, unit)] = runs;
}

nlohmann::json newReport(const std::string &benchmark, const std::string &commit, int argc, char **argv) {
  std::string command = argc ? fs::path(argv[0]).filename().string() : std::string();
  for (int i = 1; i < argc; ++i) {
    // Where things lay on the machine says nothing to a reader elsewhere.
    std::string argument = argv[i];
    command += " " + (argument.starts_with('/') ? fs::path(argument).filename().string() : argument);
  }
  return {{"benchmark", benchmark},
          {"commit", commit},
          {"time", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
          {"command", command},
          {"processor", processorName()},
          {"processors", std::thread::hardware_concurrency()},
          {"load_average", loadAverage()}};
}

Status writeReport(const nlohmann::json &report, const std::string &path) {
  std::string text = report.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (path.empty()) {
    fmt::print("{}", text);
    return {};
  }
  std::error_code error;
  if (auto folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, error);
  std::ofstream file(path, std::ios::binary);
  if (!(file << text) || !file.flush())
    return makeError(Code::badInput, fmt::format("expected to write {}, could not", path));
  return {};
}

} // namespace interlock::bench
