// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The instruction set that the CPU kernels use.
//
// Every kernel family under mace/kernels/cpu is one source that the build
// compiles once per instruction set ("ISA") into a namespace of that name. The
// ISA is chosen once, when a CPU runtime starts, and is passed on as a value;
// there is no hidden global that a kernel consults.

#ifndef MACE_KERNELS_CPU_ISA_H_
#define MACE_KERNELS_CPU_ISA_H_

// X(name) for every ISA for which this target compiles every kernel family,
// lowest first. `name` is the namespace of the compiled copy, the value that
// MACE_CPU_ISA accepts, and the enumerator (and therefore lower case).
//
// An extension, X(name, base), adds instructions of lower precision to a base.
// Only the families that use them have a copy with its name (`extension` of
// mace_isa_library); the others run the base's copy. isa.bzl lists the same
// names. In MACE_FOR_EACH_ISA_AND_BASE, an ISA is its own base. An extension
// includes the instructions of those before it with the same base. All names
// have one order: where a processor has several, the last one is the fastest.
// MACE_FOR_EACH_FP16_ISA and MACE_FOR_EACH_INT8_ISA, X(name, copy), give the
// copy that an ISA with such instructions runs, and MACE_FOR_EACH_NO_DOTS_ISA
// that of an ISA without the latter, for Winograd in integers: there avx512
// runs the copy of avx2. Further arguments are passed to X after these two.
// `python -m benchmarks.curves --curves isa --int8` compares the choices on a
// processor.
//
// MACE_ONLY_AVX2 or MACE_ONLY_SSE41 is defined for tests under sanitizers on
// x86: it leaves out all other kernels (one_isa of isa.bzl), which are compiled
// of the same sources.
#if defined(MACE_ONLY_AVX2) || defined(MACE_ONLY_SSE41)
#if defined(MACE_ONLY_AVX2)
#define MACE_FOR_EACH_ISA(X) X(avx2)
#define MACE_FOR_EACH_ISA_AND_BASE(X, ...) X(avx2, avx2, ##__VA_ARGS__)
#else
#define MACE_FOR_EACH_ISA(X) X(sse41)
#define MACE_FOR_EACH_ISA_AND_BASE(X, ...) X(sse41, sse41, ##__VA_ARGS__)
#endif
#define MACE_FOR_EACH_NO_DOTS_ISA(X, ...) \
  MACE_FOR_EACH_ISA_AND_BASE(X, ##__VA_ARGS__)
#define MACE_FOR_EACH_BF16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_ISA(X, ...)
#define MACE_FOR_EACH_INT8_ISA(X, ...)
#elif defined(__x86_64__) || defined(__i386__)
#define MACE_FOR_EACH_ISA(X) X(sse41) X(avx2) X(avx512)
#define MACE_FOR_EACH_ISA_AND_BASE(X, ...) \
  X(sse41, sse41, ##__VA_ARGS__)           \
  X(avx2, avx2, ##__VA_ARGS__)             \
  X(avx2_vnni, avx2, ##__VA_ARGS__)        \
  X(avx512, avx512, ##__VA_ARGS__)         \
  X(avx512_vnni, avx512, ##__VA_ARGS__)    \
  MACE_FOR_EACH_BF16_EXTENSION(X, ##__VA_ARGS__)
#define MACE_FOR_EACH_BF16_EXTENSION(X, ...) \
  X(avx512_bf16, avx512, ##__VA_ARGS__)      \
  X(amx_bf16, avx512, ##__VA_ARGS__)
#define MACE_FOR_EACH_FP16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_ISA(X, ...)
#define MACE_FOR_EACH_NO_DOTS_ISA(X, ...) \
  X(sse41, sse41, ##__VA_ARGS__)          \
  X(avx2, avx2, ##__VA_ARGS__)            \
  X(avx512, avx2, ##__VA_ARGS__)
#define MACE_FOR_EACH_INT8_ISA(X, ...)       \
  X(avx2_vnni, avx2_vnni, ##__VA_ARGS__)     \
  X(avx512_vnni, avx512_vnni, ##__VA_ARGS__) \
  X(avx512_bf16, avx512_vnni, ##__VA_ARGS__) \
  X(amx_bf16, avx512_vnni, ##__VA_ARGS__)
#elif defined(__aarch64__)
#define MACE_FOR_EACH_ISA(X) X(neon)
#define MACE_FOR_EACH_ISA_AND_BASE(X, ...) \
  X(neon, neon, ##__VA_ARGS__)             \
  X(neon_fp16, neon, ##__VA_ARGS__)        \
  X(neon_dotprod, neon, ##__VA_ARGS__)
#define MACE_FOR_EACH_BF16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_EXTENSION(X, ...) X(neon_fp16, neon, ##__VA_ARGS__)
#define MACE_FOR_EACH_FP16_ISA(X, ...)   \
  X(neon_fp16, neon_fp16, ##__VA_ARGS__) \
  X(neon_dotprod, neon_fp16, ##__VA_ARGS__)
#define MACE_FOR_EACH_NO_DOTS_ISA(X, ...) \
  X(neon, neon, ##__VA_ARGS__)            \
  X(neon_fp16, neon, ##__VA_ARGS__)
#define MACE_FOR_EACH_INT8_ISA(X, ...) \
  X(neon_dotprod, neon_dotprod, ##__VA_ARGS__)
#elif defined(__arm__)
#define MACE_FOR_EACH_ISA(X) X(neon)
#define MACE_FOR_EACH_ISA_AND_BASE(X, ...) X(neon, neon, ##__VA_ARGS__)
#define MACE_FOR_EACH_BF16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_EXTENSION(X, ...)
#define MACE_FOR_EACH_FP16_ISA(X, ...)
#define MACE_FOR_EACH_NO_DOTS_ISA(X, ...) X(neon, neon, ##__VA_ARGS__)
#define MACE_FOR_EACH_INT8_ISA(X, ...)
#else
#error "MACE has CPU kernels for x86 and ARM only"
#endif

namespace mace {

// Whether kernels read and write quantized activations of 8 bits as uint8,
// otherwise as int8: the first operand of VPDPBUSD and PMADDUBSW is unsigned,
// that of SDOT and SMLAL signed, and the second, the weights, signed for all.
#if defined(__x86_64__) || defined(__i386__)
inline constexpr bool kUnsignedBytes = true;
#else
inline constexpr bool kUnsignedBytes = false;
#endif

enum class CpuIsa {
  kNone = 0,  // the processor lacks even the lowest ISA compiled in
#define MACE_ISA_ENUM(name, base) name,
  MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_ENUM)
#undef MACE_ISA_ENUM
};

// Whether an ISA that is compiled in has arithmetic of bf16, or of fp16 or
// bf16. If none has, activations never have that type, and code for them is
// left out.
#define MACE_COUNT_ISA(name, base) +1
inline constexpr bool kBf16ArithmeticExists =
    (0 MACE_FOR_EACH_BF16_EXTENSION(MACE_COUNT_ISA)) > 0;
inline constexpr bool kHalfArithmeticExists =
    kBf16ArithmeticExists ||
    (0 MACE_FOR_EACH_FP16_EXTENSION(MACE_COUNT_ISA)) > 0;
#undef MACE_COUNT_ISA

// "sse41", "avx512_bf16", "neon", ...; "none" for CpuIsa::kNone.
const char *CpuIsaName(CpuIsa isa);

// The highest compiled ISA that this processor and its operating system
// support. Each call reads cpuid (x86) or the auxiliary vector (ARM).
CpuIsa BestCpuIsa();

// Whether every kernel family has a copy with that name, that is, whether `isa`
// is not an extension.
bool IsBase(CpuIsa isa);

// Whether kernels of `isa` may use instructions for bf16 products.
bool HasBf16(CpuIsa isa);
// The same for fp16 arithmetic.
bool HasFp16(CpuIsa isa);

// Whether this processor can run kernels of `isa`.
bool CpuSupports(CpuIsa isa);

// Returns `isa`, or the next lower one if the operating system does not permit
// `isa`. Only the tiles of amx_bf16 need permission. Linux grants it
// permanently to the whole process; from then on it rejects alternate signal
// stacks that are too small for the tiles (about 11 KiB), and it refuses
// permission if a thread already has such a stack. So this function is called
// only if a model uses such arithmetic.
CpuIsa PermittedIsa(CpuIsa isa);

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

// Calls ChooseCpuIsa with the environment variable MACE_CPU_ISA. If the request
// is kUnknown or kUnsupported, the caller prints a warning with kCpuIsaNames.
CpuIsaChoice ChooseCpuIsaFromEnv();

// All names that ChooseCpuIsa accepts on this target, for messages.
#define MACE_ISA_TEXT(name, base) #name " "
inline constexpr char kCpuIsaNames[] =
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_TEXT);
#undef MACE_ISA_TEXT

}  // namespace mace

#endif  // MACE_KERNELS_CPU_ISA_H_
