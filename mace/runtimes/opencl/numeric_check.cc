// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The run that looks for NaN and infinity after each launch.

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

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

}  // namespace

// `launch` wrote the tensor of the plan; null: it was copied to the GPU.
MaceStatus PreparedOpencl::CheckTensor(int tensor,
                                       const PlannedLaunch *launch) {
  const StoredTensor stored = StoredAt(tensor);
  const int id = plan().tensors[tensor].id;
  if (stored.memory == nullptr || id < 0 ||
      HostElement(stored.storage) != DataType::kFloat32) {
    return MaceStatus();
  }
  std::vector<uint8_t> bytes;
  MACE_RETURN_IF_ERROR(
      ReadTensor(api_, partition_->device()->queue(), stored, &bytes));
  std::vector<float> values(bytes.size() / sizeof(float));
  if (values.empty()) return MaceStatus();
  std::memcpy(values.data(), bytes.data(), bytes.size());
  const size_t bad = FirstNotFinite(values);
  if (bad == values.size()) return MaceStatus();
  const Tensor &value = shapes_.tensors[static_cast<size_t>(id)];
  const GpuTensor &entry = plan().tensors[tensor];
  const auto before =
      static_cast<size_t>(entry.first_row * entry.dims.w * entry.dims.c);
  const std::string found =
      MakeString(values[bad], " at ", Position(value.shape, before + bad),
                 " of '", value.name, "' ", value.shape.ToString());
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
      half ? "; half holds numbers up to 65504: convert the model with "
             "data_type: fp32_fp32, or run this part on the CPU"
           : "; all its inputs are finite");
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
