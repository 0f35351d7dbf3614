// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/dot_tiles.h"
#include "mace/kernels/cpu/gemm/panel_rows.h"
#include "mace/kernels/cpu/gemm/quantized_gemm.h"

namespace mace::gemm::MACE_ISA {
namespace {

constexpr size_t kFour = sv::kDotFour;
constexpr size_t kColumnsOfRow = kPanelColumns / kFour;  // of four bytes each

// Where the last elements of the depth begin that are in a four together.
size_t LastFour(size_t depth) { return depth < kFour ? 0 : depth - kFour; }

// A step of a panel that is not complete: rows [first, first + 4), of which
// only those from `k` on and before the depth count.
__attribute__((noinline)) void PackPart(const QuantizedPanels &p,
                                        size_t k,
                                        size_t first,
                                        size_t column,
                                        int8_t *to) {
  const size_t left = p.columns - column;
  const size_t columns = left < kPanelColumns ? left : kPanelColumns;
  Row rows[kFour] = {};
  for (size_t i = 0; i < kFour; ++i) {
    const size_t at = first + i;
    if (at < k || at >= p.depth) continue;
    rows[i] = LoadRow(p.from + at * p.depth_stride + column, columns, p.flip);
  }
  StoreFours(rows, to);
}

// [depth][columns]: elements [begin, end) of the depth; `begin` is a multiple
// of four, and so is `end` unless it is the depth.
void PackRows(const QuantizedPanels &p, size_t begin, size_t end) {
  const size_t panel_bytes = DepthInFours(p.depth) * kPanelColumns;
  const size_t whole_columns = p.columns / kPanelColumns * kPanelColumns;
  const size_t stride = p.depth_stride;
  int8_t *to = p.to + begin * kPanelColumns;
  size_t k = begin;
  for (; k + kFour <= end; k += kFour, to += kPanelStep) {
    const uint8_t *from = p.from + k * stride;
    int8_t *step = to;
    for (size_t n = 0; n < whole_columns;
         n += kPanelColumns, step += panel_bytes) {
      Row rows[kFour];
      MACE_UNROLL for (size_t i = 0; i < kFour; ++i) {
        rows[i] = LoadRow(from + i * stride + n, kPanelColumns, p.flip);
      }
      StoreFours(rows, step);
    }
    if (whole_columns < p.columns) PackPart(p, k, k, whole_columns, step);
  }
  if (k == end) return;
  for (size_t n = 0; n < p.columns; n += kPanelColumns, to += panel_bytes) {
    PackPart(p, k, LastFour(p.depth), n, to);
  }
}

typedef uint32_t Words __attribute__((vector_size(kPanelColumns)));

// Four words of each of four columns -> the same word of all columns.
MACE_SIMD_INLINE void TransposeWords(const Words (&x)[kFour],
                                     Words (&y)[kFour]) {
  const Words low01 = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
  const Words high01 = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
  const Words low23 = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
  const Words high23 = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
  y[0] = __builtin_shufflevector(low01, low23, 0, 1, 4, 5);
  y[1] = __builtin_shufflevector(low01, low23, 2, 3, 6, 7);
  y[2] = __builtin_shufflevector(high01, high23, 0, 1, 4, 5);
  y[3] = __builtin_shufflevector(high01, high23, 2, 3, 6, 7);
}

// The elements [k, k + 4) of a column as they are packed.
uint32_t FourOf(const uint8_t *column, size_t k, size_t depth, uint8_t flip) {
  const size_t first = k + kFour <= depth ? k : LastFour(depth);
  uint8_t four[kFour] = {};
  for (size_t i = 0; i < kFour; ++i) {
    const size_t at = first + i;
    if (at >= k && at < depth) four[i] = column[at] ^ flip;
  }
  uint32_t word;
  __builtin_memcpy(&word, four, sizeof(word));
  return word;
}

// The same of a panel of [columns][depth]; `begin` is a multiple of 16.
void PackColumns(const QuantizedPanels &p,
                 size_t column,
                 size_t begin,
                 size_t end) {
  const size_t stride = p.column_stride;
  const size_t left = p.columns - column;
  const size_t columns = left < kPanelColumns ? left : kPanelColumns;
  const uint8_t *from = p.from + column * stride;
  const uint32_t flips = p.flip * 0x01010101u;
  int8_t *to = p.to + column * DepthInFours(p.depth) + begin * kPanelColumns;
  size_t k = begin;
  for (; k + kPanelColumns <= end;
       k += kPanelColumns, to += kColumnsOfRow * kPanelStep) {
    for (size_t n = 0; n < kPanelColumns; n += kColumnsOfRow) {
      Words x[kFour] = {};
      for (size_t i = 0; i < kColumnsOfRow && n + i < columns; ++i) {
        __builtin_memcpy(&x[i], from + (n + i) * stride + k, sizeof(x[i]));
        x[i] ^= flips;
      }
      Words y[kFour];
      TransposeWords(x, y);
      for (size_t i = 0; i < kFour; ++i) {
        __builtin_memcpy(to + i * kPanelStep + n * kFour, &y[i], sizeof(y[i]));
      }
    }
  }
  for (; k < end; k += kFour, to += kPanelStep) {
    for (size_t n = 0; n < kPanelColumns; ++n) {
      const uint32_t word =
          n < columns ? FourOf(from + n * stride, k, p.depth, p.flip) : 0;
      __builtin_memcpy(to + n * kFour, &word, sizeof(word));
    }
  }
}

MACE_SIMD_INLINE sv::VDot LoadDot(const void *from) {
  sv::VDot x;
  __builtin_memcpy(&x, from, sizeof(x));
  return x;
}

// Adds the columns of `depth` rows of a panel to their sums.
void SumColumns(const int8_t *panel, size_t depth, int32_t *sums) {
  constexpr int kVectors = static_cast<int>(kPanelColumns) / sv::kLanes;
  // Several sums: each product waits for the sum that it is added to.
  constexpr size_t kChains = kVectors < 4 ? 4 / kVectors : 1;
  const sv::DotX ones = sv::SetDotRow(0x01010101);
  sv::DotSum total[kChains][kVectors] = {};
  const auto add = [&](size_t chain) __attribute__((always_inline)) {
    MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
      const sv::VDot weights = LoadDot(panel + v * sv::kDotColumns);
      total[chain][v] =
          sv::Dot4(total[chain][v], ones, sv::PrepareDot(weights));
    }
    panel += kPanelStep;
  };
  size_t k = 0;
  for (; k + kChains * kFour <= depth; k += kChains * kFour) {
    MACE_UNROLL for (size_t chain = 0; chain < kChains; ++chain) add(chain);
  }
  for (; k < depth; k += kFour) add(0);
  MACE_UNROLL for (int v = 0; v < kVectors; ++v) {
    sv::VU lanes;
    __builtin_memcpy(&lanes, sums + v * sv::kLanes, sizeof(lanes));
    MACE_UNROLL for (size_t chain = 0; chain < kChains; ++chain) {
      lanes += reinterpret_cast<sv::VU>(sv::DotLanes(total[chain][v]));
    }
    __builtin_memcpy(sums + v * sv::kLanes, &lanes, sizeof(lanes));
  }
}

// Only kernels without dot products multiply faster if it is above INT8_MIN.
int32_t LeastOf(const int8_t *panel, size_t depth) {
#if defined(__SSE4_1__)
  (void)panel;
  (void)depth;
  return INT8_MIN;
#else
  sv::VDot least = {};
  for (size_t k = 0; k < depth; k += kFour, panel += kPanelStep) {
    for (size_t i = 0; i < kPanelStep; i += sizeof(least)) {
      const sv::VDot x = LoadDot(panel + i);
      least = x < least ? x : least;
    }
  }
  return __builtin_reduce_min(least);
#endif
}

int32_t Pack(const QuantizedPanels &p) {
  // So much is still in the level 1 cache when it is summed.
  constexpr size_t kDepth = 128;
  if (p.sums != nullptr) {
    for (size_t n = 0; n < PanelCount(p.columns) * kPanelColumns; ++n) {
      p.sums[n] = 0;
    }
  }
  const bool in_rows = p.column_stride == 1;
  const size_t panel_bytes = DepthInFours(p.depth) * kPanelColumns;
  int32_t least = INT8_MAX;
  for (size_t k = 0; k < p.depth; k += kDepth) {
    const size_t end = k + kDepth < p.depth ? k + kDepth : p.depth;
    if (in_rows) PackRows(p, k, end);
    int8_t *panel = p.to + k * kPanelColumns;
    for (size_t n = 0; n < p.columns; n += kPanelColumns) {
      if (!in_rows) PackColumns(p, n, k, end);
      if (p.sums != nullptr) SumColumns(panel, end - k, p.sums + n);
      const int32_t of_panel = LeastOf(panel, end - k);
      least = of_panel < least ? of_panel : least;
      panel += panel_bytes;
    }
  }
  return least;
}

void SumRows(const uint8_t *from,
             size_t stride,
             size_t rows,
             size_t depth,
             int32_t *sums) {
  constexpr auto kStep = static_cast<size_t>(sv::kDotColumns);
  const sv::DotWeights ones = sv::PrepareDot(sv::VDot{} + 1);
  for (size_t m = 0; m < rows; ++m, from += stride) {
    sv::DotSum total = {};
    size_t k = 0;
    for (; k + kStep <= depth; k += kStep) {
      total =
          sv::Dot4(total, sv::SetDotFours(sv::LoadDotBytes(from + k)), ones);
    }
    if (k < depth) {
      const auto rest = static_cast<int>(depth - k);
      const sv::VDotBytes x = sv::LoadDotBytesN(from + k, rest);
      total = sv::Dot4(total, sv::SetDotFours(x), ones);
    }
    sums[m] = __builtin_reduce_add(sv::DotLanes(total));
  }
}

}  // namespace

extern const QuantizedPacking kQuantizedPacking;
const QuantizedPacking kQuantizedPacking = {&Pack, &SumRows};

}  // namespace mace::gemm::MACE_ISA
