// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// What the parts of the conversion to NVVM share: the target, the converted types, and a pattern made of a function.
#pragma once

#include "dialects/EP/EP.h"
#include "dialects/Sync/Sync.h"

#include "interlock/spec.hpp"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Transforms/DialectConversion.h"

namespace interlock::nvvm {

/// Address spaces of the NVPTX back end.
inline constexpr unsigned globalSpace = 1, sharedSpace = 3, sharedClusterSpace = 7;

/// What every lowering may look at.
struct Context {
  TargetInfo target;
  const mlir::LLVMTypeConverter *types;
  /// Storage made so far, for unique names. Patterns run one after another.
  unsigned *storageCount;
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

/// Diagnoses, with one sentence each, everything in the module that cannot be converted for the chip: operations that
/// an earlier pass should have lowered, features that the chip lacks, kernels without their attributes.
mlir::LogicalResult checkFeatures(mlir::ModuleOp module, const TargetInfo &target);

/// Replaces operations that stand for a loop by one: sync.signal_wait becomes relaxed reads and an acquire fence after
/// them. Run before control flow is lowered.
void expandPolls(mlir::ModuleOp module);

void addSyncBarrierPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addSyncMemoryPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addEPPatterns(mlir::RewritePatternSet &patterns, const Context &context);
void addElementPatterns(mlir::RewritePatternSet &patterns, const Context &context);

} // namespace interlock::nvvm
