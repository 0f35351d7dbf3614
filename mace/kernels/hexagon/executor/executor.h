// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Runs programs on the DSP. Every number of a program is checked before it is
// used: a damaged program ends with a status, and touches no memory but that of
// the call.

#ifndef MACE_KERNELS_HEXAGON_EXECUTOR_EXECUTOR_H_
#define MACE_KERNELS_HEXAGON_EXECUTOR_EXECUTOR_H_

#include "mace/kernels/hexagon/program/program.h"

namespace mace::hexagon {

struct Memory {
  uint8_t *data = nullptr;
  uint32_t bytes = 0;
};

// A part of an instruction's work: `begin` to `end`, of what `work` points to.
using WorkPart = void (*)(const void *work, int64_t begin, int64_t end);

struct ProgramCall {
  Memory program;
  Memory areas[kAreas];
  // A counter of time or packets; null: kCounters is not written.
  uint64_t (*counter)() = nullptr;
  // Calls part(work, ...) for parts of 0 to count, which begin at multiples of
  // `unit`, in any order or at the same time, and returns when all are done.
  // Null: there is one thread.
  void (*divide)(int64_t count,
                 int64_t unit,
                 WorkPart part,
                 const void *work) = nullptr;
  // How many parts that makes at most.
  int threads = 1;
  // Gives so many bytes of VTCM, which belong to the call until they are given
  // back; without an address if there is no VTCM. Null: there never is.
  Memory (*take_fast)(uint32_t bytes) = nullptr;
  void (*return_fast)(const Memory &memory) = nullptr;
};

ProgramReply RunProgram(const ProgramCall &call);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_EXECUTOR_EXECUTOR_H_
