// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef MACE_RUNTIMES_CPU_TENSOR_PARTS_H_
#define MACE_RUNTIMES_CPU_TENSOR_PARTS_H_

#include <cstdint>
#include <vector>

#include "mace/runtimes/cpu/cpu_plan.h"

namespace mace {

// The position of a tensor inside another one, in bytes.
struct TensorPart {
  int owner = -1;  // tensor index; -1: not a part of another tensor
  int64_t offset = 0;
  int64_t run = 0;
  int64_t stride = 0;
};

// Decides which tensors are computed directly in their part of a wider tensor;
// one entry per tensor. An owner may itself be a part. Tensors in the caller's
// buffers (`external`) are neither parts nor owners.
std::vector<TensorPart> FindParts(const CpuPlan &plan,
                                  const std::vector<char> &external);

}  // namespace mace

#endif  // MACE_RUNTIMES_CPU_TENSOR_PARTS_H_
