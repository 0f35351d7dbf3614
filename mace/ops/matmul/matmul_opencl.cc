// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/ops/matmul/matmul_cl.h"
#include "mace/ops/matmul/matmul_schema.h"
#include "mace/ops/opencl_op/opencl_op.h"

namespace mace {
namespace {

// The batch dimensions of the product, innermost first, with the steps of the
// operands' batches; neighbours are joined where both operands allow it.
struct Batches {
  static constexpr size_t kMost = 4;
  size_t rank = 0;
  int64_t sizes[Shape::kMaxRank];
  int64_t a_steps[Shape::kMaxRank];
  int64_t b_steps[Shape::kMaxRank];

  void Append(int64_t size, int64_t a_step, int64_t b_step) {
    if (rank > 0) {
      const size_t last = rank - 1;
      if (size == 1) return;
      if (sizes[last] == 1) {
        rank = last;
      } else if (a_step == sizes[last] * a_steps[last] &&
                 b_step == sizes[last] * b_steps[last]) {
        sizes[last] *= size;
        return;
      }
    }
    sizes[rank] = size;
    a_steps[rank] = a_step;
    b_steps[rank] = b_step;
    ++rank;
  }
};

Batches BatchesOf(const Shape &a, const Shape &b, const Shape &output) {
  Batches batches;
  batches.Append(1, 0, 0);
  int64_t a_step = 1;
  int64_t b_step = 1;
  for (size_t back = 3; back <= output.rank(); ++back) {
    const int64_t a_size = back <= a.rank() ? a[a.rank() - back] : 1;
    const int64_t b_size = back <= b.rank() ? b[b.rank() - back] : 1;
    batches.Append(output[output.rank() - back], a_size == 1 ? 0 : a_step,
                   b_size == 1 ? 0 : b_step);
    a_step *= a_size;
    b_step *= b_size;
  }
  for (size_t i = batches.rank; i < Batches::kMost; ++i) {
    batches.sizes[i] = 1;
    batches.a_steps[i] = batches.b_steps[i] = 0;
  }
  return batches;
}

// Work groups that share tiles of the operands in local memory.
struct Tiling {
  int64_t group;    // items on a side
  int64_t repeats;  // blocks of an item on a side
  int64_t slices;   // of K
  int64_t side() const { return group * repeats * 4; }
};

struct Product {
  int64_t m;
  int64_t n;
  int64_t k;
  int64_t batches;
};

// Null if an item of its own for each few elements is better.
//
// The larger a tile, the less is read; but every compute unit needs several
// groups, to have something to do while one of them waits. These numbers of
// groups were the best ones on an H200, for products of 16 to 4096 rows.
const Tiling *ChooseTiling(const GpuTraits &gpu, const Product &product) {
  static constexpr struct {
    Tiling tiling;
    double groups;  // at least, per compute unit
    int64_t k;      // at least
  } kChoices[] = {
      {{16, 2, 1}, 0.9, 0}, {{8, 2, 1}, 1.8, 0}, {{8, 1, 1}, 4, 0},
      {{8, 1, 4}, 0, 64},   {{8, 1, 1}, 0, 0},
  };
  constexpr int64_t kDepth = 16;  // DEPTH in matmul.cl
  // Local memory of these is memory like any other.
  if (gpu.family == GpuFamily::kMali) return nullptr;
  for (const auto &choice : kChoices) {
    const Tiling &tiling = choice.tiling;
    const int64_t side = tiling.side();
    const auto local =
        static_cast<size_t>(2 * kDepth * (side + 4) * 4 * tiling.slices);
    const auto items =
        static_cast<size_t>(tiling.group * tiling.group * tiling.slices);
    if (local > gpu.local_bytes || items > gpu.max_work_group) continue;
    // Most of a tile should be there.
    if (2 * product.m < side || 2 * product.n < side) continue;
    const int64_t groups =
        DivideUp(product.m, side) * DivideUp(product.n, side) * product.batches;
    if (static_cast<double>(groups) >= choice.groups * gpu.compute_units &&
        product.k >= choice.k) {
      return &tiling;
    }
  }
  return nullptr;
}

// The items of a work group without tiles, for each part of K.
constexpr int64_t kWidth = 8;

// Into how many parts K is cut without tiles, where `items` compute the product
// otherwise: enough items that compute units need not wait for what they read.
int64_t SlicesOf(const GpuTraits &gpu, int64_t k, int64_t items) {
  constexpr int64_t kSlices = 16;
  constexpr int64_t kEnoughItems = 256;  // per compute unit
  const bool fits = gpu.max_work_group >= kWidth * kSlices &&
                    gpu.local_bytes >= kWidth * kSlices * 4 * sizeof(float[4]);
  const bool worth =
      k >= 4 * 4 * kSlices && items < kEnoughItems * gpu.compute_units;
  return fits && worth ? kSlices : 1;
}

class MatMulOpencl final : public OpenclOp {
 public:
  NumberRange Range(const OpenclPlanContext &) const override {
    return NumberRange::Of(NumberRange::Result::kLinear);
  }
  MaceStatus Plan(OpenclPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<MatMulAttributes>();
    const Shape &a = context->input(kMatMulAInput)->shape;
    const Shape &b = context->input(kMatMulBInput)->shape;
    const Shape &output = context->output(0)->shape;
    const Batches batches = BatchesOf(a, b, output);
    if (batches.rank > Batches::kMost) {
      return Unsupported("it takes at most ", Batches::kMost,
                         " batch dimensions that broadcast in turns");
    }
    const int64_t m = output[output.rank() - 2];
    const int64_t n = output.back();
    const int64_t k = a[a.rank() - (attributes.transpose_a ? 2 : 1)];
    const int64_t count = output.Elements(0, output.rank() - 2);
    const Tiling *const tiling = ChooseTiling(context->gpu(), {m, n, k, count});
    Launch launch(kMatmulCl, tiling != nullptr ? "matmul_tiled" : "matmul");
    if (attributes.transpose_a) launch.Define("TRANSPOSE_A");
    if (attributes.transpose_b) launch.Define("TRANSPOSE_B");
    const int64_t *sizes = batches.sizes;
    const int64_t *a_steps = batches.a_steps;
    const int64_t *b_steps = batches.b_steps;
    launch.Input("a", kMatMulAInput)
        .Input("b", kMatMulBInput)
        .Output("output")
        .Ints(m, n, k, 0)
        .Ints(a.rank() == 2, b.rank() == 2, output.rank() == 2, 0)
        .Ints(sizes[0], sizes[1], sizes[2], sizes[3])
        .Ints(a_steps[0], a_steps[1], a_steps[2], a_steps[3])
        .Ints(b_steps[0], b_steps[1], b_steps[2], b_steps[3]);
    if (tiling != nullptr) {
      launch.Define("GROUP", tiling->group)
          .Define("REPEATS", tiling->repeats)
          .Define("SLICES", tiling->slices)
          .Items(DivideUp(n, tiling->side()) * tiling->group,
                 DivideUp(m, tiling->side()) * tiling->group,
                 count * tiling->slices)
          .WorkGroup(tiling->group, tiling->group, tiling->slices);
    } else {
      const int64_t rows = m == 1 ? 1 : 4;
      const int64_t columns = DivideUp(n, 4);
      const int64_t slices =
          SlicesOf(context->gpu(), k, columns * DivideUp(m, rows) * count);
      launch.Define("ROWS", rows)
          .Define("SLICES", slices)
          .Items(columns, DivideUp(m, rows), count * slices);
      if (slices > 1) {
        launch.Define("WIDTH", kWidth).WorkGroup(kWidth, 1, slices);
      }
    }
    context->Add(std::move(launch));
    return MaceStatus();
  }
};

MACE_REGISTER_OP(MatMul, GPU, MatMulOpencl);

}  // namespace
}  // namespace mace
