// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/cpu_op/cpu_op.h"

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

}  // namespace mace
