// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/gather/one_hot_schema.h"

namespace mace {
namespace {

class OneHotOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<OneHotAttributes>();
    return MaceStatus();
  }

  // Both types of values have 4 bytes.
  MaceStatus Run(RunContext *context) const override {
    const auto *indices = context->input(kOneHotIndicesInput)->As<int32_t>();
    const auto *values = context->input(kOneHotValuesInput)->As<uint32_t>();
    auto *y = context->output(0)->MutableAs<uint32_t>();
    const int64_t depth = attributes_.depth;
    const Shape &shape = context->output(0)->shape;
    const auto axis =
        static_cast<size_t>(shape.NormalizeAxis(attributes_.axis));
    // Indices after the new axis.
    const int64_t inner = shape.Elements(axis + 1, shape.rank());
    const bool wrap = attributes_.wrap;
    const uint32_t off = values[0];
    const uint32_t on = values[1];
    const int64_t size = depth * inner;
    if (context->output(0)->elements() == 0) return MaceStatus();
    context->thread_pool()->ParallelFor(
        context->output(0)->elements() / size, RowGrain(size),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t outer = begin; outer < end; ++outer) {
            uint32_t *to = y + outer * size;
            std::fill(to, to + size, off);
            for (int64_t i = 0; i < inner; ++i) {
              int64_t index = indices[outer * inner + i];
              if (wrap && index < 0) index += depth;
              if (index >= 0 && index < depth) to[index * inner + i] = on;
            }
          }
        });
    return MaceStatus();
  }

 private:
  OneHotAttributes attributes_;
};

MACE_REGISTER_OP(OneHot, CPU, OneHotOp);

}  // namespace
}  // namespace mace
