// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Platforms, devices, contexts, queues.

#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "test/opencl/launch.h"

using mace::test_opencl::AnswerDeviceInfo;
using mace::test_opencl::AnswerPlatformInfo;
using mace::test_opencl::Call;
using mace::test_opencl::CurrentFamily;
using mace::test_opencl::EmulatesMatrixUnits;
using mace::test_opencl::Extensions;
using mace::test_opencl::Family;
using mace::test_opencl::FindExtensionFunction;
using mace::test_opencl::FindOwnFunction;
using mace::test_opencl::Give;
using mace::test_opencl::HasExtension;
using mace::test_opencl::IsLive;
using mace::test_opencl::Kind;
using mace::test_opencl::Object;
using mace::test_opencl::State;
using mace::test_opencl::target;
using mace::test_opencl::TargetExtensions;

namespace {

// Of cl_qcom_perf_hint and cl_qcom_priority_hint.
constexpr cl_context_properties kPerfHint = 0x40C2;
constexpr cl_context_properties kPriorityHint = 0x40C9;
// Of cl_khr_priority_hints and cl_khr_throttle_hints.
constexpr cl_queue_properties kQueuePriority = 0x1096;
constexpr cl_queue_properties kQueueThrottle = 0x1097;
// Of cl_qcom_recordable_queues.
constexpr cl_command_queue_properties kQueueRecordable = 1u << 30;

std::string CurrentExtensions(const Family &family) {
  State &state = State::Get();
  std::unique_lock<std::mutex> lock(state.mutex);
  const bool claim_all = state.claim_all_extensions;
  const bool matrix_units = state.matrix_units;
  lock.unlock();
  if (claim_all) return Extensions(family, "", true);
  std::string there = TargetExtensions();
  if (matrix_units) there += " cl_nv_device_attribute_query";
  return Extensions(family, there, false);
}

// Copies properties, which a zero ends, without the hints that only the family
// understands. A hint that it does not have is the caller's mistake.
struct Hint {
  intptr_t property;
  const char *extension;
};

// For the log: "40c2=40c3 40c9=40cc".
template <typename Property>
std::string Text(const Property *properties) {
  std::ostringstream text;
  text << std::hex;
  for (const Property *at = properties; at && *at != 0; at += 2)
    text << (at == properties ? "" : " ") << at[0] << '=' << at[1];
  return text.str();
}

template <typename Property, size_t kHints>
std::vector<Property> WithoutHints(const Property *properties,
                                   const Hint (&hints)[kHints],
                                   cl_int error,
                                   Call *call) {
  std::vector<Property> kept;
  call->Detail(Text(properties));
  if (properties == nullptr) return kept;
  const Family *family = CurrentFamily();
  for (const Property *at = properties; *at != 0; at += 2) {
    bool is_hint = false;
    for (const Hint &hint : hints) {
      if (family == nullptr || intptr_t(at[0]) != hint.property) continue;
      is_hint = true;
      if (!HasExtension(CurrentExtensions(*family), hint.extension))
        call->Refuse(error, std::string("the device has no ") + hint.extension);
    }
    if (!is_hint) kept.insert(kept.end(), {at[0], at[1]});
  }
  kept.push_back(0);
  return kept;
}

std::vector<cl_context_properties> ContextProperties(
    const cl_context_properties *properties, Call *call) {
  static constexpr Hint kHints[] = {{kPerfHint, "cl_qcom_perf_hint"},
                                    {kPriorityHint, "cl_qcom_priority_hint"}};
  return WithoutHints(properties, kHints, CL_INVALID_PROPERTY, call);
}

}  // namespace

cl_int clGetPlatformIDs(cl_uint num_entries,
                        cl_platform_id *platforms,
                        cl_uint *num_platforms) {
  Call call("clGetPlatformIDs");
  if (!call.forwards()) {
    if (num_platforms != nullptr) *num_platforms = 0;
    return call.Refused();
  }
  cl_int result =
      target().clGetPlatformIDs(num_entries, platforms, num_platforms);
  // A family is all that its phone has.
  if (CurrentFamily() != nullptr && num_platforms != nullptr &&
      *num_platforms > 1) {
    *num_platforms = 1;
  }
  return call.Return(result);
}

cl_int clGetPlatformInfo(cl_platform_id platform,
                         cl_platform_info param_name,
                         size_t param_value_size,
                         void *param_value,
                         size_t *param_value_size_ret) {
  Call call("clGetPlatformInfo");
  if (!call.forwards()) return call.Refused();
  const Family *family = CurrentFamily();
  cl_int result;
  if (family != nullptr &&
      AnswerPlatformInfo(*family, param_name, CurrentExtensions(*family),
                         {param_value_size, param_value, param_value_size_ret},
                         &result)) {
    return call.Return(result);
  }
  return call.Return(target().clGetPlatformInfo(platform, param_name,
                                                param_value_size, param_value,
                                                param_value_size_ret));
}

