// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// A kernel that spins for so many nanoseconds, to make a rank late.
#pragma once

namespace interlock::test {

/// Entry `delay`, one parameter: u64 nanoseconds.
constexpr const char *delayPtx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry delay(.param .u64 ns)
{
  .reg .pred %early;
  .reg .b64 %ns, %begin, %now;
  ld.param.u64 %ns, [ns];
  mov.u64 %begin, %globaltimer;
again:
  mov.u64 %now, %globaltimer;
  sub.u64 %now, %now, %begin;
  setp.lt.u64 %early, %now, %ns;
  @%early bra again;
  ret;
}
)";

} // namespace interlock::test
