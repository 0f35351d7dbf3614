// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/numeric_check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "mace/runtimes/opencl/run/caller_memory.h"
#include "mace/runtimes/opencl/run/tensor_copy.h"

namespace mace {
namespace {

// The first element that is not finite; the number of elements if all are.
size_t FirstNotFinite(const std::vector<float> &values) {
  size_t i = 0;
  while (i < values.size() && std::isfinite(values[i])) ++i;
  return i;
}

// "[0, 3, 5, 1]"
std::string Position(const Shape &shape, size_t element) {
  std::string text;
  auto rest = static_cast<int64_t>(element);
  for (size_t axis = static_cast<size_t>(shape.rank()); axis-- > 0;) {
    const std::string index = std::to_string(rest % shape[axis]);
    text = text.empty() ? index : index + ", " + text;
    rest /= shape[axis];
  }
  return "[" + text + "]";
}

// What to do where half is not enough.
constexpr const char *kHalfRemedy =
    "half holds no numbers between 0 and 6e-8 nor above 65504: convert the "
    "model with data_type: fp32_fp32";

bool IsFinite(float value) { return std::isfinite(value); }

bool AllFinite(const HostTensor &tensor, int64_t elements) {
  const auto *bits = static_cast<const uint16_t *>(tensor.data);
  const auto below = [&](uint16_t exponent) {
    return std::all_of(bits, bits + elements, [exponent](uint16_t value) {
      return (value & exponent) != exponent;
    });
  };
  switch (tensor.data_type) {
    case DataType::kFloat32: {
      const auto *values = static_cast<const float *>(tensor.data);
      return std::all_of(values, values + elements, IsFinite);
    }
    case DataType::kFloat16:
      return below(0x7c00);
    case DataType::kBfloat16:
      return below(0x7f80);
    default:
      return true;
  }
}

// Empty if the tensor of the plan has no floats.
Result<std::vector<float>> FloatsOf(const BoundPlan &plan, int tensor) {
  const StoredTensor stored = plan.StoredAt(tensor);
  std::vector<float> values;
  if (stored.memory == nullptr ||
      HostElement(stored.storage) != DataType::kFloat32) {
    return std::move(values);
  }
  const GpuQueues &queues = *plan.partition()->queues();
  std::vector<uint8_t> bytes;
  MACE_RETURN_IF_ERROR(
      ReadTensor(queues.api(), queues.queue(), stored, &bytes));
  values.resize(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return std::move(values);
}

// `launch` wrote the tensor of the plan; null: it was copied to the GPU.
MaceStatus CheckTensor(const BoundPlan &bound,
                       int tensor,
                       const PlannedLaunch *launch) {
  const ShapedPartition &partition = *bound.partition();
  const GpuTensor &entry = bound.plan().tensors[tensor];
  if (entry.id < 0) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                        FloatsOf(bound, tensor));
  const size_t bad = FirstNotFinite(values);
  if (bad == values.size()) return MaceStatus();
  const Tensor &value = partition.tensor(entry.id);
  const auto before =
      static_cast<size_t>(entry.first_row * entry.dims.w * entry.dims.c);
  const std::string found =
      MakeString(values[bad], " at ", Position(value.shape, before + bad),
                 " of '", value.name, "' ", InsideText(value.shape));
  if (launch == nullptr) {
    return RuntimeError("an input already contains NaN or infinity: ", found);
  }
  const OperatorDef &def = *partition.graph().nodes()[launch->nodes.back()].def;
  const GpuStorage storage = bound.plan().Root(tensor).storage;
  const bool half = StorageElement(storage) == DataType::kFloat16;
  return RuntimeError(
      "operator '", def.name, "' (", def.type,
      ") is the first that produces NaN or infinity: ", found, ", by kernel ",
      launch->launch.kernel(), " in ", StorageText(storage),
      half ? MakeString("; ", kHalfRemedy, ", or run this part on the CPU")
           : std::string("; all its inputs are finite"));
}

}  // namespace

NanSearch::NanSearch(const ShapedPartition &partition)
    : partition_(partition),
      may_fail_(partition.options().traits.half_storage &&
                !partition.options().check_numerics) {}

void NanSearch::Begin() {
  if (!may_fail_ || state_ == State::kFoundNone) state_ = State::kDone;
  imports_finite_ = true;
}

void NanSearch::NoteImport(int tensor, const HostTensor &from) {
  if (state_ == State::kDone || !imports_finite_ || InGpuMemory(from)) return;
  imports_finite_ = AllFinite(from, partition_.tensor(tensor).elements());
}

// The caller's memory on the GPU still has what the run read; of others, the
// host had it. False if one has no elements: means of nothing are NaN.
Result<bool> NanSearch::ImportsAreFinite(const BoundPlan &bound) const {
  if (!imports_finite_) return false;
  const OpenclPlan &plan = bound.plan();
  for (const PartitionSpec::Border &border : partition_.spec().imports) {
    if (partition_.tensor(border.tensor).elements() == 0) return false;
    const int tensor = plan.tensor_of[border.tensor];
    if (tensor < 0 || plan.Root(tensor).caller != border.tensor) continue;
    MACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                          FloatsOf(bound, tensor));
    if (!std::all_of(values.begin(), values.end(), IsFinite)) return false;
  }
  return true;
}

MaceStatus NanSearch::CheckExport(const BoundPlan &bound,
                                  int tensor,
                                  const void *copied) {
  if (state_ == State::kDone) return MaceStatus();
  const int index = bound.plan().tensor_of[tensor];
  const Tensor &value = partition_.tensor(tensor);
  if (value.data_type != DataType::kFloat32) return MaceStatus();
  const auto is_nan = [](float v) { return std::isnan(v); };
  int64_t found = 0;
  if (bound.plan().Root(index).caller == tensor) {
    MACE_ASSIGN_OR_RETURN(const std::vector<float> values,
                          FloatsOf(bound, index));
    found = std::count_if(values.begin(), values.end(), is_nan);
  } else {
    const auto *values = static_cast<const float *>(copied);
    if (values == nullptr) return MaceStatus();
    found = std::count_if(values, values + value.elements(), is_nan);
  }
  state_ = State::kFoundNone;
  if (found == 0) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(const bool finite, ImportsAreFinite(bound));
  if (!finite) return MaceStatus();
  state_ = State::kWanted;
  return RuntimeError("'", value.name, "' ", InsideText(value.shape), " has ",
                      found, " NaN although all inputs are finite; ",
                      kHalfRemedy);
}

MaceStatus RunChecked(BoundPlan *bound, size_t segment) {
  const OpenclPlan &plan = bound->plan();
  for (const PartitionSpec::Border &border :
       bound->partition()->spec().imports) {
    const int tensor = plan.tensor_of[border.tensor];
    if (border.segment != segment || tensor < 0) continue;
    MACE_RETURN_IF_ERROR(CheckTensor(*bound, tensor, nullptr));
  }
  for (size_t i = plan.begin[segment]; i < plan.begin[segment + 1]; ++i) {
    MACE_RETURN_IF_ERROR(bound->commands()->RunLaunch(i));
    const PlannedLaunch &launch = plan.launches[i];
    const auto &arguments = launch.launch.arguments();
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (arguments[k].kind != LaunchArgument::Kind::kOutput) continue;
      MACE_RETURN_IF_ERROR(CheckTensor(*bound, launch.tensors[k], &launch));
    }
  }
  return MaceStatus();
}

}  // namespace mace
