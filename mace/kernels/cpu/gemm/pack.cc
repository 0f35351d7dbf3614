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
  const float *from = args.b + panel_begin * kPanelColumns;
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
    const float *from = args.b + first * args.column_stride;
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

void PackPanelsInPairs(const PackArgs &args,
                       const Arithmetic &bf16,
                       size_t panel_begin,
                       size_t panel_end,
                       uint16_t *packed) {
  // Pairs of floats are narrowed a few at a time, while they are in L1.
  constexpr size_t kRun = 64;
  float some[kRun * kPanelColumns];
  const size_t depth = (args.depth + 1) / 2 * 2;
  for (size_t panel = panel_begin; panel < panel_end; ++panel) {
    uint16_t *to = packed + panel * depth * kPanelColumns;
    const size_t first = panel * kPanelColumns;
    const size_t count = std::min(kPanelColumns, args.columns - first);
    const float *from = args.b + first * args.column_stride;
    for (size_t k0 = 0; k0 < depth; k0 += kRun) {
      const size_t run = std::min(kRun, depth - k0);
      const size_t filled = std::min(run, args.depth - k0);
      if (count < kPanelColumns || filled < run) {
        std::memset(some, 0, run * kPanelColumns * sizeof(float));
      }
      auto place = [&](size_t k, size_t n) {
        some[k / 2 * 2 * kPanelColumns + 2 * n + k % 2] =
            from[(k0 + k) * args.depth_stride + n * args.column_stride];
      };
      // The inner loop reads adjacent elements.
      if (args.column_stride == 1) {
        for (size_t k = 0; k < filled; ++k) {
          for (size_t n = 0; n < count; ++n) place(k, n);
        }
      } else {
        for (size_t n = 0; n < count; ++n) {
          for (size_t k = 0; k < filled; ++k) place(k, n);
        }
      }
      bf16.narrow(some, to + k0 * kPanelColumns, run * kPanelColumns);
    }
  }
}

}  // namespace mace::gemm
