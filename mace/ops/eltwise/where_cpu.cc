// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/eltwise/where_schema.h"

namespace mace {
namespace {

constexpr size_t kOperands = 3;  // condition, a, b

// The loops, with as few axes as possible. Strides count elements; 0 repeats.
struct Loops {
  size_t rank = 0;
  int64_t dims[Shape::kMaxRank] = {};
  int64_t strides[kOperands][Shape::kMaxRank] = {};
};

// Both values have 4 bytes, whatever their type is. A stride is 0 or 1:
// constant strides let the compiler vectorise, and so does reading both values:
// y is the memory of one of them or overlaps none.
template <bool kCondition, bool kA, bool kB>
void Choose(const uint8_t *condition,
            const uint32_t *a,
            const uint32_t *b,
            int64_t count,
            uint32_t *y) {
  const uint8_t first_condition = *condition;
  const uint32_t first_a = *a;
  const uint32_t first_b = *b;
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t chosen = kCondition ? condition[i] : first_condition;
    const uint32_t own_a = kA ? a[i] : first_a;
    const uint32_t own_b = kB ? b[i] : first_b;
    y[i] = chosen != 0 ? own_a : own_b;
  }
}

using ChooseFunction = void (*)(
    const uint8_t *, const uint32_t *, const uint32_t *, int64_t, uint32_t *);
// Indexed by condition * 4 + a * 2 + b.
constexpr ChooseFunction kChoose[] = {
    &Choose<false, false, false>, &Choose<false, false, true>,
    &Choose<false, true, false>,  &Choose<false, true, true>,
    &Choose<true, false, false>,  &Choose<true, false, true>,
    &Choose<true, true, false>,   &Choose<true, true, true>,
};

// The length of an axis of the output.
int64_t DimOf(const Shape &shape, size_t axis, size_t rank) {
  const size_t missing = rank - shape.rank();
  return axis < missing ? 1 : shape[axis - missing];
}

Loops LoopsOf(const Tensor *const *inputs, const Shape &output) {
  // From the innermost axis on; an axis is joined to the one inside it if every
  // operand is contiguous there.
  Loops inner;  // in reverse
  for (size_t axis = output.rank(); axis-- > 0;) {
    if (output[axis] == 1) continue;
    int64_t strides[kOperands];
    bool joins = inner.rank > 0;
    for (size_t i = 0; i < kOperands; ++i) {
      const Shape &shape = inputs[i]->shape;
      const bool repeats = DimOf(shape, axis, output.rank()) == 1;
      const size_t own = axis + shape.rank() - output.rank();
      strides[i] = repeats ? 0 : shape.Elements(own + 1, shape.rank());
      if (inner.rank > 0) {
        const size_t before = inner.rank - 1;
        joins &= strides[i] == inner.strides[i][before] * inner.dims[before];
      }
    }
    if (joins) {
      inner.dims[inner.rank - 1] *= output[axis];
      continue;
    }
    for (size_t i = 0; i < kOperands; ++i) {
      inner.strides[i][inner.rank] = strides[i];
    }
    inner.dims[inner.rank++] = output[axis];
  }
  if (inner.rank == 0) {  // one element
    inner.rank = 1;
    inner.dims[0] = 1;
  }
  Loops loops;
  loops.rank = inner.rank;
  for (size_t k = 0; k < inner.rank; ++k) {
    const size_t from = inner.rank - 1 - k;
    loops.dims[k] = inner.dims[from];
    for (size_t i = 0; i < kOperands; ++i) {
      loops.strides[i][k] = inner.strides[i][from];
    }
  }
  return loops;
}

// The runs of equal elements of a constant condition, in which whole runs are
// copied and neither the condition nor the other value is read: masks of
// attention and triangles have long ones.
class Runs {
 public:
  // Elements of a run, on average, from which on copies are faster.
  static constexpr int64_t kLong = 64;

  // Leaves none if they are short.
  void Find(const uint8_t *condition, int64_t elements, int64_t width) {
    int64_t count = 0;
    for (int64_t i = 0; i < elements; ++i) {
      count += i % width == 0 || Differs(condition, i) ? 1 : 0;
    }
    if (count * kLong > elements) return;
    ends_.reserve(static_cast<size_t>(count));
    for (int64_t i = 1; i <= elements; ++i) {
      if (i == elements || i % width == 0 || Differs(condition, i)) {
        ends_.push_back(i);
      }
    }
  }
  bool empty() const { return ends_.empty(); }

  // The end of the run that has this element; faster if `before` is the end of
  // the run before it.
  const int64_t *EndOf(int64_t element, const int64_t *before) const {
    if (before != nullptr && *before == element && before != &ends_.back()) {
      return before + 1;
    }
    return std::upper_bound(ends_.data(), ends_.data() + ends_.size(), element);
  }

 private:
  static bool Differs(const uint8_t *condition, int64_t i) {
    return (condition[i] != 0) != (condition[i - 1] != 0);
  }

