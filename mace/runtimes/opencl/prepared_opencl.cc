// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/prepared_opencl.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/core/graph/node_cost.h"
#include "mace/core/memory/border.h"
#include "mace/runtimes/opencl/opencl_device.h"

namespace mace {
namespace {

// The number of plans that are kept, each for inputs and outputs of other
// orders of dimensions.
constexpr size_t kMaxVariants = 4;

// Work items of a work group, where the kernel leaves it to the runtime.
constexpr int64_t kWorkGroupItems = 64;

int64_t MicrosBetween(cl_ulong from, cl_ulong to) {
  return static_cast<int64_t>(to - from) / 1000;
}

size_t ElementBytes(const GpuTensor &tensor) {
  return static_cast<size_t>(tensor.dims.pixels() * tensor.dims.c) *
         DataTypeSize(StorageElement(tensor.storage));
}

// The offset of a tensor in the buffer of all tensors, in bytes.
size_t OffsetOf(const OpenclPlan &plan, int tensor) {
  const int request = plan.request_of[plan.RootIndex(tensor)];
  return request < 0 ? 0 : plan.memory.offsets[request];
}

// Of what the kernel's pointer points to: four elements of a padded buffer.
size_t UnitBytes(GpuStorage storage) {
  return DataTypeSize(StorageElement(storage)) * (IsPadded(storage) ? 4 : 1);
}

// A work group for that many items, with powers of two; the third divides the
// number of items.
std::array<int64_t, 3> ChooseGroup(const std::array<int64_t, 3> &items) {
  std::array<int64_t, 3> group = {1, 1, 1};
  int64_t left = kWorkGroupItems;
  for (size_t i = 0; i < 3; ++i) {
    while (group[i] < items[i] && left > 1 &&
           (i < 2 || items[i] % (2 * group[i]) == 0)) {
      group[i] *= 2;
      left /= 2;
    }
  }
  return group;
}

BorderCopy::Order OrderOf(bool from_nchw, bool to_nchw) {
  if (from_nchw == to_nchw) return BorderCopy::Order::kSame;
  return from_nchw ? BorderCopy::Order::kNchwToNhwc
                   : BorderCopy::Order::kNhwcToNchw;
}

}  // namespace

PreparedOpencl::PreparedOpencl(OpenclPartition *partition,
                               const GraphShapes &shapes)
    : partition_(partition),
      shapes_(shapes),
      api_(partition->device()->runtime()->api()) {}

PreparedOpencl::~PreparedOpencl() {
  // The driver may still read what is released here.
  api_.clFinish(partition_->device()->queue());
  for (auto &[tensor, staging] : staging_) {
    if (staging.data == nullptr) continue;
    api_.clEnqueueUnmapMemObject(partition_->device()->queue(),
                                 staging.pinned.get(), staging.data, 0, nullptr,
                                 nullptr);
  }
  if (!staging_.empty()) api_.clFinish(partition_->device()->queue());
}

Result<GpuStorage> PreparedOpencl::BorderStorageOf(int tensor,
                                                   bool nchw) const {
  const Tensor &value = shapes_.tensors[static_cast<size_t>(tensor)];
  const bool kept_nchw =
      nchw && value.shape.rank() == 4 && value.data_type == DataType::kFloat32;
  return StorageOf(kept_nchw ? GpuLayout::kNchw : GpuLayout::kDense,
                   value.data_type);
}

// The storage of imports and exports: that of the caller where the tensor is
// one of the caller's.
Result<std::vector<BorderStorage>> PreparedOpencl::BorderOf(
    const std::vector<CallerTensor> &callers) const {
  std::vector<BorderStorage> border;
  const PartitionSpec &spec = partition_->spec();
  const auto add = [&](int tensor) -> MaceStatus {
    if (shapes_.tensors[static_cast<size_t>(tensor)].data != nullptr) {
      return MaceStatus();
    }
    for (const BorderStorage &entry : border) {
      if (entry.tensor == tensor) return MaceStatus();
    }
    bool nchw = false;
    for (const CallerTensor &caller : callers) {
      if (caller.tensor == tensor && caller.host.nchw) nchw = true;
    }
    MACE_ASSIGN_OR_RETURN(const GpuStorage storage,
                          BorderStorageOf(tensor, nchw));
    border.push_back({tensor, storage});
    return MaceStatus();
  };
  for (const auto *tensors : {&spec.imports, &spec.exports}) {
    for (const PartitionSpec::Border &entry : *tensors) {
      MACE_RETURN_IF_ERROR(add(entry.tensor));
    }
  }
  return border;
}

MaceStatus PreparedOpencl::Prepare() {
  // As the model declares its inputs and outputs; most applications hold to it.
  const Graph &graph = partition_->graph();
  std::vector<CallerTensor> callers;
  for (size_t i = 0; i < graph.tensors().size(); ++i) {
    const std::string &name = graph.tensors()[i].tensor.name;
    for (const auto *infos : {&graph.model().inputs, &graph.model().outputs}) {
      for (const ValueInfo &info : *infos) {
        if (info.name != name || info.data_format != DataFormat::NCHW) continue;
        CallerTensor caller;
        caller.tensor = static_cast<int>(i);
        caller.host.nchw = true;
        callers.push_back(caller);
      }
    }
  }
  MACE_ASSIGN_OR_RETURN(std::vector<BorderStorage> border, BorderOf(callers));
  return MakeVariant(std::move(border));
}

MaceStatus PreparedOpencl::MakeVariant(std::vector<BorderStorage> border) {
  OpenclDevice *device = partition_->device();
  OpenclRuntime *runtime = device->runtime();
  std::list<Variant> made(1);
  Variant &variant = made.front();
  variant.border = std::move(border);
  MACE_ASSIGN_OR_RETURN(
      variant.plan, PlanOpencl(partition_->graph(), partition_->spec(), shapes_,
                               partition_->options(), variant.border));
  std::vector<ProgramKey> programs;
  for (const PlannedLaunch &launch : variant.plan.launches) {
    programs.push_back(launch.program);
  }
  MACE_RETURN_IF_ERROR(runtime->Build(programs, device->stores()));
  MACE_RETURN_IF_ERROR(UploadConstants(variant.plan));
  for (const PlannedLaunch &planned : variant.plan.launches) {
    variant.launches.emplace_back();
    MACE_RETURN_IF_ERROR(
        AtOperator(*partition_->graph().nodes()[planned.nodes.back()].def,
                   MakeLaunch(planned, &variant.launches.back())));
  }
  variants_.splice(variants_.begin(), made);
  if (variants_.size() > kMaxVariants) variants_.pop_back();
  return MaceStatus();
}

// Copies constants, and values that follow from shapes.
MaceStatus PreparedOpencl::UploadConstants(const OpenclPlan &plan) {
  for (const PlannedLaunch &planned : plan.launches) {
    const auto &arguments = planned.launch.arguments();
    for (size_t i = 0; i < arguments.size(); ++i) {
      if (planned.tensors[i] < 0) continue;
      const GpuTensor &root = plan.Root(planned.tensors[i]);
      if (!root.is_constant) continue;
      MACE_RETURN_IF_ERROR(ConstantMemory(root.id, arguments[i].form).status());
    }
  }
  MACE_CL_CHECK("clFinish", "constants",
                api_.clFinish(partition_->device()->queue()));
  partition_->constants()->ReleaseStaging();
  return MaceStatus();
}

Result<cl_mem> PreparedOpencl::ConstantMemory(int tensor,
                                              const ConstantForm *form) {
  OpenclDevice *device = partition_->device();
  GpuConstants *constants = partition_->constants();
  const Tensor &value = shapes_.tensors[static_cast<size_t>(tensor)];
  if (value.is_constant) {
    return constants->Get(*device->runtime(), device->queue(),
                          partition_->graph(), tensor, form);
  }
  const auto found = known_.find(tensor);
  if (found != known_.end()) return found->second.get();
  MACE_ASSIGN_OR_RETURN(
      ClMemory buffer,
      constants->Upload(*device->runtime(), device->queue(), value,
                        static_cast<size_t>(value.bytes()), form));
  const cl_mem memory = buffer.get();
  known_.emplace(tensor, std::move(buffer));
  return memory;
}

MaceStatus PreparedOpencl::MakeTables(const PlannedLaunch &planned,
                                      BoundLaunch *bound) {
  for (const LaunchArgument &argument : planned.launch.arguments()) {
    if (argument.kind != LaunchArgument::Kind::kTable) continue;
    const std::vector<int32_t> &values = *argument.table;
    const size_t bytes = values.size() * sizeof(int32_t);
    cl_int error = CL_SUCCESS;
    // The driver copies it now, and only reads it despite the type.
    bound->tables.emplace_back(
        api_.clCreateBuffer(partition_->device()->runtime()->context(),
                            CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes,
                            const_cast<int32_t *>(values.data()), &error),
        api_.clReleaseMemObject);
    MACE_CL_CHECK("clCreateBuffer",
                  MakeString("table '", argument.name, "', ", bytes, " bytes"),
                  error);
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::MakeLaunch(const PlannedLaunch &planned,
                                      BoundLaunch *bound) {
  OpenclRuntime *runtime = partition_->device()->runtime();
  const GpuDevice &device = runtime->device();
  const char *name = planned.launch.kernel();
  MACE_ASSIGN_OR_RETURN(bound->kernel,
                        runtime->MakeKernel(planned.program, name));
  MACE_RETURN_IF_ERROR(MakeTables(planned, bound));
  size_t largest = 0;
  MACE_CL_CHECK("clGetKernelWorkGroupInfo", name,
                api_.clGetKernelWorkGroupInfo(
                    bound->kernel.get(), device.id, CL_KERNEL_WORK_GROUP_SIZE,
                    sizeof(largest), &largest, nullptr));
  std::array<int64_t, 3> group = planned.launch.work_group();
  const bool fixed = group[0] > 0;
  if (!fixed) group = ChooseGroup(planned.launch.items());
  for (size_t i = 0; i < 3; ++i) {
    const auto most = static_cast<int64_t>(device.max_items[i]);
    if (group[i] <= most) continue;
    group[i] = most;
  }
  while (static_cast<size_t>(group[0] * group[1] * group[2]) > largest) {
    if (fixed) {
      return Unsupported("kernel ", name, " needs work groups of ",
                         group[0] * group[1] * group[2],
                         " items, the GPU can run ", largest);
    }
    *std::max_element(group.begin(), group.end()) /= 2;
  }
  for (size_t i = 0; i < 3; ++i) {
    const int64_t items = planned.launch.items()[i];
    bound->local[i] = static_cast<size_t>(group[i]);
    bound->global[i] =
        static_cast<size_t>((items + group[i] - 1) / group[i] * group[i]);
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::Bind(const std::vector<CallerTensor> &callers,
                                Arena *arena) {
  if (!callers.empty()) {
    MACE_ASSIGN_OR_RETURN(std::vector<BorderStorage> border, BorderOf(callers));
    const auto found = std::find_if(
        variants_.begin(), variants_.end(),
        [&](const Variant &variant) { return variant.border == border; });
    if (found == variants_.end()) {
      MACE_RETURN_IF_ERROR(MakeVariant(std::move(border)));
    } else if (found != variants_.begin()) {
      variants_.splice(variants_.begin(), variants_, found);
    }
  }
  Variant &variant = variants_.front();
  std::unique_ptr<DeviceMemory> &slot = arena->MemoryOf(DeviceType::GPU);
  if (slot == nullptr) {
    MACE_ASSIGN_OR_RETURN(auto runtime, OpenclRuntime::Get());
    slot = std::make_unique<OpenclMemory>(std::move(runtime));
  }
  auto *memory = static_cast<OpenclMemory *>(slot.get());
  MACE_RETURN_IF_ERROR(memory->Take(variant.plan));
  if (variant.generation == memory->generation()) return MaceStatus();
  return BindMemory(&variant, *memory);
}

MaceStatus PreparedOpencl::BindMemory(Variant *variant,
                                      const OpenclMemory &memory) {
  const OpenclPlan &plan = variant->plan;
  variant->generation = 0;
  variant->arena = memory.shared_buffer();
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    MACE_RETURN_IF_ERROR(AtOperator(
        *partition_->graph().nodes()[plan.launches[i].nodes.back()].def,
        BindLaunch(*variant, memory, i)));
  }
  variant->generation = memory.generation();
  return MaceStatus();
}

Result<cl_mem> PreparedOpencl::MemoryOf(const Variant &variant,
                                        const OpenclMemory &memory,
                                        int tensor,
                                        const ConstantForm *form) {
  const int root = variant.plan.RootIndex(tensor);
  const GpuTensor &entry = variant.plan.tensors[root];
  if (entry.is_constant) return ConstantMemory(entry.id, form);
  const int image = variant.plan.image_of[root];
  if (image >= 0) return memory.image(static_cast<size_t>(image));
  return memory.buffer();
}

MaceStatus PreparedOpencl::BindLaunch(const Variant &variant,
                                      const OpenclMemory &memory,
                                      size_t index) {
  const PlannedLaunch &planned = variant.plan.launches[index];
  const cl_kernel kernel = variant.launches[index].kernel.get();
  cl_uint at = 0;
  const auto set = [&](size_t bytes, const void *value) -> MaceStatus {
    MACE_CL_CHECK("clSetKernelArg",
                  MakeString(planned.launch.kernel(), " argument ", at),
                  api_.clSetKernelArg(kernel, at, bytes, value));
    ++at;
    return MaceStatus();
  };
  // The argument is the handle, which is a pointer.
  const auto set_memory = [&](cl_mem object) {
    return set(sizeof(cl_mem), static_cast<const void *>(&object));  // NOLINT
  };
  const auto &arguments = planned.launch.arguments();
  size_t tables = 0;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const LaunchArgument &argument = arguments[i];
    const int tensor = planned.tensors[i];
    if (tensor >= 0) {
      MACE_ASSIGN_OR_RETURN(const cl_mem object,
                            MemoryOf(variant, memory, tensor, argument.form));
      MACE_RETURN_IF_ERROR(set_memory(object));
      if (argument.kind == LaunchArgument::Kind::kConstant) continue;
      const GpuTensor &root = variant.plan.Root(tensor);
      if (!IsImage(root.storage)) {
        const auto offset = static_cast<cl_int>(OffsetOf(variant.plan, tensor) /
                                                UnitBytes(root.storage));
        MACE_RETURN_IF_ERROR(set(sizeof(offset), &offset));
      }
      const GpuDims &d = variant.plan.tensors[tensor].dims;
      const cl_int4 dims = {{static_cast<cl_int>(d.h), static_cast<cl_int>(d.w),
                             static_cast<cl_int>(d.blocks()),
                             static_cast<cl_int>(d.c)}};
      MACE_RETURN_IF_ERROR(set(sizeof(dims), &dims));
      continue;
    }
    switch (argument.kind) {
      case LaunchArgument::Kind::kInt:
        MACE_RETURN_IF_ERROR(set(sizeof(cl_int), argument.ints.data()));
        break;
      case LaunchArgument::Kind::kInts2:
        MACE_RETURN_IF_ERROR(set(sizeof(cl_int2), argument.ints.data()));
        break;
      case LaunchArgument::Kind::kInts4:
        MACE_RETURN_IF_ERROR(set(sizeof(cl_int4), argument.ints.data()));
        break;
      case LaunchArgument::Kind::kFloat:
        MACE_RETURN_IF_ERROR(set(sizeof(cl_float), argument.floats.data()));
        break;
      case LaunchArgument::Kind::kFloats4:
        MACE_RETURN_IF_ERROR(set(sizeof(cl_float4), argument.floats.data()));
        break;
      case LaunchArgument::Kind::kTable: {
        const cl_mem table = variant.launches[index].tables[tables++].get();
        MACE_RETURN_IF_ERROR(set_memory(table));
        break;
      }
      default:
        MACE_RETURN_IF_ERROR(set(argument.bytes, nullptr));
    }
  }
  return MaceStatus();
}

Result<PreparedOpencl::Staging *> PreparedOpencl::StagingOf(int tensor,
                                                            size_t bytes) {
  Staging &staging = staging_[tensor];
  if (staging.data != nullptr && staging.bytes >= bytes) return &staging;
  const cl_command_queue queue = partition_->device()->queue();
  cl_int error = CL_SUCCESS;
  staging.pinned =
      ClMemory(api_.clCreateBuffer(partition_->device()->runtime()->context(),
                                   CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                   bytes, nullptr, &error),
               api_.clReleaseMemObject);
  MACE_CL_CHECK("clCreateBuffer", MakeString("staging, ", bytes, " bytes"),
                error);
  staging.data = api_.clEnqueueMapBuffer(queue, staging.pinned.get(), CL_TRUE,
                                         CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                         0, nullptr, nullptr, &error);
  if (error != CL_SUCCESS) staging.data = nullptr;
  MACE_CL_CHECK("clEnqueueMapBuffer", MakeString("staging, ", bytes, " bytes"),
                error);
  staging.bytes = bytes;
  return &staging;
}

MaceStatus PreparedOpencl::CopyIn(int tensor, const HostTensor &from) {
  Variant &variant = variants_.front();
  const int index = variant.plan.tensor_of[tensor];
  if (index < 0) return MaceStatus();
  const GpuTensor &entry = variant.plan.tensors[index];
  const size_t bytes = ElementBytes(entry);
  if (bytes == 0) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(Staging * staging, StagingOf(tensor, bytes));
  const bool nchw = entry.storage == GpuStorage::kNchwFloat;
  CopyAtBorder(
      {from.data, from.data_type, staging->data, StorageElement(entry.storage),
       shapes_.tensors[static_cast<size_t>(tensor)].shape,
       OrderOf(from.nchw, nchw)},
      partition_->device()->pool());
  MACE_CL_CHECK("clEnqueueWriteBuffer",
                shapes_.tensors[static_cast<size_t>(tensor)].name,
                api_.clEnqueueWriteBuffer(partition_->device()->queue(),
                                          variant.arena->get(), CL_FALSE,
                                          OffsetOf(variant.plan, index), bytes,
                                          staging->data, 0, nullptr, nullptr));
  return MaceStatus();
}

MaceStatus PreparedOpencl::CopyOut(int tensor, const HostTensor &to) {
  const Variant &variant = variants_.front();
  const int index = variant.plan.tensor_of[tensor];
  if (index < 0) return MaceStatus();
  const GpuTensor &entry = variant.plan.tensors[index];
  if (ElementBytes(entry) == 0) return MaceStatus();
  CopyAtBorder(
      {staging_[tensor].data, StorageElement(entry.storage), to.data,
       to.data_type, shapes_.tensors[static_cast<size_t>(tensor)].shape,
       OrderOf(entry.storage == GpuStorage::kNchwFloat, to.nchw)},
      partition_->device()->pool());
  return MaceStatus();
}

std::string PreparedOpencl::Describe(size_t launch) const {
  const PlannedLaunch &planned = variants_.front().plan.launches[launch];
  return MakeString("kernel ", planned.launch.kernel(), " of operator '",
                    partition_->graph().nodes()[planned.nodes.back()].def->name,
                    "'");
}

MaceStatus PreparedOpencl::EnqueueLaunch(const BoundLaunch &launch,
                                         size_t index,
                                         cl_command_queue queue,
                                         cl_event *event) {
  MACE_CL_CHECK(
      "clEnqueueNDRangeKernel", Describe(index),
      api_.clEnqueueNDRangeKernel(queue, launch.kernel.get(), 3, nullptr,
                                  launch.global.data(), launch.local.data(), 0,
                                  nullptr, event));
  return MaceStatus();
}

MaceStatus PreparedOpencl::Enqueue(size_t segment, const RunTrace *trace) {
  const Variant &variant = variants_.front();
  const cl_command_queue queue = partition_->device()->queue();
  const size_t begin = variant.plan.begin[segment];
  const size_t end = variant.plan.begin[segment + 1];
  if (trace != nullptr) {
    MACE_RETURN_IF_ERROR(EnqueueTimed(begin, end, *trace));
  } else {
    const size_t window = partition_->options().queue_window;
    for (size_t i = begin; i < end; ++i) {
      const bool full = window > 0 && (i - begin) % window == window - 1;
      cl_event event = nullptr;
      MACE_RETURN_IF_ERROR(EnqueueLaunch(variant.launches[i], i, queue,
                                         full ? &event : nullptr));
      if (full) MACE_RETURN_IF_ERROR(WaitFor(event, queue));
    }
  }
  MACE_RETURN_IF_ERROR(ReadExports(segment));
  MACE_CL_CHECK("clFlush", "", api_.clFlush(queue));
  return MaceStatus();
}

// Waits for a launch, and releases its event.
MaceStatus PreparedOpencl::WaitFor(cl_event event, cl_command_queue queue) {
  const ClEvent owner(event, api_.clReleaseEvent);
  MACE_CL_CHECK("clFlush", "", api_.clFlush(queue));
  MACE_CL_CHECK("clWaitForEvents", "", api_.clWaitForEvents(1, &event));
  return MaceStatus();
}

// Copies what others need to the host, without waiting.
MaceStatus PreparedOpencl::ReadExports(size_t segment) {
  const Variant &variant = variants_.front();
  for (const PartitionSpec::Border &border : partition_->spec().exports) {
    const int index = variant.plan.tensor_of[border.tensor];
    if (index < 0) continue;
    const GpuTensor &entry = variant.plan.tensors[index];
    const size_t bytes = ElementBytes(entry);
    if (entry.segment != segment || entry.is_constant || bytes == 0) continue;
    MACE_ASSIGN_OR_RETURN(Staging * staging, StagingOf(border.tensor, bytes));
    MACE_CL_CHECK("clEnqueueReadBuffer",
                  shapes_.tensors[static_cast<size_t>(border.tensor)].name,
                  api_.clEnqueueReadBuffer(partition_->device()->queue(),
                                           variant.arena->get(), CL_FALSE,
                                           OffsetOf(variant.plan, index), bytes,
                                           staging->data, 0, nullptr, nullptr));
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::EnqueueTimed(size_t begin,
                                        size_t end,
                                        const RunTrace &trace) {
  const Variant &variant = variants_.front();
  MACE_RETURN_IF_ERROR(Wait());
  MACE_ASSIGN_OR_RETURN(const cl_command_queue queue,
                        partition_->device()->TimingQueue());
  const int64_t start_micros =
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - trace.start)
          .count();
  std::vector<ClEvent> events;
  for (size_t i = begin; i < end; ++i) {
    cl_event event = nullptr;
    MACE_RETURN_IF_ERROR(EnqueueLaunch(variant.launches[i], i, queue, &event));
    events.emplace_back(event, api_.clReleaseEvent);
  }
  MACE_CL_CHECK("clFinish", "", api_.clFinish(queue));
  cl_ulong first = 0;
  const Graph &graph = partition_->graph();
  for (size_t i = begin; i < end; ++i) {
    cl_ulong times[2] = {};
    constexpr cl_profiling_info kTimes[2] = {CL_PROFILING_COMMAND_START,
                                             CL_PROFILING_COMMAND_END};
    for (int t = 0; t < 2; ++t) {
      MACE_CL_CHECK(
          "clGetEventProfilingInfo", Describe(i),
          api_.clGetEventProfilingInfo(events[i - begin].get(), kTimes[t],
                                       sizeof(cl_ulong), &times[t], nullptr));
    }
    if (i == begin) first = times[0];
    const PlannedLaunch &planned = variant.plan.launches[i];
    const GraphNode &node = graph.nodes()[planned.nodes.back()];
    OperatorStats stats = {};
    stats.operator_name = node.def->name;
    stats.type = node.def->type;
    stats.device = DeviceType::GPU;
    stats.stats.start_micros = start_micros + MicrosBetween(first, times[0]);
    stats.stats.end_micros = start_micros + MicrosBetween(first, times[1]);
    stats.stats.duration_nanos = static_cast<int64_t>(times[1] - times[0]);
    VLOG(2) << "GPU: " << Describe(i) << ": "
            << static_cast<double>(times[1] - times[0]) / 1000 << " us";
    if (trace.metadata == nullptr) continue;
    std::vector<OperatorStats> &all = trace.metadata->op_stats;
    const bool same =
        i > begin && variant.plan.launches[i - 1].nodes == planned.nodes;
    if (same) {
      all.back().stats.end_micros = stats.stats.end_micros;
      all.back().stats.duration_nanos += stats.stats.duration_nanos;
      continue;
    }
    for (int id : node.outputs) {
      if (id < 0) continue;
      const Shape &shape = shapes_.tensors[static_cast<size_t>(id)].shape;
      stats.output_shape.emplace_back(shape.begin(), shape.end());
    }
    const NodeCost cost =
        EstimateCost(graph, static_cast<size_t>(planned.nodes.back()), shapes_);
    stats.macs = static_cast<int64_t>(cost.macs);
    stats.bytes = static_cast<int64_t>(cost.bytes);
    all.push_back(std::move(stats));
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::Wait() {
  MACE_CL_CHECK("clFinish", "", api_.clFinish(partition_->device()->queue()));
  return MaceStatus();
}

std::vector<OperatorNote> PreparedOpencl::Explain() const {
  const Variant &variant = variants_.front();
  const Graph &graph = partition_->graph();
  const PartitionSpec &spec = partition_->spec();
  std::vector<OperatorNote> notes;
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    for (int node : spec.segments[segment]) {
      const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
      OperatorNote note;
      note.name = entry.def->name;
      note.type = entry.def->type;
      note.node = node;
      note.segment = segment;
      size_t launches = 0;
      for (const PlannedLaunch &planned : variant.plan.launches) {
        if (std::find(planned.nodes.begin(), planned.nodes.end(), node) ==
            planned.nodes.end()) {
          continue;
        }
        ++launches;
        if (node != planned.nodes.back()) {
          note.remark =
              MakeString("computed with '",
                         graph.nodes()[planned.nodes.back()].def->name, "'");
        }
        if (!note.kernel.empty()) note.kernel += " + ";
        note.kernel += planned.launch.kernel();
      }
      if (launches == 0) note.remark = "without a launch";
      for (int id : entry.outputs) {
        const int index = id < 0 ? -1 : variant.plan.tensor_of[id];
        if (index < 0) continue;
        const GpuTensor &tensor = variant.plan.tensors[index];
        if (!note.output.empty()) note.output += ", ";
        note.output += MakeString(
            DataTypeName(StorageElement(tensor.storage)),
            shapes_.tensors[static_cast<size_t>(id)].shape.ToString(), " in ",
            StorageText(tensor.storage));
      }
      notes.push_back(std::move(note));
    }
  }
  return notes;
}

size_t PreparedOpencl::TensorBytes() const {
  size_t total = 0;
  for (const GpuTensor &tensor : variants_.front().plan.tensors) {
    if (tensor.is_constant || tensor.alias_of >= 0) continue;
    total += IsImage(tensor.storage)
                 ? tensor.Width() * tensor.Height() * 4 *
                       DataTypeSize(StorageElement(tensor.storage))
                 : tensor.Bytes();
  }
  for (const PlannedLaunch &planned : variants_.front().plan.launches) {
    for (const LaunchArgument &argument : planned.launch.arguments()) {
      if (argument.table == nullptr) continue;
      total += argument.table->size() * sizeof(int32_t);
    }
  }
  return total;
}

}  // namespace mace
