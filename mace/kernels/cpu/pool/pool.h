// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// One output pixel of a pooling over NHWC: vectors run over channels. Elements
// are float, or fp16 and bf16 with kernels of Fp16KernelsFor and
// Bf16KernelsFor.

#ifndef MACE_KERNELS_CPU_POOL_POOL_H_
#define MACE_KERNELS_CPU_POOL_POOL_H_

#include <cstddef>

#include "mace/kernels/cpu/isa.h"

namespace mace::pool {

// The taps of the window that are inside the image; at least one. Tap (r, c) is
// at first + r * row_stride + c * column_stride, `channels` elements.
struct Window {
  const void *first = nullptr;
  size_t rows = 0;
  size_t columns = 0;
  ptrdiff_t row_stride = 0;
  ptrdiff_t column_stride = 0;
};

// Each writes `channels` elements to `out`, which must not overlap the image.
struct Kernels {
  // NaN in a window gives NaN.
  void (*max)(const Window &window, size_t channels, void *out);
  // Sum / divisor, in float. Elements are added row by row, then the rows: the
  // error grows with rows + columns, not with their product.
  void (*average)(const Window &window,
                  float divisor,
                  size_t channels,
                  void *out);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// The kernels for fp16; null for an ISA without fp16 arithmetic.
const Kernels *Fp16KernelsFor(CpuIsa isa);
// The same for bf16.
const Kernels *Bf16KernelsFor(CpuIsa isa);

}  // namespace mace::pool

#endif  // MACE_KERNELS_CPU_POOL_POOL_H_
