// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Running a gemm::ConvPlan on a thread pool, for the operators that multiply.

#ifndef MACE_OPS_EPILOGUE_CONV_RUN_H_
#define MACE_OPS_EPILOGUE_CONV_RUN_H_

#include <cstddef>

#include "mace/core/tensor.h"
#include "mace/core/thread_pool.h"
#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

// Of a packed constant of float32, float16 or bfloat16, which the schema has
// checked.
gemm::WeightType PackedWeightType(const Tensor &weights);

// Scratch for all threads of a pool; 64-byte aligned.
size_t ConvScratchBytes(const gemm::ConvPlan &plan, int threads);

// Every task of the plan, each followed by the activation. `scratch` holds
// ConvScratchBytes; the clamp of args.epilogue and args.staged are set here.
void RunConv(const gemm::ConvPlan &plan,
             const gemm::ConvArgs &args,
             const FusedActivation &activation,
             ThreadPool *pool,
             void *scratch);

// The kernel that a plan uses, for reports.
const char *ConvKernelName(const gemm::ConvPlan &plan);

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_CONV_RUN_H_
