// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/reduce/integer_fold.h"
#include "mace/kernels/cpu/reduce/reduce.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/reduce/reduce.h"

namespace mace {

namespace {

// Kept columns per task: whole vectors on every ISA.
constexpr int64_t kColumnBlock = reduce::IntegerFold::kMostColumns;

// Several axes with their strides in the input, in elements.
struct Axes {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t strides[Shape::kMaxRank] = {};

  void Append(int64_t dim, int64_t stride) {
    dims[rank] = dim;
    strides[rank] = stride;
    ++rank;
  }
  int64_t Count() const {
    int64_t count = 1;
    for (size_t i = 0; i < rank; ++i) count *= dims[i];
    return count;
  }
  int64_t Offset(int64_t index) const {
    int64_t offset = 0;
    for (size_t i = rank; i-- > 0;) {
      offset += index % dims[i] * strides[i];
      index /= dims[i];
    }
    return offset;
  }
};

reduce::Fold FoldOf(ReduceMode mode) {
  switch (mode) {
    case ReduceMode::MAX:
      return reduce::Fold::kMax;
    case ReduceMode::MIN:
      return reduce::Fold::kMin;
    case ReduceMode::PROD:
      return reduce::Fold::kProduct;
    case ReduceMode::SUM_SQUARE:
    case ReduceMode::L2:
      return reduce::Fold::kSumSquare;
    case ReduceMode::MEAN:
    case ReduceMode::SUM:
      break;
  }
  return reduce::Fold::kSum;
}

// Which axes are reduced. Adjacent axes of the same kind are joined; the
// innermost ones are the rows that one call reduces, and their columns.
struct ReducePlan final : public OpPlan {
  ReducePlan(const Shape &shape, const bool (&folds)[Shape::kMaxRank]);

  int64_t folded_count = 1;  // elements per result
  Axes kept;                 // outer axes of the output
  Axes folded;               // outer axes that are folded
  int64_t inner_folded = 1;  // elements folded in one call: rows above
                             // columns, or a contiguous run if that is 1
  int64_t columns = 1;       // kept innermost elements
};

ReducePlan::ReducePlan(const Shape &shape,
                       const bool (&folds)[Shape::kMaxRank]) {
  struct Group {
    int64_t dim;
    bool fold;
  };
  Group groups[Shape::kMaxRank];
  size_t count = 0;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (folds[i]) folded_count *= shape[i];
    if (shape[i] == 1) continue;
    if (count > 0 && groups[count - 1].fold == folds[i]) {
      groups[count - 1].dim *= shape[i];
    } else {
      groups[count++] = {shape[i], folds[i]};
    }
  }
  int64_t stride = 1;
  if (count > 0 && !groups[count - 1].fold) columns = groups[--count].dim;
  stride *= columns;
  if (count > 0) {  // folded, since kinds alternate
    inner_folded = groups[--count].dim;
    stride *= inner_folded;
  }
  // Axes are stored outermost first, so strides are computed from the inside.
  int64_t strides[Shape::kMaxRank];
  for (size_t i = count; i-- > 0;) {
    strides[i] = stride;
    stride *= groups[i].dim;
  }
  for (size_t i = 0; i < count; ++i) {
    (groups[i].fold ? folded : kept).Append(groups[i].dim, strides[i]);
  }
}

class ReduceOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<ReduceAttributes>();
    kernels_ = reduce::KernelsFor(isa());
    fold_ = FoldOf(attributes_.mode);
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override;
  MaceStatus Run(RunContext *context) const override;

 private:
  // Computes results [begin, end) of the columns of one position of `kept`.
  void RunColumns(const ReducePlan &plan,
                  const float *x,
                  int64_t begin,
                  int64_t end,
                  float *y) const;
  void RunOne(const ReducePlan &plan, const float *x, float *y) const;
  // Likewise `columns` of integers from x on; false if int32 does not hold one.
  bool RunIntegers(const ReducePlan &plan,
                   const int32_t *x,
                   int64_t columns,
                   int32_t *y) const;
  void Finish(const ReducePlan &plan, float *y, int64_t count) const;

  ReduceAttributes attributes_;
  const reduce::Kernels *kernels_ = nullptr;
  reduce::Fold fold_ = reduce::Fold::kSum;
};

MaceStatus ReduceOp::Plan(PlanContext *context) {
  const Shape &shape = context->input(kReduceInputInput)->shape;
  bool folds[Shape::kMaxRank];
  MACE_RETURN_IF_ERROR(FindFolds(attributes_, shape, folds));
  context->Keep(std::make_unique<ReducePlan>(shape, folds));
  return MaceStatus();
}

