// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What quantized operators that are a convolution share: Conv2D and others in
// integers of 8 or 16 bits. docs/reference/quantization.md specifies the
// arithmetic, of which mace/ops/quantized_product has what is the same on every
// device.

#ifndef MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_
#define MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_

#include <cstdint>
#include <memory>

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/quantized_product/quantized_product.h"

namespace mace {

// The filter of such an operator, for all its plans: int8, with scales by
// output channel and no zero points. The bias is int32; absent: 0.
class QuantizedConv {
 public:
  // UNSUPPORTED for an activation that is no clamp, and if the library lacks
  // the kernels. INVALID_ARGS for a filter whose zero points are not 0, or
  // whose scales are not by output channel.
  MaceStatus Init(const InitContext &context,
                  const ConvPorts &ports,
                  const activation::Params &activation,
                  FilterOrder order = FilterOrder::kOutputsFirst);

  // Makes the plan and passes it to the engine. Sets the ports of `settings`.
  // INVALID_ARGS for a bias whose scales are not those of the sums.
  MaceStatus Plan(ConvOpPlan::Settings settings,
                  const conv::Shape &shape,
                  PlanContext *context) const;

 private:
  // What makes results of sums, of `depth` products each.
  std::unique_ptr<const ConvNumbers> MakeNumbers(const PlanContext &context,
                                                 const ProductNumbers &product,
                                                 int64_t depth) const;

  ConvPorts ports_;
  const gemm::Arithmetic *arithmetic_ = nullptr;
  conv::Strategies strategies_;
  conv::FilterLayout layout_ = conv::FilterLayout::kPanels;
  activation::Params activation_;
  WeightSums weights_;
  int32_t least_weight_ = 0;
};

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_
