// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/hexagon/platform/emulated.h"

extern "C" {

// start.S
long mace_hexagon_clone(long flags,
                        void *stack_end,
                        void (*function)(void *),
                        void *argument,
                        uint32_t *alive);
}

namespace mace::hexagon::emulated {
namespace {

// Numbers of calls, of Linux for processors without their own list.
enum Call : long {
  kOpenAt = 56,
  kWrite = 64,
  kExit = 93,
  kExitGroup = 94,
  kFutex = 98,
  kGetParent = 173,
  kMap = 222,
  kProtect = 226,
};
constexpr long kHere = -100;  // AT_FDCWD
constexpr long kReadWrite = 2;
constexpr long kMapReadWrite = 3;
constexpr long kMapShared = 1;
constexpr long kMapOwn = 0x22;  // without a file
constexpr long kNoAccess = 0;
constexpr long kPage = 1 << 16;  // of qemu-hexagon
constexpr long kFutexWait = 0;
constexpr long kFutexWake = 1;
constexpr long kAll = 0x7fffffff;
// What makes a thread: memory, folders, files, signals, process and semaphores
// are the same, and the kernel clears a word at its end.
constexpr long kCloneThread =
    0x100 | 0x200 | 0x400 | 0x800 | 0x10000 | 0x40000 | 0x200000;

long CallKernel(Call number,
                long a = 0,
                long b = 0,
                long c = 0,
                long d = 0,
                long e = 0,
                long f = 0) {
  register long r6 __asm__("r6") = number;
  register long r0 __asm__("r0") = a;
  register long r1 __asm__("r1") = b;
  register long r2 __asm__("r2") = c;
  register long r3 __asm__("r3") = d;
  register long r4 __asm__("r4") = e;
  register long r5 __asm__("r5") = f;
  __asm__ volatile("trap0(#1)"
                   : "+r"(r0)
                   : "r"(r6), "r"(r1), "r"(r2), "r"(r3), "r"(r4), "r"(r5)
                   : "memory");
  return r0;
}

long Address(const void *pointer) { return reinterpret_cast<long>(pointer); }

void *Mapped(long address) {
  const bool failed = static_cast<unsigned long>(address) > -4096UL;
  return failed ? nullptr : reinterpret_cast<void *>(address);
}

}  // namespace

long Write(int file, const void *data, size_t size) {
  return CallKernel(kWrite, file, Address(data), static_cast<long>(size));
}

long Open(const char *path) {
  return CallKernel(kOpenAt, kHere, Address(path), kReadWrite);
}

void *MapShared(int file, size_t size) {
  return Mapped(CallKernel(kMap, 0, static_cast<long>(size), kMapReadWrite,
                           kMapShared, file, 0));
}

void *MapOwn(size_t size) {
  return Mapped(CallKernel(kMap, 0, static_cast<long>(size), kMapReadWrite,
                           kMapOwn, -1, 0));
}

void *MapStack(size_t size) {
  auto *first = static_cast<char *>(MapOwn(size + kPage));
  if (first == nullptr ||
      CallKernel(kProtect, Address(first), kPage, kNoAccess) != 0) {
    return nullptr;
  }
  return first + kPage;
}

long WaitForChange(const uint32_t *word, uint32_t value) {
  struct {
    int32_t seconds;
    int32_t nanos;
  } const second = {1, 0};
  return CallKernel(kFutex, Address(word), kFutexWait, static_cast<long>(value),
                    Address(&second));
}

long Parent() { return CallKernel(kGetParent); }

long Wake(const uint32_t *word) {
  return CallKernel(kFutex, Address(word), kFutexWake, kAll);
}

long Clone(void *stack_end,
           void (*function)(void *),
           void *argument,
           uint32_t *alive) {
  return mace_hexagon_clone(kCloneThread, stack_end, function, argument, alive);
}

void ExitThread() {
  for (;;) CallKernel(kExit, 0);
}

void Exit(int status) {
  for (;;) CallKernel(kExitGroup, status);
}

// r0 = c20: a control register of the emulator alone, which the assembler does
// not know.
uint32_t PacketCount() {
  register uint32_t count __asm__("r0");
  __asm__ volatile(".word 0x6a14c000" : "=r"(count));
  return count;
}

}  // namespace mace::hexagon::emulated

extern "C" [[noreturn]] void mace_hexagon_main(long *stack) {
  const int count = static_cast<int>(stack[0]);
  mace::hexagon::emulated::Exit(
      main(count, reinterpret_cast<char **>(stack + 1)));
}
