// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/activation/activation.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::activation::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

using sv::Map;

void RunTranscendental(const Params &params,
                       const float *x,
                       float *y,
                       size_t n) {
  switch (params.kind) {
    case Kind::kSigmoid:
      return Map(x, y, n, [](sv::V v) { return sv::Sigmoid(v); });
    case Kind::kTanh:
      return Map(x, y, n, [](sv::V v) { return sv::Tanh(v); });
    case Kind::kElu: {
      const sv::V alpha = sv::Set(params.alpha);
      return Map(x, y, n, [=](sv::V v) {
        return sv::Select(v < sv::Zero(), alpha * sv::Expm1Neg(v), v);
      });
    }
    case Kind::kSwish:
      // Of -Inf NaN, as in every framework: here, in HardSwish and in Softsign.
      return Map(x, y, n, [](sv::V v) { return v * sv::Sigmoid(v); });
    case Kind::kGelu:
      return Map(x, y, n, [](sv::V v) { return sv::Gelu(v); });
    case Kind::kGeluTanh:
      return Map(x, y, n, [](sv::V v) { return sv::GeluTanh(v); });
    case Kind::kSoftplus:
      return Map(x, y, n, [](sv::V v) { return sv::Softplus(v); });
    default:
      return Map(x, y, n, [](sv::V v) { return v; });
  }
}

void Run(const Params &params, const float *x, float *y, size_t n) {
  const sv::V alpha = sv::Set(params.alpha);
  switch (params.kind) {
    case Kind::kRelu:
      return Map(x, y, n, [](sv::V v) { return sv::Max(v, sv::Zero()); });
    case Kind::kRelux: {
      const sv::V limit = sv::Set(params.limit);
      return Map(x, y, n,
                 [=](sv::V v) { return sv::Clamp(v, sv::Zero(), limit); });
    }
    case Kind::kLeakyRelu:
      return Map(x, y, n, [=](sv::V v) {
        return sv::Select(v < sv::Zero(), alpha * v, v);
      });
    case Kind::kHardSigmoid: {
      const sv::V beta = sv::Set(params.beta);
      return Map(x, y, n, [=](sv::V v) {
        return sv::Clamp(sv::Fma(alpha, v, beta), sv::Zero(), sv::Set(1.0f));
      });
    }
    case Kind::kHardSwish:
      return Map(x, y, n, [](sv::V v) {
        const sv::V gate =
            sv::Clamp(sv::Fma(v, sv::Set(1.0f / 6), sv::Set(0.5f)), sv::Zero(),
                      sv::Set(1.0f));
        return v * gate;
      });
    case Kind::kSoftsign:
      return Map(x, y, n, [](sv::V v) { return v / (1.0f + sv::Abs(v)); });
    default:
      return RunTranscendental(params, x, y, n);
  }
}

void Prelu(const float *x,
           const float *slope,
           float *y,
           size_t rows,
           size_t channels) {
  for (size_t row = 0; row < rows; ++row, x += channels, y += channels) {
    size_t c = 0;
    for (; c + sv::kLanes <= channels; c += sv::kLanes) {
      const sv::V v = sv::Load(x + c);
      sv::Store(y + c, sv::Select(v < sv::Zero(), sv::Load(slope + c) * v, v));
    }
    if (c < channels) {
      const int left = static_cast<int>(channels - c);
      const sv::V v = sv::LoadN(x + c, left);
      const sv::V s = sv::LoadN(slope + c, left);
      sv::StoreN(y + c, sv::Select(v < sv::Zero(), s * v, v), left);
    }
  }
}

}  // namespace

extern const Kernels kKernels = {Run, Prelu};

}  // namespace mace::activation::MACE_ISA