  std::vector<int64_t> ends_;  // in order
};

// Copies a run, or repeats one element if the stride is 0. x may be y.
void CopyRun(const uint32_t *x, int64_t stride, int64_t count, uint32_t *y) {
  if (stride == 1) {
    const auto bytes = static_cast<size_t>(count) * sizeof(uint32_t);
    if (x != y) std::memcpy(y, x, bytes);
    return;
  }
  const uint32_t value = *x;
  if (value == 0) {
    std::memset(y, 0, static_cast<size_t>(count) * sizeof(uint32_t));
    return;
  }
#pragma clang loop vectorize(assume_safety)
  for (int64_t i = 0; i < count; ++i) y[i] = value;
}

class WherePlan final : public OpPlan {
 public:
  // `condition`: null if it is not known before the run.
  WherePlan(const Loops &loops, const Tensor *condition) : loops_(loops) {
    if (condition != nullptr && loops.strides[0][loops.rank - 1] == 1) {
      runs_.Find(condition->As<uint8_t>(), condition->elements(), width());
    }
  }

  int64_t width() const { return loops_.dims[loops_.rank - 1]; }
  ChooseFunction choose() const {
    const size_t last = loops_.rank - 1;
    return kChoose[loops_.strides[0][last] * 4 + loops_.strides[1][last] * 2 +
                   loops_.strides[2][last]];
  }

  // The positions of the operands of an output.
  void Locate(int64_t row, int64_t column, int64_t (&at)[kOperands]) const {
    const size_t last = loops_.rank - 1;
    for (size_t i = 0; i < kOperands; ++i) {
      at[i] = column * loops_.strides[i][last];
    }
    for (size_t k = last; k-- > 0;) {
      for (size_t i = 0; i < kOperands; ++i) {
        at[i] += row % loops_.dims[k] * loops_.strides[i][k];
      }
      row /= loops_.dims[k];
    }
  }

  bool has_runs() const { return !runs_.empty(); }
  // Computes `count` outputs of a row from their positions on. Returns the end
  // of the last run, and takes what the call before has returned.
  const int64_t *CopyRuns(const uint8_t *condition,
                          const uint32_t *a,
                          const uint32_t *b,
                          const int64_t (&at)[kOperands],
                          int64_t count,
                          uint32_t *y,
                          const int64_t *run) const {
    const size_t last = loops_.rank - 1;
    const int64_t a_stride = loops_.strides[kWhereAInput][last];
    const int64_t b_stride = loops_.strides[kWhereBInput][last];
    const int64_t end = at[kWhereConditionInput] + count;
    for (int64_t i = 0; i < count;) {
      const int64_t element = at[kWhereConditionInput] + i;
      run = runs_.EndOf(element, run);
      const int64_t size = std::min(*run, end) - element;
      if (condition[element] != 0) {
        CopyRun(a + at[kWhereAInput] + i * a_stride, a_stride, size, y + i);
      } else {
        CopyRun(b + at[kWhereBInput] + i * b_stride, b_stride, size, y + i);
      }
      i += size;
    }
    return run;
  }

 private:
  Loops loops_;
  Runs runs_;
};

class WhereOp final : public CpuOp {
 public:
  MaceStatus Plan(PlanContext *context) override {
    const Tensor *inputs[kOperands];
    for (size_t i = 0; i < kOperands; ++i) inputs[i] = context->input(i);
    const Shape &output = context->output(0)->shape;
    const Tensor *condition = inputs[kWhereConditionInput];
    const bool is_known = condition->is_constant && output.Elements() > 0;
    context->Keep(std::make_unique<WherePlan>(LoopsOf(inputs, output),
                                              is_known ? condition : nullptr));
    if (inputs[kWhereAInput]->shape == output) {
      context->AllowInPlace(0, kWhereAInput);
    }
    if (inputs[kWhereBInput]->shape == output) {
      context->AllowInPlace(0, kWhereBInput);
    }
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const auto *condition = context->input(kWhereConditionInput)->As<uint8_t>();
    const auto *a = context->input(kWhereAInput)->As<uint32_t>();
    const auto *b = context->input(kWhereBInput)->As<uint32_t>();
    auto *y = context->output(0)->MutableAs<uint32_t>();
    const auto &plan = context->PlanAs<WherePlan>();
    const int64_t width = plan.width();
    const ChooseFunction choose = plan.choose();
    context->thread_pool()->ParallelFor(
        context->output(0)->elements(), kElementGrain,
        [&](int64_t begin, int64_t end, int /*thread*/) {
          const int64_t *run = nullptr;
          while (begin < end) {
            // Some columns of one row.
            const int64_t column = begin % width;
            const int64_t count = std::min(end - begin, width - column);
            int64_t at[kOperands];
            plan.Locate(begin / width, column, at);
            if (plan.has_runs()) {
              run = plan.CopyRuns(condition, a, b, at, count, y + begin, run);
            } else {
              choose(condition + at[0], a + at[1], b + at[2], count, y + begin);
            }
            begin += count;
          }
        });
    return MaceStatus();
  }
};

MACE_REGISTER_OP(Where, CPU, WhereOp);

}  // namespace
}  // namespace mace
