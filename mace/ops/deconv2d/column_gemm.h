// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A transposed convolution to few channels as one matrix product and sums: the
// product makes, of every input pixel, what it adds to all outputs that it
// meets, KH * KW * O columns; then every output adds up its own (col2im).
//
// A convolution per phase (phase_gemm.h) adds nothing up, but its products have
// O columns, which fill a part of a panel of 16 only.
//
// A task makes a rectangle of outputs, row by row. It multiplies the rows of
// input that come next, into a ring of as many rows as outputs meet at a time,
// which stays in the second-level cache. What lies at its border, another task
// multiplies too. Every product and every sum has one order, so that no split
// of the work changes a bit.

#ifndef MACE_OPS_DECONV2D_COLUMN_GEMM_H_
#define MACE_OPS_DECONV2D_COLUMN_GEMM_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "mace/kernels/cpu/col2im/col2im.h"
#include "mace/kernels/cpu/conv/direct.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/deconv2d/column_pieces.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"

namespace mace {

class ColumnGemm {
 public:
  // What follows from the shapes.
  struct Plan {
    // Columns of the output that a task makes.
    struct Strip {
      int64_t output_begin;
      int64_t output_end;
      InputRange inputs;
      std::vector<ColumnPiece> pieces;
    };

    Shape input;
    Shape output;
    std::vector<Strip> strips;
    int64_t strip_inputs = 1;  // the most of a strip
    int64_t bands = 1;         // of rows of the output
    int64_t row_chunk = 1;     // rows of input that are multiplied at a time
    int64_t ring_rows = 1;
  };

  // Whether it costs less than PhaseGemm; looks at no shape of the input.
  // `filter` is [O, KH, KW, C / groups]. Never for several groups, whose
  // columns would lie apart.
  static bool Pays(const Tensor &filter,
                   const TransposedAxis &rows,
                   const TransposedAxis &columns);

  // `filter` is packed; `kernels` are those that read it.
  void Init(const Tensor &filter,
            const TransposedAxis &rows,
            const TransposedAxis &columns,
            const gemm::Arithmetic *kernels,
            CpuIsa isa);

  // The filter, as floats, and the bias (or null) in the order of use: bytes
  // that they take, and their making, once, before the first Run.
  size_t ConstantBytes() const;
  void LayOut(const Tensor &filter, const float *bias, void *memory);

  // `output` is [N, OH, OW, O], none of them 0; `plan` is a new one.
  void FillPlan(const Shape &input,
                const Shape &output,
                int threads,
                Plan *plan) const;
  size_t ScratchBytes(const Plan &plan, int threads) const;

  // Input and output are dense; the bias is that of LayOut.
  void Run(const Plan &plan,
           const float *input,
           float *output,
           const FusedActivation &activation,
           ThreadPool *pool,
           void *scratch) const;

 private:
  struct Task;

  size_t Columns() const;  // of the product
  size_t Terms() const;    // of an output, at most
  size_t RingBytes(const Plan &plan) const;
  size_t PixelBytes(const Plan &plan) const;
  void MultiplyRows(const Task &task, int64_t begin, int64_t end) const;
  void AddRow(const Task &task,
              int64_t row,
              const FusedActivation &activation) const;
  void RunTask(Task *task, const FusedActivation &activation) const;

  const gemm::Arithmetic *stored_kernels_ = nullptr;  // widen the filter
  const gemm::Arithmetic *gemm_ = nullptr;
  const col2im::Kernels *col2im_ = nullptr;
  Shape filter_;
  TransposedAxis axes_[2];
  const float *weights_ = nullptr;  // [panels][C][16]
  const float *bias_ = nullptr;     // [stride][O], and slack
};

}  // namespace mace

#endif  // MACE_OPS_DECONV2D_COLUMN_GEMM_H_
