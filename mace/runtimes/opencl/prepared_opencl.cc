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
#include "mace/runtimes/opencl/background_build.h"
#include "mace/runtimes/opencl/model_tuning.h"
#include "mace/runtimes/opencl/opencl_device.h"
#include "mace/runtimes/opencl/operator_stats.h"
#include "mace/runtimes/opencl/selftest.h"

namespace mace {
namespace {

// The number of plans that are kept, each for inputs and outputs of other
// orders of dimensions.
constexpr size_t kMaxVariants = 4;

int64_t MicrosBetween(cl_ulong from, cl_ulong to) {
  return static_cast<int64_t>(to - from) / 1000;
}

size_t ElementBytes(const GpuTensor &tensor) {
  return static_cast<size_t>(tensor.dims.pixels() * tensor.dims.c) *
         DataTypeSize(StorageElement(tensor.storage));
}

// Of what the kernel's pointer points to: four elements of a padded buffer.
size_t UnitBytes(GpuStorage storage) {
  return DataTypeSize(StorageElement(storage)) * (IsPadded(storage) ? 4 : 1);
}

// The offset of a tensor in the buffer of all tensors, in bytes.
size_t OffsetOf(const OpenclPlan &plan, int tensor) {
  const int request = plan.request_of[plan.RootIndex(tensor)];
  if (request < 0) return 0;
  const GpuTensor &entry = plan.tensors[tensor];
  return plan.memory.offsets[request] +
         static_cast<size_t>(entry.Place().x) * UnitBytes(entry.storage);
}

BorderCopy::Order OrderOf(bool from_nchw, bool to_nchw) {
  if (from_nchw == to_nchw) return BorderCopy::Order::kSame;
  return from_nchw ? BorderCopy::Order::kNchwToNhwc
                   : BorderCopy::Order::kNhwcToNchw;
}

}  // namespace

bool PreparedOpencl::Variant::in_caller() const {
  return std::any_of(
      border.begin(), border.end(),
      [](const BorderStorage &entry) { return entry.in_caller; });
}

PreparedOpencl::PreparedOpencl(OpenclPartition *partition,
                               const GraphShapes &shapes)
    : partition_(partition),
      shapes_(shapes),
      api_(partition->device()->runtime()->api()),
      staging_(partition->device()) {}

PreparedOpencl::~PreparedOpencl() {
  // The driver may still read what is released here.
  api_.clFinish(partition_->device()->queue());
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
      if (caller.tensor != tensor) continue;
      if (InGpuMemory(caller.host)) {
        MACE_ASSIGN_OR_RETURN(const GpuStorage storage,
                              CallerStorage(caller.host));
        border.push_back({tensor, storage, true});
        return MaceStatus();
      }
      if (caller.host.nchw) nchw = true;
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

Result<std::vector<BorderStorage>> PreparedOpencl::DeclaredBorder() const {
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
  return BorderOf(callers);
}

Result<OpenclPlan> PreparedOpencl::PlanAsDeclared() const {
  MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                        DeclaredBorder());
  return PlanOpencl(partition_->graph(), partition_->spec(), shapes_,
                    partition_->options(), border);
}

MaceStatus PreparedOpencl::Prepare() {
  MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                        DeclaredBorder());
  return MakeVariant(border);
}

MaceStatus PreparedOpencl::MakeVariant(
    const std::vector<BorderStorage> &border) {
  OpenclDevice *device = partition_->device();
  if (device->tuning_seconds() > 0) Tune(border);
  const OpenclPlanOptions &options = partition_->options();
  MACE_ASSIGN_OR_RETURN(
      std::list<Variant> made,
      NewVariant(border, options,
                 {options.queue_window, options.kernel_millis * 1e6},
                 device->stores()));
  // They are for tuning.
  made.front().choices = {};
  variants_.splice(variants_.begin(), made);
  if (variants_.size() > kMaxVariants) variants_.pop_back();
  return MaceStatus();
}

