// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Chooses how an operator multiplies by packed weights: the arithmetic, and the
// addresses of its tensors.

#ifndef MACE_OPS_EPILOGUE_ARITHMETIC_CHOICE_H_
#define MACE_OPS_EPILOGUE_ARITHMETIC_CHOICE_H_

#include "mace/core/model/tensor.h"
#include "mace/kernels/cpu/conv/conv.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

// The type of a packed constant, or of a depthwise filter. The schema has
// checked its element type.
gemm::WeightType PackedWeightType(const Tensor &weights);

// The arithmetic for the weights at that input: the one that the deployment
// asks for, if the processor supports it and the library contains it; otherwise
// float. UNSUPPORTED if not even that is linked.
Result<const gemm::Arithmetic *> ChooseArithmetic(const InitContext &context,
                                                  size_t input,
                                                  CpuIsa isa);
// The same, with float activations only.
Result<const gemm::Arithmetic *> ChooseFloatArithmetic(
    const InitContext &context, size_t input, CpuIsa isa);

// The arithmetic for products of two computed float matrices.
const gemm::Arithmetic *ChooseMatrixArithmetic(const InitContext &context,
                                               CpuIsa isa);
// The same for 8-bit integers. UNSUPPORTED if this library has no kernels for
// them.
Result<const gemm::Arithmetic *> ChooseIntegerArithmetic(
    const InitContext &context, CpuIsa isa);

// The gemm element type of activations of a type.
gemm::Element ElementOf(DataType type);

// The tensors of a product. Sets pointers, strides, bias and clamp; `bias` and
// `residual` may be null.
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
