// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// System calls that fail on demand: full, foreign, read-only and lockless file systems without one at hand. The test is
// linked with --wrap, so the cache's own calls come here.
#pragma once

namespace interlock::test {

enum class Call { lock, write, sync, rename, makeFile };

/// While it lives, every such call of this process (and of those that it forks) fails with `error`.
class FailingCall {
public:
  FailingCall(Call call, int error);
  ~FailingCall();
  FailingCall(const FailingCall &) = delete;
  FailingCall &operator=(const FailingCall &) = delete;

private:
  Call call;
};

} // namespace interlock::test