// What a compiler makes of a kernel may run smaller work groups than the GPU
// does; the plan is then made again, for those.
Result<std::list<PreparedOpencl::Variant>> PreparedOpencl::NewVariant(
    const std::vector<BorderStorage> &border,
    OpenclPlanOptions options,
    const CommandLimits &limits,
    const ProgramStores &stores) {
  while (true) {
    std::list<Variant> made;
    Variant &variant = made.emplace_back(partition_->device(), limits);
    variant.border = border;
    const MaceStatus status = Fill(options, stores, &variant);
    if (status == MaceStatus::MACE_SUCCESS) return std::move(made);
    const size_t items = variant.commands.work_group_limit();
    if (items == 0 || items >= options.traits.max_work_group) return status;
    VLOG(1) << "GPU: planned again: " << StatusMessage(status);
    options.traits.max_work_group = items;
    partition_->LimitWorkGroups(items);
  }
}

MaceStatus PreparedOpencl::Fill(const OpenclPlanOptions &options,
                                const ProgramStores &stores,
                                Variant *variant) {
  MACE_ASSIGN_OR_RETURN(variant->plan,
                        PlanOpencl(partition_->graph(), partition_->spec(),
                                   shapes_, options, variant->border));
  variant->choices = std::move(variant->plan.choices);
  std::vector<ProgramKey> programs;
  for (const PlannedLaunch &launch : variant->plan.launches) {
    programs.push_back(launch.program);
  }
  // The constants are prepared and copied while programs are compiled.
  BackgroundBuild build(partition_->device()->runtime(), programs, stores);
  const MaceStatus uploaded = UploadConstants(variant->plan);
  MACE_RETURN_IF_ERROR(build.Wait());
  MACE_RETURN_IF_ERROR(uploaded);
  for (const PlannedLaunch &planned : variant->plan.launches) {
    const OperatorDef &def =
        *partition_->graph().nodes()[planned.nodes.back()].def;
    const double nanos =
        options.kernel_millis > 0 ? LaunchNanos(variant->plan, planned) : 0;
    MACE_RETURN_IF_ERROR(AtOperator(
        def,
        variant->commands.Add(planned, LaunchText(partition_->graph(), planned),
                              nanos, options.tuned, &variant->choices)));
  }
  return MaceStatus();
}

void PreparedOpencl::Tune(const std::vector<BorderStorage> &border) {
  OpenclDevice *device = partition_->device();
  std::vector<BorderStorage> own = border;
  for (BorderStorage &entry : own) entry.in_caller = false;
  ModelTuning tuning(this, own);
  const auto summary =
      TuneModel(&tuning, device->tuning_seconds(), device->tuned());
  device->SpendTuningSeconds(tuning.Seconds());
  if (!summary.ok()) {
    LOG(WARNING) << "the model is not tuned: "
                 << StatusMessage(summary.status());
    return;
  }
  device->tuned()->Flush();
  const TuningSummary &done = summary.value();
  LOG(INFO) << "tuned " << done.tuned << " of " << done.choices - done.known
            << " choices of GPU kernels in " << tuning.Seconds() << " s, "
            << done.changed << " changed: " << done.tuned_nanos / 1000
            << " us, before " << done.guess_nanos / 1000 << " us";
}

