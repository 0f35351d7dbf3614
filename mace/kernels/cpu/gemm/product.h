// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Products of two computed matrices in float. Each task packs the part of B
// that it needs, or uses it in place, so that B is read once and no second
// matrix of its size is written.
//
// A task computes a range of columns. Tasks are independent and together
// compute every output once. Results do not depend on the number of tasks.

#ifndef MACE_KERNELS_CPU_GEMM_PRODUCT_H_
#define MACE_KERNELS_CPU_GEMM_PRODUCT_H_

#include <cstddef>
#include <cstdint>

#include "mace/kernels/cpu/gemm/few_rows.h"
#include "mace/kernels/cpu/gemm/gemm.h"
#include "mace/kernels/cpu/gemm/pack.h"

namespace mace::gemm {

// A: [rows][depth]. B: [depth][columns], or transposed [columns][depth]. All
// positive.
struct ProductShape {
  size_t rows = 0;
  size_t depth = 0;
  size_t columns = 0;
  bool transposed_b = false;
};

struct ProductKernels {
  const Arithmetic *gemm = nullptr;
  const FewRowsKernels *few_rows = nullptr;
  TransposeFunction transpose = nullptr;  // PackArgs::transpose
};

struct ProductPlan {
  ProductShape shape;
  ProductKernels kernels;
  // kNone: there are so many rows that packing all of B once is faster
  // (conv/direct.h).
  enum class Kind { kNone, kFewRows, kPacks } kind = Kind::kNone;
  size_t task_columns = 0;  // a multiple of kPanelColumns
  size_t tasks = 0;
  size_t scratch_bytes = 0;  // for each task that runs at the same time
};

// `threads` threads will run `products` products of this shape.
ProductPlan PlanProduct(const ProductShape &shape,
                        const ProductKernels &kernels,
                        int64_t products,
                        int threads);

struct ProductArgs {
  const float *a = nullptr;
  const float *b = nullptr;
  float *c = nullptr;  // [rows][columns]
};

// scratch: plan.scratch_bytes, 64-byte aligned, used only by this call.
void RunProductTask(const ProductPlan &plan,
                    const ProductArgs &args,
                    size_t task,
                    void *scratch);

}  // namespace mace::gemm

#endif  // MACE_KERNELS_CPU_GEMM_PRODUCT_H_
