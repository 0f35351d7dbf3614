// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Matrix products, [..., M, K] by [..., K, N], in any arithmetic, behind one
// interface. An operator creates one strategy, and from it a plan for each
// shape. Running a plan does not change it, so that several can run at the same
// time. Results have the same bits for any number of threads.

#ifndef MACE_KERNELS_CPU_MATMUL_MATMUL_H_
#define MACE_KERNELS_CPU_MATMUL_MATMUL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/shape.h"
#include "mace/core/base/thread_pool.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/isa.h"

namespace mace::matmul {

// The batch dimensions of both operands, and the step of each operand per
// dimension.
struct MatrixBatches {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t a_step[Shape::kMaxRank] = {};  // in matrices; 0 where broadcast
  int64_t b_step[Shape::kMaxRank] = {};
  int64_t count = 1;
  bool b_shared = true;  // every batch multiplies the same B
};

// Returns false if the dimensions do not broadcast. Both operands have at least
// two dimensions.
inline bool BroadcastMatrices(const Shape &a,
                              const Shape &b,
                              MatrixBatches *batches) {
  const size_t a_rank = a.rank() - 2;
  const size_t b_rank = b.rank() - 2;
  *batches = MatrixBatches();
  batches->rank = std::max(a_rank, b_rank);
  int64_t a_size = 1;
  int64_t b_size = 1;
  for (size_t i = batches->rank; i-- > 0;) {
    const size_t from_end = batches->rank - i;
    const int64_t x = from_end <= a_rank ? a[a_rank - from_end] : 1;
    const int64_t y = from_end <= b_rank ? b[b_rank - from_end] : 1;
    if (x != y && x != 1 && y != 1) return false;
    batches->dims[i] = x == 1 ? y : x;
    batches->a_step[i] = x == 1 ? 0 : a_size;
    batches->b_step[i] = y == 1 ? 0 : b_size;
    a_size *= x;
    b_size *= y;
    batches->count *= batches->dims[i];
  }
  batches->b_shared = b_size == 1;
  return true;
}

// The index of the operand's matrix for batch `index`; `step` is that operand's
// step.
inline int64_t MatrixOfBatch(const MatrixBatches &batches,
                             const int64_t *step,
                             int64_t index) {
  int64_t matrix = 0;
  for (size_t i = batches.rank; i-- > 0;) {
    matrix += index % batches.dims[i] * step[i];
    index /= batches.dims[i];
  }
  return matrix;
}

struct Sizes {
  MatrixBatches batches;
  int64_t rows = 0;
  int64_t depth = 0;
  int64_t columns = 0;
  // If set, the matrices are [K, M] and [N, K]; not supported for integers.
  bool transposed_a = false;
  bool transposed_b = false;
  int64_t a_matrices = 0;
  int64_t b_matrices = 0;
  // Types of the operands and of C; with bf16 arithmetic, each may be kBf16.
  gemm::Element a_type = gemm::Element::kF32;
  gemm::Element b_type = gemm::Element::kF32;
  gemm::Element c_type = gemm::Element::kF32;

  int64_t Outputs() const { return batches.count * rows * columns; }
  int64_t Macs() const { return Outputs() * depth; }
};

// False if the operands cannot be multiplied.
bool SizesOf(const Shape &a,
             const Shape &b,
             bool transposed_a,
             bool transposed_b,
             Sizes *sizes);

// Properties of an operand of 8-bit integers.
struct Integers {
  bool is_unsigned = false;
  // Null means 0; otherwise one zero point, or one for each row (A) or column
  // (B).
  const uint8_t *zeros = nullptr;
  int64_t zero_count = 0;
};

struct Args {
  const void *a = nullptr;
  const void *b = nullptr;  // ignored if the strategy has B packed
  void *c = nullptr;        // must not overlap an input
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
  // All plans use this constant B of integers, of `shape`. `packed` has layout
  // PACKED_N16_FOURS, is 64-byte aligned and must outlive them.
  virtual void UsePacked(const Shape & /*shape*/, const void * /*packed*/) {}
  // Requires sizes.Macs() > 0. The strategy must outlive the plan.
  virtual std::unique_ptr<Plan> MakePlan(const Sizes &sizes,
                                         int threads) const = 0;
};

// A, B and C are float, or bf16 if `arithmetic` is bf16.
std::unique_ptr<Strategy> MakeFloat(const gemm::Arithmetic *arithmetic,
                                    CpuIsa isa);
// A and B are 8-bit integers, C is int32; `arithmetic` is int8.
std::unique_ptr<Strategy> MakeInteger(const gemm::Arithmetic *arithmetic);

}  // namespace mace::matmul

#endif  // MACE_KERNELS_CPU_MATMUL_MATMUL_H_
