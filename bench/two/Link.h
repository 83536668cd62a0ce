// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Ceilings: what the link between two devices gives to the plainest kernels and to the copy engine.
#pragma once

#include "interlock/device.hpp"

#include <nlohmann/json.hpp>

#include <vector>

namespace interlock::bench {

struct LinkOptions {
  std::vector<uint32_t> ctas = {8, 12, 16, 32, 64, 132};
  std::vector<uint32_t> threads = {1024};
  uint64_t bytes = uint64_t(256) << 20; ///< that one direction moves; a multiple of 16,384
  uint32_t warmups = 2, runs = 7;
  uint32_t chain = 20; ///< launches in the graph that tells what an empty node costs
};

/// Measures, between devices 0 and 1 (0 and itself, where there is one device, so that the code can be tried):
/// - `kernels`: for every kernel, grid and block, one way and both ways at once, GB/s *to or from the peer* in each
///   direction: `store` (writes only), `load` (reads only), `fan_out` (reads own memory once, writes it there and
///   here), `fan_in` (reads there and here, writes here), `local_copy`; and by bulk copies, which one thread a CTA
///   issues, `bulk_store` and `bulk_load` (copies to and from there) and `bulk_fan_out`;
/// - `copy_engine`: a copy between the devices, one way and both ways;
/// - `flag_round_trip`: st.release.sys there, ld.acquire.sys here, and back;
/// - `empty_graph`: one empty kernel's graph, and a node of a chain of them.
[[nodiscard]] Result<nlohmann::json> measureLink(Driver &driver, const LinkOptions &options);

} // namespace interlock::bench
