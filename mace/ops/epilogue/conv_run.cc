// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/conv_run.h"

namespace mace {

namespace {

size_t PerThread(const gemm::ConvPlan &plan) {
  return (plan.scratch_bytes + 63) & ~size_t{63};
}

}  // namespace

gemm::WeightType PackedWeightType(DataType type) {
  switch (type) {
    case DataType::kFloat16:
      return gemm::WeightType::kF16;
    case DataType::kBfloat16:
      return gemm::WeightType::kBf16;
    default:
      return gemm::WeightType::kF32;
  }
}

size_t ConvScratchBytes(const gemm::ConvPlan &plan, int threads) {
  return PerThread(plan) * static_cast<size_t>(threads);
}

void RunConv(const gemm::ConvPlan &plan,
             const gemm::ConvArgs &args,
             const FusedActivation &activation,
             ThreadPool *pool,
             void *scratch) {
  const size_t per_thread = PerThread(plan);
  const ptrdiff_t stride = static_cast<ptrdiff_t>(args.output_stride);
  gemm::ConvArgs clamped = args;
  clamped.epilogue.clamp = activation.clamp();
  clamped.epilogue.low = activation.low();
  clamped.epilogue.high = activation.high();
  pool->ParallelFor(plan.tasks, 1, [&](int64_t begin, int64_t end, int thread) {
    void *own =
        static_cast<char *>(scratch) + static_cast<size_t>(thread) * per_thread;
    for (int64_t i = begin; i < end; ++i) {
      const ptrdiff_t task = static_cast<ptrdiff_t>(i);
      gemm::RunConvTask(plan, clamped, task, own);
      const gemm::ConvRegion r = gemm::RegionOf(plan, task);
      activation.Apply(args.output + r.row_begin * stride + r.column_begin,
                       r.row_end - r.row_begin, r.column_end - r.column_begin,
                       stride);
    }
  });
}

const char *ConvKernelName(const gemm::ConvPlan &plan) {
  if (plan.vector) return "gemv";
  switch (plan.tap_kind) {
    case gemm::ConvPlan::Taps::kRow:
      return "gemm over image rows";
    case gemm::ConvPlan::Taps::kPatch:
      return "gemm over patches";
    case gemm::ConvPlan::Taps::kPixel:
      break;
  }
  return plan.taps == 1 ? "gemm" : "gemm over taps";
}

}  // namespace mace
