// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/gpu_partition.h"

#include <string>
#include <utility>

#include "mace/runtimes/opencl/run/caller_memory.h"

namespace mace {

Result<GpuStorage> ShapedPartition::BorderStorageOf(int id, bool nchw) const {
  const Tensor &value = tensor(id);
  const bool kept_nchw =
      nchw && value.shape.rank() == 4 && value.data_type == DataType::kFloat32;
  return StorageOf(kept_nchw ? GpuLayout::kNchw : GpuLayout::kDense,
                   value.data_type);
}

Result<std::vector<BorderStorage>> ShapedPartition::BorderOf(
    const std::vector<CallerTensor> &callers) const {
  std::vector<BorderStorage> border;
  const auto add = [&](int id) -> MaceStatus {
    if (tensor(id).data != nullptr) return MaceStatus();
    for (const BorderStorage &entry : border) {
      if (entry.tensor == id) return MaceStatus();
    }
    bool nchw = false;
    for (const CallerTensor &caller : callers) {
      if (caller.tensor != id) continue;
      if (InGpuMemory(caller.host)) {
        MACE_ASSIGN_OR_RETURN(const GpuStorage storage,
                              CallerStorage(caller.host));
        border.push_back({id, storage, true});
        return MaceStatus();
      }
      if (caller.host.nchw) nchw = true;
    }
    MACE_ASSIGN_OR_RETURN(const GpuStorage storage, BorderStorageOf(id, nchw));
    border.push_back({id, storage});
    return MaceStatus();
  };
  for (const auto *tensors : {&spec().imports, &spec().exports}) {
    for (const PartitionSpec::Border &entry : *tensors) {
      MACE_RETURN_IF_ERROR(add(entry.tensor));
    }
  }
  return border;
}

Result<std::vector<BorderStorage>> ShapedPartition::DeclaredBorder() const {
  std::vector<CallerTensor> callers;
  for (size_t i = 0; i < graph().tensors().size(); ++i) {
    const std::string &name = graph().tensors()[i].tensor.name;
    for (const auto *infos :
         {&graph().model().inputs, &graph().model().outputs}) {
      for (const ValueInfo &info : *infos) {
        if (info.name != name || info.data_format != DataFormat::NCHW) continue;
        CallerTensor caller;
        caller.tensor = static_cast<int>(i);
        caller.host.nchw = true;
        callers.push_back(caller);
      }
    }
  }
  return BorderOf(callers);
}

MaceStatus ShapedPartition::MakeConstants(const OpenclPlan &plan) {
  for (const PlannedLaunch &planned : plan.launches) {
    const auto &arguments = planned.launch.arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      const GpuTensor &root = plan.Root(planned.tensors[i]);
      if (!root.is_constant) continue;
      MACE_RETURN_IF_ERROR(Constant(root.id, arguments[i].form).status());
    }
  }
  MACE_CL_CHECK("clFinish", "constants",
                queues()->api().clFinish(queues()->queue()));
  partition_->constants.ReleaseStaging();
  return MaceStatus();
}

Result<cl_mem> ShapedPartition::Constant(int id, const ConstantForm *form) {
  const OpenclRuntime &runtime = *queues()->runtime();
  const Tensor &value = tensor(id);
  if (value.is_constant) {
    return partition_->constants.Get(runtime, queues()->queue(), graph(), id,
                                     form);
  }
  const auto found = known_.find(id);
  if (found != known_.end()) return found->second.get();
  MACE_ASSIGN_OR_RETURN(
      ClMemory buffer,
      partition_->constants.Upload(runtime, queues()->queue(), value,
                                   static_cast<size_t>(value.bytes()), form));
  const cl_mem memory = buffer.get();
  known_.emplace(id, std::move(buffer));
  return memory;
}

}  // namespace mace
