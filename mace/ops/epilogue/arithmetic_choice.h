// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How an operator multiplies by packed weights: in which arithmetic, and where
// its tensors lie.

#ifndef MACE_OPS_EPILOGUE_ARITHMETIC_CHOICE_H_
#define MACE_OPS_EPILOGUE_ARITHMETIC_CHOICE_H_

#include "mace/core/model/tensor.h"
#include "mace/kernels/cpu/conv/conv.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

// Of a packed constant, or of a depthwise filter, whose type the schema has
// checked.
gemm::WeightType PackedWeightType(const Tensor &weights);

// How an operator multiplies by the weights at that input, as the deployment
// asks for, its processor allows and this library was built for: in float where
// one of these says no. UNSUPPORTED if not even that was linked.
Result<const gemm::Arithmetic *> ChooseArithmetic(const InitContext &context,
                                                  size_t input,
                                                  CpuIsa isa);
// The same among those whose activations are float.
Result<const gemm::Arithmetic *> ChooseFloatArithmetic(
    const InitContext &context, size_t input, CpuIsa isa);

// How an operator multiplies two matrices of float that are both computed.
const gemm::Arithmetic *ChooseMatrixArithmetic(const InitContext &context,
                                               CpuIsa isa);
// The same of 8-bit integers. UNSUPPORTED if this library has no kernels for
// them.
Result<const gemm::Arithmetic *> ChooseIntegerArithmetic(
    const InitContext &context, CpuIsa isa);

// Of a type of activations.
gemm::Element ElementOf(DataType type);

// Where the activations of a product lie. Sets pointers, strides, bias and
// clamp; `bias` and `residual` may be null.
struct ConvTensors {
  const Tensor *input = nullptr;
  const Tensor *weights = nullptr;
  const Tensor *bias = nullptr;
  const Tensor *residual = nullptr;
  Tensor *output = nullptr;
};
conv::Args MakeConvArgs(const ConvTensors &tensors,
                        const FusedActivation &activation);

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_ARITHMETIC_CHOICE_H_
