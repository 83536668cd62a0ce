// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Specs that are right, for tests to change one thing in.
#pragma once

#include "interlock/spec.hpp"

#include <vector>

namespace interlock::test {

inline LayerSpec smallLayer() {
  LayerSpec layer;
  layer.ranks = 8;
  layer.experts = 256;
  layer.topk = 8;
  layer.hidden = 7168;
  layer.maxTokens = 4096;
  return layer;
}

inline KernelSpec smallSpec() {
  KernelSpec spec;
  spec.layer = smallLayer();
  return spec;
}

/// A change of every field of a spec, each to another value that is right too.
struct Change {
  const char *field;
  void (*apply)(KernelSpec &);
};

inline const std::vector<Change> &changes() {
  static const std::vector<Change> all = {
      {"kernel", [](KernelSpec &s) { s.kernel = KernelKind::combine; }},
      {"target", [](KernelSpec &s) { s.target = "sm_100a"; }},
      {"ranks", [](KernelSpec &s) { s.layer.ranks = 16; }},
      {"experts", [](KernelSpec &s) { s.layer.experts = 128; }},
      {"topk", [](KernelSpec &s) { s.layer.topk = 4; }},
      {"hidden", [](KernelSpec &s) { s.layer.hidden = 4096; }},
      {"dtype", [](KernelSpec &s) { s.layer.dtype = DType::f16; }},
      {"combine_dtype", [](KernelSpec &s) { s.layer.combineDType = DType::f32; }},
      {"scale_bytes", [](KernelSpec &s) { s.layer.scaleBytes = 224; }},
      {"max_tokens", [](KernelSpec &s) { s.layer.maxTokens = 128; }},
      {"capacity", [](KernelSpec &s) { s.layer.capacity = 64; }},
      {"expert_rows", [](KernelSpec &s) { s.layer.expertRows = true; }},
      {"own_in_place", [](KernelSpec &s) { s.layer.ownInPlace = true; }},
      {"schedule", [](KernelSpec &s) { s.schedule = Schedule::claimed; }},
      {"cluster", [](KernelSpec &s) { s.cluster = 4; }},
      {"block_threads", [](KernelSpec &s) { s.blockThreads = 256; }},
      {"tile_tokens", [](KernelSpec &s) { s.tileTokens = 16; }},
      {"wait", [](KernelSpec &s) { s.wait = WaitStrategy::acquire; }},
      {"stages", [](KernelSpec &s) { s.kernel = KernelKind::combinePrologue, s.stages = 4; }},
      {"programmatic", [](KernelSpec &s) { s.kernel = KernelKind::combinePrologue, s.programmatic = true; }},
  };
  return all;
}

} // namespace interlock::test
