// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Conversions with the instructions of processors that multiply bf16.

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::convert::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

void Narrow(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::StoreHalfBits(to + i, sv::NarrowBf16Fast(sv::Load(from + i)));
  }
  const int left = static_cast<int>(count - i);
  if (left > 0) {
    sv::StoreHalfBitsN(to + i, sv::NarrowBf16Fast(sv::LoadN(from + i, left)),
                       left);
  }
}

void Widen(const uint16_t *from, float *to, size_t count) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::Store(to + i, sv::LoadBf16(from + i));
  }
  const int left = static_cast<int>(count - i);
  if (left > 0) sv::StoreN(to + i, sv::LoadBf16N(from + i, left), left);
}

}  // namespace

extern const HalfKernels kBf16Kernels = {&Narrow, &Widen};

}  // namespace mace::convert::MACE_ISA
