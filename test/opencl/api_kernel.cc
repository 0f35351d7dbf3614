// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Enqueuing kernels.

#include <algorithm>
#include <string>

#include "test/opencl/call.h"
#include "test/opencl/launch.h"
#include "test/opencl/matrix_units.h"

using mace::test_opencl::Account;
using mace::test_opencl::Call;
using mace::test_opencl::CurrentFamily;
using mace::test_opencl::Family;
using mace::test_opencl::KernelArgument;
using mace::test_opencl::Kind;
using mace::test_opencl::LaunchRange;
using mace::test_opencl::LosesLaunch;
using mace::test_opencl::Object;
using mace::test_opencl::RunOnMatrixUnits;
using mace::test_opencl::RunsOnMatrixUnits;
using mace::test_opencl::State;
using mace::test_opencl::target;

namespace {

std::string Text(cl_uint dims, const size_t *sizes) {
  if (sizes == nullptr) return "any";
  std::string text;
  for (cl_uint i = 0; i < dims; ++i)
    text += (i > 0 ? "x" : "") + std::to_string(sizes[i]);
  return text;
}

// All but the problems, which are said without the lock.
struct Arguments {
  std::string name = "kernel";
  std::string problem;
  std::string mapped;
  uint64_t local_bytes = 0;
  bool non_uniform = false;
};

Arguments ReadArguments(cl_kernel kernel) {
  Arguments found;
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(kernel);
  if (object == nullptr) return found;
  found.name = object->name;
  found.non_uniform = object->non_uniform;
  for (size_t i = 0; i < object->arguments.size(); ++i) {
    const KernelArgument &argument = object->arguments[i];
    const std::string which =
        "argument " + std::to_string(i) + " of " + object->name;
    found.local_bytes += argument.local_bytes;
    if (!argument.is_set) {
      found.problem = which + " is not set";
      continue;
    }
    if (argument.object == nullptr) continue;
    const Object *passed = state.account.Find(argument.object);
    if (passed == nullptr || passed->call != argument.object_call ||
        passed->references <= 0) {
      found.problem = which + " is released";
      if (passed != nullptr && passed->call == argument.object_call)
        found.problem += ": " + Account::Describe(*passed);
      continue;
    }
    for (const auto &mapping : passed->mappings) {
      if (mapping.second)
        found.mapped =
            which + " is mapped for writing: " + Account::Describe(*passed);
    }
  }
  return found;
}

void CheckLocalSize(const LaunchRange &range,
                    const Family *family,
                    bool non_uniform,
                    Call *call) {
  size_t items = 1;
  for (cl_uint i = 0; i < std::min<cl_uint>(range.dims, 3); ++i) {
    const size_t local = range.local[i];
    items *= local;
    if (family != nullptr && local > family->work_item_sizes[i]) {
      call->Refuse(CL_INVALID_WORK_ITEM_SIZE,
                   "local size " + Text(range.dims, range.local) +
                       "; the device allows " +
                       Text(3, family->work_item_sizes));
      return;
    }
    // A target of OpenCL 2 or later may let it pass.
    if (!non_uniform && local > 0 && range.global != nullptr &&
        range.global[i] % local != 0) {
      call->Refuse(CL_INVALID_WORK_GROUP_SIZE,
                   "global size " + Text(range.dims, range.global) +
                       " is no multiple of local size " +
                       Text(range.dims, range.local));
      return;
    }
  }
  if (family != nullptr && items > family->most_items_of_kernel()) {
    call->Refuse(CL_INVALID_WORK_GROUP_SIZE,
                 "local size " + Text(range.dims, range.local) +
                     "; the device allows this kernel " +
                     std::to_string(family->most_items_of_kernel()) +
                     " work-items");
  }
}

// With the arguments in local memory, if the kernel has any.
uint64_t LocalBytes(cl_command_queue queue, cl_kernel kernel) {
  cl_device_id device = nullptr;
  cl_ulong bytes = 0;
  if (target().clGetCommandQueueInfo(
          queue, CL_QUEUE_DEVICE, sizeof(cl_device_id),
          static_cast<void *>(&device), nullptr) != CL_SUCCESS ||
      target().clGetKernelWorkGroupInfo(kernel, device,
                                        CL_KERNEL_LOCAL_MEM_SIZE, sizeof bytes,
                                        &bytes, nullptr) != CL_SUCCESS) {
    return 0;
  }
  return bytes;
}

// The limit of each dimension, which drivers do not tell.
void CheckGroups(const LaunchRange &range, const Family &family, Call *call) {
  for (cl_uint i = 0; i < std::min<cl_uint>(range.dims, 3); ++i) {
    const size_t most = family.max_groups[i];
    if (most == 0 || range.global[i] / range.local[i] <= most) continue;
    call->Refuse(CL_OUT_OF_RESOURCES,
                 "global size " + Text(range.dims, range.global) +
                     ", local size " + Text(range.dims, range.local) +
                     "; the device runs " + std::to_string(most) +
                     " groups in a dimension");
    return;
  }
}

// Gives an event the times that are emulated.
void EmulateTimes(cl_kernel kernel,
                  const LaunchRange &range,
                  const cl_event *event) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const bool is_emulated =
      state.nanos_per_group > 0 || state.kernel_nanos != nullptr;
  if (event == nullptr || !is_emulated || range.local == nullptr) return;
  const Object *launched = state.account.Find(kernel);
  Object *object = state.account.Find(*event);
  if (launched == nullptr || object == nullptr) return;
  size_t global[3] = {1, 1, 1};
  size_t local[3] = {1, 1, 1};
  uint64_t groups = 1;
  for (cl_uint i = 0; i < std::min<cl_uint>(range.dims, 3); ++i) {
    global[i] = range.global[i];
    local[i] = range.local[i];
    groups *= global[i] / local[i];
  }
  object->start_nanos = ++state.clock_nanos;
  state.clock_nanos +=
      state.kernel_nanos != nullptr
          ? state.kernel_nanos(launched->name.c_str(),
                               launched->options.c_str(), global, local)
          : groups * state.nanos_per_group;
  object->end_nanos = state.clock_nanos;
}

}  // namespace

