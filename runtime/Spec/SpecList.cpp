// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Spec/SpecList.h"

#include <fmt/format.h>

namespace interlock {

std::string formatSpecList(std::span<const KernelSpec> kernels) {
  std::string text;
  for (const KernelSpec &kernel : kernels)
    text += (text.empty() ? "" : "\n") + canonicalForm(kernel);
  return text;
}

Result<std::vector<KernelSpec>> parseSpecList(std::string_view text) {
  std::vector<KernelSpec> kernels;
  std::string form;
  auto take = [&]() -> Status {
    if (form.empty())
      return {};
    auto wrong = [&](const Error &error) {
      return makeError(Code::badInput, fmt::format("kernel {} of the list: {}", kernels.size() + 1, error.message));
    };
    auto kernel = parseSpec(form);
    if (!kernel)
      return wrong(kernel.error());
    if (Status valid = validate(*kernel); !valid)
      return wrong(valid.error());
    kernels.push_back(std::move(*kernel));
    form.clear();
    return {};
  };
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty())
      ILK_RETURN_IF_ERROR(take());
    else if (line.front() != '#')
      form.append(line).append("\n");
  }
  ILK_RETURN_IF_ERROR(take());
  return kernels;
}

} // namespace interlock
