// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <cmath>
#include <cstdint>
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

constexpr uint32_t kOfA = 1U << kEltwiseAInput;
constexpr uint32_t kOfB = 1U << kEltwiseBInput;

using Result = NumberRange::Result;

bool IsKnown(const Tensor *tensor) {
  return tensor != nullptr && tensor->data != nullptr;
}

NumberRange RangeOfProduct(const Tensor *a, const Tensor *b) {
  if (a == b) return NumberRange::Of(Result::kSquares);
  if (!IsKnown(a) && !IsKnown(b)) return NumberRange::Of(Result::kProducts);
  NumberRange range = NumberRange::Of(Result::kElements);
  range.large = HasBeyondHalf(a) || HasBeyondHalf(b);
  return range;
}

NumberRange RangeOfQuotient(const Tensor *a, const Tensor *b) {
  NumberRange range;
  if (IsKnown(b)) {
    range.result = Result::kElements;
    range.large = AnyKnown(b, [](float v) { return IsBeyondHalf(1 / v); });
    return range;
  }
  range.sensitive = kOfB;
  range.sensitive_to_squares = kOfA;
  range.large = IsKnown(a);
  return range;
}

NumberRange RangeOfPower(const Tensor *exponent) {
  const bool inverts = AnyKnown(exponent, [](float e) { return e < 0; });
  const bool roots =
      AnyKnown(exponent, [](float e) { return e != 0 && std::fabs(e) < 1; });
  const bool squares = AnyKnown(exponent, [](float e) { return e > 1; });
  NumberRange range;
  if (squares || !IsKnown(exponent)) range.result = Result::kSquares;
  if (inverts || roots || !IsKnown(exponent)) range.sensitive = kOfA;
  range.large = inverts;
  return range;
}

NumberRange RangeOf(EltwiseMode mode, const Tensor *a, const Tensor *b) {
  NumberRange range;
  const bool one_known = IsKnown(a) || IsKnown(b);
  switch (mode) {
    case EltwiseMode::ADD:
    case EltwiseMode::SUB:
      range.result = one_known ? Result::kElements : Result::kSums;
      range.large = HasBeyondHalf(a) || HasBeyondHalf(b);
      break;
    case EltwiseMode::MUL:
      return RangeOfProduct(a, b);
    case EltwiseMode::DIV:
      return RangeOfQuotient(a, b);
    case EltwiseMode::POW:
      return RangeOfPower(b);
    case EltwiseMode::FLOOR_DIV:
    case EltwiseMode::FLOOR_MOD:
      range.sensitive = kOfB;
      break;
    case EltwiseMode::MIN:
    case EltwiseMode::MAX:
    case EltwiseMode::NEG:
    case EltwiseMode::ABS:
      range.result = Result::kElements;
      break;
    case EltwiseMode::SQR_DIFF:
    case EltwiseMode::SQUARE:
    case EltwiseMode::EXP:
      range.result = Result::kSquares;
      break;
    case EltwiseMode::RSQRT:
    case EltwiseMode::RECIPROCAL:
      range.large = true;
      range.sensitive = kOfA;
      break;
    case EltwiseMode::LOG:
    case EltwiseMode::SQRT:
      range.sensitive = kOfA;
      break;
    default:
      break;
  }
  return range;
}

class EltwiseOpencl final : public OpenclOp {
 public:
  bool TakesIntegers() const override { return true; }
  bool TakesBytes() const override { return true; }

  NumberRange Range(const OpenclPlanContext &context) const override {
    const auto &attributes = context.AttributesAs<EltwiseAttributes>();
    return RangeOf(attributes.mode, context.input(kEltwiseAInput),
                   context.input(kEltwiseBInput))
        .Then(attributes.activation);
  }

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
