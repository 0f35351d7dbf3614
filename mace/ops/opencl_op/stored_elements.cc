// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/stored_elements.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "mace/core/base/half.h"

namespace mace {
namespace {

template <typename To, typename FromFloat, typename FromHalf>
MaceStatus MakeElements(const Tensor &constant,
                        FromFloat from_float,
                        FromHalf from_half,
                        MappedMemory *bytes) {
  const int64_t count = constant.elements();
  MACE_ASSIGN_OR_RETURN(To * to, AllocateForm<To>(constant, count, bytes));
  const bool is_half = constant.data_type == DataType::kFloat16;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = is_half ? from_half(constant.As<uint16_t>()[i])
                    : from_float(constant.As<float>()[i]);
  }
  return MaceStatus();
}

MaceStatus MakeHalves(const Tensor &constant, MappedMemory *bytes) {
  return MakeElements<uint16_t>(
      constant, FloatToHalf, [](uint16_t v) { return v; }, bytes);
}

MaceStatus MakeFloats(const Tensor &constant, MappedMemory *bytes) {
  return MakeElements<float>(
      constant, [](float v) { return v; }, HalfToFloat, bytes);
}

const ConstantForm kHalves = {"halves", MakeHalves};
const ConstantForm kFloats = {"floats", MakeFloats};

// Not if the largest number is infinite in half or has not all digits there.
// What becomes 0 otherwise is below 2^-11 of the largest, as is what half
// rounds. The converter has the same rule (fits, export/storage.py).
bool FitsHalf(const Tensor &constant) {
  if (constant.data_type == DataType::kFloat16) return true;
  if (HasBeyondHalf(&constant)) return false;
  const auto *values = constant.As<float>();
  float largest = 0;
  for (int64_t i = 0; i < constant.elements(); ++i) {
    largest = std::max(largest, std::fabs(values[i]));
  }
  return largest == 0 || largest >= kLeastNormalHalf;
}

}  // namespace

void AddStoredElements(const OpenclPlanContext &context,
                       const char *name,
                       size_t port,
                       Launch *launch) {
  const bool half =
      context.gpu().half_storage && FitsHalf(*context.input(port));
  launch->Define(std::string("T_") + name, half ? "CH" : "CF")
      .Constant(name, port, half ? kHalves : kFloats);
}

}  // namespace mace
