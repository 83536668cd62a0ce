// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "compiler/Conversion/InlinePTX.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace interlock::nvvm {
namespace {

/// The register class of a value (LLVM, "Supported Constraint Code List", NVPTX).
char constraintOf(Type type) {
  if (type.isInteger(64) || isa<LLVM::LLVMPointerType>(type))
    return 'l';
  if (type.isInteger(16))
    return 'h';
  if (type.isF32())
    return 'f';
  return 'r';
}

} // namespace

Value inlinePTX(ImplicitLocOpBuilder &builder, const std::string &ptx, ValueRange operands, Type result) {
  std::string constraints;
  auto append = [&](std::string one) { constraints += (constraints.empty() ? "" : ",") + one; };
  if (auto fields = dyn_cast_if_present<LLVM::LLVMStructType>(result))
    for (Type field : fields.getBody())
      append(std::string("=") + constraintOf(field));
  else if (result)
    append(std::string("=") + constraintOf(result));
  for (Value operand : operands)
    append(std::string(1, constraintOf(operand.getType())));
  append("~{memory}");
  auto op = LLVM::InlineAsmOp::create(
      builder, result ? TypeRange(result) : TypeRange(), operands, builder.getStringAttr(ptx),
      builder.getStringAttr(constraints), /*has_side_effects=*/builder.getUnitAttr(), /*is_align_stack=*/UnitAttr(),
      LLVM::TailCallKindAttr::get(builder.getContext(), LLVM::TailCallKind::None),
      LLVM::AsmDialectAttr::get(builder.getContext(), LLVM::AsmDialect::AD_ATT), /*operand_attrs=*/ArrayAttr());
  return result ? op.getResult(0) : Value();
}

} // namespace interlock::nvvm
