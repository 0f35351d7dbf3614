// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/core/base/missing_part.h"

namespace mace {

gemm::WeightType PackedWeightType(const Tensor &weights) {
  if (weights.layout == ConstantLayout::kPackedO16Pairs) {
    return gemm::WeightType::kBf16Pairs;
  }
  switch (weights.data_type) {
    case DataType::kInt8:  // with scales: the only layout for int8
      return gemm::WeightType::kI8;
    case DataType::kFloat16:
      return gemm::WeightType::kF16;
    case DataType::kBfloat16:
      return gemm::WeightType::kBf16;
    default:
      return gemm::WeightType::kF32;
  }
}

Result<const gemm::Arithmetic *> ChooseFloatArithmetic(
    const InitContext &context, size_t input, CpuIsa isa) {
  const Tensor &weights = *context.constant(input);
  if (PackedWeightType(weights) != gemm::WeightType::kI8) {
    return gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa);
  }
  const gemm::Arithmetic *found =
      gemm::ArithmeticFor(gemm::ArithmeticKind::kInt8Weights, isa);
  if (found != nullptr) return found;
  return Unsupported("operator '", context.def().name, "' (",
                     context.def().type, "): ", kBuiltWithout,
                     "the kernels for weights of 8 bits", kBuildForThisModel,
                     ", or add -ops=Int8Weights");
}

Result<const gemm::Arithmetic *> ChooseArithmetic(const InitContext &context,
                                                  size_t input,
                                                  CpuIsa isa) {
  const gemm::Arithmetic *found = nullptr;
  switch (PackedWeightType(*context.constant(input))) {
    case gemm::WeightType::kBf16Pairs:
      found = gemm::ArithmeticFor(gemm::ArithmeticKind::kBf16, isa);
      break;
    case gemm::WeightType::kF16:
      // fp16 is also a storage type.
      if (context.hints().precision == Precision::kFloat16) {
        found = gemm::ArithmeticFor(gemm::ArithmeticKind::kFp16, isa);
      }
      break;
    default:
      break;
  }
  if (found != nullptr) return found;
  return ChooseFloatArithmetic(context, input, isa);
}

const gemm::Arithmetic *ChooseMatrixArithmetic(const InitContext &context,
                                               CpuIsa isa) {
  const gemm::Arithmetic *found = nullptr;
  if (context.hints().precision == Precision::kBfloat16) {
    found = gemm::ArithmeticFor(gemm::ArithmeticKind::kBf16, isa);
  }
  return found != nullptr
             ? found
             : gemm::ArithmeticFor(gemm::ArithmeticKind::kFloat, isa);
}

Result<const gemm::Arithmetic *> ChooseIntegerArithmetic(
    const InitContext &context, CpuIsa isa) {
  const gemm::Arithmetic *found =
      gemm::ArithmeticFor(gemm::ArithmeticKind::kInt8, isa);
  if (found != nullptr) return found;
  return Unsupported("operator '", context.def().name, "' (",
                     context.def().type,
                     "): this library was built without the kernels for "
                     "products of 8-bit integers");
}

gemm::Element ElementOf(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return gemm::Element::kF16;
    case DataType::kBfloat16:
      return gemm::Element::kBf16;
    default:
      return gemm::Element::kF32;
  }
}

conv::Args MakeConvArgs(const ConvTensors &tensors,
                        const FusedActivation &activation) {
  conv::Args args;
  args.input = tensors.input->data;
  args.weights = tensors.weights->data;
  args.output = tensors.output->data;
  args.output_stride = static_cast<size_t>(tensors.output->RowStride());
  activation.SetClamp(&args.epilogue);
  if (tensors.bias != nullptr) args.epilogue.bias = tensors.bias->As<float>();
  const Tensor *residual = tensors.residual;
  if (residual == nullptr) return args;
  args.epilogue.residual = residual->data;
  args.epilogue.residual_stride = static_cast<size_t>(residual->RowStride());
  return args;
}

}  // namespace mace
