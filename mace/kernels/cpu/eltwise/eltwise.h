// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Elementwise arithmetic on float and int32.

#ifndef MACE_KERNELS_CPU_ELTWISE_ELTWISE_H_
#define MACE_KERNELS_CPU_ELTWISE_ELTWISE_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/isa.h"

namespace mace::eltwise {

enum class Binary : uint8_t {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMin,
  kMax,
  kPow,
  kSqrDiff,
  kFloorDiv,
  kFloorMod,  // sign of the divisor
};

enum class Compare : uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
};

enum class Unary : uint8_t {
  kNeg,
  kAbs,
  kSqrt,
  kRsqrt,
  kSquare,
  kExp,
  kLog,
  kFloor,
  kCeil,
  kRound,  // ties to even
  kSign,   // 0 for 0
  kReciprocal,
  kErf,
  kSin,
  kCos,
};

// A matrix of results. Element (r, c) of an operand is at r * row_stride +
// (scalar ? 0 : c); the result is dense.
struct Rows {
  size_t rows = 1;
  size_t columns = 0;
  ptrdiff_t a_row_stride = 0;
  ptrdiff_t b_row_stride = 0;
  bool a_scalar = false;  // one value per row; not both
  bool b_scalar = false;
};

// NaN in either operand of kMin and kMax gives NaN; kPow has the special cases
// of the C library. The result may equal an operand of its shape.
struct Kernels {
  void (*binary)(
      Binary op, const Rows &rows, const float *a, const float *b, float *out);
  void (*compare)(Compare op,
                  const Rows &rows,
                  const float *a,
                  const float *b,
                  uint8_t *out);
  void (*unary)(Unary op, const float *x, float *y, size_t n);
  // y[r, c] = x[r, c] * scale[c] + offset[c]; dense rows; y may be x.
  void (*scale_offset)(const float *x,
                       const float *scale,
                       const float *offset,
                       float *y,
                       size_t rows,
                       size_t channels);
};

// Never null for an ISA other than CpuIsa::kNone.
const Kernels *KernelsFor(CpuIsa isa);

// int32 wraps around; kDiv truncates, kFloorDiv and kFloorMod round down; kPow
// with a negative exponent is 0 unless the base is 1 or -1. On a division by
// zero (including 0 to a negative power) it returns false and leaves `out`
// undefined.
bool BinaryInt(Binary op,
               const Rows &rows,
               const int32_t *a,
               const int32_t *b,
               int32_t *out);
void CompareInt(Compare op,
                const Rows &rows,
                const int32_t *a,
                const int32_t *b,
                uint8_t *out);
// kNeg, kAbs, kSquare and kSign; kFloor, kCeil and kRound copy. Returns false
// for the others, which are not defined for integers.
bool UnaryInt(Unary op, const int32_t *x, int32_t *y, size_t n);

}  // namespace mace::eltwise

#endif  // MACE_KERNELS_CPU_ELTWISE_ELTWISE_H_
