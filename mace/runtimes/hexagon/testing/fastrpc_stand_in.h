// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that behaves as a phone's FastRPC library, with the DSP's part in
// the emulator behind it. It finds that by MACE_TEST_SKEL and qemu-hexagon in
// PATH. Tests choose what is wrong with the phone by fastrpc_stand_in().

#ifndef MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_
#define MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "mace/kernels/hexagon/fastrpc/emulated_mailbox.h"

// A value that a test reads and writes while a call of another thread goes on.
template <typename T>
class FastRpcStandInValue {
 public:
  FastRpcStandInValue(T value) : value_(value) {}  // NOLINT: as a plain value
  FastRpcStandInValue(const FastRpcStandInValue &other) : value_(T(other)) {}
  FastRpcStandInValue &operator=(const FastRpcStandInValue &other) {
    value_ = T(other);
    return *this;
  }
  operator T() const { return value_; }  // NOLINT: as a plain value
  T operator++() { return ++value_; }

 private:
  std::atomic<T> value_;
};

struct FastRpcStandIn {
  using Bool = FastRpcStandInValue<bool>;
  using Int = FastRpcStandInValue<int>;

  // What the phone is.
  uint32_t architecture = 0x68;
  uint32_t vectors = 4;
  uint32_t unsigned_support = 1;
  Int unsigned_error = 0;  // of asking for a process for unsigned code
  Bool has_signature = false;
  Int open_error = 0;
  // The call that ends with an error, counted from 1 (0: none), and the error.
  // The DSP's process ends with it.
  Int failing_call = 0;
  Int call_error = 0;
  Bool has_memory = true;
  // The call that does not return, counted from 1 (0: none), until the DSP's
  // process is killed, or a test sets let_go.
  Int hanging_call = 0;
  Bool hangs_at_start = false;
  Bool can_kill = true;
  Bool let_go = false;

  // What happened.
  Bool is_unsigned = false;
  Int opened = 0;
  Int closed = 0;
  Int killed = 0;
  Int freed = 0;  // of memory
  Int calls = 0;
  Int copied_buffers = 0;  // that were not memory of rpcmem_alloc
  Int allocated = 0;       // of rpcmem_alloc
  // Of the last call that ran a program.
  uint8_t *constants = nullptr;
  size_t constant_bytes = 0;
  char uri[256] = {};
  mace::hexagon::EmulatedMailbox *mailbox = nullptr;
};

using FastRpcStandInFunction = FastRpcStandIn *(*)();

#endif  // MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_
