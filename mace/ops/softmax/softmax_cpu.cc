// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/softmax/softmax.h"

#include <algorithm>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/half_block.h"
#include "mace/ops/softmax/softmax_schema.h"

namespace mace {

namespace {

// Adjacent columns per task if the axis is not the innermost one: whole vectors
// on every ISA.
constexpr int64_t kColumnBlock = 256;

// With 16-bit activations, columns per task: their floats are in scratch
// memory.
constexpr int64_t kHalfColumnBlock = 64;

// The shape of the input: [outer, n, inner], where n is the axis.
struct Extents {
  Extents(const Shape &shape, int64_t axis_attribute) {
    const auto axis = static_cast<size_t>(shape.NormalizeAxis(axis_attribute));
    n = shape[axis];
    outer = shape.Elements(0, axis);
    inner = shape.Elements(axis + 1, shape.rank());
  }
  int64_t outer;
  int64_t n;
  int64_t inner;
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
    if (IsHalf(input->data_type) && input->elements() > 0) {
      const Extents extents(input->shape, attributes_.axis);
      context->RequestScratch(
          static_cast<size_t>(context->thread_pool()->thread_count() *
                              HalfFloats(extents)) *
          sizeof(float));
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kSoftmaxInputInput);
    if (input->elements() == 0) return MaceStatus();
    const Extents extents(input->shape, attributes_.axis);
    if (IsHalf(input->data_type)) {
      RunHalf(context, extents);
    } else {
      RunFloat(context, extents);
    }
    return MaceStatus();
  }

 private:
  // An exponential takes about as long as 4 simple elements.
  static constexpr int64_t kCost = 4;

  // Columns of a task; 1 if the axis is the innermost one.
  static int64_t HalfColumns(const Extents &e) {
    return std::min(e.inner, kHalfColumnBlock);
  }
  // Floats of a thread, in whole cache lines.
  static int64_t HalfFloats(const Extents &e) {
    return (std::max(kHalfBlock, e.n * HalfColumns(e)) + 15) / 16 * 16;
  }

  void RunFloat(RunContext *context, const Extents &e) const {
    const float *x = context->input(kSoftmaxInputInput)->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    const bool log = attributes_.log;
    if (e.inner == 1) {
      context->thread_pool()->ParallelFor(
          e.outer, RowGrain(e.n * kCost),
          [=](int64_t begin, int64_t end, int /*thread*/) {
            kernels_->rows(x + begin * e.n, y + begin * e.n,
                           static_cast<size_t>(end - begin),
                           static_cast<size_t>(e.n), log);
          });
      return;
    }
    const int64_t blocks = (e.inner + kColumnBlock - 1) / kColumnBlock;
    context->thread_pool()->ParallelFor(
        e.outer * blocks,
        RowGrain(e.n * std::min(e.inner, kColumnBlock) * kCost),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * kColumnBlock;
            const int64_t at = item / blocks * e.n * e.inner + column;
            kernels_->columns(
                x + at, y + at, static_cast<size_t>(e.n),
                static_cast<size_t>(e.inner),
                static_cast<size_t>(std::min(e.inner - column, kColumnBlock)),
                log);
          }
        });
  }

  // Activations of 16 bits, computed in float.
  void RunHalf(RunContext *context, const Extents &e) const {
    const uint16_t *x = context->input(kSoftmaxInputInput)->As<uint16_t>();
    uint16_t *y = context->output(0)->MutableAs<uint16_t>();
    auto *scratch = static_cast<float *>(context->scratch());
    const int64_t floats = HalfFloats(e);
    if (e.inner == 1) {
      const int64_t rows = std::max<int64_t>(1, kHalfBlock / e.n);
      context->thread_pool()->ParallelFor(
          e.outer, RowGrain(e.n * kCost),
          [=](int64_t begin, int64_t end, int thread) {
            for (int64_t row = begin; row < end; row += rows) {
              RunHalfRows(x + row * e.n, y + row * e.n,
                          std::min(rows, end - row), e.n,
                          scratch + thread * floats);
            }
          });
      return;
    }
    const int64_t width = HalfColumns(e);
    const int64_t blocks = (e.inner + width - 1) / width;
    context->thread_pool()->ParallelFor(
        e.outer * blocks, RowGrain(e.n * width * kCost),
        [=](int64_t begin, int64_t end, int thread) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * width;
            const int64_t at = item / blocks * e.n * e.inner + column;
            RunHalfColumns(
                x + at, y + at, e,
                static_cast<size_t>(std::min(e.inner - column, width)),
                scratch + thread * floats);
          }
        });
  }

  void RunHalfRows(const uint16_t *x,
                   uint16_t *y,
                   int64_t rows,
                   int64_t n,
                   float *block) const {
    const auto count = static_cast<size_t>(rows * n);
    half_.convert->widen(x, block, count);
    kernels_->rows(block, block, static_cast<size_t>(rows),
                   static_cast<size_t>(n), attributes_.log);
    half_.convert->narrow(block, y, count);
  }

  void RunHalfColumns(const uint16_t *x,
                      uint16_t *y,
                      const Extents &e,
                      size_t columns,
                      float *block) const {
    const auto n = static_cast<size_t>(e.n);
    const auto stride = static_cast<size_t>(e.inner);
    for (size_t i = 0; i < n; ++i) {
      half_.convert->widen(x + i * stride, block + i * columns, columns);
    }
    kernels_->columns(block, block, n, columns, columns, attributes_.log);
    for (size_t i = 0; i < n; ++i) {
      half_.convert->narrow(block + i * columns, y + i * stride, columns);
    }
  }

  SoftmaxAttributes attributes_;
  const softmax::Kernels *kernels_ = nullptr;
  HalfActivations half_;
};

}  // namespace

MACE_REGISTER_OP(Softmax, CPU, SoftmaxOp);

}  // namespace mace
