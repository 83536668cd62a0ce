// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "tests/unit/alu/Form.h"

namespace interlock::emu::alu {

Form::Form(const std::string &text) {
  std::string kernel = ".version 9.0\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n"
                       ".reg .b64 %d, %a, %b, %c, %e, %f;\n.reg .pred %p, %q;\n" +
                       text + ";\nret;\n}\n";
  auto module = ptx::read(kernel);
  if (!module) {
    message = module.error().str();
    return;
  }
  const ptx::Instruction &in = module->functions.at(0).instructions.at(0);
  auto op = resolve(in);
  if (!op)
    op = resolveExtended(in);
  if (!op) {
    message = op.error();
    return;
  }
  operation = *op;
  for (size_t i = 1; i < in.operands.size(); ++i) {
    const ptx::Operand &o = in.operands[i];
    size_t at = o.kind == ptx::OperandKind::reg ? std::string_view("abcef").find(o.name.back()) : std::string::npos;
    argument.push_back(at == std::string::npos ? -1 : int(at));
    literals.push_back(o.bits);
  }
  if (operation.carryIn) {
    argument.push_back(int(argument.size())); // the condition code is the next argument
    literals.push_back(0);
  }
}

void Form::warp(const std::vector<std::vector<uint64_t>> &arguments, std::vector<uint64_t> &out,
                std::vector<uint64_t> &second, uint64_t active) const {
  std::vector<std::vector<uint64_t>> rows;
  for (size_t i = 0; i < argument.size(); ++i)
    rows.push_back(argument[i] < 0 ? std::vector<uint64_t>(out.size(), literals[i])
                                   : arguments.at(size_t(argument[i])));
  const uint64_t *in[6] = {};
  for (size_t i = 0; i < rows.size(); ++i)
    in[i] = rows[i].data();
  operation.eval(operation, in, out.data(), second.data(), active, unsigned(out.size()));
}

Outcome Form::operator()(uint64_t a, uint64_t b, uint64_t c, uint64_t e, uint64_t f) const {
  std::vector<uint64_t> out(1), second(1);
  warp({{a}, {b}, {c}, {e}, {f}}, out, second, 1);
  return {out[0], second[0]};
}

} // namespace interlock::emu::alu
