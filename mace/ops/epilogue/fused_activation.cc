// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/epilogue/fused_activation.h"

#include <algorithm>
#include <limits>

namespace mace {

MaceStatus FusedActivation::Init(const OperatorDef &def,
                                 const activation::Params &params,
                                 CpuIsa isa) {
  params_ = params;
  switch (params.kind) {
    case activation::Kind::kNone:
      return MaceStatus();
    case activation::Kind::kRelu:
      clamp_ = true;
      high_ = std::numeric_limits<float>::infinity();
      return MaceStatus();
    case activation::Kind::kRelux:
      // Also catches NaN.
      if (!(params.limit >= 0.0f)) {
        return InvalidArgs("operator '", def.name, "' (", def.type,
                           "): activation_limit of RELUX is ", params.limit,
                           "; it must be 0 or more");
      }
      clamp_ = true;
      high_ = params.limit;
      return MaceStatus();
    default:
      kernels_ = activation::KernelsFor(isa);
      fp16_ = &convert::KernelsFor(isa)->f16;
      bf16_ = convert::Bf16ActivationsFor(isa);
      bf16_kernels_ = activation::Bf16KernelsFor(isa);
      return MaceStatus();
  }
}

void FusedActivation::Apply(float *result,
                            ptrdiff_t rows,
                            ptrdiff_t columns,
                            ptrdiff_t stride) const {
  if (kernels_ == nullptr) return;
  if (columns == stride) {
    columns *= rows;
    rows = 1;
  }
  for (ptrdiff_t row = 0; row < rows; ++row) {
    float *run = result + row * stride;
    kernels_->run(params_, run, run, static_cast<size_t>(columns));
  }
}

void FusedActivation::Apply(uint16_t *result,
                            DataType type,
                            ptrdiff_t rows,
                            ptrdiff_t columns,
                            ptrdiff_t stride) const {
  if (kernels_ == nullptr) return;
  if (columns == stride) {
    columns *= rows;
    rows = 1;
  }
  if (type == DataType::kBfloat16 && bf16_kernels_ != nullptr &&
      params_.kind == activation::Kind::kGelu) {
    for (ptrdiff_t row = 0; row < rows; ++row) {
      uint16_t *run = result + row * stride;
      bf16_kernels_->gelu(run, run, static_cast<size_t>(columns));
    }
    return;
  }
  constexpr ptrdiff_t kAtOnce = 512;
  float some[kAtOnce];
  const convert::HalfKernels &of =
      type == DataType::kBfloat16 ? *bf16_ : *fp16_;
  for (ptrdiff_t row = 0; row < rows; ++row) {
    for (ptrdiff_t at = 0; at < columns; at += kAtOnce) {
      uint16_t *run = result + row * stride + at;
      const auto count = static_cast<size_t>(std::min(kAtOnce, columns - at));
      of.widen(run, some, count);
      kernels_->run(params_, some, some, count);
      of.narrow(some, run, count);
    }
  }
}

void FusedActivation::ApplyTo(void *results,
                              gemm::Element type,
                              ptrdiff_t rows,
                              ptrdiff_t columns,
                              ptrdiff_t stride) const {
  if (type == gemm::Element::kF32) {
    Apply(static_cast<float *>(results), rows, columns, stride);
    return;
  }
  Apply(static_cast<uint16_t *>(results),
        type == gemm::Element::kF16 ? DataType::kFloat16 : DataType::kBfloat16,
        rows, columns, stride);
}

}  // namespace mace
