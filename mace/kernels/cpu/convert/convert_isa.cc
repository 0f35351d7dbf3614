// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::convert::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// Vectors per step.
constexpr size_t kUnroll = 4;

void NarrowF16(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + kUnroll * sv::kLanes <= count; i += kUnroll * sv::kLanes) {
    for (size_t v = 0; v < kUnroll; ++v) {
      const size_t at = i + v * sv::kLanes;
      sv::StoreF16(to + at, sv::Load(from + at));
    }
  }
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::StoreF16(to + i, sv::Load(from + i));
  }
  const int left = static_cast<int>(count - i);
  if (left > 0) sv::StoreF16N(to + i, sv::LoadN(from + i, left), left);
}

void WidenF16(const uint16_t *from, float *to, size_t count) {
  size_t i = 0;
  for (; i + kUnroll * sv::kLanes <= count; i += kUnroll * sv::kLanes) {
    for (size_t v = 0; v < kUnroll; ++v) {
      const size_t at = i + v * sv::kLanes;
      sv::Store(to + at, sv::LoadF16(from + at));
    }
  }
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::Store(to + i, sv::LoadF16(from + i));
  }
  const int left = static_cast<int>(count - i);
  if (left > 0) sv::StoreN(to + i, sv::LoadF16N(from + i, left), left);
}

}  // namespace

extern const Kernels kKernels = {NarrowF16, WidenF16};

}  // namespace mace::convert::MACE_ISA
