// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <memory>

#include "mace/core/model/quantized_checks.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/pooled_numbers.h"
#include "mace/ops/cpu_op/quantized_tensor.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/pooling/pooling.h"

namespace mace {
namespace {

// `Numbers`: PooledBytes or PooledInt16.
template <typename Numbers>
class QuantizedPoolingPlan final : public OpPlan, private RowBands {
 public:
  using Element = typename Numbers::Element;
  using Real = typename Numbers::Real;

  // `attributes` belong to the operator, which outlives the plan.
  QuantizedPoolingPlan(const PoolingAttributes *attributes,
                       const typename Numbers::Kernels *kernels,
                       const WindowGeometry &geometry,
                       const Tensor &input,
                       const Tensor &output)
      : attributes_(*attributes),
        kernels_(*kernels),
        geometry_(geometry),
        input_(input.shape),
        output_(output.shape),
        ratio_(RatioOfScales<Numbers>(input, output)),
        params_(PoolParams<Numbers>(input, output)) {
    const QuantizedSide to = KernelSide(output);
    // The element that stands for 0, for windows without any input.
    nothing_ = static_cast<Element>(
        static_cast<Element>(std::clamp(to.zero, to.least, to.most)) ^
        to.mask());
  }

  void Run(RunContext *context) const {
    if (output_.Elements() == 0) return;
    const Tensor &input = *context->input(kPoolingInputInput);
    Tensor *output = context->output(0);
    const int64_t row_cost = output_[2] * geometry_.axis[0].kernel *
                             geometry_.axis[1].kernel * output_[3];
    context->thread_pool()->ParallelFor(
        output_[0] * output_[1], RowGrain(row_cost),
        [&](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            const int64_t image = row / output_[1];
            RunRow({input.As<Element>() +
                        image * input_[1] * input_[2] * input.RowStride(),
                    input.RowStride()},
                   0, row % output_[1],
                   {output->MutableAs<Element>() +
                        row * output_[2] * output->RowStride(),
                    output->RowStride()});
          }
        });
  }

  const RowBands *row_bands() const override {
    return output_.Elements() > 0 ? this : nullptr;
  }
  ConvPoolArgs Geometry() const override {
    return ReportWindow(geometry_,
                        {geometry_.axis[0].kernel, geometry_.axis[1].kernel});
  }

 private:
  RowRange InputRows(const RowRange &output) const override {
    return RowsUnder(geometry_.axis[0], output);
  }
  size_t BandScratchBytes(int64_t) const override { return 0; }
  void RunBand(const RunContext & /*context*/,
               const BandRun &run) const override {
    Pixels<Element> y = {static_cast<Element *>(run.output), run.output_stride};
    const int64_t first = InputRows(run.rows).begin;
    for (int64_t row = run.rows.begin; row < run.rows.end; ++row) {
      RunRow({static_cast<const Element *>(run.input), run.input_stride}, first,
             row, y);
      y.data += output_[2] * y.stride;
    }
  }

  // Computes row `row` of an image's output at `y`, from `x`, which begins at
  // row `first` of the image.
  void RunRow(const Pixels<const Element> &x,
              int64_t first,
              int64_t row,
              const Pixels<Element> &y) const {
    const WindowAxis &down = geometry_.axis[0];
    const WindowAxis &across = geometry_.axis[1];
    const int64_t line = input_[2] * x.stride;
    const WindowTaps v = TapsOf(down, row);
    const auto channels = static_cast<size_t>(output_[3]);
    const bool largest = attributes_.mode == PoolingMode::MAX;
    pool::Window window;
    window.rows = static_cast<size_t>(v.inside);
    window.row_stride = static_cast<ptrdiff_t>(down.dilation * line);
    window.column_stride = static_cast<ptrdiff_t>(across.dilation * x.stride);
    typename Numbers::Params params = params_;
    for (int64_t column = 0; column < output_[2]; ++column) {
      const WindowTaps h = TapsOf(across, column);
      Element *out = y.data + column * y.stride;
      if (v.inside == 0 || h.inside == 0) {
        std::fill(out, out + channels, nothing_);  // all padding
        continue;
      }
      window.columns = static_cast<size_t>(h.inside);
      window.first = x.data + (v.first - first) * line + h.first * x.stride;
      const int64_t divisor = largest ? 1
                              : attributes_.count_include_pad
                                  ? v.padded * h.padded
                                  : v.inside * h.inside;
      params.scale = ratio_ / static_cast<Real>(divisor);
      (largest ? kernels_.max : kernels_.sum)(params, window, channels, out);
    }
  }

  const PoolingAttributes &attributes_;
  const typename Numbers::Kernels &kernels_;
  const WindowGeometry geometry_;
  const Shape input_;
  const Shape output_;
  const Real ratio_;
  const typename Numbers::Params params_;
  Element nothing_ = 0;
};

class QuantizedPoolingOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<PoolingAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    const Tensor &input = *context->input(kPoolingInputInput);
    const Tensor &output = *context->output(0);
    MACE_RETURN_IF_ERROR(CheckWidths({&input, &output}));
    return IsInt16(input) ? PlanAs<PooledInt16>(context)
                          : PlanAs<PooledBytes>(context);
  }

  MaceStatus Run(RunContext *context) const override {
    if (IsInt16(*context->output(0))) {
      context->PlanAs<QuantizedPoolingPlan<PooledInt16>>().Run(context);
    } else {
      context->PlanAs<QuantizedPoolingPlan<PooledBytes>>().Run(context);
    }
    return MaceStatus();
  }

 private:
  template <typename Numbers>
  MaceStatus PlanAs(PlanContext *context) const {
    const Tensor &input = *context->input(kPoolingInputInput);
    MACE_ASSIGN_OR_RETURN(const WindowGeometry geometry,
                          PoolingWindow(attributes_, input.shape));
    const int64_t elements = geometry.axis[0].kernel * geometry.axis[1].kernel;
    if (elements > Numbers::kMostElements) {
      return NotSupported("quantized, its window has at most ",
                          Numbers::kMostElements, " elements, not ", elements);
    }
    context->AllowStridedInput(kPoolingInputInput);
    context->AllowStridedOutput(0);
    context->Keep(std::make_unique<QuantizedPoolingPlan<Numbers>>(
        &attributes_, Numbers::KernelsFor(isa()), geometry, input,
        *context->output(0)));
    return MaceStatus();
  }

  PoolingAttributes attributes_;
};

MACE_REGISTER_QUANTIZED_OP(Pooling, CPU, QuantizedPoolingOp);

}  // namespace
}  // namespace mace
