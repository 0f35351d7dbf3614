// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <string>

#include "mace/ops/eltwise/eltwise.h"
#include "mace/ops/eltwise/eltwise_cl.h"
#include "mace/ops/opencl_op/gpu_broadcast.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// Whether a pair of int32 operands can have no result, which is an error that
// a kernel can't report: a divisor of 0, or 0 to a negative power.
bool MayFail(EltwiseMode mode, const Tensor &b) {
  const bool divides = mode == EltwiseMode::DIV ||
                       mode == EltwiseMode::FLOOR_DIV ||
                       mode == EltwiseMode::FLOOR_MOD;
  if (!divides && mode != EltwiseMode::POW) return false;
  if (b.data == nullptr) return true;
  const auto *values = b.As<int32_t>();
  for (int64_t i = 0; i < b.elements(); ++i) {
    if (divides ? values[i] == 0 : values[i] < 0) return true;
  }
  return false;
}

class EltwiseOpencl final : public OpenclOp {
 public:
  bool TakesIntegers() const override { return true; }
  bool TakesBytes() const override { return true; }

  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<EltwiseAttributes>();
    const EltwiseMode mode = attributes.mode;
    const Tensor *a = context->input(kEltwiseAInput);
    const Tensor *b = context->input(kEltwiseBInput);
    const bool of_ints = a->data_type == DataType::kInt32;
    if (of_ints && b != nullptr && MayFail(mode, *b)) {
      return Unsupported("it could not report a division of integers by zero");
    }
    if (of_ints && attributes.wide && !IsCompare(mode)) {
      return Unsupported("it could not report a result beyond 32 bits");
    }
    Launch launch(kEltwiseCl, IsUnary(mode)     ? "unary"
                              : IsCompare(mode) ? "compare"
                                                : "binary");
    launch.Define(std::string("MODE_") +
                  kEltwiseModeNames[static_cast<size_t>(mode)]);
    if (of_ints) launch.Define("OF_INTS");
    if (IsUnary(mode)) {
      launch.Input("a", kEltwiseAInput).Output("output");
    } else {
      const GpuBroadcast broadcast(context->output(0)->shape, {a, b});
      broadcast.AddOperand(&launch, "a", kEltwiseAInput);
      broadcast.AddOperand(&launch, "b", kEltwiseBInput);
      broadcast.AddOutput(&launch);
    }
    if (!IsCompare(mode)) launch.ActivationOf(attributes);
    const GpuDims dims = context->OutputDims();
    launch.Items(dims.blocks(), dims.w, dims.rows());
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Eltwise, GPU, EltwiseOpencl);

}  // namespace
}  // namespace mace
