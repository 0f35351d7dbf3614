// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/column_pieces.h"

#include <algorithm>

namespace mace::conv {
namespace {

// Like ColumnTerm, with the distance h instead of the input g - h.
struct Tap {
  int64_t tap;
  int64_t distance;
};

// Offsets [begin, end) within a stride.
struct Segment {
  int64_t begin;
  int64_t end;
  std::vector<Tap> taps;  // of offset `begin`
};

bool Continues(const Segment &segment, const std::vector<Tap> &taps) {
  const int64_t length = segment.end - segment.begin;
  return std::equal(taps.begin(), taps.end(), segment.taps.begin(),
                    segment.taps.end(), [=](const Tap &a, const Tap &b) {
                      return a.tap == b.tap + length &&
                             a.distance == b.distance;
                    });
}

std::vector<Segment> Segments(const TransposedAxis &axis) {
  std::vector<std::vector<Tap>> at(static_cast<size_t>(axis.stride));
  for (int64_t k = 0; k < axis.kernel; ++k) {
    const int64_t shift = k * axis.dilation;
    at[static_cast<size_t>(shift % axis.stride)].push_back(
        {k, shift / axis.stride});
  }
  std::vector<Segment> segments;
  for (int64_t b = 0; b < axis.stride; ++b) {
    std::vector<Tap> &taps = at[static_cast<size_t>(b)];
    if (!segments.empty() && Continues(segments.back(), taps)) {
      ++segments.back().end;
    } else {
      segments.push_back({b, b + 1, std::move(taps)});
    }
  }
  return segments;
}

int64_t CeilDiv(int64_t x, int64_t y) { return (x + y - 1) / y; }

}  // namespace

std::vector<ColumnPiece> ColumnPieces(const TransposedAxis &axis,
                                      int64_t inputs,
                                      int64_t begin,
                                      int64_t end) {
  const int64_t low = begin + axis.pad_before;  // positions
  const int64_t high = end + axis.pad_before;
  const int64_t stride = axis.stride;
  std::vector<ColumnPiece> pieces;
  for (const Segment &segment : Segments(axis)) {
    // The values of g at which the outputs of the segment change: the range
    // begins or ends within a run, or an input begins or ends.
    const int64_t g_begin = std::max<int64_t>(0, low - segment.end + 1);
    const int64_t first = CeilDiv(g_begin, stride);
    const int64_t last = CeilDiv(std::max<int64_t>(0, high - segment.begin),
                                 stride);  // behind the last
    std::vector<int64_t> cuts = {
        first, last, CeilDiv(std::max<int64_t>(0, low - segment.begin), stride),
        (std::max<int64_t>(segment.end, high) - segment.end + stride) / stride};
    for (const Tap &tap : segment.taps) {
      cuts.push_back(tap.distance);
      cuts.push_back(tap.distance + inputs);
    }
    for (int64_t &cut : cuts)
      cut = std::clamp(cut, first, std::max(first, last));
    std::sort(cuts.begin(), cuts.end());
    for (size_t i = 0; i + 1 < cuts.size(); ++i) {
      const int64_t g = cuts[i];
      if (cuts[i + 1] == g) continue;
      const int64_t from = std::max(low, g * stride + segment.begin);
      const int64_t to = std::min(high, g * stride + segment.end);
      if (from >= to) continue;
      ColumnPiece piece;
      piece.first = from - axis.pad_before;
      piece.length = to - from;
      piece.count = cuts[i + 1] - g;
      for (const Tap &tap : segment.taps) {
        const int64_t input = g - tap.distance;
        if (input < 0 || input >= inputs) continue;
        piece.terms.push_back(
            {tap.tap + from - g * stride - segment.begin, input});
      }
      pieces.push_back(std::move(piece));
    }
  }
  return pieces;
}

InputRange InputsMet(const TransposedAxis &axis,
                     int64_t inputs,
                     int64_t begin,
                     int64_t end) {
  const int64_t reach = (axis.kernel - 1) * axis.dilation;
  const int64_t low = begin + axis.pad_before - reach;
  const int64_t high = end - 1 + axis.pad_before;
  InputRange range;
  range.begin =
      std::min(inputs, CeilDiv(std::max<int64_t>(0, low), axis.stride));
  range.end = std::clamp(high / axis.stride + 1, range.begin, inputs);
  return range;
}

}  // namespace mace::conv
