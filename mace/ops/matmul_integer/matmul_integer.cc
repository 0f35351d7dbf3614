// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>

#include "mace/ops/cpu_op/cpu_op.h"
#include "mace/ops/epilogue/arithmetic_choice.h"
#include "mace/ops/epilogue/matmul_op_plan.h"
#include "mace/ops/matmul_integer/matmul_integer_schema.h"

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
    if (b == nullptr || b->shape.rank() < 2 || b->elements() == 0) {
      return MaceStatus();  // InferShapes looks at the shape
    }
    const size_t bytes = products_->PreparedBytes(b->shape);
    void *memory = context->AllocatePrepared(bytes);
    if (memory == nullptr) {
      return OutOfResources("operator '", name(),
                            "' (MatMulInteger): no memory for ", bytes,
                            " bytes of its constant b in the order of use");
    }
    products_->Prepare(b->shape, b->data, b->data_type == DataType::kUint8,
                       memory, context->thread_pool());
    return MaceStatus();
  }

  MaceStatus InferShapes(ShapeContext *context) const override {
    const Tensor &a = *context->input(kMatMulIntegerAInput);
    const Tensor &b = *context->input(kMatMulIntegerBInput);
    matmul::Sizes sizes;
    if (!matmul::SizesOf(a.shape, b.shape, false, false, &sizes)) {
      return Invalid("cannot multiply ", a.shape.ToString(), " by ",
                     b.shape.ToString(),
                     "; expected [..., M, K] and [..., K, N] with batch "
                     "dimensions that broadcast");
    }
    MACE_RETURN_IF_ERROR(CheckZero(
        context->input(kMatMulIntegerAZeroPointInput), a, "a", sizes.rows));
    MACE_RETURN_IF_ERROR(CheckZero(
        context->input(kMatMulIntegerBZeroPointInput), b, "b", sizes.columns));
    return SetOutput(context, kMatMulIntegerOutputOutput,
                     matmul::OutputShape(sizes), DataType::kInt32);
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
  MaceStatus CheckZero(const Tensor *zero,
                       const Tensor &operand,
                       const char *which,
                       int64_t length) const {
    if (zero == nullptr) return MaceStatus();
    if (zero->data_type != operand.data_type) {
      return Invalid(which, " is ", DataTypeName(operand.data_type),
                     " but its zero point is ", DataTypeName(zero->data_type));
    }
    const bool one = zero->elements() == 1 && zero->shape.rank() <= 1;
    if (one || zero->shape == Shape{length}) return MaceStatus();
    return NotSupported("the zero point of ", which, " has shape ",
                        zero->shape.ToString(), "; expected one number or [",
                        length, "]");
  }

  std::unique_ptr<matmul::Strategy> products_;
};

MACE_REGISTER_OP(MatMulInteger, CPU, MatMulIntegerOp);

}  // namespace
}  // namespace mace
