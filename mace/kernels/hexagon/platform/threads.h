// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Threads of the process that runs on the DSP. The emulator's are
// emulated_threads.cc, those of a DSP's system fastrpc/dsp_threads.cc.

#ifndef MACE_KERNELS_HEXAGON_PLATFORM_THREADS_H_
#define MACE_KERNELS_HEXAGON_PLATFORM_THREADS_H_

#include <stdint.h>

namespace mace::hexagon {

// As many threads as a process may start; no DSP has more vector contexts.
constexpr int kMostStarted = 7;
// All that a kernel needs beside its tensors is on the stack of its thread: at
// most 30 KB.
constexpr uint32_t kThreadStackBytes = 64 << 10;

// Starts the thread of that index, 0 to kMostStarted - 1, which calls
// function(argument) and ends. False: there is no thread.
bool StartThread(int index, void (*function)(void *), void *argument);
// Waits until a started thread has ended.
void JoinThread(int index);

// Returns at once if *word is not `value`; else when another thread wakes it,
// or for no reason.
void SleepWhile(uint32_t *word, uint32_t value);
// Wakes all threads that sleep on that word.
void WakeSleepers(uint32_t *word);

// How many threads can use vectors at the same time; at least 1.
int VectorContexts();
// What a thread calls before it uses vectors, and after that. False: it is not
// necessary here, or not possible, and UnlockVectors must not be called.
bool LockVectors();
void UnlockVectors();

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PLATFORM_THREADS_H_
