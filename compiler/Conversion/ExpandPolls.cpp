// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A bounded wait on a signal, as a loop of relaxed reads. The fence after it makes the read that saw the value acquire
// (PTX ISA, "Release and acquire patterns": a strong read followed in program order by a fence.acquire). The clock is
// read only when the first look has failed.
#include "compiler/Conversion/Lowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace interlock::lowering {
namespace {

/// Whether the signal has reached the value, by one relaxed read.
Value look(ImplicitLocOpBuilder &b, sync::SignalWaitOp op) {
  Value seen =
      sync::SignalLoadOp::create(b, op.getValue().getType(), sync::Sem::relaxed, op.getScope(), op.getPointer());
  return arith::CmpIOp::create(b, arith::CmpIPredicate::uge, seen, op.getValue());
}

void expand(sync::SignalWaitOp op, function_ref<void(ImplicitLocOpBuilder &)> pause) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Type i1 = b.getI1Type();
  Value first = look(b, op);
  auto slow = scf::IfOp::create(b, TypeRange{i1}, first, /*addThenBlock=*/true, /*addElseBlock=*/true);
  b.setInsertionPointToStart(slow.thenBlock());
  scf::YieldOp::create(b, ValueRange{first});

  b.setInsertionPointToStart(slow.elseBlock());
  Value begin = sync::ClockOp::create(b, b.getI64Type());
  // do { reached = look } while (!reached && elapsed < timeout)
  auto loop = scf::WhileOp::create(b, TypeRange{i1}, ValueRange{});
  b.createBlock(&loop.getBefore());
  Value reached = look(b, op);
  Value elapsed = arith::SubIOp::create(b, sync::ClockOp::create(b, b.getI64Type()), begin);
  Value inTime = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, elapsed, op.getTimeout());
  Value missing = arith::XOrIOp::create(b, reached, arith::ConstantIntOp::create(b, 1, 1));
  scf::ConditionOp::create(b, arith::AndIOp::create(b, missing, inTime), ValueRange{reached});
  b.createBlock(&loop.getAfter(), {}, {i1}, {op.getLoc()});
  if (pause)
    pause(b);
  scf::YieldOp::create(b);
  b.setInsertionPointAfter(loop);
  scf::YieldOp::create(b, loop.getResults());

  b.setInsertionPointAfter(slow);
  if (op.getSem() == sync::Sem::acquire)
    sync::FenceOp::create(b, sync::Sem::acquire, op.getScope(), /*restrict=*/false);
  op.getReached().replaceAllUsesWith(slow.getResult(0));
  op.erase();
}

} // namespace

void expandPolls(ModuleOp module, function_ref<void(ImplicitLocOpBuilder &)> pause) {
  SmallVector<sync::SignalWaitOp> waits;
  module.walk([&](sync::SignalWaitOp op) { waits.push_back(op); });
  for (sync::SignalWaitOp op : waits)
    expand(op, pause);
}

} // namespace interlock::lowering
