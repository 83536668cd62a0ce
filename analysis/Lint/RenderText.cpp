// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Findings for people.
#include "analysis/Lint/Render.h"
#include "analysis/ScopeModel/Rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

namespace interlock::lint {
namespace {

/// Lines of a text by their number, without a search per line.
class Lines {
public:
  explicit Lines(std::string_view text) : text(text) {}

  std::string_view line(uint32_t wanted) {
    if (starts.empty()) {
      starts.push_back(0);
      for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
        starts.push_back(at + 1);
    }
    if (wanted == 0 || wanted > starts.size())
      return {};
    size_t start = starts[wanted - 1];
    std::string_view line = text.substr(start, text.find('\n', start) - start);
    return line.substr(0, line.find_last_not_of("\r") + 1);
  }

private:
  std::string_view text;
  std::vector<size_t> starts;
};

/// What a terminal can show of bytes that anybody wrote.
std::string printable(std::string_view bytes) {
  std::string out(bytes);
  std::replace_if(out.begin(), out.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; }, ' ');
  return out;
}

class TextRenderer final : public Renderer {
public:
  explicit TextRenderer(std::ostream &out) : out(out) {}

  void judged(const Judged &input) override {
    Lines lines(input.text);
    for (const scope::Finding &finding : input.report.findings)
      print(input.input, lines, finding);
    for (const Waiver &waiver : input.report.unusedWaivers)
      print(waiver);
    for (const std::string &gap : gaps(input))
      out << fmt::format("{}: note: {}\n", printable(input.input), gap);
  }
  void unusable(const Unusable &) override {}
  void finish(const Summary &summary) override {
    for (const Waiver &waiver : summary.unusedWaivers)
      print(waiver);
    size_t warnings = summary.warnings + summary.unusedWaivers.size();
    if (summary.errors || warnings || summary.notes || summary.waived)
      out << fmt::format("{} errors, {} warnings, {} notes, {} waived\n", summary.errors, warnings, summary.notes,
                         summary.waived);
    out.flush();
  }

private:
  void print(const std::string &file, Lines &lines, const scope::Finding &finding) {
    out << fmt::format("{}: {}: {} [{}]\n", where(file, finding.place), name(finding.severity),
                       printable(finding.message), finding.rule);
    excerpt(lines, finding.place);
    for (const scope::RelatedPlace &related : finding.related) {
      out << fmt::format("{}: note: {}\n", where(file, related.place), printable(related.says));
      excerpt(lines, related.place);
    }
    if (!finding.fix.empty())
      out << fmt::format("  fix: {}\n", printable(finding.fix));
    if (const scope::Rule *rule = scope::findRule(finding.rule))
      out << fmt::format("  {}: {} (scope-lint --explain {})\n", scope::documentOf(rule->language), rule->section,
                         rule->id);
  }

  void print(const Waiver &waiver) {
    out << fmt::format("{}:{}:{}: warning: {} [{}]\n", printable(waiver.writtenAt.file), waiver.writtenAt.line,
                       waiver.writtenAt.column, unusedWaiverMessage(waiver), unusedWaiverRule);
  }

  static std::string where(const std::string &file, const scope::Place &place) {
    return place.line ? fmt::format("{}:{}:{}", printable(file), place.line, place.column) : printable(file);
  }

  void excerpt(Lines &lines, const scope::Place &place) {
    constexpr size_t before = 60, width = 120;
    std::string_view line = lines.line(place.line);
    if (!line.empty()) {
      size_t column = std::min<size_t>(place.column ? place.column - 1 : 0, line.size());
      size_t start = column > before ? column - before : 0;
      std::string shown = printable(line.substr(start, width));
      std::string margin = fmt::format("{:5} | ", place.line), cut = start ? "…" : "";
      out << margin << cut << shown << (start + width < line.size() ? "…\n" : "\n");
      out << fmt::format("{:>6}| {:{}}^\n", "", "", column - start + (start ? 1 : 0));
    }
    if (!place.sourceFile.empty())
      out << fmt::format("  compiled from {}:{}\n", printable(place.sourceFile), place.sourceLine);
  }

  /// What of the input the judgement does not cover.
  static std::vector<std::string> gaps(const Judged &input) {
    std::vector<std::string> found;
    if (input.isa > newestKnownIsa)
      found.push_back(
          fmt::format("PTX {} is newer than {}, the newest that the rules know: what is new in it was not judged",
                      isaName(input.isa), isaName(newestKnownIsa)));
    auto list = [&](std::string_view says, const std::map<std::string, uint32_t> &counts) {
      std::string names;
      for (const auto &[name, count] : counts)
        names += fmt::format("{}{} ({})", names.empty() ? "" : ", ", name, count);
      if (!names.empty())
        found.push_back(fmt::format("{}: {}", says, names));
    };
    list("unknown directives were skipped", input.unknownDirectives);
    list("unknown opcodes were taken to touch any memory", input.report.unknownOpcodes);
    return found;
  }

  std::ostream &out;
};

} // namespace

std::unique_ptr<Renderer> makeTextRenderer(std::ostream &out) { return std::make_unique<TextRenderer>(out); }

} // namespace interlock::lint
