// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which instruction set the CPU kernels run with.
//
// Every kernel family under mace/kernels/cpu is one source that the build
// compiles once per instruction set ("ISA") into a namespace of that name. The
// ISA is chosen once, when a CPU runtime starts, and is passed on as a value;
// there is no hidden global that a kernel consults.

#ifndef MACE_KERNELS_CPU_ISA_H_
#define MACE_KERNELS_CPU_ISA_H_

// X(name) for every ISA that this target compiles kernels for, lowest first.
// `name` is at once the namespace of the compiled copy, the spelling that
// MACE_CPU_ISA accepts and the enumerator (hence lower case).
#if defined(__x86_64__) || defined(__i386__)
#define MACE_FOR_EACH_ISA(X) X(sse41) X(avx2) X(avx512)
#elif defined(__aarch64__) || defined(__arm__)
#define MACE_FOR_EACH_ISA(X) X(neon)
#else
#error "MACE has CPU kernels for x86 and ARM only"
#endif

namespace mace {

enum class CpuIsa {
  kNone = 0,  // the processor lacks even the lowest ISA compiled in
#define MACE_ISA_ENUM(name) name,
  MACE_FOR_EACH_ISA(MACE_ISA_ENUM)
#undef MACE_ISA_ENUM
};

// "sse41", "avx2", "avx512", "neon"; "none" for CpuIsa::kNone.
const char *CpuIsaName(CpuIsa isa);

// The highest compiled-in ISA that this processor and its operating system
// support. Asks cpuid (x86) or the auxiliary vector (ARM) at every call.
CpuIsa BestCpuIsa();

// Whether this processor can run kernels of `isa`.
bool CpuSupports(CpuIsa isa);

enum class CpuIsaRequest {
  kNothing,      // no request: the best ISA
  kGranted,      // the requested ISA
  kUnknown,      // no such name; the best ISA is taken instead
  kUnsupported,  // known, but this processor lacks it; the best is taken
};

struct CpuIsaChoice {
  CpuIsa isa;
  CpuIsaRequest request;
};

// Resolves a requested name; null or "" requests nothing.
CpuIsaChoice ChooseCpuIsa(const char *requested);

// ChooseCpuIsa of the environment variable MACE_CPU_ISA. The caller warns when
// the request was kUnknown or kUnsupported, naming kCpuIsaNames.
CpuIsaChoice ChooseCpuIsaFromEnv();

// Every name ChooseCpuIsa knows on this target, for messages.
#define MACE_ISA_TEXT(name) #name " "
inline constexpr char kCpuIsaNames[] = MACE_FOR_EACH_ISA(MACE_ISA_TEXT);
#undef MACE_ISA_TEXT

}  // namespace mace

#endif  // MACE_KERNELS_CPU_ISA_H_
