// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/isa.h"

#include <cstdlib>
#include <cstring>

#if defined(__arm__) || defined(__aarch64__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#elif defined(__x86_64__) && !defined(MACE_ONLY_AVX2) && \
    !defined(MACE_ONLY_SSE41)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace mace {
namespace {

#if defined(__x86_64__) || defined(__i386__)
// __builtin_cpu_supports also checks by xgetbv that the operating system saves
// the wide registers.
[[maybe_unused]] bool Supports_sse41() {
  return __builtin_cpu_supports("sse4.1") != 0;
}
[[maybe_unused]] bool Supports_avx2() {
  return __builtin_cpu_supports("avx2") != 0 &&
         __builtin_cpu_supports("fma") != 0 &&
         __builtin_cpu_supports("f16c") != 0;
}
#if !defined(MACE_ONLY_AVX2) && !defined(MACE_ONLY_SSE41)
bool Supports_avx2_vnni() {
  return Supports_avx2() && __builtin_cpu_supports("avxvnni") != 0;
}
bool Supports_avx512() {
  return Supports_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
         __builtin_cpu_supports("avx512bw") != 0 &&
         __builtin_cpu_supports("avx512dq") != 0 &&
         __builtin_cpu_supports("avx512vl") != 0;
}
bool Supports_avx512_vnni() {
  return Supports_avx512() && __builtin_cpu_supports("avx512vnni") != 0;
}
// Every processor with one of them also has the other (since Cooper Lake, Zen
// 4).
bool Supports_avx512_bf16() {
  return Supports_avx512_vnni() && __builtin_cpu_supports("avx512bf16") != 0;
}
#if defined(__x86_64__)
// The tiles are parts 17 and 18 of the processor's extended state. Checked
// here, because __builtin_cpu_supports does not check the operating system for
// them.
constexpr unsigned kTileState = (1u << 17) | (1u << 18);
bool HasTiles() {
  unsigned a, b, c, d;
  constexpr unsigned kOsXsave = 1u << 27;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kOsXsave) == 0) return false;
  constexpr unsigned kAmxBf16 = 1u << 22;
  constexpr unsigned kAmxTile = 1u << 24;
  constexpr unsigned kBoth = kAmxBf16 | kAmxTile;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & kBoth) != kBoth) {
    return false;
  }
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
}
bool Supports_amx_bf16() {
  // In a virtual machine each cpuid is left to the host, which takes as long as
  // small operators do.
  static const bool tiles = HasTiles();
  return tiles && Supports_avx512_bf16();
}
bool MayUseTiles() {
  constexpr int kAskForState = 0x1023;  // ARCH_REQ_XCOMP_PERM, Linux 5.16
  constexpr int kTileData = 18;
  static const bool granted =
      syscall(SYS_arch_prctl, kAskForState, kTileData) == 0;
  return granted;
}
#else
bool Supports_amx_bf16() { return false; }
bool MayUseTiles() { return false; }
#endif
#endif  // !MACE_ONLY_AVX2 && !MACE_ONLY_SSE41
#elif defined(__aarch64__)
bool Supports_neon() { return true; }  // Armv8-A always has Advanced SIMD
bool Supports_neon_fp16() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDHP) != 0; }
// The converse is not true: Cortex-A75 has fp16 only.
bool Supports_neon_dotprod() {
  return Supports_neon_fp16() && (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
}
#else
// The kernels are compiled with -mfpu=neon-vfpv4 (fused multiply-add and
// half-precision conversion); a Cortex-A8 or A9 has NEON without it.
bool Supports_neon() {
  const unsigned long need = HWCAP_NEON | HWCAP_VFPv4;
  return (getauxval(AT_HWCAP) & need) == need;
}
#endif

}  // namespace

const char *CpuIsaName(CpuIsa isa) {
  switch (isa) {
#define MACE_ISA_CASE(name, base) \
  case CpuIsa::name:              \
    return #name;
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_CASE)
#undef MACE_ISA_CASE
    case CpuIsa::kNone:
      break;
  }
  return "none";
}

bool HasBf16(CpuIsa isa) {
#define MACE_ISA_HAS(name, base) \
  if (isa == CpuIsa::name) return true;
  MACE_FOR_EACH_BF16_EXTENSION(MACE_ISA_HAS)
#undef MACE_ISA_HAS
  return false;
}

bool IsBase(CpuIsa isa) {
#define MACE_ISA_IS(name) \
  if (isa == CpuIsa::name) return true;
  MACE_FOR_EACH_ISA(MACE_ISA_IS)
#undef MACE_ISA_IS
  return false;
}

bool HasFp16(CpuIsa isa) {
#define MACE_ISA_HAS(name, base) \
  if (isa == CpuIsa::name) return true;
  MACE_FOR_EACH_FP16_ISA(MACE_ISA_HAS)
#undef MACE_ISA_HAS
  return false;
}

bool CpuSupports(CpuIsa isa) {
  switch (isa) {
#define MACE_ISA_CASE(name, base) \
  case CpuIsa::name:              \
    return Supports_##name();
    MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_CASE)
#undef MACE_ISA_CASE
    case CpuIsa::kNone:
      break;
  }
  return false;
}

CpuIsa PermittedIsa(CpuIsa isa) {
#if (defined(__x86_64__) || defined(__i386__)) && !defined(MACE_ONLY_AVX2) && \
    !defined(MACE_ONLY_SSE41)
  if (isa == CpuIsa::amx_bf16 && !MayUseTiles()) return CpuIsa::avx512_bf16;
#endif
  return isa;
}

CpuIsa BestCpuIsa() {
  CpuIsa best = CpuIsa::kNone;
#define MACE_ISA_TRY(name, base) \
  if (CpuSupports(CpuIsa::name)) best = CpuIsa::name;
  MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_TRY)
#undef MACE_ISA_TRY
  return best;
}

CpuIsaChoice ChooseCpuIsa(const char *requested) {
  if (requested == nullptr || requested[0] == '\0') {
    return {BestCpuIsa(), CpuIsaRequest::kNothing};
  }
#define MACE_ISA_MATCH(name, base)                                        \
  if (std::strcmp(requested, #name) == 0) {                               \
    return CpuSupports(CpuIsa::name)                                      \
               ? CpuIsaChoice{CpuIsa::name, CpuIsaRequest::kGranted}      \
               : CpuIsaChoice{BestCpuIsa(), CpuIsaRequest::kUnsupported}; \
  }
  MACE_FOR_EACH_ISA_AND_BASE(MACE_ISA_MATCH)
#undef MACE_ISA_MATCH
  return {BestCpuIsa(), CpuIsaRequest::kUnknown};
}

CpuIsaChoice ChooseCpuIsaFromEnv() {
  return ChooseCpuIsa(std::getenv("MACE_CPU_ISA"));
}

}  // namespace mace
