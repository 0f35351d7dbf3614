// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The run that looks for NaN and infinity after each launch; and the search for
// NaN in the results of a first run with half storage.

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "mace/core/base/half.h"
#include "mace/runtimes/opencl/caller_memory.h"
#include "mace/runtimes/opencl/opencl_device.h"
#include "mace/runtimes/opencl/prepared_opencl.h"

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

}  // namespace

void PreparedOpencl::BeginNanSearch() {
  const OpenclPlanOptions &options = partition_->options();
  const bool may_fail = options.traits.half_storage && !options.check_numerics;
  if (!may_fail || nan_search_ == NanSearch::kFoundNone) {
    nan_search_ = NanSearch::kDone;
  }
  imports_finite_ = true;
}

void PreparedOpencl::NoteImport(int tensor, const HostTensor &from) {
  if (nan_search_ == NanSearch::kDone || !imports_finite_ ||
      InGpuMemory(from)) {
    return;
  }
  const Tensor &value = shapes_.tensors[static_cast<size_t>(tensor)];
  imports_finite_ = AllFinite(from, value.elements());
}

// The caller's memory on the GPU still has what the run read; of others, the
// host had it. False if one has no elements: means of nothing are NaN.
Result<bool> PreparedOpencl::ImportsAreFinite() {
  if (!imports_finite_) return false;
  for (const PartitionSpec::Border &border : partition_->spec().imports) {
    const Tensor &import = shapes_.tensors[static_cast<size_t>(border.tensor)];
    if (import.elements() == 0) return false;
    const int tensor = plan().tensor_of[border.tensor];
    if (tensor < 0 || plan().Root(tensor).caller != border.tensor) continue;
    MACE_ASSIGN_OR_RETURN(const std::vector<float> values, FloatsOf(tensor));
    if (!std::all_of(values.begin(), values.end(), IsFinite)) return false;
  }
  return true;
}

// Empty if the tensor has no floats.
Result<std::vector<float>> PreparedOpencl::FloatsOf(int tensor) {
  const StoredTensor stored = StoredAt(tensor);
  std::vector<float> values;
  if (stored.memory == nullptr ||
      HostElement(stored.storage) != DataType::kFloat32) {
    return std::move(values);
  }
  std::vector<uint8_t> bytes;
  MACE_RETURN_IF_ERROR(
      ReadTensor(api_, partition_->device()->queue(), stored, &bytes));
  values.resize(bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return std::move(values);
}

// Results that another device or the caller gets.
MaceStatus PreparedOpencl::CheckExport(int tensor) {
  if (nan_search_ == NanSearch::kDone) return MaceStatus();
  const int index = plan().tensor_of[tensor];
  const Tensor &value = shapes_.tensors[static_cast<size_t>(tensor)];
  if (value.data_type != DataType::kFloat32) return MaceStatus();
  const auto is_nan = [](float v) { return std::isnan(v); };
  int64_t found = 0;
  if (plan().Root(index).caller == tensor) {
    MACE_ASSIGN_OR_RETURN(const std::vector<float> values, FloatsOf(index));
    found = std::count_if(values.begin(), values.end(), is_nan);
  } else {
    const auto *values = static_cast<const float *>(staging_.At(tensor));
    if (values == nullptr) return MaceStatus();
    found = std::count_if(values, values + value.elements(), is_nan);
  }
  nan_search_ = NanSearch::kFoundNone;
  if (found == 0) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(const bool finite, ImportsAreFinite());
  if (!finite) return MaceStatus();
  nan_search_ = NanSearch::kWanted;
  return RuntimeError("'", value.name, "' ", InsideText(value.shape), " has ",
                      found, " NaN although all inputs are finite; ",
                      kHalfRemedy);
}

// `launch` wrote the tensor of the plan; null: it was copied to the GPU.
MaceStatus PreparedOpencl::CheckTensor(int tensor,
                                       const PlannedLaunch *launch) {
  const StoredTensor stored = StoredAt(tensor);
  const int id = plan().tensors[tensor].id;
  if (id < 0) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(const std::vector<float> values, FloatsOf(tensor));
  const size_t bad = FirstNotFinite(values);
  if (bad == values.size()) return MaceStatus();
  const Tensor &value = shapes_.tensors[static_cast<size_t>(id)];
  const GpuTensor &entry = plan().tensors[tensor];
  const auto before =
      static_cast<size_t>(entry.first_row * entry.dims.w * entry.dims.c);
  const std::string found =
      MakeString(values[bad], " at ", Position(value.shape, before + bad),
                 " of '", value.name, "' ", InsideText(value.shape));
  if (launch == nullptr) {
    return RuntimeError("an input already contains NaN or infinity: ", found);
  }
  const OperatorDef &def =
      *partition_->graph().nodes()[launch->nodes.back()].def;
  const bool half = StorageElement(stored.storage) == DataType::kFloat16;
  return RuntimeError(
      "operator '", def.name, "' (", def.type,
      ") is the first that produces NaN or infinity: ", found, ", by kernel ",
      launch->launch.kernel(), " in ", StorageText(stored.storage),
      half ? MakeString("; ", kHalfRemedy, ", or run this part on the CPU")
           : std::string("; all its inputs are finite"));
}

MaceStatus PreparedOpencl::EnqueueChecked(size_t segment) {
  const OpenclPlan &checked = plan();
  for (const PartitionSpec::Border &border : partition_->spec().imports) {
    const int tensor = checked.tensor_of[border.tensor];
    if (border.segment != segment || tensor < 0) continue;
    MACE_RETURN_IF_ERROR(CheckTensor(tensor, nullptr));
  }
  const size_t end = checked.begin[segment + 1];
  for (size_t i = checked.begin[segment]; i < end; ++i) {
    MACE_RETURN_IF_ERROR(RunLaunch(i));
    const PlannedLaunch &launch = checked.launches[i];
    const auto &arguments = launch.launch.arguments();
    for (size_t k = 0; k < arguments.size(); ++k) {
      if (arguments[k].kind != LaunchArgument::Kind::kOutput) continue;
      MACE_RETURN_IF_ERROR(CheckTensor(launch.tensors[k], &launch));
    }
  }
  return MaceStatus();
}

}  // namespace mace