// An estimate: that of all its operators, even if they have several launches.
double PreparedOpencl::LaunchNanos(const OpenclPlan &plan,
                                   const PlannedLaunch &planned) const {
  double nanos = 0;
  for (int node : planned.nodes) {
    nanos += partition_->device()->KernelNanos(CostOf(
        partition_->graph(), static_cast<size_t>(node), shapes_, plan.reports));
  }
  return nanos;
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

MaceStatus PreparedOpencl::Bind(const std::vector<CallerTensor> &callers,
                                Arena *arena) {
  BeginNanSearch();
  if (!callers.empty()) {
    MACE_ASSIGN_OR_RETURN(const std::vector<BorderStorage> border,
                          BorderOf(callers));
    const auto found = std::find_if(
        variants_.begin(), variants_.end(),
        [&](const Variant &variant) { return variant.border == border; });
    if (found == variants_.end()) {
      MACE_RETURN_IF_ERROR(MakeVariant(border));
    } else if (found != variants_.begin()) {
      variants_.splice(variants_.begin(), variants_, found);
    }
  }
  Variant &variant = variants_.front();
  OpenclMemory *memory = MemoryIn(arena);
  memory_ = memory;
  SelfTest *test = partition_->device()->self_test();
  if (test != nullptr && !variant.tested && variant.in_caller()) {
    MACE_RETURN_IF_ERROR(TestInOwnMemory(&variant, memory));
  }
  const size_t bytes = memory->BytesFor(variant.plan);
  if (bytes > memory->bytes() && !arena->Allows(*memory, bytes)) {
    return OutOfResources("no memory for the intermediate tensors of model '",
                          partition_->graph().model().name, "' (", bytes,
                          " bytes on the GPU, over the limit)");
  }
  MACE_RETURN_IF_ERROR(memory->Take(variant.plan));
  MACE_RETURN_IF_ERROR(TakeCallers(callers, &variant));
  if (variant.generation == memory->generation()) {
    if (variant.rebind) return RebindCallers(&variant, *memory);
    if (!variant.recorded) variant.commands.Record();
    variant.recorded = true;
    return MaceStatus();
  }
  MACE_RETURN_IF_ERROR(BindMemory(&variant, *memory));
  if (test == nullptr || variant.tested) return MaceStatus();
  // What was not in the plan that was tested at the start.
  MACE_RETURN_IF_ERROR(test->TestNew(this, partition_->graph(), shapes_));
  variant.tested = true;
  return MaceStatus();
}

// That of an arena, which a tutor on another context may have had before.
OpenclMemory *PreparedOpencl::MemoryIn(Arena *arena) const {
  std::unique_ptr<DeviceMemory> &slot = arena->MemoryOf(DeviceType::GPU);
  auto *memory = static_cast<OpenclMemory *>(slot.get());
  if (memory != nullptr &&
      memory->runtime() == partition_->device()->runtime()) {
    return memory;
  }
  auto made =
      std::make_unique<OpenclMemory>(partition_->device()->shared_runtime());
  memory = made.get();
  slot = std::move(made);
  return memory;
}

MaceStatus PreparedOpencl::BindAtOperator(const Variant &variant,
                                          const OpenclMemory &memory,
                                          size_t index) {
  return AtOperator(*partition_->graph()
                         .nodes()[variant.plan.launches[index].nodes.back()]
                         .def,
                    BindLaunch(variant, memory, index));
}

MaceStatus PreparedOpencl::BindMemory(Variant *variant,
                                      const OpenclMemory &memory) {
  const OpenclPlan &plan = variant->plan;
  variant->generation = 0;
  variant->commands.Forget();
  variant->commands.SetSegments(plan.begin);
  variant->arena = memory.shared_buffer();
  MACE_RETURN_IF_ERROR(variant->images.Make(plan, memory));
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    MACE_RETURN_IF_ERROR(BindAtOperator(*variant, memory, i));
  }
  // An application may have other memory in each run: then recording would cost
  // more than it saves.
  variant->recorded = !variant->in_caller();
  if (variant->recorded) variant->commands.Record();
  variant->rebind = false;
  variant->generation = memory.generation();
  return MaceStatus();
}

MaceStatus PreparedOpencl::RebindCallers(Variant *variant,
                                         const OpenclMemory &memory) {
  const OpenclPlan &plan = variant->plan;
  variant->commands.Forget();
  variant->recorded = false;
  for (size_t i = 0; i < plan.launches.size(); ++i) {
    const std::vector<int> &tensors = plan.launches[i].tensors;
    const bool uses =
        std::any_of(tensors.begin(), tensors.end(), [&plan](int tensor) {
          return tensor >= 0 && plan.Root(tensor).caller >= 0;
        });
    if (uses) MACE_RETURN_IF_ERROR(BindAtOperator(*variant, memory, i));
  }
  variant->rebind = false;
  return MaceStatus();
}

MaceStatus PreparedOpencl::TakeCallers(const std::vector<CallerTensor> &callers,
                                       Variant *variant) {
  for (const BorderStorage &entry : variant->border) {
    if (!entry.in_caller) continue;
    for (const CallerTensor &caller : callers) {
      if (caller.tensor != entry.tensor) continue;
      const auto taken = variant->callers.find(entry.tensor);
      // Two objects that exist are at two addresses, whatever they are.
      if (taken != variant->callers.end() &&
          taken->second->given == caller.host.data) {
        continue;
      }
      variant->rebind = true;
      MACE_ASSIGN_OR_RETURN(variant->callers[entry.tensor],
                            RetainCaller(caller));
    }
  }
  hardware_buffers_.DropOthers(callers);
  return MaceStatus();
}

