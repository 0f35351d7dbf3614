// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How tests call the library for FastRPC in the emulator: both sides map one
// file, which begins with this. A futex on `request` wakes the emulated DSP,
// one on `reply` the host.

#ifndef MACE_KERNELS_HEXAGON_FASTRPC_EMULATED_MAILBOX_H_
#define MACE_KERNELS_HEXAGON_FASTRPC_EMULATED_MAILBOX_H_

#include <stdint.h>

namespace mace::hexagon {

constexpr uint32_t kMostArguments = 16;
constexpr uint32_t kMostPowerRequests = 16;

// A request for power as the DSP's system got it.
struct PowerRecord {
  uint32_t type;
  uint32_t vectors_on;
  uint32_t client_class;
  uint32_t dcvs_enable;
  uint32_t target;
  uint32_t least;
  uint32_t latency;
};

struct EmulatedMailbox {
  uint32_t file_bytes;
  // The number of the last call, and that of the last one that is done, plus 1.
  uint32_t request;
  uint32_t reply;

  // The arguments of mace_hexagon_skel_handle_invoke.
  uint32_t call;
  uint64_t handle;
  int32_t result;
  // Bytes of the file; a handle has its lower and upper 32 bits.
  struct {
    uint32_t offset;
    uint32_t bytes;
  } arguments[kMostArguments];

  // Threads: so many may live at the same time, so many live now, and so many
  // were started.
  uint32_t most_threads;
  uint32_t threads;
  uint32_t started_threads;
  // Vectors: how many threads may use them, and how many do.
  uint32_t contexts;
  uint32_t locks;
  uint32_t all_locks;  // so many times

  // VTCM: what the DSP has, what it says that it has, and how often a part of
  // it was taken and not given back, or taken at all.
  uint32_t fast_bytes;
  uint32_t described_fast_bytes;
  uint32_t fast_taken;
  uint32_t fast_requests;

  uint32_t power_requests;
  PowerRecord power[kMostPowerRequests];
};
constexpr uint32_t kEmulatedMailboxBytes = 4096;
static_assert(sizeof(EmulatedMailbox) <= kEmulatedMailboxBytes);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_FASTRPC_EMULATED_MAILBOX_H_
