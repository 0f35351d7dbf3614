// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/cl_recording.h"

#include <CL/cl_ext.h>

#include <utility>

#include "mace/runtimes/opencl/driver/opencl_runtime.h"

namespace mace {
namespace {

// Of cl_qcom_recordable_queues, which is in no header of Khronos. The arrays
// change arguments and sizes of a recording; none is given here.
using QcomRecording = struct _cl_recording_qcom *;
constexpr cl_command_queue_properties kQueueRecordableQcom = 1u << 30;

using NewRecording = QcomRecording(CL_API_CALL *)(cl_command_queue, cl_int *);
using OfRecording = cl_int(CL_API_CALL *)(QcomRecording);
using EnqueueRecording = cl_int(CL_API_CALL *)(cl_command_queue,
                                               QcomRecording,
                                               size_t,
                                               const void *arguments,
                                               size_t,
                                               const void *offsets,
                                               size_t,
                                               const void *global_sizes,
                                               size_t,
                                               const void *local_sizes,
                                               cl_uint,
                                               const cl_event *,
                                               cl_event *);

template <typename Function>
bool Find(const OpenclRuntime &runtime, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(
      runtime.api().clGetExtensionFunctionAddressForPlatform(
          runtime.device().platform, name));
  return *function != nullptr;
}

// --- cl_khr_command_buffer ---

struct KhrFunctions {
  clCreateCommandBufferKHR_fn create = nullptr;
  clFinalizeCommandBufferKHR_fn finalize = nullptr;
  clReleaseCommandBufferKHR_fn release = nullptr;
  clEnqueueCommandBufferKHR_fn enqueue = nullptr;
  clCommandNDRangeKernelKHR_fn launch = nullptr;
};

class KhrRecording final : public ClRecording {
 public:
  KhrRecording(const KhrFunctions &functions, cl_command_buffer_khr buffer)
      : functions_(functions), buffer_(buffer, functions.release) {}

  MaceStatus Add(cl_kernel kernel, const KernelRange &range) override {
    MACE_CL_CHECK(
        "clCommandNDRangeKernelKHR", "",
        functions_.launch(buffer_.get(), nullptr, nullptr, kernel, 3,
                          range.start(), range.global.data(),
                          range.local.data(), 0, nullptr, nullptr, nullptr));
    return MaceStatus();
  }
  MaceStatus Finish() override {
    MACE_CL_CHECK("clFinalizeCommandBufferKHR", "",
                  functions_.finalize(buffer_.get()));
    return MaceStatus();
  }
  MaceStatus Enqueue() override {
    MACE_CL_CHECK(
        "clEnqueueCommandBufferKHR", "",
        functions_.enqueue(0, nullptr, buffer_.get(), 0, nullptr, nullptr));
    return MaceStatus();
  }

 private:
  const KhrFunctions &functions_;
  ClHandle<cl_command_buffer_khr> buffer_;
};

class KhrRecorder final : public ClRecorder {
 public:
  explicit KhrRecorder(cl_command_queue queue) : queue_(queue) {}

  // Whether the driver has all that is needed.
  bool Load(const OpenclRuntime &runtime) {
    cl_command_queue_properties required = 0;
    // The queue has no properties.
    if (runtime.api().clGetDeviceInfo(
            runtime.device().id,
            CL_DEVICE_COMMAND_BUFFER_REQUIRED_QUEUE_PROPERTIES_KHR,
            sizeof(required), &required, nullptr) != CL_SUCCESS ||
        required != 0) {
      return false;
    }
    return Find(runtime, "clCreateCommandBufferKHR", &functions_.create) &&
           Find(runtime, "clFinalizeCommandBufferKHR", &functions_.finalize) &&
           Find(runtime, "clReleaseCommandBufferKHR", &functions_.release) &&
           Find(runtime, "clEnqueueCommandBufferKHR", &functions_.enqueue) &&
           Find(runtime, "clCommandNDRangeKernelKHR", &functions_.launch);
  }

  Result<std::unique_ptr<ClRecording>> Begin() override {
    cl_int error = CL_SUCCESS;
    const cl_command_buffer_khr buffer =
        functions_.create(1, &queue_, nullptr, &error);
    MACE_CL_CHECK("clCreateCommandBufferKHR", "", error);
    return std::unique_ptr<ClRecording>(
        std::make_unique<KhrRecording>(functions_, buffer));
  }

