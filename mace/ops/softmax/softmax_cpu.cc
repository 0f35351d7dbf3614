// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/softmax/softmax.h"

#include <algorithm>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {

namespace {

// Elements per task if the axis is the innermost one, as whole rows.
constexpr int64_t kRowBlock = 2048;
// Adjacent columns per task otherwise: whole vectors on every ISA.
constexpr int64_t kColumnBlock = 256;
// With activations of bf16: their floats are in scratch memory.
constexpr int64_t kHalfColumnBlock = 64;

// An exponential takes about as long as 4 simple elements.
constexpr int64_t kCost = 4;

// Divides the input, [outer, n, inner], where n is the axis, into tasks of
// whole rows, or of adjacent columns.
struct Tasks {
  Tasks(const Tensor &input, int64_t axis_attribute)
      : half(IsBf16(input.data_type)) {
    const Shape &shape = input.shape;
    const auto axis = static_cast<size_t>(shape.NormalizeAxis(axis_attribute));
    n = shape[axis];
    outer = shape.Elements(0, axis);
    inner = shape.Elements(axis + 1, shape.rank());
    if (inner == 1) {
      rows = std::max<int64_t>(1, (half ? kHalfBlock : kRowBlock) / n);
      blocks = (outer + rows - 1) / rows;
      count = blocks;
    } else {
      columns = std::min(inner, half ? kHalfColumnBlock : kColumnBlock);
      blocks = (inner + columns - 1) / columns;
      count = outer * blocks;
    }
  }

  int64_t TaskElements() const { return n * rows * columns; }
  // Floats of a thread, in whole cache lines.
  int64_t HalfFloats() const { return (TaskElements() + 15) / 16 * 16; }

  bool half;
  int64_t outer;
  int64_t n;
  int64_t inner;
  int64_t rows = 1;     // of a task
  int64_t columns = 1;  // of a task
  int64_t blocks;       // of rows in the input, or of columns in a row
  int64_t count;
};

class SoftmaxOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = softmax::KernelsFor(isa());
    half_ = HalfActivations::Of(context->hints(), isa());
    attributes_ = context->AttributesAs<SoftmaxAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    const Tensor *input = context->input(kSoftmaxInputInput);
    if (IsBf16(input->data_type) && input->elements() > 0) {
      const Tasks tasks(*input, attributes_.axis);
      context->RequestScratch(
          static_cast<size_t>(context->thread_pool()->thread_count() *
                              tasks.HalfFloats()) *
          sizeof(float));
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kSoftmaxInputInput);
    if (input->elements() == 0) return MaceStatus();
    const Tasks tasks(*input, attributes_.axis);
    const void *x = input->data;
    void *y = context->output(0)->data;
    auto *scratch = static_cast<float *>(context->scratch());
    context->thread_pool()->ParallelFor(
        tasks.count, RowGrain(tasks.TaskElements() * kCost),
        [=](int64_t begin, int64_t end, int thread) {
          for (int64_t task = begin; task < end; ++task) {
            if (kBf16ArithmeticExists && tasks.half) {
              RunHalf(tasks, task, static_cast<const uint16_t *>(x),
                      static_cast<uint16_t *>(y),
                      scratch + thread * tasks.HalfFloats());
            } else {
              RunFloat(tasks, task, static_cast<const float *>(x),
                       static_cast<float *>(y));
            }
          }
        });
    return MaceStatus();
  }

 private:
  void RunFloat(const Tasks &t, int64_t task, const float *x, float *y) const {
    const auto n = static_cast<size_t>(t.n);
    if (t.inner == 1) {
      const int64_t row = task * t.rows;
      kernels_->rows(x + row * t.n, y + row * t.n,
                     static_cast<size_t>(std::min(t.rows, t.outer - row)), n,
                     {attributes_.log});
      return;
    }
    const int64_t column = task % t.blocks * t.columns;
    const int64_t at = task / t.blocks * t.n * t.inner + column;
    kernels_->columns(
        x + at, y + at, n, static_cast<size_t>(t.inner),
        static_cast<size_t>(std::min(t.inner - column, t.columns)),
        attributes_.log);
  }

  // Activations of bf16, computed in float.
  void RunHalf(const Tasks &t,
               int64_t task,
               const uint16_t *x,
               uint16_t *y,
               float *block) const {
    const auto n = static_cast<size_t>(t.n);
    if (t.inner == 1) {
      const int64_t row = task * t.rows;
      const auto rows = static_cast<size_t>(std::min(t.rows, t.outer - row));
      half_.convert->widen(x + row * t.n, block, rows * n);
      kernels_->rows(block, block, rows, n, {attributes_.log});
      half_.convert->narrow(block, y + row * t.n, rows * n);
      return;
    }
    const int64_t column = task % t.blocks * t.columns;
    const auto columns =
        static_cast<size_t>(std::min(t.inner - column, t.columns));
    const int64_t at = task / t.blocks * t.n * t.inner + column;
    const auto stride = static_cast<size_t>(t.inner);
    for (size_t i = 0; i < n; ++i) {
      half_.convert->widen(x + at + i * stride, block + i * columns, columns);
    }
    kernels_->columns(block, block, n, columns, columns, attributes_.log);
    for (size_t i = 0; i < n; ++i) {
      half_.convert->narrow(block + i * columns, y + at + i * stride, columns);
    }
  }

  SoftmaxAttributes attributes_;
  const softmax::Kernels *kernels_ = nullptr;
  HalfActivations half_;
};

}  // namespace

MACE_REGISTER_OP(Softmax, CPU, SoftmaxOp);

}  // namespace mace
