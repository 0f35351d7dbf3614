// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/base/precision.h"

namespace mace {
namespace {

struct Spelling {
  const char *data_type;
  Precision precision;
};

constexpr Spelling kSpellings[] = {
    {"fp32_fp32", Precision::kFloat32},  {"fp16_fp32", Precision::kFloat32},
    {"bf16_fp32", Precision::kFloat32},  {"fp16_fp16", Precision::kFloat16},
    {"bf16_bf16", Precision::kBfloat16},
};

}  // namespace

Result<Precision> ParsePrecision(const std::string &data_type) {
  if (data_type.empty()) return Precision::kFloat32;
  std::string known;
  for (const Spelling &spelling : kSpellings) {
    if (data_type == spelling.data_type) return spelling.precision;
    known += known.empty() ? "" : ", ";
    known += spelling.data_type;
  }
  return Unsupported("this library does not support the model's data_type '",
                     data_type, "'; it supports ", known);
}

bool HasHalfStorage(const std::string &data_type) {
  return data_type == "fp16_fp32";
}

}  // namespace mace