cl_int clGetDeviceIDs(cl_platform_id platform,
                      cl_device_type device_type,
                      cl_uint num_entries,
                      cl_device_id *devices,
                      cl_uint *num_devices) {
  Call call("clGetDeviceIDs");
  if (!call.forwards()) return call.Refused();
  if (CurrentFamily() == nullptr) {
    return call.Return(target().clGetDeviceIDs(
        platform, device_type, num_entries, devices, num_devices));
  }
  // The target's first device, whatever it is, is the GPU.
  if ((device_type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) == 0) {
    if (num_devices != nullptr) *num_devices = 0;
    return call.Return(CL_DEVICE_NOT_FOUND);
  }
  const cl_int result =
      target().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL,
                              num_entries > 0 ? 1 : 0, devices, num_devices);
  if (result == CL_SUCCESS && num_devices != nullptr) *num_devices = 1;
  return call.Return(result);
}

cl_int clGetDeviceInfo(cl_device_id device,
                       cl_device_info param_name,
                       size_t param_value_size,
                       void *param_value,
                       size_t *param_value_size_ret) {
  Call call("clGetDeviceInfo");
  if (!call.forwards()) return call.Refused();
  const char *version = std::getenv("MACE_TEST_OPENCL_DRIVER_VERSION");
  if (version != nullptr && param_name == CL_DRIVER_VERSION) {
    return call.Return(
        Give(std::string(version),
             {param_value_size, param_value, param_value_size_ret}));
  }
  const Family *family = CurrentFamily();
  // Of cl_nv_device_attribute_query: the first number of the compute
  // capability.
  constexpr cl_device_info kComputeCapability = 0x4000;
  if (param_name == kComputeCapability && EmulatesMatrixUnits()) {
    const cl_uint hopper = 9;
    return call.Return(
        Give(&hopper, sizeof hopper,
             {param_value_size, param_value, param_value_size_ret}));
  }
  cl_int result;
  if (family != nullptr &&
      AnswerDeviceInfo(*family, param_name, CurrentExtensions(*family),
                       {param_value_size, param_value, param_value_size_ret},
                       &result)) {
    return call.Return(result);
  }
  return call.Return(target().clGetDeviceInfo(
      device, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clCreateSubDevices(cl_device_id in_device,
                          const cl_device_partition_property *properties,
                          cl_uint num_devices,
                          cl_device_id *out_devices,
                          cl_uint *num_devices_ret) {
  Call call("clCreateSubDevices");
  call.Uses(Kind::kDevice, in_device);
  if (!call.forwards()) return call.Refused();
  cl_uint count = 0;
  const cl_int result = target().clCreateSubDevices(
      in_device, properties, num_devices, out_devices, &count);
  if (num_devices_ret != nullptr) *num_devices_ret = count;
  for (cl_uint i = 0; result == CL_SUCCESS && out_devices && i < count; ++i)
    call.Add(Kind::kDevice, out_devices[i], nullptr);
  return call.Return(result);
}

cl_int clRetainDevice(cl_device_id device) {
  return Call("clRetainDevice")
      .Retain(Kind::kDevice, device, target().clRetainDevice);
}

cl_int clReleaseDevice(cl_device_id device) {
  return Call("clReleaseDevice")
      .Release(Kind::kDevice, device, target().clReleaseDevice);
}

cl_context clCreateContext(
    const cl_context_properties *properties,
    cl_uint num_devices,
    const cl_device_id *devices,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *),
    void *user_data,
    cl_int *errcode_ret) {
  Call call("clCreateContext");
  const std::vector<cl_context_properties> kept =
      ContextProperties(properties, &call);
  for (cl_uint i = 0; devices != nullptr && i < num_devices; ++i)
    call.Uses(Kind::kDevice, devices[i]);
  if (!call.forwards()) return call.RefusedHandle<cl_context>(errcode_ret);
  cl_int error;
  cl_context made = target().clCreateContext(
      properties == nullptr ? nullptr : kept.data(), num_devices, devices,
      pfn_notify, user_data, &error);
  return call.Made(Kind::kContext, made, nullptr, error, errcode_ret);
}

cl_context clCreateContextFromType(
    const cl_context_properties *properties,
    cl_device_type device_type,
    void(CL_CALLBACK *pfn_notify)(const char *, const void *, size_t, void *),
    void *user_data,
    cl_int *errcode_ret) {
  Call call("clCreateContextFromType");
  const std::vector<cl_context_properties> kept =
      ContextProperties(properties, &call);
  if (CurrentFamily() != nullptr) {
    if ((device_type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)) == 0)
      call.Deny(CL_DEVICE_NOT_FOUND);
    device_type = CL_DEVICE_TYPE_ALL;
  }
  if (!call.forwards()) return call.RefusedHandle<cl_context>(errcode_ret);
  cl_int error;
  cl_context made = target().clCreateContextFromType(
      properties == nullptr ? nullptr : kept.data(), device_type, pfn_notify,
      user_data, &error);
  return call.Made(Kind::kContext, made, nullptr, error, errcode_ret);
}

cl_int clRetainContext(cl_context context) {
  return Call("clRetainContext")
      .Retain(Kind::kContext, context, target().clRetainContext);
}

cl_int clReleaseContext(cl_context context) {
  return Call("clReleaseContext")
      .Release(Kind::kContext, context, target().clReleaseContext);
}

cl_int clGetContextInfo(cl_context context,
                        cl_context_info param_name,
                        size_t param_value_size,
                        void *param_value,
                        size_t *param_value_size_ret) {
  Call call("clGetContextInfo");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetContextInfo(context, param_name,
                                               param_value_size, param_value,
                                               param_value_size_ret));
}

