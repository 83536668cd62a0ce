// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What every benchmark writes: one JSON object with where, how and on what it was measured, and every run.
#pragma once

#include "interlock/status.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace interlock::bench {

/// The middle value (the mean of the two middle ones); 0 for none.
double median(std::vector<double> values);

/// `runs` with their unit in the names: {"NAME_runs_UNIT": […], "NAME_median_UNIT": …, "NAME_min_UNIT": …}.
void addRuns(nlohmann::json &object, const std::string &name, const std::string &unit, const std::vector<double> &runs);

/// The head of a report: benchmark, commit, UTC time, command line, the host's processors and how busy they are.
nlohmann::json newReport(const std::string &benchmark, const std::string &commit, int argc, char **argv);

/// Writes the report, indented, to `path`, or to standard output if that is empty. Folders are made.
[[nodiscard]] Status writeReport(const nlohmann::json &report, const std::string &path);

} // namespace interlock::bench
