// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/gpu_hints.h"

#include <CL/cl_ext.h>

#include <vector>

#include "mace/core/base/logging.h"

namespace mace {
namespace {

constexpr char kQcomPerf[] = "cl_qcom_perf_hint";
constexpr char kQcomPriority[] = "cl_qcom_priority_hint";

// Of Qualcomm's two extensions, which are in no header of Khronos. The values
// of each follow its property: high, normal, low.
constexpr cl_context_properties kContextPerfHintQcom = 0x40C2;
constexpr cl_context_properties kContextPriorityHintQcom = 0x40C9;

// Of OpenCL 2.0.
constexpr cl_ulong kQueueProperties = 0x1093;
constexpr int kVersionWithQueueProperties = 200;

// Hints are 0: default, 1: low, 2: normal, 3: high.
cl_context_properties QcomValue(cl_context_properties property, int hint) {
  return property + 4 - hint;
}

// The values of the Khronos properties, by hint.
constexpr cl_ulong kPriorities[] = {0, CL_QUEUE_PRIORITY_LOW_KHR,
                                    CL_QUEUE_PRIORITY_MED_KHR,
                                    CL_QUEUE_PRIORITY_HIGH_KHR};
constexpr cl_ulong kThrottles[] = {0, CL_QUEUE_THROTTLE_LOW_KHR,
                                   CL_QUEUE_THROTTLE_MED_KHR,
                                   CL_QUEUE_THROTTLE_HIGH_KHR};

const char *NameOf(int hint) {
  constexpr const char *kNames[] = {"default", "low", "normal", "high"};
  return kNames[hint];
}

// The properties of a context; empty without hints.
std::vector<cl_context_properties> ContextProperties(const GpuDevice &device,
                                                     const GpuHints &hints) {
  std::vector<cl_context_properties> list;
  const auto add = [&](const char *extension, cl_context_properties property,
                       int hint) {
    if (hint == 0 || !device.HasExtension(extension)) return;
    list.push_back(property);
    list.push_back(QcomValue(property, hint));
  };
  add(kQcomPerf, kContextPerfHintQcom, hints.perf);
  add(kQcomPriority, kContextPriorityHintQcom, hints.priority);
  if (!list.empty()) list.push_back(0);
  return list;
}

// The same of a queue.
std::vector<cl_ulong> QueueProperties(const GpuDevice &device,
                                      cl_command_queue_properties properties,
                                      const GpuHints &hints) {
  std::vector<cl_ulong> list;
  const auto add = [&](const char *extension, cl_ulong property,
                       cl_ulong value) {
    if (value == 0 || !device.HasExtension(extension)) return;
    list.push_back(property);
    list.push_back(value);
  };
  add("cl_khr_priority_hints", CL_QUEUE_PRIORITY_KHR,
      kPriorities[hints.priority]);
  add("cl_khr_throttle_hints", CL_QUEUE_THROTTLE_KHR, kThrottles[hints.perf]);
  if (list.empty()) return list;
  list.push_back(kQueueProperties);
  list.push_back(properties);
  list.push_back(0);
  return list;
}

}  // namespace

std::string HintsText(const GpuHints &hints) {
  return MakeString("perf ", NameOf(hints.perf), ", priority ",
                    NameOf(hints.priority));
}

bool HintsAreOfContext(const GpuDevice &device) {
  return device.HasExtension(kQcomPerf) || device.HasExtension(kQcomPriority);
}

Result<ClContext> CreateContext(const ClApi &api,
                                const GpuDevice &device,
                                const GpuHints &hints) {
  cl_int error = CL_SUCCESS;
  const auto create = [&](const cl_context_properties *properties) {
    return ClContext(api.clCreateContext(properties, 1, &device.id, nullptr,
                                         nullptr, &error),
                     api.clReleaseContext);
  };
  const auto properties = ContextProperties(device, hints);
  if (!properties.empty()) {
    ClContext context = create(properties.data());
    if (error == CL_SUCCESS) {
      VLOG(1) << "GPU: context with hints: " << HintsText(hints);
      return context;
    }
    VLOG(1) << "GPU: no context with hints: " << ClErrorName(error);
  }
  ClContext context = create(nullptr);
  MACE_CL_CHECK("clCreateContext", device.name, error);
  return context;
}

Result<ClQueue> CreateQueue(const ClApi &api,
                            const GpuDevice &device,
                            cl_context context,
                            cl_command_queue_properties properties,
                            const GpuHints &hints) {
  cl_int error = CL_SUCCESS;
  const auto list = QueueProperties(device, properties, hints);
  if (!list.empty() && device.version_number >= kVersionWithQueueProperties &&
      api.clCreateCommandQueueWithProperties != nullptr) {
    ClQueue queue(api.clCreateCommandQueueWithProperties(context, device.id,
                                                         list.data(), &error),
                  api.clReleaseCommandQueue);
    if (error == CL_SUCCESS) {
      VLOG(1) << "GPU: queue with hints: " << HintsText(hints);
      return queue;
    }
    VLOG(1) << "GPU: no queue with hints: " << ClErrorName(error);
  }
  ClQueue queue(
      api.clCreateCommandQueue(context, device.id, properties, &error),
      api.clReleaseCommandQueue);
  MACE_CL_CHECK("clCreateCommandQueue", device.name, error);
  return queue;
}

}  // namespace mace
