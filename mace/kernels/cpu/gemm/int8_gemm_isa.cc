// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/int8_gemm.h"

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/gemm/panel_rows.h"

namespace mace::gemm::MACE_ISA {
namespace {

// The amount that is added to every packed number of the rows.
constexpr uint32_t kRowOffset = sv::kDotUnsigned ? 128 : 0;

MACE_SIMD_INLINE sv::VU LoadUint(const uint32_t *p) {
  sv::VU v;
  __builtin_memcpy(&v, p, sizeof(v));
  return v;
}

// The last vector may be partial or empty.
template <int kVectors>
MACE_SIMD_INLINE void StoreRow(const sv::VU (&sums)[kVectors],
                               int32_t *c,
                               size_t columns) {
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    const size_t at = static_cast<size_t>(v) * sv::kLanes;
    if (at + sv::kLanes <= columns) {
      __builtin_memcpy(c + at, &sums[v], sizeof(sums[v]));
    } else if (at < columns) {
      __builtin_memcpy(c + at, &sums[v], (columns - at) * sizeof(int32_t));
    }
  }
}

struct Kernel {
  template <int kRows, int kVectors>
  static void RunTile(const Block &b, const DotTile &t) {
    const size_t padded = DepthInFours(b.depth);
    const int8_t *w[kVectors];
    sv::DotSum acc[kRows][kVectors] = {};
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      w[v] = DotWeightsAt(b, t.column + static_cast<size_t>(v) * sv::kLanes);
    }
    const sv::DotElement *a =
        static_cast<const sv::DotElement *>(b.packed) + t.row * padded;
    size_t at = 0;  // in a panel
#pragma clang loop unroll(disable)
    for (size_t k = 0; k < padded; k += sv::kDotFour, at += kPanelStep) {
      sv::DotWeights wv[kVectors];
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        sv::VDot bytes;
        __builtin_memcpy(&bytes, w[v] + at, sizeof(bytes));
        wv[v] = sv::PrepareDot(bytes);
      }
      MACE_UNROLL for (int r = 0; r < kRows; ++r) {
        const sv::DotX x = sv::SetDot(a + static_cast<size_t>(r) * padded + k);
        MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
          acc[r][v] = sv::Dot4(acc[r][v], x, wv[v]);
        }
      }
    }
    sv::VU sums[kVectors];
    sv::VU zeros[kVectors];
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const size_t column = t.column + static_cast<size_t>(v) * sv::kLanes;
      sums[v] = LoadUint(b.epilogue.integers->sums + column);
      zeros[v] = LoadUint(b.epilogue.integers->zeros + column);
    }
    int32_t *c = static_cast<int32_t *>(b.c) + t.row * b.c_stride + t.column;
    MACE_UNROLL for (int r = 0; r < kRows; ++r) {
      const size_t row = t.row + static_cast<size_t>(r);
      const uint32_t zero = b.row_zeros[row] + kRowOffset;
      sv::VU finished[kVectors];
      MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
        finished[v] = reinterpret_cast<sv::VU>(sv::DotLanes(acc[r][v])) -
                      zero * sums[v] - b.row_sums[row] * zeros[v];
      }
      StoreRow<kVectors>(finished, c, b.columns - t.column);
      c += b.c_stride;
    }
  }
};

void Run(const Block &b) {
  constexpr int kPanelVectors = static_cast<int>(kPanelColumns) / sv::kLanes;
  const size_t end = b.panel_end * kPanelColumns;
  DotTile t = {0, b.panel_begin * kPanelColumns};
  RunDotColumns<Kernel, sv::kDotRows, sv::kDotVectors>(b, end, &t);
  if constexpr (sv::kDotVectors > kPanelVectors) {
    // One panel.
    RunDotColumns<Kernel, sv::kDotRows, kPanelVectors>(b, end, &t);
  }
}

MACE_SIMD_INLINE int8_t Flipped(uint8_t x, uint8_t flip) {
  return static_cast<int8_t>(static_cast<uint8_t>(x ^ flip));
}

void PackRow(const uint8_t *from,
             size_t depth,
             uint8_t flip,
             sv::DotElement *to,
             uint32_t *total) {
  int32_t sum = 0;
  size_t k = 0;
  for (; k + sv::kDotFour <= depth; k += sv::kDotFour) {
    int8_t four[sv::kDotFour];
    for (int i = 0; i < sv::kDotFour; ++i) {
      four[i] = Flipped(from[k + static_cast<size_t>(i)], flip);
      sum += four[i];
    }
    sv::PutDotFour(to + k, four);
  }
  if (k < depth) {
    int8_t four[sv::kDotFour] = {};
    for (int i = 0; k + static_cast<size_t>(i) < depth; ++i) {
      four[i] = Flipped(from[k + static_cast<size_t>(i)], flip);
      sum += four[i];
    }
    sv::PutDotFour(to + k, four);
  }
  *total =
      static_cast<uint32_t>(sum) + kRowOffset * static_cast<uint32_t>(depth);
}

void PackRows(const uint8_t *from,
              size_t stride,
              size_t rows,
              size_t depth,
              uint8_t flip,
              void *to,
              uint32_t *sums) {
  auto *row = static_cast<sv::DotElement *>(to);
  for (size_t m = 0; m < rows; ++m) {
    PackRow(from + m * stride, depth, flip, row, sums + m);
    row += DepthInFours(depth);
  }
}

typedef int8_t SignedRow __attribute__((vector_size(kPanelColumns)));
typedef int32_t Sums __attribute__((vector_size(kPanelColumns * 4)));

void PackPanel(const uint8_t *from,
               size_t stride,
               size_t depth,
               size_t columns,
               uint8_t flip,
               int8_t *to,
               uint32_t *sums) {
  Sums total = {};
  for (size_t k = 0; k < depth; k += sv::kDotFour, to += kPanelStep) {
    Row rows[sv::kDotFour] = {};
    for (size_t i = 0; i < sv::kDotFour && k + i < depth; ++i) {
      rows[i] = LoadRow(from + (k + i) * stride, columns, flip);
      total +=
          __builtin_convertvector(reinterpret_cast<SignedRow>(rows[i]), Sums);
    }
    StoreFours(rows, to);
  }
  __builtin_memcpy(sums, &total, sizeof(total));
}

}  // namespace

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__)
#define MACE_INT8_NAME "int8 by vnni"
#elif defined(__ARM_FEATURE_DOTPROD)
#define MACE_INT8_NAME "int8 by dotprod"
#else
#define MACE_INT8_NAME "int8 widened"
#endif

constexpr IntegerPacking kPacking = {&PackRows, &PackPanel,
                                     sizeof(sv::DotElement)};

// All of K is one K-block.
extern const Arithmetic kInt8Arithmetic;
const Arithmetic kInt8Arithmetic = {
    MACE_INT8_NAME,
    Element::kI8,
    &Run,
    /*run_vector=*/nullptr,
    /*widen=*/nullptr,
    sv::kDotRows,
    /*depth_block=*/SIZE_MAX,
    /*sum_columns=*/0,
    /*narrow=*/nullptr,
    /*widen_row=*/nullptr,
    /*narrow_padded=*/nullptr,
    /*pack=*/nullptr,
    /*pack_half=*/nullptr,
    /*pads_images=*/false,
    /*reads_steps=*/false,
    &kPacking,
};

}  // namespace mace::gemm::MACE_ISA
