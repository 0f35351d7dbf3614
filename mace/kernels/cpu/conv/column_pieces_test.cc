// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/column_pieces.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mace::conv {
namespace {

using Pairs = std::vector<std::pair<int64_t, int64_t>>;  // element, input

// The kernel elements and inputs of every output, found by trying all.
std::vector<Pairs> Naive(const TransposedAxis &axis,
                         int64_t inputs,
                         int64_t begin,
                         int64_t end) {
  std::vector<Pairs> met(static_cast<size_t>(end - begin));
  for (int64_t o = begin; o < end; ++o) {
    for (int64_t k = 0; k < axis.kernel; ++k) {
      for (int64_t i = 0; i < inputs; ++i) {
        if (i * axis.stride - axis.pad_before + k * axis.dilation != o)
          continue;
        met[static_cast<size_t>(o - begin)].push_back({k, i});
      }
    }
  }
  return met;
}

// Checks that the pieces give the same, and that every output is in one of
// them.
void CheckPieces(const TransposedAxis &axis,
                 int64_t inputs,
                 int64_t begin,
                 int64_t end) {
  const std::vector<Pairs> expected = Naive(axis, inputs, begin, end);
  std::vector<Pairs> met(expected.size());
  std::vector<int> made(expected.size());
  for (const ColumnPiece &piece : ColumnPieces(axis, inputs, begin, end)) {
    for (int64_t t = 0; t < piece.count; ++t) {
      for (int64_t x = 0; x < piece.length; ++x) {
        const int64_t o = piece.first + t * axis.stride + x;
        ASSERT_GE(o, begin);
        ASSERT_LT(o, end);
        const auto at = static_cast<size_t>(o - begin);
        ++made[at];
        for (const ColumnTerm &term : piece.terms) {
          met[at].push_back({term.tap + x, term.input + t});
        }
      }
    }
  }
  EXPECT_EQ(met, expected);
  EXPECT_EQ(made, std::vector<int>(expected.size(), 1));

  const InputRange range = InputsMet(axis, inputs, begin, end);
  EXPECT_GE(range.begin, 0);
  EXPECT_LE(range.begin, range.end);
  EXPECT_LE(range.end, inputs);
  for (const Pairs &pairs : expected) {
    for (const auto &[tap, input] : pairs) {
      EXPECT_GE(input, range.begin);
      EXPECT_LT(input, range.end);
    }
  }
}

TEST(ColumnPiecesTest, EveryOutputMeetsWhatItShould) {
  for (const int64_t kernel : {1, 2, 3, 4, 7}) {
    for (const int64_t stride : {1, 2, 3, 5}) {
      for (const int64_t dilation : {1, 2, 3}) {
        for (const int64_t pad : {0, 1, 3, 9}) {
          for (const int64_t inputs : {1, 2, 6}) {
            TransposedAxis axis;
            axis.kernel = kernel;
            axis.stride = stride;
            axis.dilation = dilation;
            axis.pad_before = pad;
            const int64_t end = stride * (inputs - 1) +
                                (kernel - 1) * dilation + 1 - pad +
                                7;  // after the last output that has a term
            SCOPED_TRACE(testing::Message()
                         << "kernel " << kernel << " stride " << stride
                         << " dilation " << dilation << " pad " << pad
                         << " inputs " << inputs);
            if (end <= 0) continue;
            CheckPieces(axis, inputs, 0, end);
            CheckPieces(axis, inputs, end / 3, end - end / 4);
          }
        }
      }
    }
  }
}

// The method is only fast with few, long pieces.
TEST(ColumnPiecesTest, NeighboursAreOnePiece) {
  TransposedAxis axis;
  axis.kernel = 4;
  axis.stride = 2;
  axis.pad_before = 1;
  // All outputs except those at both borders, which have one input or are
  // clipped.
  const std::vector<ColumnPiece> pieces = ColumnPieces(axis, 32, 0, 64);
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_EQ(pieces[0].length, 1);
  EXPECT_EQ(pieces[1].first, 1);
  EXPECT_EQ(pieces[1].length, 2);
  EXPECT_EQ(pieces[1].count, 31);
  EXPECT_EQ(pieces[1].terms.size(), 2u);
  EXPECT_EQ(pieces[2].length, 1);
}

}  // namespace
}  // namespace mace::conv
