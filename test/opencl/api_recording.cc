// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Recorded launches: cl_khr_command_buffer of the target, and
// cl_qcom_recordable_queues, which is emulated. Of the latter, changes of
// arguments and sizes are not.

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "test/opencl/import.h"
#include "test/opencl/launch.h"

namespace mace {
namespace test_opencl {
namespace {

struct Recorded {
  cl_kernel kernel;
  cl_uint dims;
  bool has_offset;
  bool has_local;
  std::array<size_t, 3> offset;
  std::array<size_t, 3> global;
  std::array<size_t, 3> local;
  std::string name;
  uint64_t arguments_set;
  std::vector<KernelArgument> arguments;
};

struct Recording {
  cl_command_queue queue;  // that records, or that runs (command buffers)
  bool ended = false;
  std::vector<Recorded> launches;
};

// Of recordings that exist, by their handle, under the lock of State.
std::map<const void *, Recording> &Recordings() {
  static auto *const recordings = new std::map<const void *, Recording>;
  return *recordings;
}

std::array<size_t, 3> Sizes(cl_uint dims, const size_t *sizes) {
  std::array<size_t, 3> copy = {};
  if (sizes != nullptr)
    std::copy_n(sizes, std::min<cl_uint>(dims, 3), &copy[0]);
  return copy;
}

void Append(const void *recording, cl_kernel kernel, const LaunchRange &range) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(kernel);
  Recordings()[recording].launches.push_back(
      {kernel, range.dims, range.offset != nullptr, range.local != nullptr,
       Sizes(range.dims, range.offset), Sizes(range.dims, range.global),
       Sizes(range.dims, range.local), object->name, object->arguments_set,
       object->arguments});
}

bool IsEnded(const void *recording) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return Recordings()[recording].ended;
}

void End(const void *recording) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  Recordings()[recording].ended = true;
}

// What the recorded launches use must still be there.
void CheckReplay(const void *recording, Call *call) {
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  const auto found = Recordings().find(recording);
  if (found == Recordings().end()) return;
  std::string problem;
  if (!found->second.ended) problem = "the recording is not ended";
  for (const Recorded &launch : found->second.launches) {
    for (const KernelArgument &argument : launch.arguments) {
      if (argument.object == nullptr) continue;
      const Object *passed = state.account.Find(argument.object);
      if (passed == nullptr || passed->call != argument.object_call ||
          passed->references <= 0) {
        problem = "an argument of " + launch.name + " is released";
      }
    }
  }
  call->Detail(std::to_string(found->second.launches.size()) + " launches");
  lock.unlock();
  if (!problem.empty()) call->Refuse(CL_INVALID_OPERATION, problem);
}

template <typename Function>
Function OfTarget(const char *name) {
  cl_platform_id platform = nullptr;
  if (target().clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS)
    return nullptr;
  return reinterpret_cast<Function>(
      target().clGetExtensionFunctionAddressForPlatform(platform, name));
}

// --- cl_qcom_recordable_queues ---

// A new address for each.
struct QcomHandle {};

void *CL_API_CALL NewRecording(cl_command_queue queue, cl_int *errcode_ret) {
  Call call("clNewRecordingQCOM");
  call.Uses(Kind::kQueue, queue);
  State &state = State::Get();
  bool is_recordable = false;
  bool is_busy = false;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (const Object *object = state.account.Find(queue)) {
      is_recordable = object->is_recordable;
      is_busy = object->recording != nullptr;
    }
  }
  if (!is_recordable)
    call.Refuse(CL_INVALID_COMMAND_QUEUE, "the queue does not record");
  if (is_busy)
    call.Refuse(CL_INVALID_OPERATION, "the queue has another recording");
  if (!call.forwards()) return call.RefusedHandle<void *>(errcode_ret);
  auto *handle = new QcomHandle;
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    Recordings()[handle] = {queue, false, {}};
    state.account.Find(queue)->recording = handle;
  }
  return call.Made(Kind::kRecording, handle, queue, CL_SUCCESS, errcode_ret);
}

cl_int CL_API_CALL EndRecording(void *recording) {
  Call call("clEndRecordingQCOM");
  call.Uses(Kind::kRecording, recording);
  if (call.forwards() && IsEnded(recording))
    call.Refuse(CL_INVALID_OPERATION, "the recording is ended");
  if (!call.forwards()) return call.Refused();
  End(recording);
  State &state = State::Get();
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    if (Object *queue = state.account.Find(Recordings()[recording].queue))
      queue->recording = nullptr;
  }
  return call.Return(CL_SUCCESS);
}

