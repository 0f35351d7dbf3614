// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// For the outputs of a row of a transposed convolution: which kernel elements
// and which inputs each output is the sum of, as runs of outputs of the same
// pattern.
//
// Output `o` has the position o + pad_before = g * stride + b, with b < stride.
// Kernel element k contributes to the output if k * dilation = b + h * stride,
// multiplied by input g - h. Adjacent outputs with adjacent kernel elements and
// the same inputs form a run, which repeats for every g.

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

// Run t < count contains outputs [first + t * stride, ... + length). `terms`
// are those of run 0; the inputs of run t are t further on.
struct ColumnPiece {
  int64_t first = 0;
  int64_t length = 0;
  int64_t count = 0;
  std::vector<ColumnTerm> terms;  // by ascending tap; all inputs exist
};

// The pieces of outputs [begin, end) of an axis with `inputs` inputs; every
// output is in one piece.
std::vector<ColumnPiece> ColumnPieces(const TransposedAxis &axis,
                                      int64_t inputs,
                                      int64_t begin,
                                      int64_t end);

// The range of the inputs of outputs [begin, end).
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
