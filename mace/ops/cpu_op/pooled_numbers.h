// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Quantized numbers of 8 and of 16 bits, for operators that find the sums or
// the largest ones of windows: Pooling and Reduce.

#ifndef MACE_OPS_CPU_OP_POOLED_NUMBERS_H_
#define MACE_OPS_CPU_OP_POOLED_NUMBERS_H_

#include <cstdint>

#include "mace/core/model/quantization.h"
#include "mace/kernels/cpu/pool/int16_pool.h"
#include "mace/kernels/cpu/pool/quantized_pool.h"
#include "mace/ops/cpu_op/quantized_tensor.h"

namespace mace {

struct PooledBytes {
  using Element = uint8_t;
  using Real = float;
  using Params = pool::QuantizedParams;
  using Kernels = pool::QuantizedKernels;
  // So that sums of them do not exceed int32.
  static constexpr int64_t kMostElements = INT32_MAX / 255;

  static const Kernels *KernelsFor(CpuIsa isa) {
    return pool::QuantizedKernelsFor(isa);
  }
  static void SetMasks(const QuantizedSide &from,
                       const QuantizedSide &to,
                       Params *params) {
    params->x_mask = from.mask();
    params->y_mask = to.mask();
  }
};

struct PooledInt16 {
  using Element = int16_t;
  using Real = double;
  using Params = pool::Int16Params;
  using Kernels = pool::Int16Kernels;
  static constexpr int64_t kMostElements = pool::kMostInt16Elements;

  static const Kernels *KernelsFor(CpuIsa isa) {
    return pool::Int16KernelsFor(isa);
  }
  static void SetMasks(const QuantizedSide & /*from*/,
                       const QuantizedSide & /*to*/,
                       Params * /*params*/) {}
};

// From steps of the input to those of the output. `Numbers`: one of these.
template <typename Numbers>
typename Numbers::Real RatioOfScales(const Tensor &input,
                                     const Tensor &output) {
  using Real = typename Numbers::Real;
  return static_cast<Real>(input.quantization->scales[0]) /
         static_cast<Real>(output.quantization->scales[0]);
}

// All but the scale.
template <typename Numbers>
typename Numbers::Params PoolParams(const Tensor &input, const Tensor &output) {
  const QuantizedSide from = KernelSide(input);
  const QuantizedSide to = KernelSide(output);
  typename Numbers::Params params;
  Numbers::SetMasks(from, to, &params);
  params.x_zero = from.zero;
  params.zero = to.zero;
  params.low = to.least;
  params.high = to.most;
  return params;
}

}  // namespace mace

#endif  // MACE_OPS_CPU_OP_POOLED_NUMBERS_H_
