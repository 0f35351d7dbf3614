// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A library that behaves as a phone's FastRPC library, with the DSP's part in
// the emulator behind it. It finds that by MACE_TEST_SKEL and qemu-hexagon in
// PATH. Tests choose what is wrong with the phone by fastrpc_stand_in().

#ifndef MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_
#define MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/hexagon/fastrpc/emulated_mailbox.h"

struct FastRpcStandIn {
  // What the phone is.
  uint32_t architecture = 0x68;
  uint32_t vectors = 4;
  uint32_t unsigned_support = 1;
  int unsigned_error = 0;  // of asking for a process for unsigned code
  bool has_signature = false;
  int open_error = 0;
  // The call that ends with an error, counted from 1 (0: none), and the error.
  // The DSP's process ends with it.
  int failing_call = 0;
  int call_error = 0;
  bool has_memory = true;
  // The call that does not return, counted from 1 (0: none), until the DSP's
  // process is killed, or a test sets let_go, which is read by another thread.
  int hanging_call = 0;
  bool hangs_at_start = false;
  bool can_kill = true;
  int let_go = 0;

  // What happened.
  bool is_unsigned = false;
  int opened = 0;
  int closed = 0;
  int killed = 0;
  int freed = 0;  // of memory
  int calls = 0;
  int copied_buffers = 0;  // that were not memory of rpcmem_alloc
  int allocated = 0;       // of rpcmem_alloc
  // Of the last call that ran a program.
  uint8_t *constants = nullptr;
  size_t constant_bytes = 0;
  char uri[256] = {};
  mace::hexagon::EmulatedMailbox *mailbox = nullptr;
};

using FastRpcStandInFunction = FastRpcStandIn *(*)();

#endif  // MACE_RUNTIMES_HEXAGON_TESTING_FASTRPC_STAND_IN_H_
