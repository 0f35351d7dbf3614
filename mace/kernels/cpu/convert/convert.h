// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Between float and fp16.

#ifndef MACE_KERNELS_CPU_CONVERT_CONVERT_H_
#define MACE_KERNELS_CPU_CONVERT_CONVERT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::convert {

// `count` numbers each; `to` must not overlap `from`.
struct Kernels {
  // To nearest even; what is too large becomes infinite.
  void (*narrow_f16)(const float *from, uint16_t *to, size_t count);
  void (*widen_f16)(const uint16_t *from, float *to, size_t count);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

}  // namespace mace::convert

#endif  // MACE_KERNELS_CPU_CONVERT_CONVERT_H_
