// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/few_rows.h"

#include "mace/kernels/cpu/simd.h"

namespace mace::gemm::MACE_ISA {

namespace sv = simd::MACE_ISA;

namespace {

// Rows of B that are added at a time to two rows of C: this many values of A
// stay in registers while the loop runs over columns.
constexpr size_t kSteps = sv::kRegisters == 32 ? 8 : 4;
constexpr size_t kVectors = 2;  // independent chains for each row of C

// Columns per pass: kSteps rows of B and all rows of C stay in L1. With one or
// two rows a pass may be longer, which helps the processor's prefetcher.
constexpr size_t kColumns = 256;
constexpr size_t kColumnsOfTwo = 1024;

// One vector of columns of kRows rows of C.
template <size_t kRows, size_t kDepth, bool kFull>
MACE_SIMD_INLINE void AddVector(const sv::V (&a)[kRows][kDepth],
                                const float *b,
                                size_t b_stride,
                                float *c,
                                size_t c_stride,
                                int left) {
  sv::V sum[kRows];
  for (size_t m = 0; m < kRows; ++m) {
    float *p = c + m * c_stride;
    sum[m] = kFull ? sv::Load(p) : sv::LoadN(p, left);
  }
  for (size_t k = 0; k < kDepth; ++k) {
    const float *p = b + k * b_stride;
    const sv::V v = kFull ? sv::Load(p) : sv::LoadN(p, left);
    for (size_t m = 0; m < kRows; ++m) sum[m] = sv::Fma(a[m][k], v, sum[m]);
  }
  for (size_t m = 0; m < kRows; ++m) {
    float *p = c + m * c_stride;
    if (kFull) {
      sv::Store(p, sum[m]);
    } else {
      sv::StoreN(p, sum[m], left);
    }
  }
}

// C[0..kRows) += A[0..kRows)[0..kDepth) * B[0..kDepth) for `columns`.
template <size_t kRows, size_t kDepth>
void AddRows(const float *a,
             size_t a_stride,
             const float *b,
             size_t b_stride,
             float *c,
             size_t c_stride,
             size_t columns) {
  constexpr size_t kStep = kVectors * sv::kLanes;
  sv::V values[kRows][kDepth];
  for (size_t m = 0; m < kRows; ++m) {
    for (size_t k = 0; k < kDepth; ++k) {
      values[m][k] = sv::Set(a[m * a_stride + k]);
    }
  }
  size_t n = 0;
  for (; n + kStep <= columns; n += kStep) {
    sv::V sum[kRows][kVectors];
    for (size_t m = 0; m < kRows; ++m) {
      for (size_t v = 0; v < kVectors; ++v) {
        sum[m][v] = sv::Load(c + m * c_stride + n + v * sv::kLanes);
      }
    }
    for (size_t k = 0; k < kDepth; ++k) {
      for (size_t v = 0; v < kVectors; ++v) {
        const sv::V w = sv::Load(b + k * b_stride + n + v * sv::kLanes);
        for (size_t m = 0; m < kRows; ++m) {
          sum[m][v] = sv::Fma(values[m][k], w, sum[m][v]);
        }
      }
    }
    for (size_t m = 0; m < kRows; ++m) {
      for (size_t v = 0; v < kVectors; ++v) {
        sv::Store(c + m * c_stride + n + v * sv::kLanes, sum[m][v]);
      }
    }
  }
  for (; n + sv::kLanes <= columns; n += sv::kLanes) {
    AddVector<kRows, kDepth, true>(values, b + n, b_stride, c + n, c_stride, 0);
  }
  if (n < columns) {
    AddVector<kRows, kDepth, false>(values, b + n, b_stride, c + n, c_stride,
                                    static_cast<int>(columns - n));
  }
}

template <size_t kDepth>
MACE_SIMD_INLINE void AddSteps(const FewRows &p,
                               size_t k,
                               size_t column,
                               size_t columns) {
  const float *b = p.b + k * p.b_stride + column;
  size_t m = 0;
  for (; m + 2 <= p.rows; m += 2) {
    AddRows<2, kDepth>(p.a + m * p.depth + k, p.depth, b, p.b_stride,
                       p.c + m * p.c_stride + column, p.c_stride, columns);
  }
  if (m < p.rows) {
    AddRows<1, kDepth>(p.a + m * p.depth + k, p.depth, b, p.b_stride,
                       p.c + m * p.c_stride + column, p.c_stride, columns);
  }
}

void Run(const FewRows &p) {
  const size_t block = p.rows <= 2 ? kColumnsOfTwo : kColumns;
  for (size_t column = p.column_begin; column < p.column_end; column += block) {
    const size_t left = p.column_end - column;
    const size_t columns = left < block ? left : block;
    for (size_t m = 0; m < p.rows; ++m) {
      __builtin_memset(p.c + m * p.c_stride + column, 0,
                       columns * sizeof(float));
    }
    size_t k = 0;
    for (; k + kSteps <= p.depth; k += kSteps) {
      AddSteps<kSteps>(p, k, column, columns);
    }
    for (; k < p.depth; ++k) AddSteps<1>(p, k, column, columns);
  }
}

// kRows rows of A times kCount adjacent columns.
template <size_t kRows, size_t kCount>
MACE_SIMD_INLINE void Dots(const FewRows &p, size_t m, size_t column) {
  const float *a = p.a + m * p.depth;
  const float *b = p.b + column * p.b_stride;
  sv::V sum[kRows][kCount] = {};
  size_t k = 0;
  for (; k + sv::kLanes <= p.depth; k += sv::kLanes) {
    sv::V row[kRows];
    for (size_t r = 0; r < kRows; ++r) row[r] = sv::Load(a + r * p.depth + k);
    for (size_t n = 0; n < kCount; ++n) {
      const sv::V w = sv::Load(b + n * p.b_stride + k);
      for (size_t r = 0; r < kRows; ++r) {
        sum[r][n] = sv::Fma(row[r], w, sum[r][n]);
      }
    }
  }
  if (k < p.depth) {
    const int left = static_cast<int>(p.depth - k);
    for (size_t n = 0; n < kCount; ++n) {
      const sv::V w = sv::LoadN(b + n * p.b_stride + k, left);
      for (size_t r = 0; r < kRows; ++r) {
        sum[r][n] = sv::Fma(sv::LoadN(a + r * p.depth + k, left), w, sum[r][n]);
      }
    }
  }
  for (size_t r = 0; r < kRows; ++r) {
    for (size_t n = 0; n < kCount; ++n) {
      p.c[(m + r) * p.c_stride + column + n] = sv::ReduceAdd(sum[r][n]);
    }
  }
}

template <size_t kCount>
MACE_SIMD_INLINE void DotColumns(const FewRows &p, size_t column) {
  size_t m = 0;
  for (; m + 2 <= p.rows; m += 2) Dots<2, kCount>(p, m, column);
  if (m < p.rows) Dots<1, kCount>(p, m, column);
}

void RunTransposed(const FewRows &p) {
  size_t column = p.column_begin;
  for (; column + 4 <= p.column_end; column += 4) DotColumns<4>(p, column);
  for (; column < p.column_end; ++column) DotColumns<1>(p, column);
}

}  // namespace

extern const FewRowsKernels kFewRowsKernels;
const FewRowsKernels kFewRowsKernels = {&Run, &RunTransposed};

}  // namespace mace::gemm::MACE_ISA