cl_command_queue clCreateCommandQueue(cl_context context,
                                      cl_device_id device,
                                      cl_command_queue_properties properties,
                                      cl_int *errcode_ret) {
  Call call("clCreateCommandQueue");
  call.Uses(Kind::kContext, context);
  call.Uses(Kind::kDevice, device);
  const Family *family = CurrentFamily();
  const bool is_recordable =
      family != nullptr && properties == kQueueRecordable &&
      HasExtension(CurrentExtensions(*family), "cl_qcom_recordable_queues");
  if (is_recordable) properties = 0;
  if (!call.forwards())
    return call.RefusedHandle<cl_command_queue>(errcode_ret);
  cl_int error;
  cl_command_queue made =
      target().clCreateCommandQueue(context, device, properties, &error);
  return call.Made(
      Kind::kQueue, made, context, error, errcode_ret,
      [&](Object *object) { object->is_recordable = is_recordable; });
}

cl_command_queue clCreateCommandQueueWithProperties(
    cl_context context,
    cl_device_id device,
    const cl_queue_properties *properties,
    cl_int *errcode_ret) {
  static constexpr Hint kHints[] = {{kQueuePriority, "cl_khr_priority_hints"},
                                    {kQueueThrottle, "cl_khr_throttle_hints"}};
  Call call("clCreateCommandQueueWithProperties");
  call.Uses(Kind::kContext, context);
  call.Uses(Kind::kDevice, device);
  const Family *family = CurrentFamily();
  if (family != nullptr && family->version < 20)
    call.Refuse(CL_INVALID_OPERATION, "the driver is older than OpenCL 2.0");
  const std::vector<cl_queue_properties> kept =
      WithoutHints(properties, kHints, CL_INVALID_QUEUE_PROPERTIES, &call);
  if (!call.forwards())
    return call.RefusedHandle<cl_command_queue>(errcode_ret);
  cl_int error;
  cl_command_queue made = target().clCreateCommandQueueWithProperties(
      context, device, properties == nullptr ? nullptr : kept.data(), &error);
  return call.Made(Kind::kQueue, made, context, error, errcode_ret);
}

cl_int clRetainCommandQueue(cl_command_queue queue) {
  return Call("clRetainCommandQueue")
      .Retain(Kind::kQueue, queue, target().clRetainCommandQueue);
}

cl_int clReleaseCommandQueue(cl_command_queue queue) {
  Call call("clReleaseCommandQueue");
  // The release only flushes. PoCL may still compile or run a kernel then, and
  // crashes if the process ends meanwhile.
  if (IsLive(queue)) target().clFinish(queue);
  return call.Release(Kind::kQueue, queue, target().clReleaseCommandQueue);
}

cl_int clGetCommandQueueInfo(cl_command_queue queue,
                             cl_command_queue_info param_name,
                             size_t param_value_size,
                             void *param_value,
                             size_t *param_value_size_ret) {
  Call call("clGetCommandQueueInfo");
  call.Uses(Kind::kQueue, queue);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clGetCommandQueueInfo(
      queue, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clFlush(cl_command_queue queue) {
  Call call("clFlush");
  call.Uses(Kind::kQueue, queue);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clFlush(queue));
}

cl_int clFinish(cl_command_queue queue) {
  Call call("clFinish");
  call.Uses(Kind::kQueue, queue);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clFinish(queue));
}

void *clGetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                               const char *func_name) {
  Call call("clGetExtensionFunctionAddressForPlatform");
  call.Detail(func_name);
  if (!call.forwards()) {
    call.Refused();
    return nullptr;
  }
  call.Return(CL_SUCCESS);
  if (void *own = FindOwnFunction(func_name)) return own;
  if (void *own = FindExtensionFunction(func_name)) return own;
  return target().clGetExtensionFunctionAddressForPlatform(platform, func_name);
}

void *clGetExtensionFunctionAddress(const char *func_name) {
  Call call("clGetExtensionFunctionAddress");
  call.Detail(func_name);
  if (!call.forwards()) {
    call.Refused();
    return nullptr;
  }
  call.Return(CL_SUCCESS);
  if (void *own = FindOwnFunction(func_name)) return own;
  if (void *own = FindExtensionFunction(func_name)) return own;
  return target().clGetExtensionFunctionAddress(func_name);
}

cl_int clUnloadCompiler(void) {
  Call call("clUnloadCompiler");
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clUnloadCompiler());
}

cl_int clUnloadPlatformCompiler(cl_platform_id platform) {
  Call call("clUnloadPlatformCompiler");
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clUnloadPlatformCompiler(platform));
}
