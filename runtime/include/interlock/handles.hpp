// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// C++17 over the C ABI: handles that close themselves. For programs that want its stability; interlock.hpp is the C++
// API of programs that are built with the same compiler and standard library as the library.
#pragma once

#include "interlock/interlock.h"

#include <memory>

namespace interlock::c {

struct Close {
  void operator()(ilk_driver *driver) const { ilk_driver_close(driver); }
  void operator()(ilk_cache *cache) const { ilk_cache_close(cache); }
  void operator()(ilk_operation *operation) const { ilk_operation_destroy(operation); }
  void operator()(ilk_routing *routing) const { ilk_routing_destroy(routing); }
  void operator()(ilk_kernel *kernel) const { ilk_kernel_destroy(kernel); }
  void operator()(char *text) const { ilk_text_free(text); }
};

using Driver = std::unique_ptr<ilk_driver, Close>;
using Cache = std::unique_ptr<ilk_cache, Close>;
using Operation = std::unique_ptr<ilk_operation, Close>;
using Routing = std::unique_ptr<ilk_routing, Close>;
using Kernel = std::unique_ptr<ilk_kernel, Close>;
using Text = std::unique_ptr<char, Close>;

/// Takes what a call gives: `ilk_cache_open(&options, receive(cache))`. The handle has it when the full expression
/// ends.
template <typename T> class Receiver {
public:
  explicit Receiver(std::unique_ptr<T, Close> &to) : to(to) {}
  Receiver(const Receiver &) = delete;
  Receiver &operator=(const Receiver &) = delete;
  ~Receiver() {
    if (given)
      to.reset(given);
  }
  operator T **() { return &given; }

private:
  std::unique_ptr<T, Close> &to;
  T *given = nullptr;
};
template <typename T> Receiver<T> receive(std::unique_ptr<T, Close> &to) { return Receiver<T>(to); }

} // namespace interlock::c
