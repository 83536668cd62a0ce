// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// Processes for tests: forked from the test, started at once by a gate, judged by their exit codes.
#pragma once

#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

namespace interlock::test {

/// Runs `work` in a process of its own; its value is the exit code. A process that hangs ends by a signal.
template <typename Work> pid_t inProcess(Work work, unsigned seconds = 60) {
  pid_t child = ::fork();
  if (child == 0) {
    ::alarm(seconds);
    ::_exit(work());
  }
  return child;
}

/// The exit code, or -1 if it ended by a signal.
inline int exitCodeOf(pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return -1;
  return WEXITSTATUS(status);
}

/// Holds children back until the parent lets all of them go at once.
class Gate {
public:
  Gate() { (void)!::pipe(ends); }
  ~Gate() {
    ::close(ends[0]);
    if (!opened)
      ::close(ends[1]);
  }
  Gate(const Gate &) = delete;
  Gate &operator=(const Gate &) = delete;

  /// In a child.
  void wait() {
    char nothing;
    ::close(ends[1]);
    opened = true;
    (void)!::read(ends[0], &nothing, 1);
  }
  /// In the parent.
  void open() {
    ::close(ends[1]);
    opened = true;
  }

private:
  int ends[2];
  bool opened = false;
};

} // namespace interlock::test
