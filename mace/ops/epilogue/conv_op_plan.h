// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The plan of an operator that is a convolution, whatever its strategy: Conv2D,
// DepthwiseConv2d, FullyConnected, and the transposed ones.

#ifndef MACE_OPS_EPILOGUE_CONV_OP_PLAN_H_
#define MACE_OPS_EPILOGUE_CONV_OP_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"
#include "mace/ops/window/window.h"

namespace mace {

// Of the operators that have a plan of this kind; the output is number 0.
struct ConvPorts {
  static constexpr size_t kNone = SIZE_MAX;
  size_t input = 0;
  size_t filter = 1;
  size_t bias = 2;
  size_t residual = kNone;
};

class ConvOpPlan final : public OpPlan, private RowBands {
 public:
  // What all operators say of theirs. `activation` belongs to the operator,
  // which outlives the plan.
  struct Settings {
    ConvPorts ports;
    bool images = true;  // input and output are: rows can be told apart
    ConvPoolArgs geometry;
    int64_t macs = 0;
    const FusedActivation *activation = nullptr;
  };

  // Of request.shape; makes the plan, unless the output has no elements, asks
  // for its memory and hands it over. What `request` lacks of image, threads
  // and residual is filled in.
  static void Make(const Settings &settings,
                   const conv::Strategies &strategies,
                   conv::Request request,
                   PlanContext *context);

  ConvOpPlan(const Settings &settings,
             const conv::Shape &shape,
             std::unique_ptr<conv::Plan> plan);

  void Run(RunContext *context) const;

  const RowBands *row_bands() const override;
  RowRange InputRows(const RowRange &output) const override;
  size_t BandScratchBytes(int64_t rows) const override;
  void RunBand(const RunContext &context, const BandRun &run) const override;
  int64_t Macs() const override { return settings_.macs; }
  ConvPoolArgs Geometry() const override { return settings_.geometry; }
  std::string KernelName() const override;

 private:
  conv::Args ArgsFor(const RunContext &context) const;
  WindowAxis Rows() const;

  const Settings settings_;
  const conv::Shape shape_;
  const std::unique_ptr<conv::Plan> plan_;  // null: there are no outputs
};

// The shape of a convolution over images.
conv::Shape ConvShape(const Shape &input,
                      const Shape &output,
                      const WindowGeometry &windows,
                      int64_t groups);

// The same of a transposed convolution.
conv::Shape TransposedConvShape(const Shape &input,
                                const Shape &output,
                                const TransposedAxis (&axes)[2],
                                int64_t groups);

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_CONV_OP_PLAN_H_