Result<std::shared_ptr<const CallerMemory>> PreparedOpencl::RetainCaller(
    const CallerTensor &caller) const {
  const std::string &name =
      shapes_.tensors[static_cast<size_t>(caller.tensor)].name;
  if (caller.host.memory == GPU_HARDWARE_BUFFER) {
    std::shared_ptr<const CallerMemory> import =
        hardware_buffers_.Of(caller.tensor);
    if (import == nullptr) {
      return RuntimeError("the AHardwareBuffer of '", name,
                          "' is not imported");
    }
    return import;
  }
  const auto memory = static_cast<cl_mem>(caller.host.data);
  MACE_CL_CHECK("clRetainMemObject", name, api_.clRetainMemObject(memory));
  auto retained = std::make_shared<CallerMemory>();
  retained->given = memory;
  retained->memory = ClMemory(memory, api_.clReleaseMemObject);
  return std::shared_ptr<const CallerMemory>(std::move(retained));
}

// The test writes to inputs and outputs.
MaceStatus PreparedOpencl::TestInOwnMemory(Variant *variant,
                                           OpenclMemory *memory) {
  const OpenclRuntime &runtime = *partition_->device()->runtime();
  for (const BorderStorage &entry : variant->border) {
    if (!entry.in_caller) continue;
    const GpuTensor &tensor =
        variant->plan.tensors[variant->plan.tensor_of[entry.tensor]];
    const char *what = "self-test";
    auto made =
        IsImage(entry.storage)
            ? runtime.MakeImage(CL_MEM_READ_WRITE,
                                StorageElement(entry.storage), tensor.Width(),
                                tensor.Height(), what)
            : runtime.MakeBuffer(CL_MEM_READ_WRITE, tensor.Bytes(), what);
    MACE_RETURN_IF_ERROR(made.status());
    auto own = std::make_shared<CallerMemory>();
    own->memory = std::move(made.value());
    variant->callers[entry.tensor] = std::move(own);
  }
  MACE_RETURN_IF_ERROR(memory->Take(variant->plan));
  MACE_RETURN_IF_ERROR(BindMemory(variant, *memory));
  MACE_RETURN_IF_ERROR(partition_->device()->self_test()->TestNew(
      this, partition_->graph(), shapes_));
  variant->tested = true;
  variant->generation = 0;
  return MaceStatus();
}

Result<cl_mem> PreparedOpencl::MemoryOf(const Variant &variant,
                                        const OpenclMemory &memory,
                                        int tensor,
                                        const ConstantForm *form) {
  const int root = variant.plan.RootIndex(tensor);
  const GpuTensor &entry = variant.plan.tensors[root];
  if (entry.is_constant) return ConstantMemory(entry.id, form);
  if (entry.caller >= 0) {
    const auto found = variant.callers.find(entry.caller);
    if (found == variant.callers.end()) {
      return RuntimeError("the memory of '",
                          shapes_.tensors[static_cast<size_t>(tensor)].name,
                          "' is not bound");
    }
    return found->second->memory.get();
  }
  const int image = variant.plan.image_of[root];
  if (image >= 0) return variant.images.Find(memory, image);
  return memory.buffer();
}

StoredTensor PreparedOpencl::StoredAt(int tensor) const {
  const Variant &variant = variants_.front();
  const OpenclPlan &plan = variant.plan;
  const int root = plan.RootIndex(tensor);
  StoredTensor stored;
  stored.storage = plan.tensors[root].storage;
  stored.dims = plan.tensors[tensor].dims;
  stored.bytes = plan.tensors[tensor].Bytes();
  stored.place = plan.tensors[tensor].Place();
  const auto caller = variant.callers.find(plan.tensors[root].caller);
  if (caller != variant.callers.end()) {
    stored.memory = caller->second->memory.get();
  } else if (plan.image_of[root] >= 0) {
    stored.memory = variant.images.Find(*memory_, plan.image_of[root]);
  } else if (plan.request_of[root] >= 0) {
    stored.memory = memory_->buffer();
    stored.offset = OffsetOf(plan, tensor);
  }
  return stored;
}

MaceStatus PreparedOpencl::RunLaunch(size_t index) {
  return variants_.front().commands.RunLaunch(index);
}

