// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The host's side of mace/kernels/opencl/quantization.clh.

#ifndef MACE_OPS_OPENCL_OP_GPU_QUANTIZATION_H_
#define MACE_OPS_OPENCL_OP_GPU_QUANTIZATION_H_

#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {

struct QuantizationPorts {
  size_t input;
  size_t scale;
  size_t zero;  // may be absent
};

// QUANTIZATION_ARGS, and its macro. `axis` may be negative; it is ignored if
// there is one scale.
void AddQuantization(const OpenclPlanContext &context,
                     const QuantizationPorts &ports,
                     int64_t axis,
                     Launch *launch);

}  // namespace mace

#endif  // MACE_OPS_OPENCL_OP_GPU_QUANTIZATION_H_
