// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
#include "runtime/Cache/ForkGate.h"

#include <pthread.h>

namespace interlock {
namespace {

/// Plain data that is initialised before anything runs; the mutex stays locked across a fork, so the child's copy is
/// whole.
struct Gate {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
  unsigned running = 0; ///< calls into the compiler
  bool forking = false; ///< new calls wait
};
constinit Gate gate;
/// Of the calls that run, those of this thread: a compiler that forks must not wait for itself.
constinit thread_local unsigned mine = 0;

void beforeFork() {
  pthread_mutex_lock(&gate.mutex);
  gate.forking = true;
  while (gate.running > mine)
    pthread_cond_wait(&gate.changed, &gate.mutex);
}

void afterForkInParent() {
  gate.forking = false;
  pthread_cond_broadcast(&gate.changed);
  pthread_mutex_unlock(&gate.mutex);
}

void afterForkInChild() {
  gate.running = mine;
  gate.forking = false;
  gate.changed = PTHREAD_COND_INITIALIZER; // its waiters are the parent's
  pthread_mutex_unlock(&gate.mutex);
}

} // namespace

void ForkGate::watch() {
  // Not a static object's initialisation: this one a child begins anew if its parent was forked in the middle of it.
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, [] { pthread_atfork(beforeFork, afterForkInParent, afterForkInChild); });
}

ForkGate::ForkGate() {
  pthread_mutex_lock(&gate.mutex);
  while (gate.forking && mine == 0)
    pthread_cond_wait(&gate.changed, &gate.mutex);
  ++gate.running;
  ++mine;
  pthread_mutex_unlock(&gate.mutex);
}

ForkGate::~ForkGate() {
  pthread_mutex_lock(&gate.mutex);
  --gate.running;
  --mine;
  pthread_cond_broadcast(&gate.changed);
  pthread_mutex_unlock(&gate.mutex);
}

} // namespace interlock
