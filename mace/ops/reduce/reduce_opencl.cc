// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/gpu_line.h"
#include "mace/ops/opencl_op/opencl_op.h"
#include "mace/ops/reduce/reduce.h"
#include "mace/ops/reduce/reduce_cl.h"

namespace mace {
namespace {

// Axes before that of the channels, of one kind, from the last one on. Adjacent
// axes are joined, so that of seven at most four are of a kind.
struct PixelAxes {
  int64_t dims[4] = {1, 1, 1, 1};  // outermost first
  int64_t strides[4] = {};         // pixels
  size_t count = 0;
  int64_t pixels = 1;

  void Append(int64_t dim, int64_t stride, bool joins) {
    pixels *= dim;
    if (joins) {
      dims[4 - count] *= dim;
      return;
    }
    ++count;
    dims[4 - count] = dim;
    strides[4 - count] = stride;
  }
  void AddTo(Launch *launch) const {
    launch->Ints(dims[0], dims[1], dims[2], dims[3])
        .Ints(strides[0], strides[1], strides[2], strides[3]);
  }
};

void DefineFold(ReduceMode mode, Launch *launch) {
  switch (mode) {
    case ReduceMode::MAX:
      launch->Define("FOLD_MAX");
      return;
    case ReduceMode::MIN:
      launch->Define("FOLD_MIN");
      return;
    case ReduceMode::PROD:
      launch->Define("FOLD_PROD");
      return;
    case ReduceMode::SUM_SQUARE:
    case ReduceMode::L2:
      launch->Define("SQUARES");
      return;
    case ReduceMode::MEAN:
    case ReduceMode::SUM:
      return;
  }
}

class ReduceOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &context) const override {
    switch (context.AttributesAs<ReduceAttributes>().mode) {
      case ReduceMode::SUM_SQUARE:
      case ReduceMode::PROD:
        return NumberRange::Of(NumberRange::Result::kSquares);
      case ReduceMode::L2:
        return NumberRange();
      default:
        return NumberRange::Of(NumberRange::Result::kLinear);
    }
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<ReduceAttributes>();
    const Shape &shape = context->input(kReduceInputInput)->shape;
    bool folds[Shape::kMaxRank];
    MACE_RETURN_IF_ERROR(FindFolds(attributes, shape, folds));
    const size_t rank = shape.rank();
    PixelAxes axes[2];  // kept, folded
    int64_t stride = 1;
    int last = -1;  // kind of the axis after this one
    for (size_t axis = rank > 0 ? rank - 1 : 0; axis-- > 0;) {
      if (shape[axis] == 1) continue;
      const int kind = folds[axis] ? 1 : 0;
      axes[kind].Append(shape[axis], stride, kind == last);
      stride *= shape[axis];
      last = kind;
    }
    const bool folds_channels = rank > 0 && folds[rank - 1];
    const int64_t blocks = context->InputDims(kReduceInputInput).blocks();
    const GpuDims out = context->OutputDims();
    const int64_t lines = out.pixels() * out.blocks();
    const int64_t length = axes[1].pixels * (folds_channels ? blocks : 1);
    Launch launch(kReduceCl,
                  folds_channels ? "reduce_channels" : "reduce_pixels");
    DefineFold(attributes.mode, &launch);
    launch.Input("input", kReduceInputInput).Output("output");
    axes[0].AddTo(&launch);
    axes[1].AddTo(&launch);
    const int64_t count = axes[1].pixels * (folds_channels ? shape.back() : 1);
    const bool is_mean = attributes.mode == ReduceMode::MEAN;
    launch.Int(lines)
        .Int(length)
        .Float(is_mean ? static_cast<float>(count) : 1.0f)
        .Int(attributes.mode == ReduceMode::L2 ? 1 : 0);
    GpuGroup::For(context->gpu(), lines, length, folds_channels ? 1 : blocks,
                  4 * sizeof(float))
        .AddTo(&launch, lines);
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Reduce, GPU, ReduceOpencl);

}  // namespace
}  // namespace mace
