// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The part of JSON schema that sarif.schema.json uses.
#include "SarifSchema.h"

#include <regex>

namespace interlock::test {
namespace {

using nlohmann::json;

class Checker {
public:
  explicit Checker(const json &root) : root(root) {}

  void check(const json &value, const json &schema, const std::string &where) {
    if (schema.contains("$ref"))
      return check(value, root.at("$defs").at(schema["$ref"].get<std::string>().substr(8)), where);
    if (schema.contains("type") && !isOf(value, schema["type"]))
      return say(where, "expected " + schema["type"].get<std::string>());
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      say(where, "expected one of " + schema["enum"].dump());
    if (schema.contains("const") && value != schema["const"])
      say(where, "expected " + schema["const"].dump());
    if (schema.contains("minimum") && value < schema["minimum"])
      say(where, "expected at least " + schema["minimum"].dump());
    if (schema.contains("pattern") && !std::regex_match(value.get<std::string>(), std::regex(schema["pattern"])))
      say(where, "expected a match of " + schema["pattern"].dump() + ", got " + value.dump());
    for (const json &name : schema.value("required", json::array()))
      if (!value.contains(name))
        say(where, "expected the property " + name.dump());
    const json known = schema.value("properties", json::object());
    for (auto it = value.begin(); !known.empty() && it != value.end(); ++it) {
      const std::string &name = it.key();
      if (known.contains(name))
        check(*it, known[name], where + "/" + name);
      else
        say(where, "unexpected property " + name);
    }
    if (schema.contains("items"))
      for (size_t i = 0; i < value.size(); ++i)
        check(value[i], schema["items"], where + "/" + std::to_string(i));
  }

  std::vector<std::string> problems;

private:
  static bool isOf(const json &value, const std::string &type) {
    return type == "object"    ? value.is_object()
           : type == "array"   ? value.is_array()
           : type == "string"  ? value.is_string()
           : type == "integer" ? value.is_number_integer()
                               : type == "boolean" && value.is_boolean();
  }
  void say(const std::string &where, const std::string &what) { problems.push_back(where + ": " + what); }

  const json &root;
};

} // namespace

std::vector<std::string> violations(const json &document, const json &schema) {
  Checker checker(schema);
  checker.check(document, schema, "");
  return checker.problems;
}

} // namespace interlock::test
