// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The kernel that qemu-hexagon shows to a program: that of Linux. Only programs
// that run in the emulator use it; what runs on a DSP is a library inside of a
// process of its own system.

#ifndef MACE_KERNELS_HEXAGON_PLATFORM_EMULATED_H_
#define MACE_KERNELS_HEXAGON_PLATFORM_EMULATED_H_

#include <stddef.h>
#include <stdint.h>

namespace mace::hexagon::emulated {

// Calls return what Linux does: a number below 0, -4095 or above, is an error.

// Writes to a file descriptor.
long Write(int file, const void *data, size_t size);
// Opens a file for reading and writing.
long Open(const char *path);
// Maps a file, for this process and those that map it as well.
void *MapShared(int file, size_t size);
// Memory of this process, of zeros; null if there is none.
void *MapOwn(size_t size);
// The same, in front of which is a page that nobody may touch.
void *MapStack(size_t size);
// Waits until another process or thread wakes it, unless *word is not `value`,
// but not longer than a second.
long WaitForChange(const uint32_t *word, uint32_t value);
// The number of the process that started this one; 1, or another one, after
// that has ended.
long Parent();
// Wakes the processes and threads that wait.
long Wake(const uint32_t *word);
// Starts a thread that calls function(argument) and ends; *alive, which is not
// 0, then becomes 0, and who waits for that is woken.
long Clone(void *stack_end,
           void (*function)(void *),
           void *argument,
           uint32_t *alive);
// Ends the thread that calls it.
[[noreturn]] void ExitThread();
[[noreturn]] void Exit(int status);
// Packets that this thread has executed, of which the emulator has the lower 32
// bits.
uint32_t PacketCount();

}  // namespace mace::hexagon::emulated

// What the program does; its result is the status of the process.
int main(int count, char **arguments);

#endif  // MACE_KERNELS_HEXAGON_PLATFORM_EMULATED_H_
