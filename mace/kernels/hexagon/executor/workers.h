// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The threads that compute parts of an instruction, beside the one that runs
// the program. A process has them once.

#ifndef MACE_KERNELS_HEXAGON_EXECUTOR_WORKERS_H_
#define MACE_KERNELS_HEXAGON_EXECUTOR_WORKERS_H_

#include "mace/kernels/hexagon/executor/executor.h"

namespace mace::hexagon {

// Makes it so many threads, with the calling one; 0: as many as there are
// vector contexts. The result is how many there are: fewer if some cannot be
// started. The caller has taken the workers.
int StartWorkers(uint32_t threads);
// Ends them.
void StopWorkers();

// Workers serve one program at a time. False: another thread has them.
bool TakeWorkers();
void ReturnWorkers();

// ProgramCall::divide. Units are divided evenly; parts with one more come
// first, so that no thread has more than the calling one.
void DivideWork(int64_t count, int64_t unit, WorkPart part, const void *work);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_EXECUTOR_WORKERS_H_
