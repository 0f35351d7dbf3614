// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/opencl_op/stored_elements.h"

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

}  // namespace

void AddStoredElements(const GpuTraits &gpu,
                       const char *name,
                       size_t port,
                       Launch *launch) {
  launch->Define(std::string("T_") + name, gpu.half_storage ? "CH" : "CF")
      .Constant(name, port, gpu.half_storage ? kHalves : kFloats);
}

}  // namespace mace
