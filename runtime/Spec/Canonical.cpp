// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The canonical byte form: one table of fields serves both directions, so they cannot drift apart.
#include "interlock/spec.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace interlock {
namespace {

/// Plain functions, so that the table is there before anything runs: one that is made at its first use would be
/// half-made in the child of a fork in that moment, with nobody to finish it.
struct Field {
  std::string_view name;
  std::string (*get)(const KernelSpec &);
  Status (*set)(KernelSpec &, std::string_view field, std::string_view text);
};

// `Member` is a lambda without captures: its type is enough to call it.
template <typename Member> decltype(auto) memberOf(const KernelSpec &spec) {
  return Member()(const_cast<KernelSpec &>(spec));
}

template <typename Member> constexpr Field number(std::string_view name, Member) {
  return {name, [](const KernelSpec &spec) { return std::to_string(memberOf<Member>(spec)); },
          [](KernelSpec &spec, std::string_view field, std::string_view text) -> Status {
            uint32_t value = 0;
            auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size() || std::to_string(value) != text)
              return makeError(Code::badInput, fmt::format("expected a number for {}, got '{}'", field, text));
            memberOf<Member>(spec) = value;
            return {};
          }};
}

template <auto parse, typename Member> constexpr Field named(std::string_view field, Member) {
  return {field, [](const KernelSpec &spec) { return std::string(name(memberOf<Member>(spec))); },
          [](KernelSpec &spec, std::string_view, std::string_view text) -> Status {
            ILK_ASSIGN_OR_RETURN(memberOf<Member>(spec), parse(text));
            return {};
          }};
}

template <typename Member> constexpr Field flag(std::string_view name, Member) {
  return {name, [](const KernelSpec &spec) { return std::string(memberOf<Member>(spec) ? "true" : "false"); },
          [](KernelSpec &spec, std::string_view field, std::string_view text) -> Status {
            if (text != "true" && text != "false")
              return makeError(Code::badInput, fmt::format("expected true or false for {}, got '{}'", field, text));
            memberOf<Member>(spec) = text == "true";
            return {};
          }};
}

constexpr Field fields[] = {
    named<parseKernelKind>("kernel", [](KernelSpec &s) -> auto & { return s.kernel; }),
    {"target", [](const KernelSpec &s) { return s.target; },
     [](KernelSpec &s, std::string_view, std::string_view text) -> Status {
       ILK_ASSIGN_OR_RETURN(TargetInfo target, findTarget(text));
       s.target = std::string(target.name);
       return {};
     }},
    number("ranks", [](KernelSpec &s) -> auto & { return s.layer.ranks; }),
    number("experts", [](KernelSpec &s) -> auto & { return s.layer.experts; }),
    number("topk", [](KernelSpec &s) -> auto & { return s.layer.topk; }),
    number("hidden", [](KernelSpec &s) -> auto & { return s.layer.hidden; }),
    named<parseDType>("dtype", [](KernelSpec &s) -> auto & { return s.layer.dtype; }),
    named<parseDType>("combine_dtype", [](KernelSpec &s) -> auto & { return s.layer.combineDType; }),
    number("scale_bytes", [](KernelSpec &s) -> auto & { return s.layer.scaleBytes; }),
    number("max_tokens", [](KernelSpec &s) -> auto & { return s.layer.maxTokens; }),
    number("capacity", [](KernelSpec &s) -> auto & { return s.layer.capacity; }),
    flag("expert_rows", [](KernelSpec &s) -> auto & { return s.layer.expertRows; }),
    flag("own_in_place", [](KernelSpec &s) -> auto & { return s.layer.ownInPlace; }),
    named<parseSchedule>("schedule", [](KernelSpec &s) -> auto & { return s.schedule; }),
    number("cluster", [](KernelSpec &s) -> auto & { return s.cluster; }),
    number("block_threads", [](KernelSpec &s) -> auto & { return s.blockThreads; }),
    number("tile_tokens", [](KernelSpec &s) -> auto & { return s.tileTokens; }),
    named<parseWaitStrategy>("wait", [](KernelSpec &s) -> auto & { return s.wait; }),
    number("stages", [](KernelSpec &s) -> auto & { return s.stages; }),
    flag("programmatic", [](KernelSpec &s) -> auto & { return s.programmatic; }),
};

} // namespace

std::string canonicalForm(const KernelSpec &spec) {
  std::string text;
  for (const Field &field : fields)
    text.append(field.name).append("=").append(field.get(spec)).append("\n");
  return text;
}

Result<KernelSpec> parseSpec(std::string_view canonical) {
  KernelSpec spec;
  for (const Field &field : fields) {
    size_t end = canonical.find('\n');
    std::string_view line = canonical.substr(0, end);
    size_t equals = line.find('=');
    if (end == std::string_view::npos || equals == std::string_view::npos || line.substr(0, equals) != field.name)
      return makeError(Code::badInput,
                       fmt::format("expected a line '{}=…' of a kernel spec, got '{}'", field.name, line));
    ILK_RETURN_IF_ERROR(field.set(spec, field.name, line.substr(equals + 1)));
    canonical.remove_prefix(end + 1);
  }
  if (!canonical.empty())
    return makeError(Code::badInput, fmt::format("expected the end of a kernel spec, got '{}'",
                                                 canonical.substr(0, canonical.find('\n'))));
  return spec;
}

} // namespace interlock
