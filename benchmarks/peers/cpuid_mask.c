// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A preloaded library that shows a process fewer instructions than the
// processor has, so that engines choose the kernels of an older processor.
// processor.py builds it and names the instructions that stay, as
// MACE_BENCHMARK_PROCESSOR.
//
// Linux can let CPUID fault (arch_prctl, ARCH_SET_CPUID). The handler of the
// fault runs the instruction, and hides the flags of what the process must not
// know. Threads and forks inherit the fault; a program that is started has this
// library preloaded again. XGETBV does not fault: it still says that the system
// keeps the registers of AVX-512, which programs read only after CPUID has
// reported the instructions. The C library chose its own functions (memcpy)
// before this one was loaded; processor.py limits these by GLIBC_TUNABLES.

#define _GNU_SOURCE

#include <asm/prctl.h>
#include <cpuid.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

// Of Linux's asm/prctl.h, which not every system's headers have.
#ifndef ARCH_SET_CPUID
#define ARCH_SET_CPUID 0x1012
#endif

#define BIT(n) (1u << (n))

// Instructions that may stay.
enum {
  kAvx = 1,        // AVX, AVX2, FMA and all else that is encoded like them
  kAvxVnni = 2,    // and what came to AVX2 with it
  kAvx512 = 4,     // F, CD, BW, DQ, VL
  kAvx512Vnni = 8  // and what else came to AVX-512 until then
};

static const struct {
  const char *name;
  unsigned stays;
} kProcessors[] = {
    {"sse41", 0},
    {"avx2", kAvx},
    {"avx2_vnni", kAvx | kAvxVnni},
    {"avx512", kAvx | kAvx512},
    {"avx512_vnni", kAvx | kAvx512 | kAvx512Vnni},
};

enum { kEax, kEbx, kEcx, kEdx };
enum { kAnySubleaf = -1 };

// Flags of CPUID, and what they need; 0: they never stay (AMX, and the
// AVX-512 of bf16, fp16 and AVX10).
static const struct {
  uint32_t leaf;
  int subleaf;
  int reg;
  uint32_t bits;
  unsigned needs;
} kFlags[] = {
    {0x1, kAnySubleaf, kEcx, BIT(12) | BIT(28) | BIT(29), kAvx},
    // BMI1, AVX2, BMI2.
    {0x7, 0, kEbx, BIT(3) | BIT(5) | BIT(8), kAvx},
    {0x7, 0, kEbx,
     BIT(16) | BIT(17) | BIT(26) | BIT(27) | BIT(28) | BIT(30) | BIT(31),
     kAvx512},
    {0x7, 0, kEbx, BIT(21), kAvx512Vnni},
    // GFNI, VAES, VPCLMULQDQ.
    {0x7, 0, kEcx, BIT(8) | BIT(9) | BIT(10), kAvxVnni | kAvx512Vnni},
    {0x7, 0, kEcx, BIT(1) | BIT(6) | BIT(11) | BIT(12) | BIT(14), kAvx512Vnni},
    {0x7, 0, kEdx, BIT(2) | BIT(3) | BIT(8), kAvx512Vnni},
    {0x7, 0, kEdx, BIT(22) | BIT(23) | BIT(24) | BIT(25), 0},
    {0x7, 1, kEax, BIT(4), kAvxVnni},
    {0x7, 1, kEax, BIT(5) | BIT(21) | BIT(23), 0},
    {0x7, 1, kEdx, BIT(4) | BIT(5) | BIT(8) | BIT(10) | BIT(19), 0},
    // Registers that the system keeps.
    {0xd, 0, kEax, BIT(2), kAvx},
    {0xd, 0, kEax, BIT(5) | BIT(6) | BIT(7), kAvx512},
    {0xd, 0, kEax, BIT(17) | BIT(18), 0},
    // Tiles, and AVX10.
    {0x1d, kAnySubleaf, kEax, ~0u, 0},
    {0x1d, kAnySubleaf, kEbx, ~0u, 0},
    {0x1d, kAnySubleaf, kEcx, ~0u, 0},
    {0x1e, kAnySubleaf, kEbx, ~0u, 0},
    {0x24, kAnySubleaf, kEbx, ~0u, 0},
};

static unsigned stays;

static int LetCpuid(int runs) {
  return (int)syscall(SYS_arch_prctl, ARCH_SET_CPUID, runs);
}

static void MaskedCpuid(uint32_t leaf, uint32_t subleaf, uint32_t out[4]) {
  LetCpuid(1);
  __cpuid_count(leaf, subleaf, out[kEax], out[kEbx], out[kEcx], out[kEdx]);
  LetCpuid(0);
  for (size_t i = 0; i < sizeof(kFlags) / sizeof(kFlags[0]); ++i) {
    if (kFlags[i].leaf == leaf && (kFlags[i].needs & stays) == 0 &&
        (kFlags[i].subleaf == kAnySubleaf ||
         (uint32_t)kFlags[i].subleaf == subleaf)) {
      out[kFlags[i].reg] &= ~kFlags[i].bits;
    }
  }
}

static void OnFault(int number, siginfo_t *info, void *context) {
  greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
  const uint8_t *code = (const uint8_t *)regs[REG_RIP];
  // CPUID is a general protection fault, which has no address.
  if (info->si_code != SI_KERNEL || code[0] != 0x0f || code[1] != 0xa2) {
    // Another fault: it happens again, and ends the process as ever.
    signal(number, SIG_DFL);
    return;
  }
  const int error = errno;
  uint32_t out[4];
  MaskedCpuid((uint32_t)regs[REG_RAX], (uint32_t)regs[REG_RCX], out);
  regs[REG_RAX] = out[kEax];
  regs[REG_RBX] = out[kEbx];
  regs[REG_RCX] = out[kEcx];
  regs[REG_RDX] = out[kEdx];
  regs[REG_RIP] += 2;
  errno = error;
}

// Nothing is measured on a processor that was not asked for.
static void Refuse(const char *why) {
  fprintf(stderr, "cpuid_mask: %s\n", why);
  _exit(2);
}

__attribute__((constructor)) static void Begin(void) {
  const char *wanted = getenv("MACE_BENCHMARK_PROCESSOR");
  const size_t count = sizeof(kProcessors) / sizeof(kProcessors[0]);
  size_t i = 0;
  while (i < count && (!wanted || strcmp(kProcessors[i].name, wanted) != 0)) {
    ++i;
  }
  if (i == count) Refuse("MACE_BENCHMARK_PROCESSOR names no processor");
  stays = kProcessors[i].stays;
  struct sigaction action = {0};
  action.sa_sigaction = OnFault;
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, NULL);
  if (LetCpuid(0) != 0) {
    Refuse("this processor or kernel cannot let CPUID fault");
  }
}
