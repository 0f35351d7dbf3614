// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What an operator offers whose output can be computed some rows at a time.
// Operators that follow each other may then run in bands: what lies between
// them never exists as a whole; see mace/runtimes/cpu/band_chains.h.
//
// Input 0 and output 0 are images, [N, H, W, C]; a row is one index of H in one
// image. Bits do not depend on how rows are cut into bands.

#ifndef MACE_OPS_CPU_OP_ROW_BANDS_H_
#define MACE_OPS_CPU_OP_ROW_BANDS_H_

#include <cstddef>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/window/window.h"

namespace mace {

// Rows [begin, end) of an image.
struct RowRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t count() const { return end - begin; }
  bool empty() const { return end <= begin; }
};

// Where one call finds its input and leaves its output.
struct BandRun {
  int64_t image = 0;
  RowRange rows;  // of the output; not empty
  // Row InputRows(rows).begin of that image of input 0, and the rows after it.
  const void *input = nullptr;
  int64_t input_stride = 0;   // elements from pixel to pixel
  void *output = nullptr;     // row rows.begin
  int64_t output_stride = 0;  // elements from pixel to pixel
  void *scratch = nullptr;    // BandScratchBytes, for this call alone
};

class RowBands {
 public:
  // The rows of input 0 that `output` is computed from: at least one, inside
  // the image. Neither end goes down when those of `output` go up.
  virtual RowRange InputRows(const RowRange &output) const = 0;
  // For calls of at most `rows` rows, on one thread.
  virtual size_t BandScratchBytes(int64_t rows) const = 0;
  // On the calling thread; others may run other bands at the same time. Of
  // input 0 and output 0 the context has all but the data.
  virtual void RunBand(const RunContext &context, const BandRun &run) const = 0;

 protected:
  // An operator's, which is not deleted as this.
  ~RowBands() = default;
};

// The rows of an image under windows, as RowBands::InputRows. Where all rows
// lie outside the image, some one.
RowRange RowsUnder(const WindowAxis &windows, const RowRange &output);

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_ROW_BANDS_H_
