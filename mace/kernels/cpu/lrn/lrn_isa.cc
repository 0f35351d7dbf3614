// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/lrn/lrn.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::lrn::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// base ^ -beta. The exponents in published networks need only square roots.
MACE_SIMD_INLINE sv::V Factor(sv::V base, float beta) {
  if (beta == 0.75f) {
    const sv::V root = sv::Sqrt(base);
    return 1.0f / (root * sv::Sqrt(root));
  }
  if (beta == 0.5f) return 1.0f / sv::Sqrt(base);
  if (beta == 1.0f) return 1.0f / base;
  return sv::Pow(base, sv::Set(-beta));
}

MACE_SIMD_INLINE sv::V Scale(const Params &p,
                             const float *squares,
                             sv::V x,
                             int left) {
  sv::V sum = sv::Zero();
  const size_t window = p.before + p.after + 1;
  for (size_t k = 0; k < window; ++k) {
    sum = sum + (left == sv::kLanes ? sv::Load(squares + k)
                                    : sv::LoadN(squares + k, left));
  }
  const sv::V base = sv::Fma(sv::Set(p.alpha), sum, sv::Set(p.bias));
  return x * Factor(base, p.beta);
}

void Run(const Params &p,
         const float *x,
         float *y,
         size_t rows,
         size_t channels,
         float *squares) {
  for (size_t i = 0; i < p.before; ++i) squares[i] = 0.0f;
  for (size_t i = 0; i < p.after; ++i) squares[p.before + channels + i] = 0.0f;
  for (size_t row = 0; row < rows; ++row, x += channels, y += channels) {
    for (size_t c = 0; c < channels; ++c) squares[p.before + c] = x[c] * x[c];
    size_t c = 0;
    for (; c + sv::kLanes <= channels; c += sv::kLanes) {
      sv::Store(y + c, Scale(p, squares + c, sv::Load(x + c), sv::kLanes));
    }
    if (c < channels) {
      const int left = static_cast<int>(channels - c);
      sv::StoreN(y + c, Scale(p, squares + c, sv::LoadN(x + c, left), left),
                 left);
    }
  }
}

}  // namespace

extern const Kernels kKernels = {Run};

}  // namespace mace::lrn::MACE_ISA
