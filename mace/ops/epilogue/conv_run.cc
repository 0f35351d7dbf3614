// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/conv_run.h"

#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace {

namespace {

size_t Align(size_t bytes) { return (bytes + 63) & ~size_t{63}; }

size_t PerThread(const gemm::ConvPlan &plan) {
  return Align(plan.scratch_bytes);
}

// Pixels that are worth handing to a thread: 64 KiB of channels.
int64_t StageGrain(const gemm::ConvPlan &plan) {
  constexpr int64_t kFloats = 16 * 1024;
  return kFloats / plan.shape.in_c + 1;
}

// What all threads share. The staged image comes first in scratch.
class ConvTasks {
 public:
  ConvTasks(const gemm::ConvPlan &plan,
            const gemm::ConvArgs &args,
            const FusedActivation &activation,
            void *scratch)
      : plan_(plan), args_(args), activation_(activation) {
    args_.epilogue.clamp = activation.clamp();
    args_.epilogue.low = activation.low();
    args_.epilogue.high = activation.high();
    if (plan.staged_pixels > 0) args_.staged = scratch;
    if (plan.half_activations) {
      type_ = plan.fp16 != nullptr ? DataType::kFloat16 : DataType::kBfloat16;
    }
  }

  void Stage(int64_t begin, int64_t end) const {
    gemm::StagePixels(plan_, args_, static_cast<ptrdiff_t>(begin),
                      static_cast<ptrdiff_t>(end));
  }
  void Run(int64_t begin, int64_t end, void *scratch) const {
    for (int64_t i = begin; i < end; ++i) {
      const ptrdiff_t task = static_cast<ptrdiff_t>(i);
      gemm::RunConvTask(plan_, args_, task, scratch);
      ApplyActivation(activation_, args_, type_, gemm::RegionOf(plan_, task));
    }
  }

 private:
  const gemm::ConvPlan &plan_;
  gemm::ConvArgs args_;
  const FusedActivation &activation_;
  DataType type_ = DataType::kFloat32;
};

}  // namespace

gemm::WeightType PackedWeightType(const Tensor &weights) {
  if (weights.layout == ConstantLayout::kPackedO16Pairs) {
    return gemm::WeightType::kBf16Pairs;
  }
  switch (weights.data_type) {
    case DataType::kInt8:  // with scales: the only layout for it
      return gemm::WeightType::kI8;
    case DataType::kFloat16:
      return gemm::WeightType::kF16;
    case DataType::kBfloat16:
      return gemm::WeightType::kBf16;
    default:
      return gemm::WeightType::kF32;
  }
}

Result<const gemm::Kernels *> KernelsOf(const InitContext &context,
                                        size_t input,
                                        CpuIsa isa) {
  const Tensor &weights = *context.constant(input);
  if (PackedWeightType(weights) != gemm::WeightType::kI8) {
    return gemm::KernelsFor(isa);
  }
  const gemm::Kernels *kernels = gemm::Int8WeightKernelsFor(isa);
  if (kernels != nullptr) return kernels;
  return Unsupported(
      "operator '", context.def().name, "' (", context.def().type,
      "): this library was built without the kernels for weights of 8 bits; "
      "build it for this model, with `bash tools/build-standalone-lib.sh "
      "-models=FILE.pb,...` naming all models that it is to run, or add "
      "-ops=Int8Weights");
}

const gemm::HalfKernels *HalfKernelsOf(const InitContext &context,
                                       size_t input,
                                       CpuIsa isa) {
  return gemm::HalfKernelsFor(isa, PackedWeightType(*context.constant(input)));
}

bool KeepsBf16(const InitContext &context,
               const gemm::HalfKernels *kernels,
               CpuIsa isa) {
  if (!gemm::kHalfKernelsExist) return false;
  const std::string &asked = context.hints().data_type;
  return kernels != nullptr && asked == "bf16_bf16" &&
         HalfArithmetic::For(isa, asked).pool != nullptr;
}

const gemm::Fp16Kernels *Fp16KernelsOf(const InitContext &context,
                                       size_t input,
                                       CpuIsa isa) {
  // fp16 is also a way to store.
  const bool stored =
      PackedWeightType(*context.constant(input)) == gemm::WeightType::kF16;
  return stored ? HalfArithmetic::For(isa, context.hints().data_type).gemm
                : nullptr;
}

