// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/gather/gather_schema.h"

#include <cstring>

#include "mace/ops/cpu_op/cpu_op.h"

namespace mace {

namespace {

class GatherOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<GatherAttributes>();
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor *params = context->input(kGatherParamsInput);
    const Tensor *indices = context->input(kGatherIndicesInput);
    const int32_t *index = indices->As<int32_t>();
    const int64_t count = indices->elements();
    const auto axis =
        static_cast<size_t>(params->shape.NormalizeAxis(attributes_.axis));
    const int64_t length = params->shape[axis];
    for (int64_t i = 0; i < count; ++i) {
      if (index[i] < -length || index[i] >= length) {
        return Invalid("index ", index[i], " is not within [", -length, ", ",
                       length, ") of axis ", axis, " of params");
      }
    }
    const int64_t outer = params->shape.Elements(0, axis);
    const int64_t block =
        params->shape.Elements(axis + 1, params->shape.rank()) *
        static_cast<int64_t>(DataTypeSize(params->data_type));
    if (block == 0) return MaceStatus();
    const uint8_t *source = params->As<uint8_t>();
    uint8_t *target = context->output(0)->MutableAs<uint8_t>();
    context->thread_pool()->ParallelFor(
        outer * count, RowGrain(block / 4),
        [=](int64_t begin, int64_t end, int /*thread*/) {
          for (int64_t item = begin; item < end; ++item) {
            const int64_t at = index[item % count];
            const int64_t row =
                item / count * length + (at < 0 ? at + length : at);
            std::memcpy(target + item * block, source + row * block,
                        static_cast<size_t>(block));
          }
        });
    return MaceStatus();
  }

 private:
  GatherAttributes attributes_;
};

}  // namespace

MACE_REGISTER_OP(Gather, CPU, GatherOp);

}  // namespace mace
