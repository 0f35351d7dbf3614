// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Float vectors for CPU kernels, with one interface for every instruction set.
//
// simd_vector.h defines vectors, simd_memory.h loads and stores them,
// simd_arithmetic.h computes with them, simd_narrow.h converts from and to
// 16-bit and 8-bit numbers.
//
// Conventions
// - A kernel source includes this header, opens `namespace
//   mace::<family>::MACE_ISA`, says `namespace sv = simd::MACE_ISA;` and is
//   compiled once per ISA by `mace_isa_library`, which defines MACE_ISA (a
//   namespace name: sse41, avx2, avx512, neon).
// - Intrinsics are only in these headers. Kernels use the compiler's vector
//   operators where they give the right instruction (+ - * / & | ^ << >> == <
//   ?:).
// - Everything is `MACE_SIMD_INLINE` (static, always inlined). A kernel source
//   must not call inline functions or templates of other headers (including the
//   standard library's): the linker merges such functions of different ISAs, so
//   that a processor without AVX-512 might run the AVX-512 copy. Freestanding
//   headers of types (<cstdint>, <cstddef>) are fine; so are libc functions,
//   which are not inline.
// - Loads and stores only need the alignment of their element.
// - "N" variants access exactly n elements, 0 <= n <= kLanes; the other lanes
//   are read as 0. They cost more than a full access: keep them out of inner
//   loops.
// - A NaN in the data stays NaN: the data is the *first* argument of Min, Max
//   and Clamp.
// - Comparison operators return VI lanes of 0 or -1, which Select accepts.

#ifndef MACE_KERNELS_CPU_SIMD_H_
#define MACE_KERNELS_CPU_SIMD_H_

#include "mace/kernels/cpu/simd_arithmetic.h"  // IWYU pragma: export
#include "mace/kernels/cpu/simd_memory.h"      // IWYU pragma: export
#include "mace/kernels/cpu/simd_narrow.h"      // IWYU pragma: export
#include "mace/kernels/cpu/simd_vector.h"      // IWYU pragma: export

#endif  // MACE_KERNELS_CPU_SIMD_H_