gemm::ConvArgs MakeConvArgs(const ConvTensors &tensors, bool half) {
  gemm::ConvArgs args;
  args.weights = tensors.weights->data;
  args.output_stride = static_cast<size_t>(tensors.output->RowStride());
  if (tensors.bias != nullptr) args.epilogue.bias = tensors.bias->As<float>();
  if (tensors.input->data_type == DataType::kFloat32) {
    args.input = tensors.input->As<float>();
  } else {
    args.input_half = tensors.input->As<uint16_t>();
  }
  if (half) {
    args.output_half = tensors.output->MutableAs<uint16_t>();
  } else {
    args.output = tensors.output->MutableAs<float>();
  }
  const Tensor *residual = tensors.residual;
  if (residual == nullptr) return args;
  args.epilogue.residual_stride = static_cast<size_t>(residual->RowStride());
  if (half) {
    args.residual_half = residual->As<uint16_t>();
  } else {
    args.epilogue.residual = residual->As<float>();
  }
  return args;
}

gemm::Stored StoredAs(DataType input, DataType output) {
  if (output != DataType::kBfloat16) return gemm::Stored::kFloat;
  return input == DataType::kBfloat16 ? gemm::Stored::kBf16
                                      : gemm::Stored::kBf16OfFloats;
}

size_t ConvScratchBytes(const gemm::ConvPlan &plan, int threads) {
  return Align(plan.staged_bytes) +
         PerThread(plan) * static_cast<size_t>(threads);
}

void ApplyActivation(const FusedActivation &activation,
                     const gemm::ConvArgs &args,
                     DataType type,
                     const gemm::ConvRegion &region) {
  const ptrdiff_t stride = static_cast<ptrdiff_t>(args.output_stride);
  const ptrdiff_t at = region.row_begin * stride + region.column_begin;
  const ptrdiff_t rows = region.row_end - region.row_begin;
  const ptrdiff_t columns = region.column_end - region.column_begin;
  if (type != DataType::kFloat32) {
    activation.Apply(args.output_half + at, type, rows, columns, stride);
  } else {
    activation.Apply(args.output + at, rows, columns, stride);
  }
}

void RunConv(const gemm::ConvPlan &plan,
             const gemm::ConvArgs &args,
             const FusedActivation &activation,
             ThreadPool *pool,
             void *scratch) {
  const size_t per_thread = PerThread(plan);
  const ConvTasks tasks(plan, args, activation, scratch);
  if (plan.staged_pixels > 0) {
    pool->ParallelFor(
        plan.staged_pixels, StageGrain(plan),
        [&](int64_t begin, int64_t end, int) { tasks.Stage(begin, end); });
  }
  char *own = static_cast<char *>(scratch) + Align(plan.staged_bytes);
  pool->ParallelFor(plan.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
    tasks.Run(begin, end, own + static_cast<size_t>(thread) * per_thread);
  });
}

void RunConvAlone(const gemm::ConvPlan &plan,
                  const gemm::ConvArgs &args,
                  const FusedActivation &activation,
                  void *scratch) {
  const ConvTasks tasks(plan, args, activation, scratch);
  if (plan.staged_pixels > 0) tasks.Stage(0, plan.staged_pixels);
  tasks.Run(0, plan.tasks,
            static_cast<char *>(scratch) + Align(plan.staged_bytes));
}

std::string ConvKernelName(const gemm::ConvPlan &plan) {
  if (plan.vector) return "gemv";
  std::string name = "gemm";
  switch (plan.tap_kind) {
    case gemm::ConvPlan::Taps::kRow:
      name += " over image rows";
      break;
    case gemm::ConvPlan::Taps::kPatch:
      name += " over patches";
      break;
    case gemm::ConvPlan::Taps::kPixel:
      if (plan.taps != 1) name += " over taps";
      break;
  }
  if (plan.half != nullptr && !plan.vector)
    name += std::string(" in ") + plan.half->name;
  if (plan.fp16 != nullptr) name += " in fp16";
  return name;
}

}  // namespace mace
