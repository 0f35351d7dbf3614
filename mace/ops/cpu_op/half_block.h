// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// For operators that compute in float but have 16-bit activations
// (OpSignature::follows_inputs): they widen a block, compute, and narrow it, so
// that no float tensor is stored between operators.

#ifndef MACE_OPS_CPU_OP_HALF_BLOCK_H_
#define MACE_OPS_CPU_OP_HALF_BLOCK_H_

#include <algorithm>
#include <cstdint>

#include "mace/kernels/cpu/convert/convert.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

// Elements per block: 2 KiB of floats on the stack for each operand, which stay
// in L1.
inline constexpr int64_t kHalfBlock = 512;

// 16-bit activations, if the model uses them.
struct HalfActivations {
  const convert::HalfKernels *convert = nullptr;  // null: it does not use them

  static HalfActivations Of(const DeploymentHints &hints, CpuIsa isa) {
    switch (hints.precision) {
      case Precision::kFloat16:
        return {&convert::KernelsFor(isa)->f16};
      case Precision::kBfloat16:
        return {convert::Bf16ActivationsFor(isa)};
      default:
        return {};
    }
  }
};

inline bool IsHalf(DataType type) {
  return kHalfArithmeticExists &&
         (type == DataType::kFloat16 || type == DataType::kBfloat16);
}

inline bool IsBf16(DataType type) {
  return kBf16ArithmeticExists && type == DataType::kBfloat16;
}

// y[i] = f(x)[i] for i < count. `compute` is called with (offset, block, n) for
// every block, and replaces its n floats. y may equal x.
template <typename F>
void ForHalfBlocks(const convert::HalfKernels &kernels,
                   const uint16_t *x,
                   uint16_t *y,
                   int64_t count,
                   F &&compute) {
  alignas(64) float block[kHalfBlock];
  for (int64_t at = 0; at < count; at += kHalfBlock) {
    const int64_t left = std::min(kHalfBlock, count - at);
    const auto n = static_cast<size_t>(left);
    kernels.widen(x + at, block, n);
    compute(at, static_cast<float *>(block), n);
    kernels.narrow(block, y + at, n);
  }
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_HALF_BLOCK_H_
