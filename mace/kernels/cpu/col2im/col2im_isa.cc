// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/col2im/col2im.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::col2im::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

static_assert(kSlack >= sv::kLanes - 1);

// Computes elements [x, x + kLanes) of every run and stores `n` of them. kTerms
// is the number of terms; 0: any number.
template <size_t kTerms>
MACE_SIMD_INLINE void AddVector(const Runs &r, size_t x, size_t n) {
  const size_t terms = kTerms == 0 ? r.terms : kTerms;
  const bool whole = n >= static_cast<size_t>(sv::kLanes);
  const sv::V bias = sv::Load(r.bias + x);
  const sv::V low = sv::Set(r.low);
  const sv::V high = sv::Set(r.high);
  float *to = r.to + x;
  size_t at = x;
  for (size_t t = 0; t < r.count; ++t, at += r.from_step, to += r.to_step) {
    sv::V sum = bias;
    for (size_t k = 0; k < terms; ++k) {
      sum = sum + sv::Load(r.from[k] + at);
    }
    if (r.clamp) sum = sv::Clamp(sum, low, high);
    if (whole) {
      sv::Store(to, sum);
    } else {
      sv::StoreN(to, sum, static_cast<int>(n));
    }
  }
}

template <size_t kTerms>
void AddRuns(const Runs &r) {
  for (size_t x = 0; x < r.length; x += sv::kLanes) {
    AddVector<kTerms>(r, x, r.length - x);
  }
}

void Add(const Runs &r) {
  switch (r.terms) {
    // The numbers of terms of kernels of up to twice their stride.
    case 4:
      return AddRuns<4>(r);
    case 2:
      return AddRuns<2>(r);
    case 1:
      return AddRuns<1>(r);
    default:
      return AddRuns<0>(r);
  }
}

}  // namespace

extern const Kernels kKernels = {Add};

}  // namespace mace::col2im::MACE_ISA
