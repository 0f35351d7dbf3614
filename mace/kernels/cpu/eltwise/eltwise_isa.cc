// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/eltwise/eltwise.h"

#include "mace/kernels/cpu/vector_math.h"

namespace mace::eltwise::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

using sv::Map;

typedef uint8_t VByte __attribute__((vector_size(sv::kLanes)));

// Stores a vector of results: as floats, or as bytes of 0 and 1.
MACE_SIMD_INLINE void Put(float *p, sv::V v) { sv::Store(p, v); }
MACE_SIMD_INLINE void PutN(float *p, sv::V v, int n) { sv::StoreN(p, v, n); }
MACE_SIMD_INLINE void PutN(uint8_t *p, sv::VI mask, int n) {
  const VByte bytes = __builtin_convertvector(mask & 1, VByte);
  __builtin_memcpy(p, &bytes, static_cast<size_t>(n));
}
MACE_SIMD_INLINE void Put(uint8_t *p, sv::VI mask) {
  const VByte bytes = __builtin_convertvector(mask & 1, VByte);
  __builtin_memcpy(p, &bytes, sizeof(bytes));
}

template <bool kScalar>
MACE_SIMD_INLINE sv::V Get(const float *p, size_t i) {
  return kScalar ? sv::Set(p[0]) : sv::Load(p + i);
}
template <bool kScalar>
MACE_SIMD_INLINE sv::V GetN(const float *p, size_t i, int n) {
  return kScalar ? sv::Set(p[0]) : sv::LoadN(p + i, n);
}

template <bool kScalarA, bool kScalarB, typename T, typename F>
MACE_SIMD_INLINE void Walk(
    const Rows &rows, const float *a, const float *b, T *out, F f) {
  for (size_t row = 0; row < rows.rows; ++row) {
    size_t i = 0;
    for (; i + sv::kLanes <= rows.columns; i += sv::kLanes) {
      Put(out + i, f(Get<kScalarA>(a, i), Get<kScalarB>(b, i)));
    }
    if (i < rows.columns) {
      const int left = static_cast<int>(rows.columns - i);
      PutN(out + i, f(GetN<kScalarA>(a, i, left), GetN<kScalarB>(b, i, left)),
           left);
    }
    a += rows.a_row_stride;
    b += rows.b_row_stride;
    out += rows.columns;
  }
}

template <typename T, typename F>
MACE_SIMD_INLINE void Apply(
    const Rows &rows, const float *a, const float *b, T *out, F f) {
  if (rows.a_scalar) {
    Walk<true, false>(rows, a, b, out, f);
  } else if (rows.b_scalar) {
    Walk<false, true>(rows, a, b, out, f);
  } else {
    Walk<false, false>(rows, a, b, out, f);
  }
}

void RunBinary(
    Binary op, const Rows &rows, const float *a, const float *b, float *out) {
  using sv::V;
  switch (op) {
    case Binary::kAdd:
      return Apply(rows, a, b, out, [](V x, V y) { return x + y; });
    case Binary::kSub:
      return Apply(rows, a, b, out, [](V x, V y) { return x - y; });
    case Binary::kMul:
      return Apply(rows, a, b, out, [](V x, V y) { return x * y; });
    case Binary::kDiv:
      return Apply(rows, a, b, out, [](V x, V y) { return x / y; });
    case Binary::kMin:
      return Apply(rows, a, b, out, [](V x, V y) {
        return sv::Select(sv::IsNan(y), y, sv::Min(x, y));
      });
    case Binary::kMax:
      return Apply(rows, a, b, out, [](V x, V y) {
        return sv::Select(sv::IsNan(y), y, sv::Max(x, y));
      });
    case Binary::kPow:
      return Apply(rows, a, b, out, [](V x, V y) { return sv::Pow(x, y); });
    case Binary::kSqrDiff:
      return Apply(rows, a, b, out, [](V x, V y) { return (x - y) * (x - y); });
    case Binary::kFloorDiv:
      return Apply(rows, a, b, out, [](V x, V y) { return sv::Floor(x / y); });
    case Binary::kFloorMod:
      return Apply(rows, a, b, out,
                   [](V x, V y) { return sv::FloorMod(x, y); });
  }
}

void RunCompare(Compare op,
                const Rows &rows,
                const float *a,
                const float *b,
                uint8_t *out) {
  using sv::V;
  switch (op) {
    case Compare::kEqual:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x == y; });
    case Compare::kNotEqual:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x != y; });
    case Compare::kLess:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x < y; });
    case Compare::kLessEqual:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x <= y; });
    case Compare::kGreater:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x > y; });
    case Compare::kGreaterEqual:
      return Apply(rows, a, b, out, [](V x, V y) -> sv::VI { return x >= y; });
  }
}

MACE_SIMD_INLINE sv::V Sign(sv::V v) {
  const sv::V one = sv::CopySign(sv::Set(1.0f), v);
  return sv::Select(v == sv::Zero(), v, sv::Select(sv::IsNan(v), v, one));
}

void RunUnary(Unary op, const float *x, float *y, size_t n) {
  using sv::V;
  switch (op) {
    case Unary::kNeg:
      return Map(x, y, n, [](V v) { return -v; });
    case Unary::kAbs:
      return Map(x, y, n, [](V v) { return sv::Abs(v); });
    case Unary::kSqrt:
      return Map(x, y, n, [](V v) { return sv::Sqrt(v); });
    case Unary::kRsqrt:
      return Map(x, y, n, [](V v) { return 1.0f / sv::Sqrt(v); });
    case Unary::kSquare:
      return Map(x, y, n, [](V v) { return v * v; });
    case Unary::kExp:
      return Map(x, y, n, [](V v) { return sv::Exp(v); });
    case Unary::kLog:
      return Map(x, y, n, [](V v) { return sv::Log(v); });
    case Unary::kFloor:
      return Map(x, y, n, [](V v) { return sv::Floor(v); });
    case Unary::kCeil:
      return Map(x, y, n, [](V v) { return sv::Ceil(v); });
    case Unary::kRound:
      return Map(x, y, n, [](V v) { return sv::Round(v); });
    case Unary::kSign:
      return Map(x, y, n, [](V v) { return Sign(v); });
    case Unary::kReciprocal:
      return Map(x, y, n, [](V v) { return 1.0f / v; });
    case Unary::kErf:
      return Map(x, y, n, [](V v) { return sv::Erf(v); });
    case Unary::kSin:
      return Map(x, y, n, [](V v) { return sv::Sin(v); });
    case Unary::kCos:
      return Map(x, y, n, [](V v) { return sv::Cos(v); });
  }
}

void ScaleOffset(const float *x,
                 const float *scale,
                 const float *offset,
                 float *y,
                 size_t rows,
                 size_t channels) {
  for (size_t row = 0; row < rows; ++row, x += channels, y += channels) {
    size_t c = 0;
    for (; c + sv::kLanes <= channels; c += sv::kLanes) {
      sv::Store(y + c, sv::Fma(sv::Load(x + c), sv::Load(scale + c),
                               sv::Load(offset + c)));
    }
    if (c < channels) {
      const int left = static_cast<int>(channels - c);
      sv::StoreN(y + c,
                 sv::Fma(sv::LoadN(x + c, left), sv::LoadN(scale + c, left),
                         sv::LoadN(offset + c, left)),
                 left);
    }
  }
}

}  // namespace

extern const Kernels kKernels = {RunBinary, RunCompare, RunUnary, ScaleOffset};

}  // namespace mace::eltwise::MACE_ISA
