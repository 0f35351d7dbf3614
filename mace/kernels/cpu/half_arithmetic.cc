// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/half_arithmetic.h"

namespace mace {

HalfArithmetic::Finder HalfArithmetic::finder_ = nullptr;

HalfTables HalfArithmetic::For(CpuIsa isa, const std::string &data_type) {
  if (finder_ == nullptr) return HalfTables();
  if (data_type == "fp16_fp16") return finder_(isa, Type::kFp16);
  if (data_type == "bf16_bf16") return finder_(isa, Type::kBf16);
  return HalfTables();
}

}  // namespace mace
