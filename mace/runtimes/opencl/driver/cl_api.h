// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// The OpenCL driver, which is opened at run time: nothing is linked.

#ifndef MACE_RUNTIMES_OPENCL_DRIVER_CL_API_H_
#define MACE_RUNTIMES_OPENCL_DRIVER_CL_API_H_

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>

#include <memory>
#include <string>
#include <utility>

#include "mace/core/base/status.h"

namespace mace {

// The functions of OpenCL 1.2 that the runtime calls.
#define MACE_CL_FUNCTIONS(X)   \
  X(clGetPlatformIDs)          \
  X(clGetPlatformInfo)         \
  X(clGetDeviceIDs)            \
  X(clGetDeviceInfo)           \
  X(clCreateContext)           \
  X(clRetainContext)           \
  X(clReleaseContext)          \
  X(clCreateCommandQueue)      \
  X(clRetainCommandQueue)      \
  X(clReleaseCommandQueue)     \
  X(clGetCommandQueueInfo)     \
  X(clCreateBuffer)            \
                               \
  X(clCreateImage)             \
  X(clCreateSubBuffer)         \
  X(clRetainMemObject)         \
  X(clReleaseMemObject)        \
  X(clGetMemObjectInfo)        \
  X(clGetImageInfo)            \
  X(clCreateProgramWithSource) \
  X(clCreateProgramWithBinary) \
  X(clBuildProgram)            \
  X(clGetProgramBuildInfo)     \
  X(clGetProgramInfo)          \
  X(clReleaseProgram)          \
  X(clCreateKernel)            \
  X(clReleaseKernel)           \
  X(clSetKernelArg)            \
  X(clGetKernelWorkGroupInfo)  \
  X(clEnqueueNDRangeKernel)    \
  X(clEnqueueWriteBuffer)      \
  X(clEnqueueReadBuffer)       \
  X(clEnqueueReadImage)        \
  X(clEnqueueWriteImage)       \
  X(clEnqueueMapBuffer)        \
  X(clEnqueueUnmapMemObject)   \
  X(clFlush)                   \
  X(clFinish)                  \
  X(clWaitForEvents)           \
  X(clGetEventProfilingInfo)   \
  X(clReleaseEvent)            \
  X(clGetExtensionFunctionAddressForPlatform)

struct ClApi {
#define MACE_CL_MEMBER(name) decltype(&::name) name = nullptr;
  MACE_CL_FUNCTIONS(MACE_CL_MEMBER)
#undef MACE_CL_MEMBER
  // Of OpenCL 2.0; null if the library does not have it.
  cl_command_queue(CL_API_CALL *clCreateCommandQueueWithProperties)(
      cl_context, cl_device_id, const cl_ulong *properties, cl_int *) = nullptr;
  std::string library;  // the file that was opened
};

// Opens MACE_OPENCL_LIBRARY of the environment, or the first library of the
// usual names (Linux and the vendors of Android devices) that has all
// functions. MACE_UNSUPPORTED says which names were tried and what was wrong
// with each. A library is never closed: drivers do not survive that.
Result<std::shared_ptr<const ClApi>> OpenClApi();

// "CL_OUT_OF_RESOURCES (-5)"
std::string ClErrorName(cl_int error);

// A failed call: MACE_OUT_OF_RESOURCES if memory ran out, else
// MACE_RUNTIME_ERROR. `what` is what the call was for; may be empty.
MaceStatus ClError(const char *call, cl_int error, const std::string &what);

// Returns from the calling function if the OpenCL call fails; `what` is
// evaluated then only.
#define MACE_CL_CHECK(call, what, expression)             \
  do {                                                    \
    const cl_int mace_cl_error_ = (expression);           \
    if (mace_cl_error_ != CL_SUCCESS) {                   \
      return ::mace::ClError(call, mace_cl_error_, what); \
    }                                                     \
  } while (false)

// Owns an object of the driver.
template <typename T>
class ClHandle {
 public:
  using Release = cl_int(CL_API_CALL *)(T);

  ClHandle() = default;
  ClHandle(T object, Release release) : object_(object), release_(release) {}
  ClHandle(ClHandle &&other) noexcept
      : object_(std::exchange(other.object_, nullptr)),
        release_(other.release_) {}
  ClHandle &operator=(ClHandle &&other) noexcept {
    if (this != &other) {
      Reset();
      object_ = std::exchange(other.object_, nullptr);
      release_ = other.release_;
    }
    return *this;
  }
  ~ClHandle() { Reset(); }

  void Reset() {
    if (object_ != nullptr) release_(std::exchange(object_, nullptr));
  }
  T get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T object_ = nullptr;
  Release release_ = nullptr;
};

using ClContext = ClHandle<cl_context>;
using ClQueue = ClHandle<cl_command_queue>;
using ClMemory = ClHandle<cl_mem>;
using ClProgram = ClHandle<cl_program>;
using ClKernel = ClHandle<cl_kernel>;
using ClEvent = ClHandle<cl_event>;

}  // namespace mace

#endif  // MACE_RUNTIMES_OPENCL_DRIVER_CL_API_H_
