// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/op_plans.h"

#include <cstring>
#include <utility>

#include "mace/core/base/missing_part.h"
#include "mace/ops/epilogue/arithmetic_choice.h"

namespace mace {
namespace {

constexpr size_t kOutput = 0;

template <typename Context>
const Tensor *Optional(const Context &context, size_t input) {
  return input == ConvPorts::kNone ? nullptr : context.input(input);
}

constexpr ptrdiff_t Index(int64_t x) { return static_cast<ptrdiff_t>(x); }

// `Axis`: WindowAxis or TransposedAxis.
template <typename Axis>
void SetWindows(const Axis (&axes)[2], conv::Shape *s) {
  s->kernel_h = Index(axes[0].kernel);
  s->kernel_w = Index(axes[1].kernel);
  s->stride_h = Index(axes[0].stride);
  s->stride_w = Index(axes[1].stride);
  s->dilation_h = Index(axes[0].dilation);
  s->dilation_w = Index(axes[1].dilation);
  s->pad_top = Index(axes[0].pad_before);
  s->pad_left = Index(axes[1].pad_before);
}

conv::Shape ImagesOf(const Shape &input, const Shape &output, int64_t groups) {
  conv::Shape s;
  s.batch = Index(input[0]);
  s.in_h = Index(input[1]);
  s.in_w = Index(input[2]);
  s.in_c = Index(input[3]);
  s.out_h = Index(output[1]);
  s.out_w = Index(output[2]);
  s.out_c = Index(output[3]);
  s.groups = Index(groups);
  return s;
}

void SetFloats(const Tensor &input,
               const Tensor &filter,
               const Tensor *bias,
               conv::Request *request) {
  request->weights = PackedWeightType(filter);
  if (bias != nullptr) request->bias = bias->As<float>();
  request->image = ElementOf(input.data_type);
}

}  // namespace

const void *ConvNumbers::ConvertInput(const Tensor &input,
                                      void * /*copy*/,
                                      ThreadPool * /*pool*/) const {
  return input.data;
}

MaceStatus ConvOpPlan::Make(const Settings &settings,
                            const conv::Strategies &strategies,
                            conv::Request request,
                            PlanContext *context,
                            std::unique_ptr<const ConvNumbers> numbers) {
  const ConvPorts &ports = settings.ports;
  const int threads = context->thread_pool()->thread_count();
  std::unique_ptr<conv::Plan> plan;
  if (context->output(kOutput)->elements() > 0) {
    const Tensor &filter = *context->input(ports.filter);
    const Tensor &input = *context->input(ports.input);
    const Tensor *bias = context->input(ports.bias);
    const bool residual = Optional(*context, ports.residual) != nullptr;
    request.filter = filter.data;
    request.residual = residual;
    request.threads = threads;
    if (numbers == nullptr) SetFloats(input, filter, bias, &request);
    plan = strategies.MakePlan(request);
    if (plan == nullptr) {
      return Unsupported(kBuiltWithout, "the kernels for this convolution",
                         kBuildForThisModel);
    }
    const size_t copy =
        numbers == nullptr ? 0 : numbers->CopyBytes(input.bytes());
    context->RequestScratch(copy + plan->ScratchBytes(threads));
    if (plan->PreparedBytes() > 0) {
      conv::Plan *taker = plan.get();
      context->RequestPrepared(plan->PreparedBytes(), [taker](void *memory) {
        return taker->TakePrepared(memory);
      });
    }
    if (residual && plan->ResidualMayBeOutput()) {
      context->AllowInPlace(kOutput, ports.residual);
    }
  }
  if (settings.images && (plan == nullptr || plan->OutputMayBeStrided())) {
    context->AllowStridedOutput(kOutput);
  }
  context->Keep(std::make_unique<ConvOpPlan>(
      settings, request.shape, std::move(plan), std::move(numbers)));
  return MaceStatus();
}

ConvOpPlan::ConvOpPlan(const Settings &settings,
                       const conv::Shape &shape,
                       std::unique_ptr<conv::Plan> plan,
                       std::unique_ptr<const ConvNumbers> numbers)
    : settings_(settings),
      shape_(shape),
      plan_(std::move(plan)),
      numbers_(std::move(numbers)) {}

conv::Args ConvOpPlan::ArgsFor(const RunContext &context) const {
  const ConvPorts &ports = settings_.ports;
  if (numbers_ != nullptr) {
    const Tensor &output = *context.output(kOutput);
    conv::Args args;
    args.input = context.input(ports.input)->data;
    args.output = output.data;
    args.output_stride = static_cast<size_t>(output.RowStride());
    numbers_->SetArgs(&args);
    return args;
  }
  ConvTensors tensors;
  tensors.input = context.input(ports.input);
  tensors.weights = context.input(ports.filter);
  tensors.bias = context.input(ports.bias);
  tensors.residual = Optional(context, ports.residual);
  tensors.output = context.output(kOutput);
  return MakeConvArgs(tensors, *settings_.activation);
}

void ConvOpPlan::Run(RunContext *context) const {
  if (plan_ == nullptr) return;
  ThreadPool *pool = context->thread_pool();
  conv::Args args = ArgsFor(*context);
  if (numbers_ == nullptr) {
    plan_->Run(args, SecondPass(), pool, context->scratch());
    return;
  }
  const Tensor &input = *context->input(settings_.ports.input);
  auto *scratch = static_cast<char *>(context->scratch());
  args.input = numbers_->ConvertInput(input, scratch, pool);
  plan_->Run(args, nullptr, pool, scratch + numbers_->CopyBytes(input.bytes()));
  numbers_->ConvertOutput(*context->output(kOutput), pool);
}

const RowBands *ConvOpPlan::row_bands() const {
  const bool whole = numbers_ != nullptr && numbers_->ConvertsTensors();
  return settings_.images && !whole && plan_ != nullptr &&
                 plan_->rows() != nullptr
             ? this
             : nullptr;
}

WindowAxis ConvRows(const conv::Shape &shape) {
  WindowAxis rows;
  rows.size = shape.in_h;
  rows.kernel = shape.kernel_h;
  rows.stride = shape.stride_h;
  rows.dilation = shape.dilation_h;
  rows.pad_before = shape.pad_top;
  return rows;
}

conv::ImageRows ImageRowsOf(const conv::Shape &shape, const RowRange &output) {
  const WindowAxis windows = ConvRows(shape);
  const RowRange input = RowsUnder(windows, output);
  conv::ImageRows rows;
  rows.in_rows = Index(input.count());
  rows.out_rows = Index(output.count());
  rows.pad_top = Index(input.begin - windows.Begin(output.begin));
  return rows;
}

RowRange ConvOpPlan::InputRows(const RowRange &output) const {
  return RowsUnder(ConvRows(shape_), output);
}

size_t ConvOpPlan::BandScratchBytes(int64_t rows) const {
  return plan_->rows()->RowScratchBytes(Index(rows));
}

void ConvOpPlan::RunBand(const RunContext &context, const BandRun &run) const {
  conv::Args args = ArgsFor(context);
  args.input = run.input;
  args.output = run.output;
  args.output_stride = static_cast<size_t>(run.output_stride);
  if (args.epilogue.residual != nullptr) {
    const auto pixel = static_cast<size_t>(
        (run.image * shape_.out_h + run.rows.begin) * shape_.out_w);
    const DataType type = context.output(kOutput)->data_type;
    args.epilogue.residual = static_cast<const char *>(args.epilogue.residual) +
                             pixel * args.epilogue.residual_stride *
                                 gemm::ElementBytes(ElementOf(type));
  }
  plan_->rows()->RunRows(ImageRowsOf(shape_, run.rows), args, SecondPass(),
                         run.scratch);
}

std::string ConvOpPlan::KernelName() const {
  return plan_ == nullptr ? "none" : plan_->Name();
}

conv::Shape ConvShape(const Shape &input,
                      const Shape &output,
                      const WindowGeometry &windows,
                      int64_t groups) {
  conv::Shape s = ImagesOf(input, output, groups);
  SetWindows(windows.axis, &s);
  return s;
}

conv::Shape TransposedConvShape(const Shape &input,
                                const Shape &output,
                                const TransposedAxis (&axes)[2],
                                int64_t groups) {
  conv::Shape s = ImagesOf(input, output, groups);
  SetWindows(axes, &s);
  return s;
}

void MatMulOpPlan::Make(const matmul::Strategy &strategy,
                        const matmul::Sizes &sizes,
                        PlanContext *context) {
  const int threads = context->thread_pool()->thread_count();
  std::unique_ptr<matmul::Plan> plan;
  if (sizes.Macs() > 0) {
    plan = strategy.MakePlan(sizes, threads);
    context->RequestScratch(plan->ScratchBytes(threads));
  }
  context->Keep(std::make_unique<MatMulOpPlan>(sizes, std::move(plan)));
}

MatMulOpPlan::MatMulOpPlan(const matmul::Sizes &sizes,
                           std::unique_ptr<matmul::Plan> plan)
    : macs_(sizes.Macs()),
      // Integers have results of 32 bits, as float has.
      output_bytes_(static_cast<size_t>(sizes.Outputs()) *
                    gemm::ElementBytes(sizes.c_type)),
      plan_(std::move(plan)) {}

void MatMulOpPlan::Run(const matmul::Args &args, RunContext *context) const {
  if (plan_ == nullptr) {
    // Sums without terms.
    if (output_bytes_ > 0) std::memset(args.c, 0, output_bytes_);
    return;
  }
  plan_->Run(args, context->thread_pool(), context->scratch());
}

std::string MatMulOpPlan::KernelName() const {
  return plan_ == nullptr ? "none" : plan_->Name();
}

}  // namespace mace
