// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Events.

#include "test/opencl/call.h"

using mace::test_opencl::Call;
using mace::test_opencl::Give;
using mace::test_opencl::Kind;
using mace::test_opencl::LostError;
using mace::test_opencl::Object;
using mace::test_opencl::State;
using mace::test_opencl::target;

cl_event clCreateUserEvent(cl_context context, cl_int *errcode_ret) {
  Call call("clCreateUserEvent");
  call.Uses(Kind::kContext, context);
  if (!call.forwards()) return call.RefusedHandle<cl_event>(errcode_ret);
  cl_int error;
  cl_event made = target().clCreateUserEvent(context, &error);
  return call.Made(Kind::kEvent, made, context, error, errcode_ret);
}

cl_int clSetUserEventStatus(cl_event event, cl_int execution_status) {
  Call call("clSetUserEventStatus");
  call.Uses(Kind::kEvent, event);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clSetUserEventStatus(event, execution_status));
}

cl_int clWaitForEvents(cl_uint num_events, const cl_event *event_list) {
  Call call("clWaitForEvents");
  call.Waits(num_events, event_list);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clWaitForEvents(num_events, event_list));
}

cl_int clRetainEvent(cl_event event) {
  return Call("clRetainEvent")
      .Retain(Kind::kEvent, event, target().clRetainEvent);
}

cl_int clReleaseEvent(cl_event event) {
  return Call("clReleaseEvent")
      .Release(Kind::kEvent, event, target().clReleaseEvent);
}

cl_int clGetEventInfo(cl_event event,
                      cl_event_info param_name,
                      size_t param_value_size,
                      void *param_value,
                      size_t *param_value_size_ret) {
  Call call("clGetEventInfo");
  call.Uses(Kind::kEvent, event);
  if (!call.forwards()) return call.Refused();
  bool is_lost;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    is_lost = state.account.IsLost(*state.account.Find(event));
  }
  if (is_lost && param_name == CL_EVENT_COMMAND_EXECUTION_STATUS) {
    const cl_int status = LostError("clFinish");
    return call.Return(
        Give(&status, sizeof status,
             {param_value_size, param_value, param_value_size_ret}));
  }
  return call.Return(target().clGetEventInfo(
      event, param_name, param_value_size, param_value, param_value_size_ret));
}

cl_int clGetEventProfilingInfo(cl_event event,
                               cl_profiling_info param_name,
                               size_t param_value_size,
                               void *param_value,
                               size_t *param_value_size_ret) {
  Call call("clGetEventProfilingInfo");
  call.Uses(Kind::kEvent, event);
  if (!call.forwards()) return call.Refused();
  const cl_int result = target().clGetEventProfilingInfo(
      event, param_name, param_value_size, param_value, param_value_size_ret);
  uint64_t emulated = 0;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    const Object *object = state.account.Find(event);
    const bool is_end = param_name == CL_PROFILING_COMMAND_END;
    emulated = is_end ? object->end_nanos : object->start_nanos;
  }
  if (result != CL_SUCCESS || emulated == 0) return call.Return(result);
  return call.Return(
      Give(&emulated, sizeof emulated,
           {param_value_size, param_value, param_value_size_ret}));
}

cl_int clSetEventCallback(cl_event event,
                          cl_int command_exec_callback_type,
                          void(CL_CALLBACK *pfn_notify)(cl_event,
                                                        cl_int,
                                                        void *),
                          void *user_data) {
  Call call("clSetEventCallback");
  call.Uses(Kind::kEvent, event);
  if (!call.forwards()) return call.Refused();
  return call.Return(target().clSetEventCallback(
      event, command_exec_callback_type, pfn_notify, user_data));
}
