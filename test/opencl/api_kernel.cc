// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Enqueuing kernels.

#include <algorithm>
#include <string>

#include "test/opencl/call.h"

using mace::test_opencl::Account;
using mace::test_opencl::Call;
using mace::test_opencl::CurrentFamily;
using mace::test_opencl::Family;
using mace::test_opencl::KernelArgument;
using mace::test_opencl::Kind;
using mace::test_opencl::Object;
using mace::test_opencl::State;
using mace::test_opencl::target;

namespace {

struct Range {
  cl_uint dims;
  const size_t *global;
  const size_t *local;  // may be null
};

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

void CheckLocalSize(const Range &range,
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

void CheckKernel(cl_command_queue queue,
                 cl_kernel kernel,
                 const Range &range,
                 Call *call) {
  const Arguments arguments = ReadArguments(kernel);
  call->Detail(arguments.name + " global " + Text(range.dims, range.global) +
               " local " + Text(range.dims, range.local));
  if (!arguments.problem.empty())
    call->Refuse(CL_INVALID_KERNEL_ARGS, arguments.problem);
  if (!arguments.mapped.empty()) call->Note(arguments.mapped);
  const Family *family = CurrentFamily();
  if (range.local != nullptr)
    CheckLocalSize(range, family, arguments.non_uniform, call);
  if (family == nullptr || !call->forwards()) return;
  const uint64_t local_bytes =
      std::max(LocalBytes(queue, kernel), arguments.local_bytes);
  if (local_bytes > family->local_bytes) {
    call->Refuse(CL_OUT_OF_RESOURCES,
                 arguments.name + " takes " + std::to_string(local_bytes) +
                     " bytes of local memory; the device has " +
                     std::to_string(family->local_bytes));
  }
}

}  // namespace

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
  CheckKernel(command_queue, kernel,
              {work_dim, global_work_size, local_work_size}, &call);
  if (!call.forwards()) return call.Refused();
  return call.Enqueued(
      target().clEnqueueNDRangeKernel(
          command_queue, kernel, work_dim, global_work_offset, global_work_size,
          local_work_size, num_events_in_wait_list, event_wait_list, event),
      command_queue, event);
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
  CheckKernel(command_queue, kernel, {1, &kOne, &kOne}, &call);
  if (!call.forwards()) return call.Refused();
  return call.Enqueued(
      target().clEnqueueTask(command_queue, kernel, num_events_in_wait_list,
                             event_wait_list, event),
      command_queue, event);
}
