// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of matrices, [..., M, K] by [..., K, N], in any arithmetic, behind
// one interface. An operator makes one strategy, and a plan of it for each
// shape. A plan is a value: running it changes nothing in it, so that several
// may run at the same time. Results have the same bits for any number of
// threads.

#ifndef MACE_KERNELS_CPU_MATMUL_MATMUL_H_
#define MACE_KERNELS_CPU_MATMUL_MATMUL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/shape.h"
#include "mace/core/base/thread_pool.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa.h"
#include "mace/kernels/cpu/matmul/matrix_batches.h"

namespace mace::matmul {

struct Sizes {
  MatrixBatches batches;
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  // Matrices are [K, M] and [N, K]; not of integers.
  bool transposed_a = false;
  bool transposed_b = false;
  int64_t a_matrices = 0;
  int64_t b_matrices = 0;

  int64_t Outputs() const { return batches.count * rows * columns; }
  int64_t Macs() const { return Outputs() * depth; }
};

// False if the operands cannot be multiplied.
bool SizesOf(const Shape &a,
             const Shape &b,
             bool transposed_a,
             bool transposed_b,
             Sizes *sizes);

// What is known of an operand of 8-bit integers.
struct Integers {
  bool is_unsigned = false;
  // Null for 0; else one zero point, or one for each row (A) or column (B).
  const uint8_t *zeros = nullptr;
  int64_t zero_count = 0;
};

struct Args {
  const void *a = nullptr;
  const void *b = nullptr;  // not read where the strategy has prepared it
  void *c = nullptr;        // overlaps nothing that is read
  Integers a_integers;
  Integers b_integers;
};

class Plan {
 public:
  virtual ~Plan() = default;

  // For reports.
  virtual std::string Name() const = 0;
  // 64-byte aligned.
  virtual size_t ScratchBytes(int threads) const = 0;
  virtual void Run(const Args &args, ThreadPool *pool, void *scratch) const = 0;
};

class Strategy {
 public:
  virtual ~Strategy() = default;
  // Bytes that a constant B of this shape takes in the order of use; 0: it is
  // used where it lies.
  virtual size_t PreparedBytes(const Shape &) const { return 0; }
  // Makes it, for all plans; `memory` (64-byte aligned) outlives them.
  virtual void Prepare(const Shape & /*shape*/,
                       const void * /*b*/,
                       bool /*is_unsigned*/,
                       void * /*memory*/,
                       ThreadPool * /*pool*/) {}
  // For sizes.Macs() > 0. The strategy outlives the plan.
  virtual std::unique_ptr<Plan> MakePlan(const Sizes &sizes,
                                         int threads) const = 0;
};

// A, B and C of float; `arithmetic` is of float or bf16.
std::unique_ptr<Strategy> MakeFloat(const gemm::Arithmetic *arithmetic,
                                    CpuIsa isa);
// A and B of 8-bit integers, C of int32; `arithmetic` is of int8.
std::unique_ptr<Strategy> MakeInteger(const gemm::Arithmetic *arithmetic);

}  // namespace mace::matmul

#endif  // MACE_KERNELS_CPU_MATMUL_MATMUL_H_
