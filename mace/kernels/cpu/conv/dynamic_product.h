// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of float matrices with weights of 8 bits, for which every run
// quantizes the matrix: its rows become 8-bit integers, which `dynamic_gemm.h`
// multiplies. The arithmetic is specified in docs/reference/quantization.md.

#ifndef MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_
#define MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mace/kernels/cpu/conv/strategy.h"
#include "mace/kernels/cpu/gemm/dynamic_gemm.h"

namespace mace::conv {

// What rows have a scale and a zero point for: each for itself, or all for the
// whole matrix.
enum class QuantizedRange { kRow, kTensor };

struct DynamicRequest {
  ptrdiff_t rows = 0;  // none is 0
  ptrdiff_t depth = 0;
  ptrdiff_t columns = 0;
  QuantizedRange range = QuantizedRange::kRow;
  CpuIsa isa = CpuIsa::kNone;
  const Arithmetic *arithmetic = nullptr;  // dynamic
  // The values of the columns; rows are set by each run. It and its memory must
  // outlive the plan.
  const gemm::Dequantization *columns_of = nullptr;
  int threads = 1;
};

// Args of its runs: input is [rows][depth] of float, weights are panels of
// PACKED_N16_FOURS; Epilogue::bias is not read.
std::unique_ptr<Plan> MakeDynamicProduct(const DynamicRequest &request);

// Dequantization::least_weight of `count` weights: INT8_MIN without a look at
// them if the kernels of that instruction set do not read it.
int32_t LeastWeight(CpuIsa isa, const int8_t *weights, size_t count);

}  // namespace mace::conv

#endif  // MACE_KERNELS_CPU_CONV_DYNAMIC_PRODUCT_H_
