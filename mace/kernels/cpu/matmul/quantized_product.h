// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of two computed matrices of 8-bit integers that end in 8 bits:
//
//   S[m, n] = sum over k of (A[m, k] - a_zero) * (B[k, n] - b_zero)
//   C[m, n] = clamp(round(float(S) * scale) + zero, low, high)
//
// in the arithmetic of gemm/quantized_gemm.h: the same bits on every
// instruction set, and for any number of threads.

#ifndef MACE_KERNELS_CPU_MATMUL_QUANTIZED_PRODUCT_H_
#define MACE_KERNELS_CPU_MATMUL_QUANTIZED_PRODUCT_H_

#include <cstdint>
#include <memory>

#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/matmul/matmul.h"

namespace mace::matmul {

struct QuantizedProduct {
  Sizes sizes;  // the types of elements make no difference
  // A and C as the arithmetic reads and writes them: uint8 on x86, int8 on ARM.
  int32_t a_zero = 0;
  // What makes the elements of B int8, by exclusive or: 0x80 if they are uint8.
  uint8_t b_flip = 0;
  int32_t b_zero = 0;  // of int8
  float scale = 0.0f;
  int32_t zero = 0;
  int32_t low = 0;
  int32_t high = 0;
};

// Requires sizes.Macs() > 0; `arithmetic` is "quantized", and has the kernels
// of `isa`. Args::a_integers and b_integers are not read.
std::unique_ptr<Plan> MakeQuantizedPlan(const QuantizedProduct &product,
                                        const gemm::Arithmetic *arithmetic,
                                        CpuIsa isa,
                                        int threads);

}  // namespace mace::matmul

#endif  // MACE_KERNELS_CPU_MATMUL_QUANTIZED_PRODUCT_H_
