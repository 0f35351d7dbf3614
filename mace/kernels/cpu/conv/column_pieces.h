// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Which elements of the kernel and which inputs the outputs of a row of a
// transposed convolution meet, as runs of outputs that are alike.
//
// Output `o` lies at position o + pad_before = g * stride + b, b < stride; it
// meets element k of the kernel if k * dilation = b + h * stride, by input
// g - h. Neighbours whose elements are neighbours too, by the same inputs, are
// one run, which repeats with every g.

#ifndef MACE_KERNELS_CPU_CONV_COLUMN_PIECES_H_
#define MACE_KERNELS_CPU_CONV_COLUMN_PIECES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/conv/transposed_axis.h"

namespace mace::conv {

struct ColumnTerm {
  int64_t tap;    // element of the kernel at the piece's first output
  int64_t input;  // of the first of the piece's runs
};

// Run t < count is outputs [first + t * stride, ... + length); run 0 meets
// `terms`, run t the inputs t further on.
struct ColumnPiece {
  int64_t first = 0;
  int64_t length = 0;
  int64_t count = 0;
  std::vector<ColumnTerm> terms;  // by rising tap; all inputs exist
};

// Of outputs [begin, end) of an axis with `inputs`; every output once.
std::vector<ColumnPiece> ColumnPieces(const TransposedAxis &axis,
                                      int64_t inputs,
                                      int64_t begin,
                                      int64_t end);

// The inputs that some output of [begin, end) meets or may lie between.
struct InputRange {
  int64_t begin;
  int64_t end;  // not below begin
};
InputRange InputsMet(const TransposedAxis &axis,
                     int64_t inputs,
                     int64_t begin,
                     int64_t end);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_COLUMN_PIECES_H_
