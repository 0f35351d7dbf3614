// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/pack.h"

#include <algorithm>
#include <cstring>

#include "mace/kernels/cpu/gemm/gemm.h"

namespace mace::gemm {

size_t PackedFloats(size_t depth, size_t columns) {
  return PanelCount(columns) * depth * kPanelColumns;
}

namespace {

// Packs several whole panels with adjacent columns together, so that long parts
// of each row of B are read. Rows may be too far apart for the processor's
// prefetcher.
void PackNeighbours(const PackArgs &args,
                    size_t panel_begin,
                    size_t panel_end,
                    float *packed) {
  constexpr size_t kAhead = 16;  // rows
  const size_t panel_floats = args.depth * kPanelColumns;
  const float *from =
      static_cast<const float *>(args.b) + panel_begin * kPanelColumns;
  for (size_t k = 0; k < args.depth; ++k, from += args.depth_stride) {
    const float *ahead =
        from + (k + kAhead < args.depth ? kAhead * args.depth_stride : 0);
    float *to = packed + panel_begin * panel_floats + k * kPanelColumns;
    for (size_t panel = panel_begin; panel < panel_end; ++panel) {
      const size_t at = (panel - panel_begin) * kPanelColumns;
      __builtin_prefetch(ahead + at);
      std::memcpy(to, from + at, kPanelColumns * sizeof(float));
      to += panel_floats;
    }
  }
}

}  // namespace

void PackPanels(const PackArgs &args,
                size_t panel_begin,
                size_t panel_end,
                float *packed) {
  // More panels at once would need more pages than the TLB holds.
  constexpr size_t kTogether = 8;
  const size_t panel_floats = args.depth * kPanelColumns;
  if (args.column_stride == 1) {
    const size_t whole = std::min(panel_end, args.columns / kPanelColumns);
    while (panel_begin < whole) {
      const size_t end = std::min(whole, panel_begin + kTogether);
      PackNeighbours(args, panel_begin, end, packed);
      panel_begin = end;
    }
  }
  for (size_t panel = panel_begin; panel < panel_end; ++panel) {
    float *to = packed + panel * panel_floats;
    const size_t first = panel * kPanelColumns;
    const size_t count = std::min(kPanelColumns, args.columns - first);
    const float *from =
        static_cast<const float *>(args.b) + first * args.column_stride;
    if (count < kPanelColumns) {
      std::memset(to, 0, panel_floats * sizeof(float));
    }
    if (args.column_stride != 1) {
      args.transpose(from, args.column_stride, to, kPanelColumns, count,
                     args.depth);
      continue;
    }
    for (size_t k = 0; k < args.depth; ++k) {
      std::memcpy(to + k * kPanelColumns, from + k * args.depth_stride,
                  count * sizeof(float));
    }
  }
}

size_t PackedPairNumbers(size_t depth, size_t columns) {
  return PackedFloats((depth + 1) / 2 * 2, columns);
}

namespace {

// Elements of K that are packed at a time, while they are in L1.
constexpr size_t kPairRun = 64;
static_assert(kPairRun % 2 == 0);

// Writes `count` elements from `offset` of B as bf16.
void CopyInHalf(const PackArgs &args,
                const Arithmetic &bf16,
                size_t offset,
                size_t count,
                uint16_t *to) {
  if (args.b_type == Element::kF32) {
    bf16.narrow(static_cast<const float *>(args.b) + offset, to, count);
    return;
  }
  std::memcpy(to, static_cast<const uint16_t *>(args.b) + offset,
              count * sizeof(uint16_t));
}

// A part of a panel: columns [column, column + columns), K [k, k + depth).
struct PairBlock {
  size_t column;
  size_t columns;  // at most kPanelColumns
  size_t k;
  size_t depth;  // at most kPairRun
};

// Rows of B are contiguous: joins the elements of two rows to pairs.
void PackPairsOfRows(const PackArgs &args,
                     const Arithmetic &bf16,
                     const PairBlock &block,
                     uint16_t *to) {
  const bool in_place =
      args.b_type != Element::kF32 && block.columns == kPanelColumns;
  alignas(32) uint16_t copies[2][kPanelColumns] = {};
  const auto row = [&](size_t i, size_t k) -> const uint16_t * {
    const size_t at = (block.k + k) * args.depth_stride + block.column;
    if (k < block.depth && in_place) {
      return static_cast<const uint16_t *>(args.b) + at;
    }
    if (k < block.depth) {
      CopyInHalf(args, bf16, at, block.columns, copies[i]);
    } else {
      std::memset(copies[i], 0, sizeof(copies[i]));
    }
    return copies[i];
  };
  for (size_t k = 0; k < block.depth; k += 2, to += 2 * kPanelColumns) {
    const uint16_t *even = row(0, k);
    const uint16_t *odd = row(1, k + 1);
    for (size_t n = 0; n < kPanelColumns; ++n) {
      to[2 * n] = even[n];
      to[2 * n + 1] = odd[n];
    }
  }
}

// Columns of B are contiguous, so that pairs of B are, too: a transposition of
// elements of 4 bytes.
void PackPairsOfColumns(const PackArgs &args,
                        const Arithmetic &bf16,
                        const PairBlock &block,
                        uint16_t *to) {
  const size_t pairs = (block.depth + 1) / 2;
  const size_t at = block.column * args.column_stride + block.k;
  if (block.columns < kPanelColumns) {
    std::memset(to, 0, pairs * 2 * kPanelColumns * sizeof(uint16_t));
  }
  const bool in_place = args.b_type != Element::kF32 &&
                        args.column_stride % 2 == 0 && block.depth % 2 == 0;
  if (in_place) {
    args.transpose(static_cast<const uint16_t *>(args.b) + at,
                   args.column_stride / 2, to, kPanelColumns, block.columns,
                   pairs);
    return;
  }
  alignas(64) uint16_t columns[kPanelColumns][kPairRun];
  for (size_t n = 0; n < block.columns; ++n) {
    CopyInHalf(args, bf16, at + n * args.column_stride, block.depth,
               columns[n]);
    if (block.depth % 2 != 0) columns[n][block.depth] = 0;
  }
  args.transpose(columns, kPairRun / 2, to, kPanelColumns, block.columns,
                 pairs);
}

}  // namespace

void PackPanelsInPairs(const PackArgs &args,
                       const Arithmetic &bf16,
                       size_t panel_begin,
                       size_t panel_end,
                       uint16_t *packed) {
  const size_t depth = (args.depth + 1) / 2 * 2;
  for (size_t panel = panel_begin; panel < panel_end; ++panel) {
    uint16_t *to = packed + panel * depth * kPanelColumns;
    PairBlock block;
    block.column = panel * kPanelColumns;
    block.columns = std::min(kPanelColumns, args.columns - block.column);
    for (block.k = 0; block.k < args.depth; block.k += kPairRun) {
      block.depth = std::min(kPairRun, args.depth - block.k);
      (args.column_stride == 1 ? PackPairsOfRows : PackPairsOfColumns)(
          args, bf16, block, to + block.k * kPanelColumns);
    }
  }
}

}  // namespace mace::gemm
