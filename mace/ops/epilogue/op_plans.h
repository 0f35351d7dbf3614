// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The plan of an operator that is a convolution, for any strategy: Conv2D,
// DepthwiseConv2d, FullyConnected, and the transposed ones.

#ifndef MACE_OPS_EPILOGUE_OP_PLANS_H_
#define MACE_OPS_EPILOGUE_OP_PLANS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/matmul/matmul.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/cpu_op/row_bands.h"
#include "mace/ops/epilogue/fused_activation.h"
#include "mace/ops/window/transposed_window.h"
#include "mace/ops/window/window.h"

namespace mace {

// The input ports of operators with such a plan; the output is port 0.
struct ConvPorts {
  static constexpr size_t kNone = SIZE_MAX;
  size_t input = 0;
  size_t filter = 1;
  size_t bias = 2;
  size_t residual = kNone;
};

// What the plan of an operator on integers sets for its runs.
class ConvNumbers {
 public:
  virtual ~ConvNumbers() = default;

  // Sets the epilogue, and the padding.
  virtual void SetArgs(conv::Args *args) const = 0;
  // Whether kernels read copies of whole inputs, or outputs change when they
  // are complete. Then rows can't be computed separately.
  virtual bool ConvertsTensors() const { return false; }
  // Scratch memory for the copy of an input; 0: none.
  virtual size_t CopyBytes(int64_t /*input_bytes*/) const { return 0; }
  // The input as kernels read it: its own elements, or their copy at `copy`.
  virtual const void *ConvertInput(const Tensor &input,
                                   void *copy,
                                   ThreadPool *pool) const;
  virtual void ConvertOutput(const Tensor & /*output*/,
                             ThreadPool * /*pool*/) const {}
};

class ConvOpPlan final : public OpPlan, private RowBands {
 public:
  // The settings of an operator. `activation` is null with ConvNumbers, or
  // belongs to the operator, which outlives the plan.
  struct Settings {
    ConvPorts ports;
    bool images = true;  // input and output are images, whose rows can be
                         // computed separately
    ConvPoolArgs geometry;
    int64_t macs = 0;
    const FusedActivation *activation = nullptr;
  };

  // Makes the plan for request.shape, unless the output has no elements,
  // requests its memory, and passes it to the engine. Sets the fields of
  // `request` for filter, image, threads and residual. `numbers`: null for
  // floats. UNSUPPORTED if the library lacks the kernels.
  static MaceStatus Make(const Settings &settings,
                         const conv::Strategies &strategies,
                         conv::Request request,
                         PlanContext *context,
                         std::unique_ptr<const ConvNumbers> numbers = nullptr);

  ConvOpPlan(const Settings &settings,
             const conv::Shape &shape,
             std::unique_ptr<conv::Plan> plan,
             std::unique_ptr<const ConvNumbers> numbers);

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
  const conv::OutputActivation *SecondPass() const {
    return settings_.activation == nullptr
               ? nullptr
               : settings_.activation->second_pass();
  }

  const Settings settings_;
  const conv::Shape shape_;
  const std::unique_ptr<conv::Plan> plan_;  // null: the output is empty
  const std::unique_ptr<const ConvNumbers> numbers_;  // null: floats
};

// The windows of its rows; and the rows of an image that are computed for some
// rows of the output.
WindowAxis ConvRows(const conv::Shape &shape);
conv::ImageRows ImageRowsOf(const conv::Shape &shape, const RowRange &output);

// The shape of a convolution of images.
conv::Shape ConvShape(const Shape &input,
                      const Shape &output,
                      const WindowGeometry &windows,
                      int64_t groups);

// The same for a transposed convolution.
conv::Shape TransposedConvShape(const Shape &input,
                                const Shape &output,
                                const TransposedAxis (&axes)[2],
                                int64_t groups);

// The plan of an operator that is a matrix product, in any arithmetic: MatMul,
// MatMulInteger.

class MatMulOpPlan final : public OpPlan {
 public:
  // Makes the plan, requests its memory, and passes it to the engine.
  static void Make(const matmul::Strategy &strategy,
                   const matmul::Sizes &sizes,
                   PlanContext *context);

  MatMulOpPlan(const matmul::Sizes &sizes, std::unique_ptr<matmul::Plan> plan);

  void Run(const matmul::Args &args, RunContext *context) const;

  int64_t Macs() const override { return macs_; }
  std::string KernelName() const override;

 private:
  const int64_t macs_;
  const size_t output_bytes_;
  const std::unique_ptr<matmul::Plan> plan_;  // null: nothing to multiply
};

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_OP_PLANS_H_
