// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/kernels/cpu/simd.h"

namespace mace::convert::MACE_ISA {
namespace {

namespace sv = simd::MACE_ISA;

// Vectors per step.
constexpr size_t kUnroll = 4;

// The two formats, as template arguments.
struct F16 {
  MACE_SIMD_INLINE sv::VH Narrow(sv::V x) { return sv::NarrowF16(x); }
  MACE_SIMD_INLINE sv::V Widen(sv::VH x) { return sv::WidenF16(x); }
};
struct Bf16 {
  MACE_SIMD_INLINE sv::VH Narrow(sv::V x) { return sv::NarrowBf16(x); }
  MACE_SIMD_INLINE sv::V Widen(sv::VH x) { return sv::WidenBf16(x); }
};

template <typename Format>
void Narrow(const float *from, uint16_t *to, size_t count) {
  size_t i = 0;
  for (; i + kUnroll * sv::kLanes <= count; i += kUnroll * sv::kLanes) {
    for (size_t v = 0; v < kUnroll; ++v) {
      const size_t at = i + v * sv::kLanes;
      sv::StoreHalfBits(to + at, Format::Narrow(sv::Load(from + at)));
    }
  }
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::StoreHalfBits(to + i, Format::Narrow(sv::Load(from + i)));
  }
  const int left = static_cast<int>(count % sv::kLanes);
  if (left > 0) {
    sv::StoreHalfBitsN(to + i, Format::Narrow(sv::LoadN(from + i, left)), left);
  }
}

template <typename Format>
void Widen(const uint16_t *from, float *to, size_t count) {
  size_t i = 0;
  for (; i + kUnroll * sv::kLanes <= count; i += kUnroll * sv::kLanes) {
    for (size_t v = 0; v < kUnroll; ++v) {
      const size_t at = i + v * sv::kLanes;
      sv::Store(to + at, Format::Widen(sv::LoadHalfBits(from + at)));
    }
  }
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    sv::Store(to + i, Format::Widen(sv::LoadHalfBits(from + i)));
  }
  const int left = static_cast<int>(count % sv::kLanes);
  if (left > 0) {
    sv::StoreN(to + i, Format::Widen(sv::LoadHalfBitsN(from + i, left)), left);
  }
}

// Applies step(VFrom) -> VTo to every vector.
template <typename VFrom, typename VTo, typename From, typename To, typename F>
MACE_SIMD_INLINE void ForEachVector(const From *from,
                                    To *to,
                                    size_t count,
                                    F step) {
  size_t i = 0;
  for (; i + sv::kLanes <= count; i += sv::kLanes) {
    VFrom x;
    __builtin_memcpy(&x, from + i, sizeof(x));
    const VTo y = step(x);
    __builtin_memcpy(to + i, &y, sizeof(y));
  }
  if (i == count) return;
  VFrom x = {};
  __builtin_memcpy(&x, from + i, (count - i) * sizeof(From));
  const VTo y = step(x);
  __builtin_memcpy(to + i, &y, (count - i) * sizeof(To));
}

template <typename VFrom, typename From>
MACE_SIMD_INLINE void ToF32(const From *from, float *to, size_t count) {
  ForEachVector<VFrom, sv::V>(from, to, count, [](VFrom x) {
    return __builtin_convertvector(x, sv::V);
  });
}

void U8ToF32(const uint8_t *from, float *to, size_t count) {
  ToF32<sv::VU8>(from, to, count);
}

void I8ToF32(const int8_t *from, float *to, size_t count) {
  ToF32<sv::VI8>(from, to, count);
}

void I32ToF32(const int32_t *from, float *to, size_t count) {
  ToF32<sv::VI>(from, to, count);
}

void BoolToF32(const uint8_t *from, float *to, size_t count) {
  ForEachVector<sv::VU8, sv::V>(from, to, count, [](sv::VU8 x) {
    const sv::VI wide = __builtin_convertvector(x, sv::VI);
    return sv::Select(wide == 0, sv::Zero(), sv::Set(1.0f));
  });
}

// NaN becomes 0.
MACE_SIMD_INLINE sv::V ClampNumber(sv::V x, float low, float high) {
  x = sv::Select(x == x, x, sv::Zero());
  return sv::Clamp(x, sv::Set(low), sv::Set(high));
}

void F32ToU8(const float *from, uint8_t *to, size_t count) {
  ForEachVector<sv::V, sv::VU8>(from, to, count, [](sv::V x) {
    return __builtin_convertvector(sv::ToInt(ClampNumber(x, 0, 255)), sv::VU8);
  });
}

void F32ToI8(const float *from, int8_t *to, size_t count) {
  ForEachVector<sv::V, sv::VI8>(from, to, count, [](sv::V x) {
    return __builtin_convertvector(sv::ToInt(ClampNumber(x, -128, 127)),
                                   sv::VI8);
  });
}

void F32ToI32(const float *from, int32_t *to, size_t count) {
  // The largest float below 2^31.
  constexpr float kBelow = 2147483520.0f;
  ForEachVector<sv::V, sv::VI>(from, to, count, [](sv::V x) {
    const sv::VI whole = sv::ToInt(ClampNumber(x, -2147483648.0f, kBelow));
    return sv::SelectInt(x > kBelow, sv::SetInt(INT32_MAX), whole);
  });
}

void F32ToBool(const float *from, uint8_t *to, size_t count) {
  ForEachVector<sv::V, sv::VU8>(from, to, count, [](sv::V x) {
    const sv::VI zero = sv::SetInt(0);
    return __builtin_convertvector(
        sv::SelectInt(x == sv::Zero(), zero, sv::SetInt(1)), sv::VU8);
  });
}

}  // namespace

extern const Kernels kKernels = {
    {&Narrow<F16>, &Widen<F16>},
    {&Narrow<Bf16>, &Widen<Bf16>},
    U8ToF32,
    I8ToF32,
    I32ToF32,
    BoolToF32,
    F32ToU8,
    F32ToI8,
    F32ToI32,
    F32ToBool,
};

}  // namespace mace::convert::MACE_ISA
