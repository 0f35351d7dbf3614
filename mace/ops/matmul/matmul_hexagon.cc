// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/model/quantized_checks.h"
#include "mace/kernels/hexagon/packing.h"
#include "mace/ops/hexagon_op/hexagon_op.h"
#include "mace/ops/hexagon_op/tables.h"
#include "mace/ops/matmul/matmul_schema.h"

namespace mace {
namespace {

class HexagonMatMulOp final : public HexagonOp {
 public:
  MaceStatus Plan(HexagonPlanContext *context) const override {
    const auto &attributes = context->AttributesAs<MatMulAttributes>();
    if (attributes.transpose_a) {
      return Unsupported("its first matrix is not transposed");
    }
    const HexagonDims a = context->InputDims(kMatMulAInput);
    const HexagonDims b = context->InputDims(kMatMulBInput);
    const HexagonDims y = context->OutputDims(kMatMulOutputOutput);
    if (a.channels == 0) return Unsupported("its sums have no terms");
    for (const HexagonDims &dims : {a, b}) {
      if ((dims.batch != y.batch && dims.batch != 1) ||
          (dims.height != y.height && dims.height != 1)) {
        return Unsupported(
            "it does not repeat matrices along some of several leading axes");
      }
    }
    const HexagonNumbers p = context->InputNumbers(kMatMulAInput);
    const HexagonNumbers q = context->InputNumbers(kMatMulBInput);
    hexagon::MultiplyMatricesParameters product = {};
    product.multiplier =
        p.scale * q.scale / context->OutputNumbers(kMatMulOutputOutput).scale;
    MACE_RETURN_IF_ERROR(CheckHexagonMultiplier(product.multiplier));
    product.a = context->Input(kMatMulAInput);
    product.b = context->Input(kMatMulBInput);
    product.output = context->Output(kMatMulOutputOutput);
    product.packed =
        context->Scratch(hexagon::PackedMatrixBytes(a.channels, y.channels));
    product.transpose_b = attributes.transpose_b ? 1 : 0;
    context->Add(product);
    return MaceStatus();
  }

  HexagonReport Report(const HexagonPlanContext &context) const override {
    return {context.output(kMatMulOutputOutput)->elements() *
                context.InputDims(kMatMulAInput).channels,
            {}};
  }
};

MACE_REGISTER_QUANTIZED_OP(MatMul, HEXAGON, HexagonMatMulOp);

}  // namespace
}  // namespace mace