 private:
  cl_command_queue queue_;
  KhrFunctions functions_;
};

// --- cl_qcom_recordable_queues ---

struct QcomFunctions {
  NewRecording create = nullptr;
  OfRecording end = nullptr;
  OfRecording release = nullptr;
  EnqueueRecording enqueue = nullptr;
};

class QcomRecordingOfQueue final : public ClRecording {
 public:
  // `recorded` records what is added to it; `queue` runs it.
  QcomRecordingOfQueue(const ClApi &api,
                       const QcomFunctions &functions,
                       ClQueue recorded,
                       QcomRecording recording,
                       cl_command_queue queue)
      : api_(api),
        functions_(functions),
        recorded_(std::move(recorded)),
        recording_(recording, functions.release),
        queue_(queue) {}
  ~QcomRecordingOfQueue() override {
    if (!ended_) functions_.end(recording_.get());
  }

  MaceStatus Add(cl_kernel kernel, const KernelRange &range) override {
    MACE_CL_CHECK(
        "clEnqueueNDRangeKernel", "to record",
        api_.clEnqueueNDRangeKernel(recorded_.get(), kernel, 3, range.start(),
                                    range.global.data(), range.local.data(), 0,
                                    nullptr, nullptr));
    return MaceStatus();
  }
  MaceStatus Finish() override {
    ended_ = true;
    MACE_CL_CHECK("clEndRecordingQCOM", "", functions_.end(recording_.get()));
    return MaceStatus();
  }
  MaceStatus Enqueue() override {
    MACE_CL_CHECK(
        "clEnqueueRecordingQCOM", "",
        functions_.enqueue(queue_, recording_.get(), 0, nullptr, 0, nullptr, 0,
                           nullptr, 0, nullptr, 0, nullptr, nullptr));
    return MaceStatus();
  }

 private:
  const ClApi &api_;
  const QcomFunctions &functions_;
  ClQueue recorded_;
  ClHandle<QcomRecording> recording_;
  cl_command_queue queue_;
  bool ended_ = false;
};

class QcomRecorder final : public ClRecorder {
 public:
  QcomRecorder(const OpenclRuntime &runtime, cl_command_queue queue)
      : runtime_(runtime), queue_(queue) {}

  bool Load() {
    return Find(runtime_, "clNewRecordingQCOM", &functions_.create) &&
           Find(runtime_, "clEndRecordingQCOM", &functions_.end) &&
           Find(runtime_, "clReleaseRecordingQCOM", &functions_.release) &&
           Find(runtime_, "clEnqueueRecordingQCOM", &functions_.enqueue);
  }

  Result<std::unique_ptr<ClRecording>> Begin() override {
    const ClApi &api = runtime_.api();
    cl_int error = CL_SUCCESS;
    // Drivers refuse this property together with others.
    ClQueue recorded(
        api.clCreateCommandQueue(runtime_.context(), runtime_.device().id,
                                 kQueueRecordableQcom, &error),
        api.clReleaseCommandQueue);
    MACE_CL_CHECK("clCreateCommandQueue", "to record", error);
    const QcomRecording recording = functions_.create(recorded.get(), &error);
    MACE_CL_CHECK("clNewRecordingQCOM", "", error);
    return std::unique_ptr<ClRecording>(std::make_unique<QcomRecordingOfQueue>(
        api, functions_, std::move(recorded), recording, queue_));
  }

 private:
  const OpenclRuntime &runtime_;
  cl_command_queue queue_;
  QcomFunctions functions_;
};

}  // namespace

std::unique_ptr<ClRecorder> ClRecorder::Create(const OpenclRuntime &runtime,
                                               cl_command_queue queue) {
  const GpuDevice &device = runtime.device();
  if (device.HasExtension("cl_khr_command_buffer")) {
    auto recorder = std::make_unique<KhrRecorder>(queue);
    if (recorder->Load(runtime)) return recorder;
  }
  if (device.HasExtension("cl_qcom_recordable_queues")) {
    auto recorder = std::make_unique<QcomRecorder>(runtime, queue);
    if (recorder->Load()) return recorder;
  }
  return nullptr;
}

}  // namespace mace
