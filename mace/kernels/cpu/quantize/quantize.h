// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversion between floats and quantized integers:
//
//   quantize:    y = saturate(round(x / scale) + zero)   ties to even
//   dequantize:  y = (x - zero) * scale
//
// A NaN is quantized as 0. There is a single rounding, so that every
// instruction set gives the same numbers; x - zero is exact (for int32: modulo
// 2^32).

#ifndef MACE_KERNELS_CPU_QUANTIZE_QUANTIZE_H_
#define MACE_KERNELS_CPU_QUANTIZE_QUANTIZE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::quantize {

// `count` elements; `to` must not overlap `from`. `scales` and `zeros` have one
// number each for all elements, or one for each element.
template <typename From, typename To>
using Function = void (*)(const From *from,
                          To *to,
                          size_t count,
                          const float *scales,
                          const int32_t *zeros);

template <typename From, typename To>
struct Functions {
  Function<From, To> uniform;
  Function<From, To> each;
};

// The least and the greatest of `count` numbers and 0. If one of them is not
// finite, both are NaN.
struct Range {
  float low;
  float high;
};

struct Kernels {
  Range (*range)(const float *from, size_t count);
  Functions<float, uint8_t> to_u8;
  Functions<float, int8_t> to_i8;
  Functions<float, int16_t> to_i16;
  Functions<uint8_t, float> from_u8;
  Functions<int8_t, float> from_i8;
  Functions<int16_t, float> from_i16;
  Functions<int32_t, float> from_i32;
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::quantize

#endif  // MACE_KERNELS_CPU_QUANTIZE_QUANTIZE_H_
