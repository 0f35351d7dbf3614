// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"

#include <algorithm>
#include <cstdint>

namespace mace {

MaceStatus CpuOp::Init(InitContext *context) {
  name_ = context->def().name;
  type_ = context->def().type;
  isa_ = context->isa();
  if (isa_ == CpuIsa::kNone) {
    return NotSupported("this processor has none of the instruction sets ",
                        kCpuIsaNames);
  }
  return InitOp(context);
}

MaceStatus CpuOp::SetOutput(ShapeContext *context,
                            size_t index,
                            const Shape &shape,
                            DataType data_type) const {
  // What fits an index of this processor, in bytes of the widest type.
  constexpr int64_t kLimit =
      std::min<int64_t>(INT64_C(1) << 40, PTRDIFF_MAX / 8);
  if (shape.CheckedElements(kLimit) < 0) {
    return Invalid("output ", index, " would have the shape ", shape.ToString(),
                   ", which is too large");
  }
  context->SetOutput(index, shape, data_type);
  return MaceStatus();
}

}  // namespace mace
