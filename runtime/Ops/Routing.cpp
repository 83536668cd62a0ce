// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Generated routings: uniform and zipf draws without replacement, traces cut into ranks and steps.
#include "runtime/Ops/Routing.h"

#include "runtime/Ops/Random.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace interlock {

namespace {
/// Draws distinct experts with given weights. A draw that was already taken is tried again; when most of the weight is
/// taken, the rest is drawn by a scan over what is left, so that a very skewed router ends too.
class ExpertDraw {
public:
  explicit ExpertDraw(std::vector<double> weights) : weight(std::move(weights)), cumulative(weight.size()) {
    std::partial_sum(weight.begin(), weight.end(), cumulative.begin());
  }

  void draw(Random &random, int32_t *ids, uint32_t count) {
    for (uint32_t k = 0; k < count; ++k) {
      uint32_t expert = one(random);
      for (int tries = 0; tries < 16 && taken(ids, k, expert); ++tries)
        expert = one(random);
      if (taken(ids, k, expert))
        expert = oneOfTheRest(random, ids, k);
      ids[k] = int32_t(expert);
    }
  }

private:
  static bool taken(const int32_t *ids, uint32_t count, uint32_t expert) {
    return std::find(ids, ids + count, int32_t(expert)) != ids + count;
  }

  uint32_t one(Random &random) const {
    double at = random.unit() * cumulative.back();
    auto found = std::upper_bound(cumulative.begin(), cumulative.end(), at);
    return uint32_t(std::min<size_t>(size_t(found - cumulative.begin()), weight.size() - 1));
  }

  uint32_t oneOfTheRest(Random &random, const int32_t *ids, uint32_t count) const {
    double left = 0;
    for (uint32_t e = 0; e < weight.size(); ++e)
      left += taken(ids, count, e) ? 0 : weight[e];
    double at = random.unit() * left;
    uint32_t last = 0;
    for (uint32_t e = 0; e < weight.size(); ++e) {
      if (taken(ids, count, e))
        continue;
      last = e;
      if ((at -= weight[e]) < 0)
        break;
    }
    return last;
  }

  std::vector<double> weight, cumulative;
};

std::vector<double> expertWeights(const LayerSpec &layer, const RoutingOptions &options) {
  std::vector<double> weights(layer.experts, 1.0);
  if (options.kind == RoutingOptions::Kind::zipf)
    for (uint32_t e = 0; e < layer.experts; ++e)
      weights[e] = std::pow(double(e) + 1, -options.skew);
  return weights;
}

Status checkTrace(const LayerSpec &layer, const RoutingTrace &trace) {
  if (trace.topk != layer.topk)
    return makeError(Code::badInput,
                     fmt::format("expected a routing trace of {} ids per token (the layer's top-k), got "
                                 "{}; --topk {} would do",
                                 layer.topk, trace.topk, trace.topk));
  for (size_t i = 0; i < trace.ids.size(); ++i)
    if (trace.ids[i] < -1 || trace.ids[i] >= int64_t(layer.experts))
      return makeError(Code::badInput,
                       fmt::format("expected ids from -1 to {} in the routing trace, got {} at token {}, "
                                   "column {}",
                                   layer.experts - 1, trace.ids[i], i / trace.topk, i % trace.topk));
  return {};
}

void cutFromTrace(const RoutingTrace &trace, uint64_t first, std::vector<int32_t> &ids) {
  for (size_t i = 0; i < ids.size(); ++i) {
    uint64_t row = (first + i / trace.topk) % trace.tokens;
    ids[i] = trace.ids[row * trace.topk + i % trace.topk];
  }
}
} // namespace

Result<RoutingOptions> parseRouting(std::string_view text) {
  RoutingOptions options;
  if (text == "uniform")
    return options;
  if (text.substr(0, 4) == "zipf" && (text.size() == 4 || text[4] == ':')) {
    options.kind = RoutingOptions::Kind::zipf;
    std::string_view number = text.substr(std::min<size_t>(5, text.size()));
    auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), options.skew);
    if (error != std::errc() || end != number.data() + number.size() || !(options.skew >= 0 && options.skew <= 16))
      return makeError(Code::badInput,
                       fmt::format("expected zipf:S with S from 0 to 16, got '{}'; zipf:1.2 would do", text));
    return options;
  }
  auto trace = readRoutingTrace(std::string(text));
  if (!trace)
    return tl::unexpected(std::move(trace).error());
  options.kind = RoutingOptions::Kind::trace;
  options.trace = std::move(*trace);
  return options;
}

Result<std::vector<TokenRouting>> makeRouting(const LayerSpec &layer, const RoutingOptions &options,
                                              const std::vector<uint32_t> &tokens, uint64_t step) {
  bool fromTrace = options.kind == RoutingOptions::Kind::trace;
  if (fromTrace)
    ILK_RETURN_IF_ERROR(checkTrace(layer, options.trace));
  ExpertDraw experts(fromTrace ? std::vector<double>{1.0} : expertWeights(layer, options));
  uint64_t row = step * std::accumulate(tokens.begin(), tokens.end(), uint64_t(0));
  std::vector<TokenRouting> result(tokens.size());
  for (size_t rank = 0; rank < tokens.size(); ++rank) {
    Random random(options.seed, step, rank);
    TokenRouting &routing = result[rank];
    routing.ids.resize(size_t(tokens[rank]) * layer.topk);
    routing.weights.resize(routing.ids.size());
    if (fromTrace)
      cutFromTrace(options.trace, row, routing.ids);
    row += tokens[rank];
    for (uint32_t t = 0; t < tokens[rank]; ++t) {
      int32_t *ids = &routing.ids[size_t(t) * layer.topk];
      if (!fromTrace)
        experts.draw(random, ids, layer.topk);
      for (uint32_t k = 0; k < layer.topk; ++k) {
        routing.weights[size_t(t) * layer.topk + k] = float(random.below(1u << 24) + 1) * 0x1p-24f;
        if (options.mask > 0 && random.unit() < options.mask)
          ids[k] = -1;
      }
    }
  }
  return result;
}

} // namespace interlock
