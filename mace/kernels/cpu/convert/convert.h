// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions between float and other element types.

#ifndef MACE_KERNELS_CPU_CONVERT_CONVERT_H_
#define MACE_KERNELS_CPU_CONVERT_CONVERT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::convert {

// `count` numbers each; `to` must not overlap `from`.
struct HalfKernels {
  // Rounds to nearest even; numbers that are too large become infinite.
  void (*narrow)(const float *from, uint16_t *to, size_t count);
  void (*widen)(const uint16_t *from, float *to, size_t count);
};

struct Kernels {
  HalfKernels f16;
  HalfKernels bf16;

  void (*u8_to_f32)(const uint8_t *from, float *to, size_t count);
  void (*i8_to_f32)(const int8_t *from, float *to, size_t count);
  void (*i32_to_f32)(const int32_t *from, float *to, size_t count);
  // Anything other than 0 becomes 1.
  void (*bool_to_f32)(const uint8_t *from, float *to, size_t count);

  // Rounds towards zero; numbers out of range become the nearest number in
  // range, NaN becomes 0.
  void (*f32_to_u8)(const float *from, uint8_t *to, size_t count);
  void (*f32_to_i8)(const float *from, int8_t *to, size_t count);
  void (*f32_to_i32)(const float *from, int32_t *to, size_t count);
  // 0 becomes 0, anything else 1.
  void (*f32_to_bool)(const float *from, uint8_t *to, size_t count);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// The conversions between float and bf16 for activations, which are faster on
// some ISAs than those of Kernels: subnormal numbers may become 0, as in
// products of bf16. Never null for an ISA other than CpuIsa::kNone.
const HalfKernels *Bf16ActivationsFor(CpuIsa isa);

}  // namespace mace::convert

#endif  // MACE_KERNELS_CPU_CONVERT_CONVERT_H_
