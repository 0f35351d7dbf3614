// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/ops/corner_pool/corner_pool_schema.h"
#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {
namespace {

// Adjacent maxima per task if the axis is not the innermost one: 1 KiB on the
// stack, whole vectors on every ISA.
constexpr int64_t kColumnBlock = 256;

// The path along the axis, in elements.
struct Walk {
  int64_t length = 0;
  int64_t first = 0;
  int64_t step = 0;
};

// NaN wins, and stays.
inline float Larger(float most, float x) {
  return x > most || x != x ? x : most;
}

// Along the innermost axis. y may be x.
void PoolRow(const Walk &walk, const float *x, float *y) {
  float most = x[walk.first];
  int64_t at = walk.first;
  for (int64_t k = 0; k < walk.length; ++k, at += walk.step) {
    most = Larger(most, x[at]);
    y[at] = most;
  }
}

// Of `count` adjacent columns. y may be x.
void PoolColumns(const Walk &walk, const float *x, float *y, int64_t count) {
  float most[kColumnBlock];
  std::copy_n(x + walk.first, count, most);
  int64_t at = walk.first;
  for (int64_t k = 0; k < walk.length; ++k, at += walk.step) {
    for (int64_t i = 0; i < count; ++i) {
      most[i] = Larger(most[i], x[at + i]);
      y[at + i] = most[i];
    }
  }
}

class CornerPoolOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<CornerPoolAttributes>();
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    context->AllowInPlace(0, 0);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *input = context->input(kCornerPoolInputInput);
    const Shape &shape = input->shape;
    if (shape.Elements() == 0) return MaceStatus();
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    Walk walk;
    walk.length = shape[axis];
    walk.first = attributes_.reverse ? (walk.length - 1) * inner : 0;
    walk.step = attributes_.reverse ? -inner : inner;
    const float *x = input->As<float>();
    float *y = context->output(0)->MutableAs<float>();
    const int64_t blocks = (inner + kColumnBlock - 1) / kColumnBlock;
    context->thread_pool()->ParallelFor(
        shape.Elements(0, axis) * blocks,
        RowGrain(walk.length * std::min(inner, kColumnBlock)),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t column = item % blocks * kColumnBlock;
            const int64_t at = item / blocks * walk.length * inner + column;
            if (inner == 1) {
              PoolRow(walk, x + at, y + at);
            } else {
              PoolColumns(walk, x + at, y + at,
                          std::min(inner - column, kColumnBlock));
            }
          }
        });
    return MaceStatus();
  }

 private:
  CornerPoolAttributes attributes_;
};

MACE_REGISTER_OP(CornerPool, CPU, CornerPoolOp);

}  // namespace
}  // namespace mace
