// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "mace/core/base/logging.h"
#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/matmul/matmul_integer_schema.h"

namespace mace {
namespace {

// `zero` may be null.
matmul::Integers IntegersOf(const Tensor &operand, const Tensor *zero) {
  matmul::Integers integers;
  integers.is_unsigned = operand.data_type == DataType::kUint8;
  if (zero == nullptr) return integers;
  integers.zeros = zero->As<uint8_t>();
  integers.zero_count = zero->elements();
  return integers;
}

class MatMulIntegerOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    MACE_ASSIGN_OR_RETURN(const gemm::Arithmetic *arithmetic,
                          ChooseIntegerArithmetic(*context, isa()));
    products_ = matmul::MakeInteger(arithmetic);
    const Tensor *b = context->constant(kMatMulIntegerBInput);
    if (b != nullptr && IsPacked(b->layout)) {
      products_->UsePacked(b->shape, b->data);
    } else if (b != nullptr) {
      LOG(WARNING) << context->def().name
                   << ": each run packs the constant b, because the model file "
                      "was written before format version 5; convert the model "
                      "again to make it faster";
    }
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    matmul::Sizes sizes;
    matmul::SizesOf(context->input(kMatMulIntegerAInput)->shape,
                    context->input(kMatMulIntegerBInput)->shape, false, false,
                    &sizes);
    MatMulOpPlan::Make(*products_, sizes, context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    const Tensor &a = *context->input(kMatMulIntegerAInput);
    const Tensor &b = *context->input(kMatMulIntegerBInput);
    matmul::Args args;
    args.a = a.data;
    args.b = b.data;
    args.c = context->output(kMatMulIntegerOutputOutput)->data;
    args.a_integers =
        IntegersOf(a, context->input(kMatMulIntegerAZeroPointInput));
    args.b_integers =
        IntegersOf(b, context->input(kMatMulIntegerBZeroPointInput));
    context->PlanAs<MatMulOpPlan>().Run(args, context);
    return MaceStatus();
  }

 private:
  std::unique_ptr<matmul::Strategy> products_;
};

MACE_REGISTER_OP(MatMulInteger, CPU, MatMulIntegerOp);

}  // namespace
}  // namespace mace