cl_int DeleteRecording(void *recording) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  Recordings().erase(recording);
  delete static_cast<QcomHandle *>(recording);
  return CL_SUCCESS;
}

cl_int CL_API_CALL ReleaseRecording(void *recording) {
  return Call("clReleaseRecordingQCOM")
      .Release(Kind::kRecording, recording, DeleteRecording);
}

cl_int CL_API_CALL EnqueueRecording(cl_command_queue queue,
                                    void *recording,
                                    size_t argument_count,
                                    const void *,
                                    size_t offset_count,
                                    const void *,
                                    size_t global_count,
                                    const void *,
                                    size_t local_count,
                                    const void *,
                                    cl_uint wait_count,
                                    const cl_event *wait_list,
                                    cl_event *event) {
  Call call("clEnqueueRecordingQCOM");
  call.Uses(Kind::kQueue, queue);
  call.Uses(Kind::kRecording, recording);
  call.Waits(wait_count, wait_list);
  if (call.forwards()) CheckReplay(recording, &call);
  if (argument_count + offset_count + global_count + local_count > 0)
    call.Refuse(CL_INVALID_VALUE, "changes are not emulated");
  std::vector<Recorded> launches;
  if (call.forwards()) {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    launches = Recordings()[recording].launches;
    const Object *used = state.account.Find(queue);
    if (used->is_recordable) launches.clear();
  }
  for (const Recorded &launch : launches) {
    bool changed = false;
    {
      State &state = State::Get();
      const std::lock_guard<std::mutex> lock(state.mutex);
      const Object *kernel = state.account.Find(launch.kernel);
      changed = kernel->arguments_set != launch.arguments_set;
    }
    // A real driver replays what it recorded.
    if (changed)
      call.Refuse(CL_INVALID_OPERATION, "the arguments of " + launch.name +
                                            " were set after it was recorded");
  }
  if (!call.forwards()) return call.Refused();
  for (size_t i = 0; i < launches.size(); ++i) {
    const Recorded &launch = launches[i];
    const bool last = i + 1 == launches.size();
    const cl_int result = target().clEnqueueNDRangeKernel(
        queue, launch.kernel, launch.dims,
        launch.has_offset ? launch.offset.data() : nullptr,
        launch.global.data(), launch.has_local ? launch.local.data() : nullptr,
        i == 0 ? wait_count : 0, i == 0 ? wait_list : nullptr,
        last ? event : nullptr);
    if (result != CL_SUCCESS || last)
      return call.Enqueued(result, queue, last ? event : nullptr);
  }
  return call.Return(CL_SUCCESS);
}

// --- cl_khr_command_buffer ---

cl_command_buffer_khr CL_API_CALL
CreateCommandBuffer(cl_uint num_queues,
                    const cl_command_queue *queues,
                    const cl_command_buffer_properties_khr *properties,
                    cl_int *errcode_ret) {
  Call call("clCreateCommandBufferKHR");
  for (cl_uint i = 0; queues != nullptr && i < num_queues; ++i)
    call.Uses(Kind::kQueue, queues[i]);
  if (!call.forwards())
    return call.RefusedHandle<cl_command_buffer_khr>(errcode_ret);
  cl_int error;
  const cl_command_buffer_khr made = OfTarget<clCreateCommandBufferKHR_fn>(
      "clCreateCommandBufferKHR")(num_queues, queues, properties, &error);
  if (error == CL_SUCCESS) {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    Recordings()[made] = {queues[0], false, {}};
  }
  return call.Made(Kind::kRecording, made, queues[0], error, errcode_ret);
}

cl_int CL_API_CALL FinalizeCommandBuffer(cl_command_buffer_khr buffer) {
  Call call("clFinalizeCommandBufferKHR");
  call.Uses(Kind::kRecording, buffer);
  if (!call.forwards()) return call.Refused();
  const cl_int result = OfTarget<clFinalizeCommandBufferKHR_fn>(
      "clFinalizeCommandBufferKHR")(buffer);
  if (result == CL_SUCCESS) End(buffer);
  return call.Return(result);
}

cl_int DeleteCommandBuffer(cl_command_buffer_khr buffer) {
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    Recordings().erase(buffer);
  }
  return OfTarget<clReleaseCommandBufferKHR_fn>("clReleaseCommandBufferKHR")(
      buffer);
}

cl_int CL_API_CALL ReleaseCommandBuffer(cl_command_buffer_khr buffer) {
  return Call("clReleaseCommandBufferKHR")
      .Release(Kind::kRecording, buffer, DeleteCommandBuffer);
}

