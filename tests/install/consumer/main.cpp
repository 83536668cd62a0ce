// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A program outside the tree that uses the installed library: a spec is checked, an emulated device opened, and bytes
// make the way to it and back.
#include "interlock/interlock.hpp"

#include <array>
#include <cstdio>

using namespace interlock;

namespace {

Status roundTrip(Driver &driver) {
  std::array<uint32_t, 64> sent, received{};
  for (size_t i = 0; i < sent.size(); ++i)
    sent[i] = static_cast<uint32_t>(i * 2654435761u);
  ILK_ASSIGN_OR_RETURN(DeviceAddress address, driver.allocate(1, sizeof(sent)));
  ILK_ASSIGN_OR_RETURN(StreamId stream, driver.createStream(0));
  ILK_RETURN_IF_ERROR(driver.copyIn(stream, address, sent.data(), sizeof(sent)));
  ILK_RETURN_IF_ERROR(driver.copyOut(stream, received.data(), address, sizeof(received)));
  ILK_RETURN_IF_ERROR(driver.synchronize(stream));
  if (sent != received)
    return makeError(Code::internal, "expected the bytes that were sent, got others");
  ILK_RETURN_IF_ERROR(driver.destroyStream(stream));
  return driver.release(address);
}

Status consume() {
  ILK_ASSIGN_OR_RETURN(ModelPreset model, findModel("deepseek-v3"));
  LayerSpec layer;
  layer.ranks = 2;
  layer.experts = model.experts;
  layer.topk = model.topk;
  layer.hidden = model.hidden;
  layer.maxTokens = 16;
  ILK_RETURN_IF_ERROR(validate(layer));
  layer.topk = 33;
  if (validate(layer))
    return makeError(Code::internal, "expected a top-k of 33 to be refused, it was accepted");
  ILK_ASSIGN_OR_RETURN(std::unique_ptr<Driver> driver, openEmulator({.target = "sm_90a", .devices = 2}));
  return roundTrip(*driver);
}

} // namespace

int main() {
  Status status = consume();
  if (!status)
    std::fprintf(stderr, "%s\n", status.error().message.c_str());
  return status ? 0 : 1;
}
