// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/pooled_numbers.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/reduce/reduce.h"

namespace mace {
namespace {

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

// `Params`: those of 8 or of 16 bits.
template <typename Params>
class QuantizedReducePlan final : public OpPlan {
 public:
  QuantizedReducePlan(const View &view, const Params &params)
      : view_(view), params_(params) {}

  const View &view() const { return view_; }
  const Params &params() const { return params_; }

 private:
  const View view_;
  const Params params_;
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
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kReduceInputInput);
    const Tensor &output = *context->output(0);
    MACE_RETURN_IF_ERROR(CheckWidths({&input, &output}));
    bool folds[Shape::kMaxRank];
    MACE_RETURN_IF_ERROR(FindFolds(attributes_, input.shape, folds));
    View view;
    if (!FindView(input.shape, folds, &view)) {
      return NotSupported(
          "quantized, it reduces at most two groups of adjacent axes of an "
          "input of shape ",
          input.shape.ToString());
    }
    if (view.window_elements() == 0 && output.elements() > 0 &&
        attributes_.mode == ReduceMode::MEAN) {
      return NotSupported(
          "quantized, a mean of no elements has no value; the input has the "
          "shape ",
          input.shape.ToString());
    }
    return IsInt16(input) ? PlanAs<PooledInt16>(view, context)
                          : PlanAs<PooledBytes>(view, context);
  }

  MaceStatus Run(RunContext *context) const override {
    if (context->output(0)->elements() == 0) return MaceStatus();
    if (IsInt16(*context->output(0))) {
      RunAs<PooledInt16>(context);
    } else {
      RunAs<PooledBytes>(context);
    }
    return MaceStatus();
  }

 private:
  // `Numbers`: PooledBytes or PooledInt16.
  template <typename Numbers>
  MaceStatus PlanAs(const View &view, PlanContext *context) const {
    using Params = typename Numbers::Params;
    const Tensor &input = *context->input(kReduceInputInput);
    const Tensor &output = *context->output(0);
    if (view.window_elements() > Numbers::kMostElements) {
      return NotSupported("quantized, it reduces at most ",
                          Numbers::kMostElements, " elements to one, not ",
                          view.window_elements());
    }
    Params params = PoolParams<Numbers>(input, output);
    params.scale = RatioOfScales<Numbers>(input, output);
    if (attributes_.mode == ReduceMode::MEAN) {
      params.scale /=
          static_cast<typename Numbers::Real>(view.window_elements());
    }
    context->Keep(std::make_unique<QuantizedReducePlan<Params>>(view, params));
    return MaceStatus();
  }

  template <typename Numbers>
  void RunAs(RunContext *context) const {
    using Element = typename Numbers::Element;
    const auto &plan =
        context->PlanAs<QuantizedReducePlan<typename Numbers::Params>>();
    const View &v = plan.view();
    if (v.window_elements() == 0 && attributes_.mode == ReduceMode::MAX) {
      StoreLeast(context->output(0));
      return;
    }
    const auto *x = context->input(kReduceInputInput)->As<Element>();
    auto *y = context->output(0)->template MutableAs<Element>();
    const auto &kernels = *Numbers::KernelsFor(isa());
    const auto run =
        attributes_.mode == ReduceMode::MAX ? kernels.max : kernels.sum;
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
  }

  // What the least of all numbers becomes.
  static void StoreLeast(Tensor *output) {
    const int64_t count = output->elements();
    if (IsInt16(*output)) {
      std::fill_n(output->MutableAs<int16_t>(), count,
                  std::numeric_limits<int16_t>::min());
    } else if (output->data_type == DataType::kInt8) {
      std::fill_n(output->MutableAs<int8_t>(), count,
                  std::numeric_limits<int8_t>::min());
    } else {
      std::fill_n(output->MutableAs<uint8_t>(), count, uint8_t{0});
    }
  }

  ReduceAttributes attributes_;
};

MACE_REGISTER_QUANTIZED_OP(Reduce, CPU, QuantizedReduceOp);

}  // namespace
}  // namespace mace
