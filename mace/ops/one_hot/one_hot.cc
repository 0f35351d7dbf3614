// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/one_hot/one_hot_schema.h"

namespace mace {
namespace {

class OneHotOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    return attributes_.Parse(context->def());
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor &indices = *context->input(kOneHotIndicesInput);
    const Tensor &values = *context->input(kOneHotValuesInput);
    if (values.shape != Shape{2}) {
      return Invalid("values has shape ", values.shape.ToString(),
                     "; expected [2]: elsewhere, at the index");
    }
    const auto rank = static_cast<int64_t>(indices.shape.rank());
    if (rank + 1 > static_cast<int64_t>(Shape::kMaxRank)) {
      return Invalid("the output would have ", rank + 1,
                     " dimensions; at most ", Shape::kMaxRank,
                     " are supported");
    }
    const int64_t axis = attributes_.axis;
    if (axis < -rank - 1 || axis > rank) {
      return Invalid("axis ", axis, " is not within [", -rank - 1, ", ", rank,
                     "] for indices of shape ", indices.shape.ToString());
    }
    const auto at = static_cast<size_t>(axis < 0 ? axis + rank + 1 : axis);
    Shape output(indices.shape.begin(), at);
    output.Append(attributes_.depth);
    for (size_t i = at; i < indices.shape.rank(); ++i) {
      output.Append(indices.shape[i]);
    }
    return SetOutput(context, 0, output, values.data_type);
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
    // Indices behind the new axis.
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
