// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Where tokens go: generated routings and traces, deterministic by seed.
#pragma once

#include "interlock/spec.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace interlock {

/// A recorded routing: ids[token][topk], as read from a file.
struct RoutingTrace {
  uint64_t tokens = 0;
  uint32_t topk = 0;
  std::vector<int32_t> ids;
};

/// Reads `.npy` (versions 1 to 3, little-endian i4 or i8, C order, two dimensions) or `.csv` (one token a line, ids
/// separated by commas; a first line that is no numbers is a header). Errors name the file and what was found in it.
[[nodiscard]] Result<RoutingTrace> readRoutingTrace(const std::string &path);

/// What readRoutingTrace does after reading the bytes; `path` serves for messages and the choice of format.
[[nodiscard]] Result<RoutingTrace> parseRoutingTrace(const std::string &path, std::string_view bytes);

/// How a router sends tokens.
struct RoutingOptions {
  enum class Kind { uniform, zipf, trace };
  Kind kind = Kind::uniform;
  double skew = 1.0; ///< zipf: expert e is drawn with probability proportional to 1/(e+1)^skew
  double mask = 0.0; ///< probability that an entry is masked (-1)
  uint64_t seed = 0;
  RoutingTrace trace; ///< trace: rows are taken in order by step, then rank, then token, and begin again at the end
};

/// Parses `uniform`, `zipf:S` or the name of a trace file, which is read.
[[nodiscard]] Result<RoutingOptions> parseRouting(std::string_view text);

/// Ids in host memory for one rank's tokens of one step, and the router's weights. Ids of one token are distinct
/// (a trace may repeat them); weights are in (0, 1].
struct TokenRouting {
  std::vector<int32_t> ids;   ///< [tokens][topk]
  std::vector<float> weights; ///< [tokens][topk]
};

/// Makes the routing of every rank for one step. `tokens` has one count per rank. A trace whose width is not the
/// layer's top-k, or that names an expert the layer lacks, is `badInput`.
[[nodiscard]] Result<std::vector<TokenRouting>> makeRouting(const LayerSpec &layer, const RoutingOptions &options,
                                                            const std::vector<uint32_t> &tokens, uint64_t step = 0);

} // namespace interlock
