// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Vectors of float for CPU kernels: one spelling, every instruction set.
//
// simd_vector.h says what a vector is, simd_memory.h loads and stores it,
// simd_arithmetic.h computes with it, simd_narrow.h makes it of numbers of 16
// and 8 bits.
//
// Conventions
// - A kernel source includes this header, opens
//   `namespace mace::<family>::MACE_ISA`, says `namespace sv = simd::MACE_ISA;`
//   and is compiled once per ISA by `mace_isa_library`, which defines MACE_ISA
//   (a namespace name: sse41, avx2, avx512, neon).
// - Intrinsics live in these headers only. Where the compiler's vector types
//   already give the right instruction (+ - * / & | ^ << >> == < ?:) kernels
//   use these.
// - Everything is `MACE_SIMD_INLINE` (static, always inlined). A kernel source
//   must not call inline functions or templates of other headers (the standard
//   library's included): the linker merges such functions across ISAs, and a
//   processor without AVX-512 might be handed the AVX-512 copy. Freestanding
//   headers of types (<cstdint>, <cstddef>) are fine; so are libc functions,
//   which are not inline.
// - Loads and stores need the alignment of their element only.
// - "N" variants touch exactly n elements, 0 <= n <= kLanes; the other lanes
//   read as 0. They cost more than a full access: peel them out of loops.
// - A NaN in the data comes out as NaN: of Min, Max and Clamp it is the *first*
//   argument that is the data.
// - Comparison operators give VI lanes of 0 or -1, which Select takes.

#ifndef MACE_KERNELS_CPU_SIMD_H_
#define MACE_KERNELS_CPU_SIMD_H_

#include "mace/kernels/cpu/simd_arithmetic.h"  // IWYU pragma: export
#include "mace/kernels/cpu/simd_memory.h"      // IWYU pragma: export
#include "mace/kernels/cpu/simd_narrow.h"      // IWYU pragma: export
#include "mace/kernels/cpu/simd_vector.h"      // IWYU pragma: export

#endif  // MACE_KERNELS_CPU_SIMD_H_
