// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_CALL_H_
#define TEST_OPENCL_CALL_H_

#include <functional>
#include <string>
#include <utility>

#include "test/opencl/account.h"
#include "test/opencl/state.h"
#include "test/opencl/target.h"

namespace mace {
namespace test_opencl {

// One call of an OpenCL function. The wrapper of the function checks arguments
// with it, asks whether to forward, and returns through it:
//
//   cl_int clFlush(cl_command_queue queue) {
//     Call call("clFlush");
//     call.Uses(Kind::kQueue, queue);
//     if (!call.forwards()) return call.Refused();
//     return call.Return(target().clFlush(queue));
//   }
//
// The first thing that is wrong decides what the call returns; failures on
// request come before all others.
class Call {
 public:
  explicit Call(const char *function);

  // For the log.
  void Detail(std::string detail) { detail_ = std::move(detail); }

  // The caller passes that object: which must exist and not be lost.
  void Uses(Kind kind, const void *handle);
  void Waits(cl_uint count, const cl_event *events);
  // The same for memory that a command reads or writes: not while it is mapped
  // for writing.
  void Accesses(Kind kind, const void *handle);

  // The caller made a mistake; the call returns `error`.
  void Refuse(cl_int error, const std::string &problem);
  // A mistake that drivers do not notice.
  void Note(const std::string &problem);
  // Returns `error` without anyone's fault.
  void Deny(cl_int error);

  bool forwards() const { return error_ == CL_SUCCESS; }
  // Whether the call fails on request.
  bool injected() const { return injected_; }

  cl_int Refused();
  cl_int Return(cl_int result);

  template <typename Handle>
  Handle RefusedHandle(cl_int *errcode_ret) {
    const cl_int error = Refused();
    if (errcode_ret != nullptr) *errcode_ret = error;
    return nullptr;
  }

  // Of a function that makes an object, in a context (null: the object is one).
  // An event is of the context of `context_of`.
  template <typename Handle>
  Handle Made(Kind kind,
              Handle handle,
              const void *context_of,
              cl_int error,
              cl_int *errcode_ret,
              const std::function<void(Object *)> &change = nullptr) {
    if (error == CL_SUCCESS) Add(kind, handle, context_of, change);
    if (errcode_ret != nullptr) *errcode_ret = error;
    Return(error);
    return handle;
  }
  // Of a command with an event, which the caller may not have asked for.
  cl_int Enqueued(cl_int result, cl_command_queue queue, const cl_event *event);

  void Add(Kind kind,
           const void *handle,
           const void *context_of,
           const std::function<void(Object *)> &change = nullptr);

  // Of clRetain* and clRelease*.
  template <typename Handle>
  cl_int Retain(Kind kind, Handle handle, cl_int (*retain)(Handle)) {
    Uses(kind, handle);
    if (!forwards()) return Refused();
    const cl_int result = retain(handle);
    if (result == CL_SUCCESS) CountRetain(handle);
    return Return(result);
  }
  template <typename Handle>
  cl_int Release(Kind kind, Handle handle, cl_int (*release)(Handle)) {
    return ReleaseObject(kind, handle, [=] { return release(handle); });
  }

 private:
  void CountRetain(const void *handle);
  cl_int ReleaseObject(Kind kind,
                       const void *handle,
                       const std::function<cl_int()> &release);

  const char *function_;
  uint64_t number_;
  std::string detail_;
  cl_int error_ = CL_SUCCESS;
  bool injected_ = false;
};

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_CALL_H_
