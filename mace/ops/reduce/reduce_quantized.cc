// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>

#include "mace/core/model/quantization.h"
#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/reduce/reduce.h"

namespace mace {
namespace {

// So that sums of them do not exceed int32.
constexpr int64_t kMostElements = INT32_MAX / 255;
// Results of a task, in adjacent elements: whole vectors on every ISA.
constexpr int64_t kBlock = 64;

// The input as [outer, rows, middle, columns, inner], of which rows and columns
// are reduced.
struct View {
  int64_t outer = 1;
  int64_t rows = 1;
  int64_t middle = 1;
  int64_t columns = 1;
  int64_t inner = 1;

  int64_t windows() const { return outer * middle; }
  int64_t window_elements() const { return rows * columns; }
};

// False if more than two groups of adjacent axes are reduced.
bool FindView(const Shape &shape,
              const bool (&folds)[Shape::kMaxRank],
              View *view) {
  // From the innermost axis outwards.
  int64_t *const parts[] = {&view->inner, &view->columns, &view->middle,
                            &view->rows, &view->outer};
  size_t part = 0;
  for (size_t i = shape.rank(); i-- > 0;) {
    if (shape[i] == 1) continue;  // belongs to any part
    if (folds[i] != (part % 2 == 1)) ++part;
    if (part >= 5) return false;
    *parts[part] *= shape[i];
  }
  return true;
}

class QuantizedReducePlan final : public OpPlan {
 public:
  QuantizedReducePlan(const View &view, const pool::QuantizedParams &params)
      : view_(view), params_(params) {}

  const View &view() const { return view_; }
  const pool::QuantizedParams &params() const { return params_; }

 private:
  const View view_;
  const pool::QuantizedParams params_;
};

class QuantizedReduceOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<ReduceAttributes>();
    if (attributes_.mode != ReduceMode::MEAN &&
        attributes_.mode != ReduceMode::SUM &&
        attributes_.mode != ReduceMode::MAX) {
      return NotSupported("quantized, it has no mode but MEAN, SUM and MAX");
    }
    kernels_ = pool::QuantizedKernelsFor(isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kReduceInputInput);
    const Tensor &output = *context->output(0);
    bool folds[Shape::kMaxRank];
    MACE_RETURN_IF_ERROR(FindFolds(attributes_, input.shape, folds));
    View view;
    if (!FindView(input.shape, folds, &view)) {
      return NotSupported(
          "quantized, it reduces at most two groups of adjacent axes of an "
          "input of shape ",
          input.shape.ToString());
    }
    if (view.window_elements() > kMostElements) {
      return NotSupported("quantized, it reduces at most ", kMostElements,
                          " elements to one, not ", view.window_elements());
    }
    const QuantizedSide from = KernelSide(input);
    const QuantizedSide to = KernelSide(output);
    pool::QuantizedParams params;
    params.x_mask = from.mask();
    params.y_mask = to.mask();
    params.x_zero = from.zero;
    params.scale =
        input.quantization->scales[0] / output.quantization->scales[0];
    if (attributes_.mode == ReduceMode::MEAN) {
      params.scale /= static_cast<float>(view.window_elements());
    }
    params.zero = to.zero;
    params.low = to.least;
    params.high = to.most;
    context->Keep(std::make_unique<QuantizedReducePlan>(view, params));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto &plan = context->PlanAs<QuantizedReducePlan>();
    const View &v = plan.view();
    Tensor *output = context->output(0);
    if (output->elements() == 0) return MaceStatus();
    const uint8_t *x = context->input(kReduceInputInput)->As<uint8_t>();
    auto *y = output->MutableAs<uint8_t>();
    const auto run =
        attributes_.mode == ReduceMode::MAX ? kernels_->max : kernels_->sum;
    const int64_t blocks = (v.inner + kBlock - 1) / kBlock;
    context->thread_pool()->ParallelFor(
        v.windows() * blocks, RowGrain(v.window_elements() * kBlock),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          pool::Window window;
          window.rows = static_cast<size_t>(v.rows);
          window.columns = static_cast<size_t>(v.columns);
          window.row_stride =
              static_cast<ptrdiff_t>(v.middle * v.columns * v.inner);
          window.column_stride = static_cast<ptrdiff_t>(v.inner);
          for (int64_t task = begin; task < end; ++task) {
            const int64_t at = task / blocks;
            const int64_t first = task % blocks * kBlock;
            const int64_t outer = at / v.middle * v.rows * v.middle;
            window.first =
                x + (outer + at % v.middle) * v.columns * v.inner + first;
            run(plan.params(), window,
                static_cast<size_t>(std::min(kBlock, v.inner - first)),
                y + at * v.inner + first);
          }
        });
    return MaceStatus();
  }

 private:
  ReduceAttributes attributes_;
  const pool::QuantizedKernels *kernels_ = nullptr;
};

MACE_REGISTER_QUANTIZED_OP(Reduce, CPU, QuantizedReduceOp);

}  // namespace
}  // namespace mace
