// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/divide.h"
#include "mace/kernels/cpu/transpose/transpose.h"

#include <algorithm>
#include <memory>

#include "mace/ops/cpu_op/copy.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/transpose/transpose_schema.h"

namespace mace {

namespace {

// About this many elements of a matrix per task; both sides in whole tiles.
constexpr int64_t kBlockElements = 16384;
constexpr int64_t kSideBlock = 64;
// Results from here on go to memory: few caches hold more, so that little of
// them would be found there by the next operator.
constexpr int64_t kLarge = int64_t{8} << 20;

// How many of the n elements of a side belong to a task if the other side has
// `other` elements.
int64_t BlockOf(int64_t n, int64_t other) {
  const int64_t wanted = kBlockElements / std::min(other, kSideBlock);
  return std::min(n, DivideUp(wanted, kSideBlock) * kSideBlock);
}

// The output's axes with the input's strides in elements, without axes of
// length 1; adjacent axes that stay adjacent are joined.
class TransposePlan final : public OpPlan {
 public:
  TransposePlan(const Shape &shape, const AttributeList<int64_t> &perm) {
    for (const int64_t axis : perm) {
      const int64_t dim = shape[axis];
      const int64_t stride = shape.Elements(axis + 1, shape.rank());
      if (dim == 1) continue;
      const size_t last = view_.rank - 1;
      if (view_.rank > 0 && view_.strides[last] == dim * stride) {
        view_.dims[last] *= dim;
        view_.strides[last] = stride;
        continue;
      }
      view_.dims[view_.rank] = dim;
      view_.strides[view_.rank] = stride;
      ++view_.rank;
    }
  }

  const StridedView &view() const { return view_; }

 private:
  StridedView view_;
};

class TransposeOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    kernels_ = transpose::KernelsFor(isa());
    attributes_ = context->AttributesAs<TransposeAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->Keep(std::make_unique<TransposePlan>(
        context->input(kTransposeInputInput)->shape, attributes_.perm));
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override;

 private:
  // The innermost axis of the input is axis `unit_axis` of the output, and not
  // its last one: transposes matrices of that axis and the last one, one for
  // each position of the others. An element has `size` bytes.
  void RunMatrices(RunContext *context, size_t unit_axis, int64_t size) const;

  TransposeAttributes attributes_;
  const transpose::Kernels *kernels_ = nullptr;
};

void TransposeOp::RunMatrices(RunContext *context,
                              size_t unit_axis,
                              int64_t size) const {
  const StridedView &view = context->PlanAs<TransposePlan>().view();
  const size_t last = view.rank - 1;
  int64_t out_strides[Shape::kMaxRank];
  int64_t outer = 1;
  int64_t stride = 1;
  for (size_t i = view.rank; i-- > 0;) {
    out_strides[i] = stride;
    stride *= view.dims[i];
    if (i != last && i != unit_axis) outer *= view.dims[i];
  }
  const int64_t rows = view.dims[last];
  const int64_t columns = view.dims[unit_axis];
  const int64_t row_block = BlockOf(rows, columns);
  const int64_t row_blocks = DivideUp(rows, row_block);
  const int64_t column_block = BlockOf(columns, row_block);
  const int64_t column_blocks = DivideUp(columns, column_block);
  const bool to_memory = size == 4 && kernels_->matrix32_to_memory != nullptr &&
                         context->output(0)->bytes() >= kLarge;
  const transpose::Matrix matrix = to_memory
                                       ? kernels_->matrix32_to_memory
                                       : transpose::MatrixOf(*kernels_, size);
  const uint8_t *x = context->input(0)->As<uint8_t>();
  uint8_t *y = context->output(0)->MutableAs<uint8_t>();
  context->thread_pool()->ParallelFor(
      outer * row_blocks * column_blocks, RowGrain(row_block * column_block),
      [&](int64_t begin, int64_t end, int /*thread*/) {
        for (int64_t item = begin; item < end; ++item) {
          const int64_t row = item % row_blocks * row_block;
          const int64_t column =
              item / row_blocks % column_blocks * column_block;
          int64_t rest = item / (row_blocks * column_blocks);
          int64_t from = column + row * view.strides[last];
          int64_t to = column * out_strides[unit_axis] + row;
          for (size_t i = last; i-- > 0;) {
            if (i == unit_axis) continue;
            from += rest % view.dims[i] * view.strides[i];
            to += rest % view.dims[i] * out_strides[i];
            rest /= view.dims[i];
          }
          matrix(x + from * size, static_cast<size_t>(view.strides[last]),
                 y + to * size, static_cast<size_t>(out_strides[unit_axis]),
                 static_cast<size_t>(std::min(rows - row, row_block)),
                 static_cast<size_t>(std::min(columns - column, column_block)));
        }
      });
}

MaceStatus TransposeOp::Run(RunContext *context) const {
  const Tensor *input = context->input(kTransposeInputInput);
  Tensor *output = context->output(0);
  if (output->elements() == 0) return MaceStatus();
  const auto size = static_cast<int64_t>(DataTypeSize(input->data_type));
  StridedView view = context->PlanAs<TransposePlan>().view();
  for (size_t i = 0; i + 1 < view.rank; ++i) {
    if (view.strides[i] == 1) {
      RunMatrices(context, i, size);
      return MaceStatus();
    }
  }
  // The innermost axis stays the innermost one: its runs are blocks.
  view.block = size;
  if (view.rank > 0) view.block *= view.dims[--view.rank];
  for (size_t i = 0; i < view.rank; ++i) view.strides[i] *= size;
  CopyStrided(context->thread_pool(), view, input->As<uint8_t>(),
              output->MutableAs<uint8_t>());
  return MaceStatus();
}

}  // namespace

MACE_REGISTER_OP(Transpose, CPU, TransposeOp);

}  // namespace mace
