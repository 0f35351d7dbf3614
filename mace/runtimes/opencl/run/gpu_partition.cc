// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/gpu_partition.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "mace/core/base/divide.h"
#include "mace/core/base/half.h"
#include "mace/core/model/packed_filter.h"
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

namespace {

// CL_PACKED_O16_PAIRS of bfloat16 -> CL_PACKED_O16 of float32, without the zero
// that pads an odd last dimension.
Result<MappedMemory> FromPairs(const Tensor &tensor) {
  const PackedFilter pairs(tensor);
  const PackedFilter floats(ConstantLayout::kPackedO16, tensor.shape,
                            tensor.groups);
  const auto *from = tensor.As<uint16_t>();
  MappedMemory memory;
  MACE_ASSIGN_OR_RETURN(float *to,
                        AllocateForm<float>(tensor, floats.stored(), &memory));
  pairs.ForEach([&](int64_t output, int64_t k, int64_t place) {
    to[floats.At(output, k)] = Bfloat16ToFloat(from[place]);
  });
  return memory;
}

Result<MappedMemory> Widen(const Tensor &tensor, size_t stored_bytes) {
  if (tensor.layout == ConstantLayout::kPackedO16Pairs) {
    return FromPairs(tensor);
  }
  const auto count = static_cast<int64_t>(stored_bytes / sizeof(uint16_t));
  MappedMemory memory;
  MACE_ASSIGN_OR_RETURN(float *to, AllocateForm<float>(tensor, count, &memory));
  for (int64_t i = 0; i < count; ++i) {
    to[i] = Bfloat16ToFloat(tensor.As<uint16_t>()[i]);
  }
  return memory;
}

// Constants in another form wait in the host's memory until they are copied;
// when there are so many bytes of them, the next one waits for that.
constexpr size_t kMostStaged = size_t{4} << 20;

std::string ConstantText(const Tensor &tensor) {
  return "constant '" + tensor.name + "'";
}

}  // namespace

// The driver copies the elements now.
Result<ClMemory> GpuConstants::MakeImage(const OpenclRuntime &runtime,
                                         const Tensor &tensor,
                                         size_t bytes) {
  const size_t row = kWeightImageWidth * 4 *
                     static_cast<size_t>(DataTypeSize(tensor.data_type));
  const size_t rows = DivideUp(bytes, row);
  MappedMemory pixels;
  MACE_ASSIGN_OR_RETURN(
      uint8_t *to,
      AllocateForm<uint8_t>(tensor, static_cast<int64_t>(rows * row), &pixels));
  std::memcpy(to, tensor.data, bytes);
  MACE_ASSIGN_OR_RETURN(
      ClMemory image,
      runtime.MakeImage(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                        tensor.data_type, kWeightImageWidth, rows,
                        ConstantText(tensor), pixels.get()));
  bytes_ += BytesOf(pixels);
  return image;
}

Result<ClMemory> GpuConstants::Upload(const OpenclRuntime &runtime,
                                      cl_command_queue queue,
                                      const Tensor &tensor,
                                      size_t stored_bytes,
                                      const ConstantForm *form) {
  Tensor from = tensor;
  size_t bytes = stored_bytes;
  MappedMemory widened;
  if (tensor.data_type == DataType::kBfloat16) {
    MACE_ASSIGN_OR_RETURN(widened, Widen(tensor, stored_bytes));
    from.data = widened.get();
    from.data_type = DataType::kFloat32;
    if (IsPacked(tensor.layout)) from.layout = ConstantLayout::kPackedO16;
    bytes = BytesOf(widened);
  }
  if (form != nullptr && form->make == nullptr) {
    return MakeImage(runtime, from, bytes);
  }
  if (form != nullptr || widened != nullptr) {
    if (staged_bytes_ > kMostStaged) {
      MACE_CL_CHECK("clFinish", "constants", runtime.api().clFinish(queue));
      ReleaseStaging();
    }
    MappedMemory made;
    if (form != nullptr) {
      MACE_RETURN_IF_ERROR(form->make(from, &made));
    } else {
      made = std::move(widened);
    }
    from.data = made.get();
    bytes = BytesOf(made);
    staged_bytes_ += bytes;
    staging_.push_back(std::move(made));
  }
  const ClApi &api = runtime.api();
  constexpr size_t kRound = 64;
  const size_t room = RoundUp(bytes + kConstantPadding, kRound);
  MACE_ASSIGN_OR_RETURN(
      ClMemory buffer,
      runtime.MakeBuffer(CL_MEM_READ_ONLY, room, ConstantText(tensor)));
  if (bytes > 0) {
    MACE_CL_CHECK(
        "clEnqueueWriteBuffer", tensor.name,
        api.clEnqueueWriteBuffer(queue, buffer.get(), CL_FALSE, 0, bytes,
                                 from.data, 0, nullptr, nullptr));
  }
  static constexpr char kZeros[kConstantPadding + kRound] = {};
  MACE_CL_CHECK(
      "clEnqueueWriteBuffer", tensor.name,
      api.clEnqueueWriteBuffer(queue, buffer.get(), CL_FALSE, bytes,
                               room - bytes, kZeros, 0, nullptr, nullptr));
  bytes_ += room;
  return buffer;
}

Result<cl_mem> GpuConstants::Get(const OpenclRuntime &runtime,
                                 cl_command_queue queue,
                                 const Graph &graph,
                                 int tensor,
                                 const ConstantForm *form) {
  const std::pair<int, const ConstantForm *> key(tensor, form);
  const auto found = buffers_.find(key);
  if (found != buffers_.end()) return found->second.get();
  const GraphTensor &entry = graph.tensors()[static_cast<size_t>(tensor)];
  MACE_ASSIGN_OR_RETURN(ClMemory buffer,
                        Upload(runtime, queue, entry.tensor,
                               static_cast<size_t>(entry.stored_bytes), form));
  const cl_mem memory = buffer.get();
  buffers_.emplace(key, std::move(buffer));
  return memory;
}

}  // namespace mace
