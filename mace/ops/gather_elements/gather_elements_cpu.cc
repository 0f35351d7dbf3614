// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/gather_elements/gather_elements_schema.h"

namespace mace {

namespace {

// Where the rows of the indices read: a row is along the last axis.
struct Walk {
  const int32_t *index;
  Shape indices;
  Shape params;
  size_t axis;
  int64_t stride;  // of the axis in params, in elements

  int64_t columns() const { return indices.back(); }
  int64_t length() const { return params[axis]; }

  // The first element of params for row `row`, at index 0 of the axis.
  int64_t Base(int64_t row) const {
    int64_t base = 0;
    int64_t step = params.back();
    for (size_t i = indices.rank() - 1; i-- > 0;) {
      if (i != axis) base += row % indices[i] * step;
      row /= indices[i];
      step *= params[i];
    }
    return base;
  }
};

template <typename T>
void GatherRow(const Walk &walk, int64_t row, const T *params, T *output) {
  const int64_t columns = walk.columns();
  const int32_t *index = walk.index + row * columns;
  const T *base = params + walk.Base(row);
  const int64_t step = walk.axis + 1 == walk.indices.rank() ? 0 : 1;
  T *to = output + row * columns;
  for (int64_t i = 0; i < columns; ++i) {
    const int64_t at = index[i] < 0 ? index[i] + walk.length() : index[i];
    to[i] = base[at * walk.stride + i * step];
  }
}

class GatherElementsOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<GatherElementsAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *params = context->input(kGatherElementsParamsInput);
    const Tensor *indices = context->input(kGatherElementsIndicesInput);
    if (indices->elements() == 0) return MaceStatus();
    Walk walk;
    walk.index = indices->As<int32_t>();
    walk.indices = indices->shape;
    walk.params = params->shape;
    walk.axis =
        static_cast<size_t>(params->shape.NormalizeAxis(attributes_.axis));
    walk.stride = params->shape.Elements(walk.axis + 1, params->shape.rank());
    const int64_t length = walk.length();
    for (int64_t i = 0; i < indices->elements(); ++i) {
      if (walk.index[i] < -length || walk.index[i] >= length) {
        return Invalid("index ", walk.index[i], " is not within [", -length,
                       ", ", length, ") of axis ", walk.axis, " of params");
      }
    }
    const size_t size = DataTypeSize(params->data_type);
    const void *from = params->data;
    void *to = context->output(0)->data;
    context->thread_pool()->ParallelFor(
        indices->elements() / walk.columns(), RowGrain(4 * walk.columns()),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t row = begin; row < end; ++row) {
            switch (size) {
              case 1:
                GatherRow(walk, row, static_cast<const uint8_t *>(from),
                          static_cast<uint8_t *>(to));
                break;
              case 2:
                GatherRow(walk, row, static_cast<const uint16_t *>(from),
                          static_cast<uint16_t *>(to));
                break;
              default:
                GatherRow(walk, row, static_cast<const uint32_t *>(from),
                          static_cast<uint32_t *>(to));
            }
          }
        });
    return MaceStatus();
  }

 private:
  GatherElementsAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(GatherElements, CPU, GatherElementsOp);

}  // namespace mace