MaceStatus PreparedOpencl::BindLaunch(const Variant &variant,
                                      const OpenclMemory &memory,
                                      size_t index) {
  const PlannedLaunch &planned = variant.plan.launches[index];
  const cl_kernel kernel = variant.commands.launch(index).kernel.get();
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
      const GpuTensor &entry = variant.plan.tensors[tensor];
      GpuPlace at_place = entry.Place();
      if (!IsImage(entry.storage)) {
        at_place.x = static_cast<int64_t>(OffsetOf(variant.plan, tensor) /
                                          UnitBytes(entry.storage));
      }
      const cl_int2 place = {
          {static_cast<cl_int>(at_place.x), static_cast<cl_int>(at_place.y)}};
      MACE_RETURN_IF_ERROR(set(sizeof(place), &place));
      const GpuDims &d = entry.dims;
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
      case LaunchArgument::Kind::kTable:
      case LaunchArgument::Kind::kZeros: {
        const cl_mem table =
            variant.commands.launch(index).tables[tables++].get();
        MACE_RETURN_IF_ERROR(set_memory(table));
        break;
      }
      default:
        MACE_RETURN_IF_ERROR(set(argument.bytes, nullptr));
    }
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::CopyIn(int tensor, const HostTensor &from) {
  Variant &variant = variants_.front();
  const int index = variant.plan.tensor_of[tensor];
  if (index < 0) return MaceStatus();
  NoteImport(tensor, from);
  const GpuTensor &entry = variant.plan.tensors[index];
  const size_t bytes = ElementBytes(entry);
  if (bytes == 0 || InGpuMemory(from)) return MaceStatus();
  MACE_ASSIGN_OR_RETURN(void *staging, staging_.Get(tensor, bytes));
  const bool nchw = entry.storage == GpuStorage::kNchwFloat;
  CopyToStaging(
      {from.data, from.data_type, staging, StorageElement(entry.storage),
       shapes_.tensors[static_cast<size_t>(tensor)].shape,
       OrderOf(from.nchw, nchw)},
      partition_->device()->pool());
  MACE_CL_CHECK(
      "clEnqueueWriteBuffer", shapes_.tensors[static_cast<size_t>(tensor)].name,
      api_.clEnqueueWriteBuffer(
          partition_->device()->queue(), variant.arena->get(), CL_FALSE,
          OffsetOf(variant.plan, index), bytes, staging, 0, nullptr, nullptr));
  return MaceStatus();
}

MaceStatus PreparedOpencl::CopyOut(int tensor, const HostTensor &to) {
  const Variant &variant = variants_.front();
  const int index = variant.plan.tensor_of[tensor];
  if (index < 0) return MaceStatus();
  const GpuTensor &entry = variant.plan.tensors[index];
  if (ElementBytes(entry) == 0) return MaceStatus();
  MACE_RETURN_IF_ERROR(CheckExport(tensor));
  if (InGpuMemory(to)) return MaceStatus();
  CopyAtBorder(
      {staging_.At(tensor), StorageElement(entry.storage), to.data,
       to.data_type, shapes_.tensors[static_cast<size_t>(tensor)].shape,
       OrderOf(entry.storage == GpuStorage::kNchwFloat, to.nchw)},
      partition_->device()->pool());
  return MaceStatus();
}

MaceStatus PreparedOpencl::Enqueue(size_t segment, const RunTrace *trace) {
  if (partition_->options().check_numerics) {
    MACE_RETURN_IF_ERROR(EnqueueChecked(segment));
  } else if (trace != nullptr) {
    MACE_RETURN_IF_ERROR(EnqueueTimed(segment, *trace));
  } else {
    MACE_RETURN_IF_ERROR(variants_.front().commands.Enqueue(segment));
  }
  MACE_RETURN_IF_ERROR(ReadExports(segment));
  MACE_CL_CHECK("clFlush", "", api_.clFlush(partition_->device()->queue()));
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
    // The application's own memory, which nobody else reads.
    if (variant.plan.Root(index).caller == border.tensor) continue;
    MACE_ASSIGN_OR_RETURN(void *staging, staging_.Get(border.tensor, bytes));
    MACE_CL_CHECK("clEnqueueReadBuffer",
                  shapes_.tensors[static_cast<size_t>(border.tensor)].name,
                  api_.clEnqueueReadBuffer(partition_->device()->queue(),
                                           variant.arena->get(), CL_FALSE,
                                           OffsetOf(variant.plan, index), bytes,
                                           staging, 0, nullptr, nullptr));
  }
  return MaceStatus();
}

