// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/resize/resize.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::resize::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Linear interpolation has two taps and cubic four; 0 stands for any number.
constexpr int kAnyTaps = 0;

template <int kTaps>
MACE_SIMD_INLINE size_t TapCount(size_t taps) {
  return kTaps == kAnyTaps ? taps : static_cast<size_t>(kTaps);
}

// The sum of `taps` vectors: load(k) is the k-th vector, weight(k) its factor.
// Two or more taps are added to 0: in a sum of two products the compiler may
// round either product before adding the other, but whole vectors and tails
// must give the same bits.
template <int kTaps, typename Load, typename Weight>
MACE_SIMD_INLINE sv::V Sum(size_t taps, Load load, Weight weight) {
  if constexpr (kTaps == 1) return weight(0) * load(0);
  sv::V sum = sv::Zero();
  for (size_t k = 0; k < TapCount<kTaps>(taps); ++k) {
    sum = sv::Fma(weight(k), load(k), sum);
  }
  return sum;
}

template <int kTaps>
void PixelsOf(const PixelRow &row, float *out) {
  constexpr auto kLanes = static_cast<size_t>(sv::kLanes);
  const float *weights = row.weights;
  const size_t taps = TapCount<kTaps>(row.taps);
  for (size_t x = 0; x < row.width; ++x, weights += taps, out += row.channels) {
    const float *in =
        row.input + static_cast<size_t>(row.first[x]) * row.pixel_stride;
    const auto weight = [weights](size_t k) { return sv::Set(weights[k]); };
    size_t c = 0;
    for (; c + kLanes <= row.channels; c += kLanes) {
      sv::Store(out + c, Sum<kTaps>(
                             taps,
                             [&](size_t k) {
                               return sv::Load(in + k * row.pixel_stride + c);
                             },
                             weight));
    }
    if (c < row.channels) {
      const int left = static_cast<int>(row.channels - c);
      sv::StoreN(out + c,
                 Sum<kTaps>(
                     taps,
                     [&](size_t k) {
                       return sv::LoadN(in + k * row.pixel_stride + c, left);
                     },
                     weight),
                 left);
    }
  }
}

template <int kTaps>
void ElementsOf(const ElementRow &row, float *out) {
  for (size_t i = 0; i < row.count; i += static_cast<size_t>(sv::kLanes)) {
    const sv::VI first = sv::LoadInt(row.first + i);
    sv::Store(out + i, Sum<kTaps>(
                           row.taps,
                           [&](size_t k) {
                             return sv::Gather(row.input + k * row.tap_stride,
                                               first);
                           },
                           [&](size_t k) {
                             return sv::Load(row.weights + k * row.count + i);
                           }));
  }
}

template <int kTaps>
void BlendOf(const float *const *rows,
             const float *weights,
             size_t taps,
             size_t count,
             float *out) {
  constexpr auto kLanes = static_cast<size_t>(sv::kLanes);
  const auto weight = [weights](size_t k) { return sv::Set(weights[k]); };
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    sv::Store(
        out + i,
        Sum<kTaps>(
            taps, [&](size_t k) { return sv::Load(rows[k] + i); }, weight));
  }
  if (i < count) {
    const int left = static_cast<int>(count - i);
    sv::StoreN(out + i,
               Sum<kTaps>(
                   taps, [&](size_t k) { return sv::LoadN(rows[k] + i, left); },
                   weight),
               left);
  }
}

void Pixels(const PixelRow &row, float *out) {
  switch (row.taps) {
    case 1:
      return PixelsOf<1>(row, out);
    case 2:
      return PixelsOf<2>(row, out);
    case 4:
      return PixelsOf<4>(row, out);
    default:
      return PixelsOf<kAnyTaps>(row, out);
  }
}

void Elements(const ElementRow &row, float *out) {
  switch (row.taps) {
    case 1:
      return ElementsOf<1>(row, out);
    case 2:
      return ElementsOf<2>(row, out);
    case 4:
      return ElementsOf<4>(row, out);
    default:
      return ElementsOf<kAnyTaps>(row, out);
  }
}

void Blend(const float *const *rows,
           const float *weights,
           size_t taps,
           size_t count,
           float *out) {
  switch (taps) {
    case 1:
      return BlendOf<1>(rows, weights, taps, count, out);
    case 2:
      return BlendOf<2>(rows, weights, taps, count, out);
    case 4:
      return BlendOf<4>(rows, weights, taps, count, out);
    default:
      return BlendOf<kAnyTaps>(rows, weights, taps, count, out);
  }
}

}  // namespace

extern const Kernels kKernels = {sv::kLanes, Pixels, Elements, Blend};

}  // namespace mace::resize::MACE_ISA
