// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Activations of bf16 numbers in one pass, with instructions of processors that
// multiply bf16.

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/vector_math.h"

namespace mace::activation::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// The only machine code, as in MapWhole: tails have the same bits.
__attribute__((noinline)) void GeluVectors(const uint16_t *x,
                                           uint16_t *y,
                                           size_t vectors) {
#pragma clang loop unroll(disable)
  for (size_t i = 0; i < vectors * sv::kLanes; i += sv::kLanes) {
    sv::StoreHalfBits(y + i,
                      sv::NarrowBf16Fast(sv::GeluBf16(sv::LoadBf16(x + i))));
  }
}

void Gelu(const uint16_t *x, uint16_t *y, size_t count) {
  const size_t whole = count / sv::kLanes * sv::kLanes;
  GeluVectors(x, y, count / sv::kLanes);
  if (whole == count) return;
  uint16_t last[sv::kLanes] = {};
  __builtin_memcpy(last, x + whole, (count - whole) * sizeof(uint16_t));
  GeluVectors(last, last, 1);
  __builtin_memcpy(y + whole, last, (count - whole) * sizeof(uint16_t));
}

}  // namespace

extern const Bf16Kernels kBf16Kernels = {&Gelu};

}  // namespace mace::activation::MACE_ISA