cl_int CL_API_CALL EnqueueCommandBuffer(cl_uint num_queues,
                                        cl_command_queue *queues,
                                        cl_command_buffer_khr buffer,
                                        cl_uint wait_count,
                                        const cl_event *wait_list,
                                        cl_event *event) {
  Call call("clEnqueueCommandBufferKHR");
  call.Uses(Kind::kRecording, buffer);
  call.Waits(wait_count, wait_list);
  if (call.forwards()) CheckReplay(buffer, &call);
  if (!call.forwards()) return call.Refused();
  cl_command_queue queue;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    queue = Recordings()[buffer].queue;
  }
  return call.Enqueued(
      OfTarget<clEnqueueCommandBufferKHR_fn>("clEnqueueCommandBufferKHR")(
          num_queues, queues, buffer, wait_count, wait_list, event),
      queue, event);
}

cl_int CL_API_CALL
CommandNDRangeKernel(cl_command_buffer_khr buffer,
                     cl_command_queue queue,
                     const cl_ndrange_kernel_command_properties_khr *properties,
                     cl_kernel kernel,
                     cl_uint dims,
                     const size_t *offset,
                     const size_t *global,
                     const size_t *local,
                     cl_uint wait_count,
                     const cl_sync_point_khr *wait_list,
                     cl_sync_point_khr *sync_point,
                     cl_mutable_command_khr *mutable_handle) {
  Call call("clCommandNDRangeKernelKHR");
  call.Uses(Kind::kRecording, buffer);
  call.Uses(Kind::kKernel, kernel);
  const LaunchRange range = {dims, offset, global, local};
  cl_command_queue of_buffer = nullptr;
  if (call.forwards()) {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    of_buffer = Recordings()[buffer].queue;
  }
  CheckKernel(of_buffer, kernel, range, &call);
  if (!call.forwards()) return call.Refused();
  const cl_int result =
      OfTarget<clCommandNDRangeKernelKHR_fn>("clCommandNDRangeKernelKHR")(
          buffer, queue, properties, kernel, dims, offset, global, local,
          wait_count, wait_list, sync_point, mutable_handle);
  if (result == CL_SUCCESS) Append(buffer, kernel, range);
  return call.Return(result);
}

}  // namespace

bool RecordOnQueue(cl_command_queue queue,
                   cl_kernel kernel,
                   const LaunchRange &range,
                   Call *call) {
  const void *recording = nullptr;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    const Object *object = state.account.Find(queue);
    if (object == nullptr || !object->is_recordable) return false;
    recording = object->recording;
  }
  if (recording == nullptr) {
    call->Refuse(CL_INVALID_OPERATION, "the queue has no recording");
  } else {
    Append(recording, kernel, range);
  }
  return true;
}

void *FindExtensionFunction(const char *name) {
  static const struct {
    const char *name;
    void *function;
  } kQcom[] =
      {
          {"clNewRecordingQCOM", reinterpret_cast<void *>(&NewRecording)},
          {"clEndRecordingQCOM", reinterpret_cast<void *>(&EndRecording)},
          {"clReleaseRecordingQCOM",
           reinterpret_cast<void *>(&ReleaseRecording)},
          {"clEnqueueRecordingQCOM",
           reinterpret_cast<void *>(&EnqueueRecording)},
      },
    kKhronos[] = {
        {"clCreateCommandBufferKHR",
         reinterpret_cast<void *>(&CreateCommandBuffer)},
        {"clFinalizeCommandBufferKHR",
         reinterpret_cast<void *>(&FinalizeCommandBuffer)},
        {"clReleaseCommandBufferKHR",
         reinterpret_cast<void *>(&ReleaseCommandBuffer)},
        {"clEnqueueCommandBufferKHR",
         reinterpret_cast<void *>(&EnqueueCommandBuffer)},
        {"clCommandNDRangeKernelKHR",
         reinterpret_cast<void *>(&CommandNDRangeKernel)},
    };
  if (void *import = FindImportFunction(name)) return import;
  const Family *family = CurrentFamily();
  for (const auto &entry : kQcom) {
    if (std::strcmp(entry.name, name) != 0) continue;
    const bool has =
        family != nullptr &&
        HasExtension(family->extensions, "cl_qcom_recordable_queues");
    return has ? entry.function : nullptr;
  }
  for (const auto &entry : kKhronos) {
    if (std::strcmp(entry.name, name) != 0) continue;
    return OfTarget<void *>(name) == nullptr ? nullptr : entry.function;
  }
  return nullptr;
}

}  // namespace test_opencl
}  // namespace mace