MaceStatus PreparedOpencl::EnqueueTimed(size_t segment, const RunTrace &trace) {
  Variant &variant = variants_.front();
  const size_t begin = variant.plan.begin[segment];
  const size_t end = variant.plan.begin[segment + 1];
  MACE_RETURN_IF_ERROR(Wait());
  const int64_t start_micros =
      std::chrono::duration_cast<std::chrono::microseconds>(
          std::chrono::steady_clock::now() - trace.start)
          .count();
  MACE_ASSIGN_OR_RETURN(const std::vector<KernelTime> times,
                        variant.commands.RunTimed(segment));
  const Graph &graph = partition_->graph();
  // The operators of each row of the statistics.
  std::vector<std::pair<const std::vector<int> *, size_t>> described;
  for (size_t i = begin; i < end; ++i) {
    const KernelTime &time = times[i - begin];
    const PlannedLaunch &planned = variant.plan.launches[i];
    OperatorStats stats = {};
    stats.device = DeviceType::GPU;
    stats.stats.start_micros =
        start_micros + MicrosBetween(times[0].start, time.start);
    stats.stats.end_micros =
        start_micros + MicrosBetween(times[0].start, time.end);
    stats.stats.duration_nanos = static_cast<int64_t>(time.end - time.start);
    VLOG(2) << "GPU: " << variant.commands.launch(i).text << ": "
            << static_cast<double>(time.end - time.start) / 1000 << " us";
    if (trace.metadata == nullptr) continue;
    std::vector<OperatorStats> &all = trace.metadata->op_stats;
    // Another launch of the same operators; bands of rows take turns.
    const auto same = std::find_if(
        described.begin(), described.end(),
        [&](const auto &entry) { return *entry.first == planned.nodes; });
    if (same != described.end()) {
      OperatorStats &known = all[same->second];
      known.stats.end_micros = stats.stats.end_micros;
      known.stats.duration_nanos += stats.stats.duration_nanos;
      continue;
    }
    described.emplace_back(&planned.nodes, all.size());
    DescribeOperators(graph, planned.nodes, shapes_, variant.plan.reports,
                      &stats);
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
  std::string demotion = partition_->device()->verdict().Demotion();
  for (size_t segment = 0; segment < spec.segments.size(); ++segment) {
    for (int node : spec.segments[segment]) {
      const GraphNode &entry = graph.nodes()[static_cast<size_t>(node)];
      OperatorNote note;
      note.name = entry.def->name;
      note.type = entry.def->type;
      note.node = node;
      note.segment = segment;
      size_t launches = 0;
      size_t parts = 0;
      bool in_bands = false;
      const auto remark = [&note](const std::string &text) {
        if (!note.remark.empty() && !text.empty()) note.remark += ", ";
        note.remark += text;
      };
      for (size_t i = 0; i < variant.plan.launches.size(); ++i) {
        const PlannedLaunch &planned = variant.plan.launches[i];
        if (std::find(planned.nodes.begin(), planned.nodes.end(), node) ==
            planned.nodes.end()) {
          continue;
        }
        ++launches;
        parts += variant.commands.launch(i).parts.size();
        if (node != planned.nodes.back()) {
          note.remark =
              MakeString("computed with '",
                         graph.nodes()[planned.nodes.back()].def->name, "'");
        }
        in_bands = planned.group != planned.nodes;
        if (in_bands && launches > 1) continue;
        if (!note.kernel.empty()) note.kernel += " + ";
        note.kernel += planned.launch.kernel();
      }
      if (launches == 0) remark("without a launch");
      if (in_bands) remark(MakeString("in ", launches, " bands of rows"));
      if (parts > launches) remark(MakeString("in ", parts, " parts"));
      remark(demotion);
      demotion.clear();
      if (node == spec.segments[segment].front()) {
        remark(variant.commands.Remark(segment));
        if (segment == 0) remark(partition_->device()->hint_remark());
      }
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
    // Not those that operators computed together do not store.
    if (tensor.is_constant || tensor.alias_of >= 0 || tensor.first < 0) {
      continue;
    }
    total += tensor.Bytes();
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
