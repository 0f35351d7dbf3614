// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Both operands are computed; a product with a constant matrix is
// FullyConnected.

#include <memory>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/op_plans.h"
#include "mace/ops/matmul/matmul_schema.h"

namespace mace {
namespace {

class MatMulOp final : public CpuOp {
 public:
  MaceStatus InitOp(InitContext *context) override {
    attributes_ = context->AttributesAs<MatMulAttributes>();
    products_ =
        matmul::MakeFloat(ChooseMatrixArithmetic(*context, isa()), isa());
    return MaceStatus();
  }

  MaceStatus Plan(PlanContext *context) override {
    matmul::Sizes sizes;
    const Tensor &a = *context->input(kMatMulAInput);
    const Tensor &b = *context->input(kMatMulBInput);
    matmul::SizesOf(a.shape, b.shape, attributes_.transpose_a,
                    attributes_.transpose_b, &sizes);
    sizes.a_type = ElementOf(a.data_type);
    sizes.b_type = ElementOf(b.data_type);
    sizes.c_type = ElementOf(float_type());
    MatMulOpPlan::Make(*products_, sizes, context);
    return MaceStatus();
  }

  MaceStatus Run(RunContext *context) const override {
    matmul::Args args;
    args.a = context->input(kMatMulAInput)->data;
    args.b = context->input(kMatMulBInput)->data;
    args.c = context->output(kMatMulOutputOutput)->data;
    context->PlanAs<MatMulOpPlan>().Run(args, context);
    return MaceStatus();
  }

 private:
  MatMulAttributes attributes_;
  std::unique_ptr<matmul::Strategy> products_;
};

MACE_REGISTER_OP(MatMul, CPU, MatMulOp);

}  // namespace
}  // namespace mace
