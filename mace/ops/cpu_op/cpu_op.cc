// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"

#include <algorithm>
#include <cstdint>

#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace {
namespace {

class CpuSignatureContext final : public SignatureContext {
 public:
  explicit CpuSignatureContext(const InitContext &context)
      : context_(context) {}

  Precision precision() const override { return context_.hints().precision; }
  const OperatorDef &def() const override { return context_.def(); }
  const Tensor *constant(size_t input) const override {
    return context_.constant(input);
  }
  bool HasKernels(const char *family) const override {
    return HalfKernelsExist(family, context_.isa(), precision());
  }

 private:
  const InitContext &context_;
};

}  // namespace

MaceStatus CpuOp::Init(const OpSchema &schema, InitContext *context) {
  name_ = context->def().name;
  type_ = context->def().type;
  isa_ = context->isa();
  if (isa_ == CpuIsa::kNone) {
    return NotSupported("this processor has none of the instruction sets ",
                        kCpuIsaNames);
  }
  signature_ = FindSignature(schema, CPU, CpuSignatureContext(*context));
  if (signature_ != nullptr && !signature_->follows_inputs) {
    float_type_ = StorageType(context->hints().precision);
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
