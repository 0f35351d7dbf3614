// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/gemm/product.h"

#include <algorithm>

#include "mace/core/base/aligned_memory.h"

namespace mace::gemm {
namespace {

// The packed columns of a task stay in L2 while they are multiplied by the
// rows, and so should the rows.
constexpr size_t kPackedBytes = 256 * 1024;
constexpr size_t kRowBytes = 1024 * 1024;
constexpr size_t kGroupColumns = kMaxGroupPanels * kPanelColumns;
// The least number of multiply-adds for which using another thread is
// worthwhile.
constexpr size_t kWorthwhile = 256 * 1024;
constexpr size_t kPartsPerThread = 4;

size_t DivideUp(size_t a, size_t b) { return (a + b - 1) / b; }

ProductPlan::Kind ChooseKind(const ProductShape &s) {
  if (s.rows <= (s.transposed_b ? kFewRowsTransposed : kFewRows)) {
    return ProductPlan::Kind::kFewRows;
  }
  return s.rows * s.depth * sizeof(float) <= kRowBytes
             ? ProductPlan::Kind::kPacks
             : ProductPlan::Kind::kNone;
}

// Row pointers follow the packed columns.
size_t PackedBytes(const ProductPlan &p) {
  return AlignUp(PackedFloats(p.shape.depth, p.task_columns) * sizeof(float));
}

}  // namespace

ProductPlan PlanProduct(const ProductShape &shape,
                        const ProductKernels &kernels,
                        int64_t products,
                        int threads) {
  ProductPlan p;
  p.shape = shape;
  p.kernels = kernels;
  p.kind = ChooseKind(shape);
  if (p.kind == ProductPlan::Kind::kNone) return p;
  const size_t groups = DivideUp(shape.columns, kGroupColumns);
  size_t task_groups = groups;
  if (p.kind == ProductPlan::Kind::kPacks) {
    const size_t fit =
        kPackedBytes / (shape.depth * kGroupColumns * sizeof(float));
    task_groups = std::min(groups, std::max<size_t>(1, fit));
  }
  const size_t wanted =
      threads <= 1 ? 1 : static_cast<size_t>(threads) * kPartsPerThread;
  const size_t parts = DivideUp(wanted, static_cast<size_t>(products));
  const size_t group_work = shape.rows * shape.depth * kGroupColumns;
  task_groups = std::min(
      task_groups,
      std::max(DivideUp(groups, parts), DivideUp(kWorthwhile, group_work)));
  p.task_columns = task_groups * kGroupColumns;
  p.tasks = DivideUp(shape.columns, p.task_columns);
  if (p.kind == ProductPlan::Kind::kPacks) {
    p.scratch_bytes = PackedBytes(p) + AlignUp(shape.rows * sizeof(float *));
  }
  return p;
}

void RunProductTask(const ProductPlan &plan,
                    const ProductArgs &args,
                    size_t task,
                    void *scratch) {
  const ProductShape &s = plan.shape;
  const size_t begin = task * plan.task_columns;
  const size_t end = std::min(s.columns, begin + plan.task_columns);
  if (plan.kind == ProductPlan::Kind::kFewRows) {
    FewRows product;
    product.a = args.a;
    product.rows = s.rows;
    product.depth = s.depth;
    product.b = args.b;
    product.b_stride = s.transposed_b ? s.depth : s.columns;
    product.column_begin = begin;
    product.column_end = end;
    product.c = args.c;
    product.c_stride = s.columns;
    const FewRowsKernels &kernels = *plan.kernels.few_rows;
    (s.transposed_b ? kernels.run_transposed : kernels.run)(product);
    return;
  }
  float *packed = static_cast<float *>(scratch);
  const void **rows = reinterpret_cast<const void **>(
      static_cast<char *>(scratch) + PackedBytes(plan));
  PackArgs pack;
  pack.depth = s.depth;
  pack.columns = end - begin;
  pack.depth_stride = s.transposed_b ? 1 : s.columns;
  pack.column_stride = s.transposed_b ? s.depth : 1;
  pack.b = args.b + begin * pack.column_stride;
  pack.transpose = plan.kernels.transpose;
  PackPanels(pack, 0, PanelCount(pack.columns), packed);
  for (size_t m = 0; m < s.rows; ++m) rows[m] = args.a + m * s.depth;
  Block block;
  block.a = rows;
  block.rows = s.rows;
  block.depth = s.depth;
  block.w = packed;
  block.columns = pack.columns;
  block.panel_end = PanelCount(pack.columns);
  block.c = args.c + begin;
  block.c_stride = s.columns;
  plan.kernels.gemm->run(block);
}

}  // namespace mace::gemm
