// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the host asks of the DSP's library by FastRPC: the methods of its
// interface, and what they take. Both sides include it.

#ifndef MACE_KERNELS_HEXAGON_FASTRPC_INTERFACE_H_
#define MACE_KERNELS_HEXAGON_FASTRPC_INTERFACE_H_

#include <stdint.h>

#include "mace/kernels/hexagon/program/program.h"

namespace mace::hexagon {

// For remote_handle64_open, with "&_dom=cdsp" and the like behind it.
#define MACE_HEXAGON_URI             \
  "file:///libmace_hexagon_skel.so?" \
  "mace_hexagon_skel_handle_invoke&_modver=1.0"

// FastRPC has 0 for opening and 1 for closing.
enum FastRpcMethod : uint32_t {
  kOpen = 0,
  kClose = 1,
  // in: PowerRequest.
  kSetPower = 2,
  // in: RunRequest, the program, the constants, the border; out: RunReply, the
  // arena, the border, the counters. The border is the same memory twice.
  kRun = 3,
  // out: Description.
  kDescribe = 4,
};

constexpr uint32_t kRunInputs = 4;
constexpr uint32_t kRunOutputs = 4;

// In the order of the DSP's own numbers, see HAP_power_set.
enum class PowerCorner : uint32_t {
  kRelease = 0,  // no wish
  kSvs2 = 1,
  kSvs = 2,
  kSvsPlus = 3,
  kNominal = 4,
  kNominalPlus = 5,
  kTurbo = 6,
  kTurboPlus = 7,
};

struct PowerRequest {
  uint32_t version;     // kProgramVersion
  uint32_t corner;      // PowerCorner
  uint32_t may_lower;   // whether the DSP may choose a lower clock
  uint32_t latency_us;  // to wake up; 0: no wish
};

// What a DSP has.
struct Description {
  uint32_t version;     // kProgramVersion of the DSP's library
  uint32_t fast_bytes;  // of VTCM; another process may use them
};

// The buffer of an area that the program does not use is empty.
struct RunRequest {
  uint32_t version;  // kProgramVersion
  uint32_t threads;  // 0: as many as there are vector contexts
};

struct RunReply {
  uint32_t version;  // kProgramVersion of the DSP's library
  ProgramReply result;
};

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_FASTRPC_INTERFACE_H_
