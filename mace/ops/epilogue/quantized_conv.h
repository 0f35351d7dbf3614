// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What quantized operators that are a convolution share: Conv2D and others in
// integers of 8 or 16 bits. docs/reference/quantization.md specifies the
// arithmetic.

#ifndef MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_
#define MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mace/kernels/cpu/activation/activation.h"
#include "mace/kernels/cpu/conv/conv.h"
#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/quantized_product/limits.h"
#include "mace/ops/quantized_product/quantized_product.h"
#include "mace/ops/window/window.h"
#include "mace/public/mace_statistics.h"

namespace mace {

class QuantizedConvPlan;

// The filter of such an operator, for all its plans. Inputs are 0: the image,
// 1: the filter (int8, with scales by output channel and no zero points; its
// first axis is that of the output channels, or its third one if it has taps
// first), 2: the bias (int32, absent: 0); the output is 0.
class QuantizedConv {
 public:
  static constexpr size_t kInput = 0;
  static constexpr size_t kFilter = 1;
  static constexpr size_t kBias = 2;

  // Whether images are int16, not of 8 bits.
  static bool IsInt16(const InitContext &context) {
    const auto &quantization = context.def().output_quantization;
    return !quantization.empty() &&
           quantization[0].data_type == DataType::kInt16;
  }

  // `strategy` is one of quantized_strategy.h, for filters of that layout, or
  // kFours if that is how the constant is stored, and images of that type.
  // UNSUPPORTED for an activation that is no clamp, and if the library lacks
  // the kernels. INVALID_ARGS for a filter whose zero points are not 0, or
  // whose scales are not by output channel.
  MaceStatus Init(const InitContext &context,
                  const activation::Params &activation,
                  std::unique_ptr<conv::Strategy> strategy,
                  conv::FilterLayout layout = conv::FilterLayout::kPanels);

  // What a plan adds to the shapes.
  struct Geometry {
    conv::Shape shape;
    ConvPoolArgs report;
    int64_t macs = 0;
    bool images = true;  // rows can be computed separately
  };
  // Makes the plan and passes it to the engine, unless the output has no
  // elements. INVALID_ARGS for a bias whose scales are not those of the sums.
  MaceStatus Plan(const Geometry &geometry, PlanContext *context);

  // Runs the plan of the context.
  static void Run(RunContext *context);

 private:
  // What makes results of sums, of `depth` products each.
  void SetRequantization(const ProductNumbers &numbers,
                         int64_t depth,
                         const QuantizedLimits &limits,
                         QuantizedConvPlan *plan) const;
  void SetRequantization16(const ProductNumbers &numbers,
                           const QuantizedLimits &limits,
                           QuantizedConvPlan *plan) const;

  const gemm::Arithmetic *arithmetic_ = nullptr;
  std::unique_ptr<conv::Strategy> strategy_;
  conv::FilterLayout layout_ = conv::FilterLayout::kPanels;
  activation::Params activation_;
  WeightSums weights_;
  int32_t least_weight_ = 0;
};

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_QUANTIZED_CONV_H_