namespace mace {
namespace test_opencl {

void CheckKernel(cl_command_queue queue,
                 cl_kernel kernel,
                 const LaunchRange &range,
                 Call *call) {
  const Arguments arguments = ReadArguments(kernel);
  call->Detail(arguments.name + " global " + Text(range.dims, range.global) +
               " local " + Text(range.dims, range.local) +
               (range.offset == nullptr
                    ? ""
                    : " offset " + Text(range.dims, range.offset)));
  if (!arguments.problem.empty())
    call->Refuse(CL_INVALID_KERNEL_ARGS, arguments.problem);
  if (!arguments.mapped.empty()) call->Note(arguments.mapped);
  const Family *family = CurrentFamily();
  if (range.local != nullptr)
    CheckLocalSize(range, family, arguments.non_uniform, call);
  if (family == nullptr || !call->forwards()) return;
  if (range.local != nullptr) CheckGroups(range, *family, call);
  const uint64_t local_bytes =
      std::max(LocalBytes(queue, kernel), arguments.local_bytes);
  if (local_bytes > family->local_bytes) {
    call->Refuse(CL_OUT_OF_RESOURCES,
                 arguments.name + " takes " + std::to_string(local_bytes) +
                     " bytes of local memory; the device has " +
                     std::to_string(family->local_bytes));
  }
}

}  // namespace test_opencl
}  // namespace mace

cl_int clEnqueueNDRangeKernel(cl_command_queue command_queue,
                              cl_kernel kernel,
                              cl_uint work_dim,
                              const size_t *global_work_offset,
                              const size_t *global_work_size,
                              const size_t *local_work_size,
                              cl_uint num_events_in_wait_list,
                              const cl_event *event_wait_list,
                              cl_event *event) {
  Call call("clEnqueueNDRangeKernel");
  call.Uses(Kind::kQueue, command_queue);
  call.Uses(Kind::kKernel, kernel);
  call.Waits(num_events_in_wait_list, event_wait_list);
  const LaunchRange range = {work_dim, global_work_offset, global_work_size,
                             local_work_size};
  CheckKernel(command_queue, kernel, range, &call);
  if (!call.forwards()) return call.Refused();
  if (mace::test_opencl::RecordOnQueue(command_queue, kernel, range, &call))
    return call.forwards() ? call.Return(CL_SUCCESS) : call.Refused();
  if (LosesLaunch(kernel)) {
    return call.Enqueued(event == nullptr
                             ? CL_SUCCESS
                             : target().clEnqueueMarker(command_queue, event),
                         command_queue, event);
  }
  if (RunsOnMatrixUnits(kernel)) {
    cl_int result = RunOnMatrixUnits(command_queue, kernel, range);
    if (result == CL_SUCCESS && event != nullptr) {
      result = target().clEnqueueMarker(command_queue, event);
    }
    call.Enqueued(result, command_queue, event);
    if (result == CL_SUCCESS) EmulateTimes(kernel, range, event);
    return result;
  }
  const cl_int result = call.Enqueued(
      target().clEnqueueNDRangeKernel(
          command_queue, kernel, work_dim, global_work_offset, global_work_size,
          local_work_size, num_events_in_wait_list, event_wait_list, event),
      command_queue, event);
  if (result == CL_SUCCESS) EmulateTimes(kernel, range, event);
  return result;
}

cl_int clEnqueueTask(cl_command_queue command_queue,
                     cl_kernel kernel,
                     cl_uint num_events_in_wait_list,
                     const cl_event *event_wait_list,
                     cl_event *event) {
  static constexpr size_t kOne = 1;
  Call call("clEnqueueTask");
  call.Uses(Kind::kQueue, command_queue);
  call.Uses(Kind::kKernel, kernel);
  call.Waits(num_events_in_wait_list, event_wait_list);
  CheckKernel(command_queue, kernel, {1, nullptr, &kOne, &kOne}, &call);
  if (!call.forwards()) return call.Refused();
  return call.Enqueued(
      target().clEnqueueTask(command_queue, kernel, num_events_in_wait_list,
                             event_wait_list, event),
      command_queue, event);
}
