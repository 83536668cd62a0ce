// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the conversions to NVVM and to ROCDL share: the target, the converted types, a pattern made of a function, and
// the lowerings that need nothing of a target's dialect.
#pragma once

#include "dialects/EP/EP.h"
#include "dialects/Sync/Sync.h"

#include "interlock/spec.hpp"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace interlock::lowering {

/// Address spaces of both back ends.
inline constexpr unsigned globalSpace = 1, sharedSpace = 3;

struct Builder;

/// What every lowering may look at.
struct Context {
  TargetInfo target;
  const mlir::LLVMTypeConverter *types;
  /// Storage made so far, for unique names. Patterns run one after another.
  unsigned *storageCount;
  /// Called before each operation is lowered, if set.
  void (*before)(mlir::Operation *op, Builder &b) = nullptr;
};

/// The builder of a lowering: a rewriter that knows its location.
struct Builder : mlir::ImplicitLocOpBuilder {
  Builder(mlir::Location loc, mlir::ConversionPatternRewriter &rewriter)
      : ImplicitLocOpBuilder(loc, rewriter), rewriter(rewriter) {
    setInsertionPoint(rewriter.getInsertionBlock(), rewriter.getInsertionPoint());
    setListener(rewriter.getListener());
  }
  mlir::Value constant(int64_t value, unsigned bits = 32) {
    return mlir::LLVM::ConstantOp::create(*this, getIntegerType(bits), getIntegerAttr(getIntegerType(bits), value));
  }
  mlir::ConversionPatternRewriter &rewriter;
};

/// What replaces an operation's results. A lowering cannot fail: what a chip lacks was refused by checkFeatures.
using Replacement = llvm::SmallVector<mlir::Value, 1>;

template <typename OpT> class LowerWith final : public mlir::OpConversionPattern<OpT> {
public:
  using Adaptor = typename mlir::OpConversionPattern<OpT>::OpAdaptor;
  using Function = Replacement (*)(OpT, Adaptor, Builder &, const Context &);

  LowerWith(const Context &context, Function function)
      : mlir::OpConversionPattern<OpT>(*context.types, &context.types->getContext()), context(context),
        function(function) {}

  mlir::LogicalResult matchAndRewrite(OpT op, Adaptor adaptor,
                                      mlir::ConversionPatternRewriter &rewriter) const override {
    Builder builder(op.getLoc(), rewriter);
    if (context.before)
      context.before(op, builder);
    rewriter.replaceOp(op, function(op, adaptor, builder, context));
    return mlir::success();
  }

private:
  Context context;
  Function function;
};

/// `add(patterns, context, lowerA, lowerB, …)`: the operation is taken from each function's signature.
template <typename OpT>
void addOne(mlir::RewritePatternSet &patterns, const Context &context,
            Replacement (*function)(OpT, typename OpT::Adaptor, Builder &, const Context &)) {
  patterns.add<LowerWith<OpT>>(context, function);
}
template <typename... Functions>
void add(mlir::RewritePatternSet &patterns, const Context &context, Functions... functions) {
  (addOne(patterns, context, functions), ...);
}

/// The CTAs of a cluster of the kernel around `op`; 1 if the kernel has no clusters.
int64_t clusterSize(mlir::Operation *op);

/// A number that the kernel around `op` states by an attribute, or `otherwise`.
int64_t kernelNumber(mlir::Operation *op, llvm::StringRef attribute, int64_t otherwise);

/// Diagnoses, with one sentence each, everything in the module that cannot be converted for the chip: operations that
/// an earlier pass should have lowered, features that the chip lacks, kernels without their attributes, a chip of
/// another vendor than the conversion's.
mlir::LogicalResult checkFeatures(mlir::ModuleOp module, const TargetInfo &target, llvm::StringRef vendor);

/// Replaces operations that stand for a loop by one: sync.signal_wait becomes relaxed reads and an acquire fence after
/// them. Run before control flow is lowered. `pause`, if given, is called to add what a thread does between two reads.
void expandPolls(mlir::ModuleOp module, llvm::function_ref<void(mlir::ImplicitLocOpBuilder &)> pause = {});

/// The chip that an option names, or else the module; a diagnostic if neither does.
mlir::FailureOr<TargetInfo> chipOf(mlir::ModuleOp module, const std::string &option);

/// What a conversion has of its own.
struct TargetLowering {
  llvm::StringRef dialect; ///< stays
  void (*addPatterns)(mlir::RewritePatternSet &, const Context &);
  void (*before)(mlir::Operation *op, Builder &b) = nullptr; ///< see Context
};

/// Lowers control flow to branches, then converts every operation.
mlir::LogicalResult convertModule(mlir::ModuleOp module, const TargetInfo &target, const TargetLowering &own);

/// The attributes of a kernel that no conversion leaves standing.
void dropKernelAttributes(mlir::LLVM::LLVMFuncOp kernel);

int64_t bytesOf(mlir::Type type);
mlir::LLVM::AtomicOrdering ordering(sync::Sem sem);

/// The scope as the chip has it: without clusters, cluster becomes gpu, with a remark.
sync::Scope chipScope(mlir::Operation *op, sync::Scope scope, const Context &context);

/// The address of a new global in shared memory. What such a global holds at start is undefined, so it has no
/// initializer.
mlir::Value makeStorage(mlir::Operation *op, mlir::Type type, uint64_t align, Builder &b, const Context &context);

/// A 64-bit value goes through a lane exchange of words in two halves.
mlir::Value byWords(Builder &b, mlir::Value value, llvm::function_ref<mlir::Value(mlir::Value)> exchange);

void addMemoryPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addElementPatterns(mlir::RewritePatternSet &patterns, const Context &context);

/// An 8-bit float with 4 bits of exponent and 3 of mantissa.
struct Float8 {
  F8 kind;       ///< a chip that says it converts these does so by instruction
  int32_t bias;  ///< of the exponent
  float largest; ///< finite value
  int32_t nan;   ///< its code
  bool hasNegativeZero;
};
/// Of a type that ep.quantize takes.
const Float8 &float8(mlir::Type type);

/// How a chip converts two values at once where it has instructions for the type: f32 to the low two bytes of an i32,
/// and back.
struct Float8Instructions {
  mlir::Value (*encode)(Builder &b, mlir::Value first, mlir::Value second);
  std::pair<mlir::Value, mlir::Value> (*decode)(Builder &b, mlir::Value codes);
  bool saturates; ///< what is too large, and NaN, needs nothing done about it before
};
/// With the chip's instructions for the type that it converts, by integer arithmetic for the other one.
mlir::Value quantize(Builder &b, mlir::Value values, mlir::Type codes, mlir::Type type, const Context &context,
                     const Float8Instructions &own);
mlir::Value dequantize(Builder &b, mlir::Value codes, mlir::Type type, const Context &context,
                       const Float8Instructions &own);

} // namespace interlock::lowering
