// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Pooling of images with few channels, for which vectors of channels are mostly
// empty: a row of the output is the maximum or the sum of rows of the image, a
// line, along which the window moves in a second step. Vectors run over the
// elements of a row, and each window takes rows + columns steps, not
// rows * columns.

#ifndef MACE_OPS_POOLING_LINE_POOLING_H_
#define MACE_OPS_POOLING_LINE_POOLING_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/pool/lines.h"
#include "mace/ops/pooling/pooling.h"

namespace mace {

class LinePooling {
 public:
  // Whether lines compute windows over `channels` floats sooner than pixels do.
  static bool Fits(const WindowGeometry &geometry, int64_t channels);

  LinePooling(const PoolingAttributes &attributes,
              const WindowGeometry &geometry,
              int64_t channels,
              const pool::LineKernels &kernels);

  // Of one thread, 64-byte aligned.
  size_t ScratchBytes() const {
    return static_cast<size_t>(rows_ * line_) * sizeof(float);
  }

  // Rows `rows` of the output of one image at `y`, from `x`, which begins at
  // row `first` of the image. Both are dense.
  void Run(const float *x,
           int64_t first,
           const RowRange &rows,
           void *scratch,
           float *y) const;

 private:
  int64_t CountOf(const WindowTaps &taps) const {
    return include_pad_ ? taps.padded : taps.inside;
  }
  // The second step, for `count` lines.
  void RunAlong(const float *lines,
                const float *divisors,
                int64_t count,
                float *y) const;

  const WindowGeometry geometry_;
  const int64_t channels_;
  const bool average_;
  const bool include_pad_;
  const pool::LineKernels &kernels_;
  int64_t width_;                // elements of a row of the input
  int64_t outputs_;              // of the output
  int64_t line_;                 // floats of a line
  int64_t rows_;                 // lines between the steps
  std::vector<float> divisors_;  // of the elements of a row; only for averages
  std::vector<char> empty_;      // those without any input element, or nothing
};

}  // namespace mace

#endif  // MACE_OPS_POOLING_LINE_POOLING_H_
