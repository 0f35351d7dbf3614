// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/quantize/quantize.h"
#include "mace/kernels/cpu/simd.h"
#include "mace/kernels/cpu/simd_int16.h"

namespace mace::quantize::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// The vector of each type of element.
template <typename T>
struct VectorOf;
template <>
struct VectorOf<float> {
  using V = sv::V;
};
template <>
struct VectorOf<int32_t> {
  using V = sv::VI;
};
template <>
struct VectorOf<int8_t> {
  using V = sv::VI8;
};
template <>
struct VectorOf<uint8_t> {
  using V = sv::VU8;
};
template <>
struct VectorOf<int16_t> {
  using V = sv::VI16;
};

template <typename T>
MACE_SIMD_INLINE void Load(const T *from,
                           size_t count,
                           typename VectorOf<T>::V *to) {
  __builtin_memcpy(to, from, count * sizeof(T));
}

struct Scaling {
  sv::V scale;
  sv::VI zero;
};

// Applies step(x, Scaling) -> y to every vector.
template <bool kEach, typename From, typename To, typename F>
MACE_SIMD_INLINE void ForEachVector(const From *from,
                                    To *to,
                                    size_t count,
                                    const float *scales,
                                    const int32_t *zeros,
                                    F step) {
  using VFrom = typename VectorOf<From>::V;
  using VTo = typename VectorOf<To>::V;
  Scaling s = {sv::Set(scales[0]), sv::SetInt(zeros[0])};
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    VFrom x;
    Load(from + i, sv::kLanes, &x);
    if constexpr (kEach) {
      Load(scales + i, sv::kLanes, &s.scale);
      Load(zeros + i, sv::kLanes, &s.zero);
    }
    const VTo y = step(x, s);
    __builtin_memcpy(to + i, &y, sizeof(y));
  }
  if (i == count) return;
  VFrom x = {};
  Load(from + i, count - i, &x);
  if constexpr (kEach) {
    Load(scales + i, count - i, &s.scale);
    Load(zeros + i, count - i, &s.zero);
  }
  const VTo y = step(x, s);
  __builtin_memcpy(to + i, &y, (count - i) * sizeof(To));
}

template <typename To, bool kEach>
void Quantize(const float *from,
              To *to,
              size_t count,
              const float *scales,
              const int32_t *zeros) {
  constexpr bool kSigned = static_cast<To>(-1) < To(0);
  constexpr int kBits = 8 * sizeof(To);
  constexpr float kLow = kSigned ? -static_cast<float>(1 << (kBits - 1)) : 0.0f;
  constexpr float kHigh = kLow + static_cast<float>((1 << kBits) - 1);
  ForEachVector<kEach>(
      from, to, count, scales, zeros,
      [](sv::V x, const Scaling &s) __attribute__((always_inline)) {
        sv::V steps = sv::Round(x / s.scale);
        steps = sv::Select(steps == steps, steps, sv::Zero());
        steps = sv::Clamp(steps + sv::ToFloat(s.zero), sv::Set(kLow),
                          sv::Set(kHigh));
        return __builtin_convertvector(sv::ToInt(steps),
                                       typename VectorOf<To>::V);
      });
}

template <typename From, bool kEach>
void Dequantize(const From *from,
                float *to,
                size_t count,
                const float *scales,
                const int32_t *zeros) {
  ForEachVector<kEach>(
      from, to, count, scales, zeros,
      [](typename VectorOf<From>::V x, const Scaling &s)
          __attribute__((always_inline)) {
            const sv::VU steps =
                reinterpret_cast<sv::VU>(__builtin_convertvector(x, sv::VI)) -
                reinterpret_cast<sv::VU>(s.zero);
            return sv::ToFloat(reinterpret_cast<sv::VI>(steps)) * s.scale;
          });
}

// Four chains: one would wait for its own results.
struct Extremes {
  sv::V low = sv::Zero();
  sv::V high = sv::Zero();
  sv::VI bits{};  // the greatest, without signs
};

MACE_SIMD_INLINE Extremes Join(const Extremes &a, const Extremes &b) {
  return {sv::Min(a.low, b.low), sv::Max(a.high, b.high),
          sv::SelectInt(a.bits > b.bits, a.bits, b.bits)};
}
MACE_SIMD_INLINE Extremes Add(const Extremes &e, sv::V x) {
  return Join(e, {x, x, sv::AsInt(x) & INT32_MAX});
}

Range FindRange(const float *from, size_t count) {
  constexpr size_t kChains = 4;
  Extremes chains[kChains];
  size_t i = 0;
  for (; i + kChains * sv::kLanes <= count; i += kChains * sv::kLanes) {
    for (size_t c = 0; c < kChains; ++c) {
      sv::V x;
      Load(from + i + c * sv::kLanes, sv::kLanes, &x);
      chains[c] = Add(chains[c], x);
    }
  }
  for (; i < count; i += sv::kLanes) {
    sv::V x{};
    if (i + sv::kLanes <= count) {
      Load(from + i, sv::kLanes, &x);
    } else {
      Load(from + i, count - i, &x);
    }
    chains[0] = Add(chains[0], x);
  }
  const Extremes all =
      Join(Join(chains[0], chains[1]), Join(chains[2], chains[3]));
  constexpr int32_t kInfinity = 0x7f800000;
  for (int lane = 0; lane < sv::kLanes; ++lane) {
    if (all.bits[lane] >= kInfinity) {
      return {__builtin_nanf(""), __builtin_nanf("")};
    }
  }
  return {sv::ReduceMin(all.low), sv::ReduceMax(all.high)};
}

}  // namespace

extern const Kernels kKernels;
const Kernels kKernels = {
    &FindRange,
    {&Quantize<uint8_t, false>, &Quantize<uint8_t, true>},
    {&Quantize<int8_t, false>, &Quantize<int8_t, true>},
    {&Quantize<int16_t, false>, &Quantize<int16_t, true>},
    {&Dequantize<uint8_t, false>, &Dequantize<uint8_t, true>},
    {&Dequantize<int8_t, false>, &Dequantize<int8_t, true>},
    {&Dequantize<int16_t, false>, &Dequantize<int16_t, true>},
    {&Dequantize<int32_t, false>, &Dequantize<int32_t, true>},
};

}  // namespace mace::quantize::MACE_ISA
