// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/run/bound_plan.h"

#include <algorithm>
#include <string>
#include <utility>

#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/driver/opencl_runtime.h"
#include "mace/runtimes/opencl/plan/operator_stats.h"

namespace mace {
namespace {

// Of what the kernel's pointer points to: four elements of a padded buffer.
size_t UnitBytes(GpuStorage storage) {
  return DataTypeSize(StorageElement(storage)) * (IsPadded(storage) ? 4 : 1);
}

}  // namespace

BindingOptions::BindingOptions(const ShapedPartition &partition)
    : plan(partition.options()), stores(partition.session()->stores()) {
  limits.window = plan.queue_window;
  limits.kernel_nanos = plan.kernel_millis * 1e6;
}

BoundPlan::~BoundPlan() {
  partition_->queues()->api().clFinish(partition_->queues()->queue());
}

bool BoundPlan::in_caller() const {
  return std::any_of(
      border_.begin(), border_.end(),
      [](const BorderStorage &entry) { return entry.in_caller; });
}

// What a compiler makes of a kernel may run smaller work groups than the GPU
// does; the plan is then made again, for those.
Result<std::unique_ptr<BoundPlan>> BoundPlan::Make(
    ShapedPartition *partition,
    const std::vector<BorderStorage> &border,
    BindingOptions options) {
  while (true) {
    std::unique_ptr<BoundPlan> made(
        new BoundPlan(partition, border, options.limits));
    std::vector<TuningChoice> choices;
    const MaceStatus status = made->Fill(options, &choices);
    if (IsOk(status)) {
      if (options.choices != nullptr) *options.choices = std::move(choices);
      return std::move(made);
    }
    const size_t items = made->commands_.work_group_limit();
    if (items == 0 || items >= options.plan.traits.max_work_group) {
      return status;
    }
    VLOG(1) << "GPU: planned again: " << StatusMessage(status);
    options.plan.traits.max_work_group = items;
    partition->LimitWorkGroups(items);
  }
}

MaceStatus BoundPlan::Fill(const BindingOptions &options,
                           std::vector<TuningChoice> *choices) {
  const Graph &graph = partition_->graph();
  MACE_ASSIGN_OR_RETURN(
      plan_, PlanOpencl(graph, partition_->spec(), partition_->shapes(),
                        options.plan, border_));
  *choices = std::move(plan_.choices);
  std::vector<ProgramKey> programs;
  for (const PlannedLaunch &launch : plan_.launches) {
    programs.push_back(launch.program);
  }
  // The constants are prepared and copied while programs are compiled.
  BackgroundBuild build(partition_->queues()->runtime(), programs,
                        options.stores);
  const MaceStatus uploaded = partition_->MakeConstants(plan_);
  MACE_RETURN_IF_ERROR(build.Wait());
  MACE_RETURN_IF_ERROR(uploaded);
  for (const PlannedLaunch &planned : plan_.launches) {
    const OperatorDef &def = *graph.nodes()[planned.nodes.back()].def;
    const double nanos =
        options.plan.kernel_millis > 0 ? LaunchNanos(planned) : 0;
    MACE_RETURN_IF_ERROR(
        AtOperator(def, commands_.Add(planned, LaunchText(graph, planned),
                                      nanos, options.plan.tuned, choices)));
  }
  return MaceStatus();
}

// An estimate: that of all its operators, even if they have several launches.
double BoundPlan::LaunchNanos(const PlannedLaunch &planned) const {
  double nanos = 0;
  for (int node : planned.nodes) {
    nanos += KernelNanos(partition_->queues()->device(),
                         CostOf(partition_->graph(), static_cast<size_t>(node),
                                partition_->shapes(), plan_.reports));
  }
  return nanos;
}

MaceStatus BoundPlan::TakeCallers(const std::vector<CallerTensor> &callers,
                                  const HardwareBufferImports &imports) {
  for (const BorderStorage &entry : border_) {
    if (!entry.in_caller) continue;
    for (const CallerTensor &caller : callers) {
      if (caller.tensor != entry.tensor) continue;
      const auto taken = callers_.find(entry.tensor);
      // Two objects that exist are at two addresses, whatever they are.
      if (taken != callers_.end() && taken->second->given == caller.host.data) {
        continue;
      }
      callers_changed_ = true;
      MACE_ASSIGN_OR_RETURN(callers_[entry.tensor], Retain(caller, imports));
    }
  }
  return MaceStatus();
}

Result<std::shared_ptr<const CallerMemory>> BoundPlan::Retain(
    const CallerTensor &caller, const HardwareBufferImports &imports) const {
  const std::string &name = partition_->tensor(caller.tensor).name;
  if (caller.host.memory == GPU_HARDWARE_BUFFER) {
    std::shared_ptr<const CallerMemory> import = imports.Of(caller.tensor);
    if (import == nullptr) {
      return RuntimeError("the AHardwareBuffer of '", name,
                          "' is not imported");
    }
    return import;
  }
  const ClApi &api = partition_->queues()->api();
  const auto memory = static_cast<cl_mem>(caller.host.data);
  MACE_CL_CHECK("clRetainMemObject", name, api.clRetainMemObject(memory));
  auto retained = std::make_shared<CallerMemory>();
  retained->given = memory;
  retained->memory = ClMemory(memory, api.clReleaseMemObject);
  return std::shared_ptr<const CallerMemory>(std::move(retained));
}

MaceStatus BoundPlan::TakeOwnMemory() {
  const OpenclRuntime &runtime = *partition_->queues()->runtime();
  for (const BorderStorage &entry : border_) {
    if (!entry.in_caller) continue;
    const GpuTensor &tensor = plan_.tensors[plan_.tensor_of[entry.tensor]];
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
    callers_[entry.tensor] = std::move(own);
  }
  return MaceStatus();
}

MaceStatus BoundPlan::Bind(const OpenclMemory &memory) {
  generation_ = 0;
  memory_ = &memory;
  commands_.Forget();
  commands_.SetSegments(plan_.begin);
  buffer_ = memory.shared_buffer();
  MACE_RETURN_IF_ERROR(images_.Make(plan_, memory));
  for (size_t i = 0; i < plan_.launches.size(); ++i) {
    MACE_RETURN_IF_ERROR(BindAtOperator(i));
  }
  // An application may have other memory in each run: then recording would cost
  // more than it saves.
  recorded_ = !in_caller();
  if (recorded_) commands_.Record();
  callers_changed_ = false;
  generation_ = memory.generation();
  return MaceStatus();
}

MaceStatus BoundPlan::BindCallers(const OpenclMemory &memory) {
  memory_ = &memory;
  if (!callers_changed_) {
    if (!recorded_) commands_.Record();
    recorded_ = true;
    return MaceStatus();
  }
  commands_.Forget();
  recorded_ = false;
  for (size_t i = 0; i < plan_.launches.size(); ++i) {
    const std::vector<int> &tensors = plan_.launches[i].tensors;
    const bool uses =
        std::any_of(tensors.begin(), tensors.end(), [this](int tensor) {
          return tensor >= 0 && plan_.Root(tensor).caller >= 0;
        });
    if (uses) MACE_RETURN_IF_ERROR(BindAtOperator(i));
  }
  callers_changed_ = false;
  return MaceStatus();
}

size_t BoundPlan::OffsetOf(int tensor) const {
  const int request = plan_.request_of[plan_.RootIndex(tensor)];
  if (request < 0) return 0;
  const GpuTensor &entry = plan_.tensors[tensor];
  return plan_.memory.offsets[request] +
         static_cast<size_t>(entry.Place().x) * UnitBytes(entry.storage);
}

Result<cl_mem> BoundPlan::MemoryOf(int tensor, const ConstantForm *form) {
  const int root = plan_.RootIndex(tensor);
  const GpuTensor &entry = plan_.tensors[root];
  if (entry.is_constant) return partition_->Constant(entry.id, form);
  if (entry.caller >= 0) {
    const auto found = callers_.find(entry.caller);
    if (found == callers_.end()) {
      return RuntimeError("the memory of '",
                          partition_->tensor(entry.caller).name,
                          "' is not bound");
    }
    return found->second->memory.get();
  }
  const int image = plan_.image_of[root];
  if (image >= 0) return images_.Find(*memory_, image);
  return memory_->buffer();
}

StoredTensor BoundPlan::StoredAt(int tensor) const {
  const int root = plan_.RootIndex(tensor);
  StoredTensor stored;
  stored.storage = plan_.tensors[root].storage;
  stored.dims = plan_.tensors[tensor].dims;
  stored.bytes = plan_.tensors[tensor].Bytes();
  stored.place = plan_.tensors[tensor].Place();
  const auto caller = callers_.find(plan_.tensors[root].caller);
  if (caller != callers_.end()) {
    stored.memory = caller->second->memory.get();
  } else if (plan_.image_of[root] >= 0) {
    stored.memory = images_.Find(*memory_, plan_.image_of[root]);
  } else if (plan_.request_of[root] >= 0) {
    stored.memory = memory_->buffer();
    stored.offset = OffsetOf(tensor);
  }
  return stored;
}

MaceStatus BoundPlan::BindAtOperator(size_t index) {
  return AtOperator(
      *partition_->graph().nodes()[plan_.launches[index].nodes.back()].def,
      BindLaunch(index));
}

MaceStatus BoundPlan::BindLaunch(size_t index) {
  const PlannedLaunch &planned = plan_.launches[index];
  const cl_kernel kernel = commands_.launch(index).kernel.get();
  const ClApi &api = partition_->queues()->api();
  cl_uint at = 0;
  const auto set = [&](size_t bytes, const void *value) -> MaceStatus {
    MACE_CL_CHECK("clSetKernelArg",
                  MakeString(planned.launch.kernel(), " argument ", at),
                  api.clSetKernelArg(kernel, at, bytes, value));
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
                            MemoryOf(tensor, argument.form));
      MACE_RETURN_IF_ERROR(set_memory(object));
      if (argument.kind == LaunchArgument::Kind::kConstant) continue;
      const GpuTensor &entry = plan_.tensors[tensor];
      GpuPlace at_place = entry.Place();
      if (!IsImage(entry.storage)) {
        at_place.x =
            static_cast<int64_t>(OffsetOf(tensor) / UnitBytes(entry.storage));
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
        const cl_mem table = commands_.launch(index).tables[tables++].get();
        MACE_RETURN_IF_ERROR(set_memory(table));
        break;
      }
      default:
        MACE_RETURN_IF_ERROR(set(argument.bytes, nullptr));
    }
  }
  return MaceStatus();
}

}  // namespace mace
