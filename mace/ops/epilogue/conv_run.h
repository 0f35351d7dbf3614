// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Running a gemm::ConvPlan on a thread pool, for the operators that multiply.

#ifndef MACE_OPS_EPILOGUE_CONV_RUN_H_
#define MACE_OPS_EPILOGUE_CONV_RUN_H_

#include <cstddef>
#include <string>

#include "mace/core/op.h"
#include "mace/core/tensor.h"
#include "mace/core/thread_pool.h"
#include "mace/kernels/cpu/gemm/conv_gemm.h"
#include "mace/ops/epilogue/fused_activation.h"

namespace mace {

// Of a packed constant whose type the schema has checked.
gemm::WeightType PackedWeightType(const Tensor &weights);

// The kernels that compute in float with the weights at that input; UNSUPPORTED
// if the library was built without them.
Result<const gemm::Kernels *> KernelsOf(const InitContext &context,
                                        size_t input,
                                        CpuIsa isa);

// The kernels for bf16 if the weights at that input are made for them and the
// processor has such arithmetic; else null.
const gemm::HalfKernels *HalfKernelsOf(const InitContext &context,
                                       size_t input,
                                       CpuIsa isa);

// Whether activations are bf16 as well: where the deployment asks for bf16, the
// processor has the kernels and this library, which may lack the operator Cast,
// the rest. HalfUse::kComputes.
bool KeepsBf16(const InitContext &context,
               const gemm::HalfKernels *kernels,
               CpuIsa isa);

// Those for fp16 where the deployment asks for its arithmetic, the weights at
// that input are fp16 and the processor has it; else null. Activations are then
// fp16: HalfUse::kComputes.
const gemm::Fp16Kernels *Fp16KernelsOf(const InitContext &context,
                                       size_t input,
                                       CpuIsa isa);

// Where the activations of a product lie: of 16 bits if `half`, the input by
// its own type. Sets pointers, strides and bias; `bias` and `residual` may be
// null.
struct ConvTensors {
  const Tensor *input = nullptr;
  const Tensor *weights = nullptr;
  const Tensor *bias = nullptr;
  const Tensor *residual = nullptr;
  Tensor *output = nullptr;
};
gemm::ConvArgs MakeConvArgs(const ConvTensors &tensors, bool half);

// How the activations of a product are stored: `output` is bf16, float32 or, by
// other kernels, float16.
gemm::Stored StoredAs(DataType input, DataType output);

// Scratch for all threads of a pool; 64-byte aligned.
size_t ConvScratchBytes(const gemm::ConvPlan &plan, int threads);

// To a part of the output, of `type`, that is otherwise finished.
void ApplyActivation(const FusedActivation &activation,
                     const gemm::ConvArgs &args,
                     DataType type,
                     const gemm::ConvRegion &region);

// Every task of the plan, each followed by the activation. `scratch` holds
// ConvScratchBytes; the clamp of args.epilogue and args.staged are set here.
void RunConv(const gemm::ConvPlan &plan,
             const gemm::ConvArgs &args,
             const FusedActivation &activation,
             ThreadPool *pool,
             void *scratch);

// The same on the calling thread, with a plan and scratch for one.
void RunConvAlone(const gemm::ConvPlan &plan,
                  const gemm::ConvArgs &args,
                  const FusedActivation &activation,
                  void *scratch);

// The kernel that a plan uses, for reports.
std::string ConvKernelName(const gemm::ConvPlan &plan);

}  // namespace mace

#endif  // MACE_OPS_EPILOGUE_CONV_RUN_H_
