// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The interface of operators whose output can be computed some rows at a time.
// Such operators may run in bands if they follow each other: then the tensors
// between them are never stored as a whole; see
// mace/runtimes/cpu/band_chains.h.
//
// Input 0 and output 0 are images, [N, H, W, C]; a row is one index of H in one
// image. The bits of results do not depend on how rows are divided into bands.

#ifndef MACE_OPS_CPU_OP_ROW_BANDS_H_
#define MACE_OPS_CPU_OP_ROW_BANDS_H_

#include <cstddef>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/window/window.h"

namespace mace {

// The addresses of the input and the output of one call.
struct BandRun {
  int64_t image = 0;
  RowRange rows;  // of the output; not empty
  // The address of row InputRows(rows).begin of that image of input 0; the
  // following rows come after it.
  const void *input = nullptr;
  int64_t input_stride = 0;   // elements from pixel to pixel
  void *output = nullptr;     // row rows.begin
  int64_t output_stride = 0;  // elements from pixel to pixel
  void *scratch = nullptr;    // BandScratchBytes, for this call alone
};

class RowBands {
 public:
  // The rows of input 0 that the rows `output` depend on: at least one row,
  // inside the image. If `output` begins or ends later, so does the result, or
  // it stays the same.
  virtual RowRange InputRows(const RowRange &output) const = 0;
  // The scratch memory for calls of at most `rows` rows, on one thread.
  virtual size_t BandScratchBytes(int64_t rows) const = 0;
  // Runs on the calling thread; other threads may run other bands at the same
  // time. `context` has everything of input 0 and output 0 except the data.
  virtual void RunBand(const RunContext &context, const BandRun &run) const = 0;

 protected:
  // Operators own this object; it is not deleted through this class.
  ~RowBands() = default;
};

// The pixels of an image, which is a tensor or some rows of one: the address of
// the first pixel, or of some of its channels, and the distance to the next in
// elements.
template <typename T>
struct Pixels {
  T *data = nullptr;
  int64_t stride = 0;
};

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_ROW_BANDS_H_