void ReduceOp::Finish(const ReducePlan &plan, float *y, int64_t count) const {
  if (attributes_.mode == ReduceMode::MEAN) {
    const auto divisor = static_cast<float>(plan.folded_count);
    for (int64_t i = 0; i < count; ++i) y[i] /= divisor;
  } else if (attributes_.mode == ReduceMode::L2) {
    for (int64_t i = 0; i < count; ++i) y[i] = std::sqrt(y[i]);
  }
}

void ReduceOp::RunColumns(const ReducePlan &plan,
                          const float *x,
                          int64_t begin,
                          int64_t end,
                          float *y) const {
  std::fill(y + begin, y + end, reduce::Identity(fold_));
  const int64_t outer = plan.folded.Count();
  for (int64_t i = 0; i < outer; ++i) {
    kernels_->rows(fold_, x + plan.folded.Offset(i) + begin,
                   static_cast<size_t>(plan.columns),
                   static_cast<size_t>(plan.inner_folded),
                   static_cast<size_t>(end - begin), y + begin);
  }
  Finish(plan, y + begin, end - begin);
}

void ReduceOp::RunOne(const ReducePlan &plan, const float *x, float *y) const {
  *y = reduce::Identity(fold_);
  const int64_t outer = plan.folded.Count();
  for (int64_t i = 0; i < outer; ++i) {
    kernels_->row(fold_, x + plan.folded.Offset(i),
                  static_cast<size_t>(plan.inner_folded), y);
  }
  Finish(plan, y, 1);
}

bool ReduceOp::RunIntegers(const ReducePlan &plan,
                           const int32_t *x,
                           int64_t columns,
                           int32_t *y) const {
  reduce::IntegerFold fold(fold_);
  const int64_t outer = plan.folded_count == 0 ? 0 : plan.folded.Count();
  for (int64_t i = 0; i < outer; ++i) {
    fold.Rows(x + plan.folded.Offset(i), plan.columns, plan.inner_folded,
              columns);
  }
  return fold.Store(columns, y);
}

MaceStatus ReduceOp::Run(RunContext *context) const {
  const auto &plan = context->PlanAs<ReducePlan>();
  const Tensor *input = context->input(kReduceInputInput);
  Tensor *output = context->output(0);
  const int64_t elements = output->elements();
  if (elements == 0) return MaceStatus();
  const bool integers = output->data_type == DataType::kInt32;
  if (plan.folded_count == 0) {
    if (integers) {
      auto *y = output->MutableAs<int32_t>();
      for (int64_t at = 0; at < elements; at += kColumnBlock) {
        RunIntegers(plan, nullptr, std::min(kColumnBlock, elements - at),
                    y + at);
      }
    } else {
      auto *y = output->MutableAs<float>();
      std::fill(y, y + elements, reduce::Identity(fold_));
      Finish(plan, y, elements);  // a mean is 0 / 0
    }
    return MaceStatus();
  }
  ThreadPool *pool = context->thread_pool();
  if (plan.columns == 1 && !integers) {
    const float *x = input->As<float>();
    float *y = output->MutableAs<float>();
    pool->ParallelFor(plan.kept.Count(), RowGrain(plan.folded_count),
                      [&](int64_t begin, int64_t end, int /*thread*/) {
                        for (int64_t i = begin; i < end; ++i) {
                          RunOne(plan, x + plan.kept.Offset(i), y + i);
                        }
                      });
    return MaceStatus();
  }
  std::atomic<bool> fits{true};
  const int64_t blocks = (plan.columns + kColumnBlock - 1) / kColumnBlock;
  pool->ParallelFor(
      plan.kept.Count() * blocks,
      RowGrain(plan.folded_count * std::min(plan.columns, kColumnBlock)),
      [&](int64_t first, int64_t last, int /*thread*/) {
        for (int64_t item = first; item < last; ++item) {
          const int64_t begin = item % blocks * kColumnBlock;
          const int64_t end = std::min(plan.columns, begin + kColumnBlock);
          const int64_t from = plan.kept.Offset(item / blocks);
          const int64_t to = item / blocks * plan.columns;
          if (!integers) {
            RunColumns(plan, input->As<float>() + from, begin, end,
                       output->MutableAs<float>() + to);
          } else if (!RunIntegers(plan, input->As<int32_t>() + from + begin,
                                  end - begin,
                                  output->MutableAs<int32_t>() + to + begin)) {
            fits.store(false, std::memory_order_relaxed);
          }
        }
      });
  if (attributes_.wide && !fits.load()) return ExceedsInt32();
  return MaceStatus();
}

}  // namespace

MACE_REGISTER_OP(Reduce, CPU, ReduceOp);

}  // namespace mace
