// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_OPENCL_FUNCTIONS_H_
#define TEST_OPENCL_OPENCL_FUNCTIONS_H_

// OpenCL 1.2 with all that it deprecates, and
// clCreateCommandQueueWithProperties.

#define CL_TARGET_OPENCL_VERSION 200
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS

// Sources are compiled with hidden visibility; these declarations say which
// symbols the library exports.
#pragma GCC visibility push(default)
#include <CL/cl.h>
#include <CL/cl_ext.h>
#pragma GCC visibility pop

#define MACE_OPENCL_FUNCTIONS(X)              \
  X(clBuildProgram)                           \
  X(clCompileProgram)                         \
  X(clCreateBuffer)                           \
  X(clCreateCommandQueue)                     \
  X(clCreateCommandQueueWithProperties)       \
  X(clCreateContext)                          \
  X(clCreateContextFromType)                  \
  X(clCreateImage)                            \
  X(clCreateImage2D)                          \
  X(clCreateImage3D)                          \
  X(clCreateKernel)                           \
  X(clCreateKernelsInProgram)                 \
  X(clCreateProgramWithBinary)                \
  X(clCreateProgramWithBuiltInKernels)        \
  X(clCreateProgramWithSource)                \
  X(clCreateSampler)                          \
  X(clCreateSubBuffer)                        \
  X(clCreateSubDevices)                       \
  X(clCreateUserEvent)                        \
  X(clEnqueueBarrier)                         \
  X(clEnqueueBarrierWithWaitList)             \
  X(clEnqueueCopyBuffer)                      \
  X(clEnqueueCopyBufferRect)                  \
  X(clEnqueueCopyBufferToImage)               \
  X(clEnqueueCopyImage)                       \
  X(clEnqueueCopyImageToBuffer)               \
  X(clEnqueueFillBuffer)                      \
  X(clEnqueueFillImage)                       \
  X(clEnqueueMapBuffer)                       \
  X(clEnqueueMapImage)                        \
  X(clEnqueueMarker)                          \
  X(clEnqueueMarkerWithWaitList)              \
  X(clEnqueueMigrateMemObjects)               \
  X(clEnqueueNDRangeKernel)                   \
  X(clEnqueueNativeKernel)                    \
  X(clEnqueueReadBuffer)                      \
  X(clEnqueueReadBufferRect)                  \
  X(clEnqueueReadImage)                       \
  X(clEnqueueTask)                            \
  X(clEnqueueUnmapMemObject)                  \
  X(clEnqueueWaitForEvents)                   \
  X(clEnqueueWriteBuffer)                     \
  X(clEnqueueWriteBufferRect)                 \
  X(clEnqueueWriteImage)                      \
  X(clFinish)                                 \
  X(clFlush)                                  \
  X(clGetCommandQueueInfo)                    \
  X(clGetContextInfo)                         \
  X(clGetDeviceIDs)                           \
  X(clGetDeviceInfo)                          \
  X(clGetEventInfo)                           \
  X(clGetEventProfilingInfo)                  \
  X(clGetExtensionFunctionAddress)            \
  X(clGetExtensionFunctionAddressForPlatform) \
  X(clGetImageInfo)                           \
  X(clGetKernelArgInfo)                       \
  X(clGetKernelInfo)                          \
  X(clGetKernelWorkGroupInfo)                 \
  X(clGetMemObjectInfo)                       \
  X(clGetPlatformIDs)                         \
  X(clGetPlatformInfo)                        \
  X(clGetProgramBuildInfo)                    \
  X(clGetProgramInfo)                         \
  X(clGetSamplerInfo)                         \
  X(clGetSupportedImageFormats)               \
  X(clLinkProgram)                            \
  X(clReleaseCommandQueue)                    \
  X(clReleaseContext)                         \
  X(clReleaseDevice)                          \
  X(clReleaseEvent)                           \
  X(clReleaseKernel)                          \
  X(clReleaseMemObject)                       \
  X(clReleaseProgram)                         \
  X(clReleaseSampler)                         \
  X(clRetainCommandQueue)                     \
  X(clRetainContext)                          \
  X(clRetainDevice)                           \
  X(clRetainEvent)                            \
  X(clRetainKernel)                           \
  X(clRetainMemObject)                        \
  X(clRetainProgram)                          \
  X(clRetainSampler)                          \
  X(clSetEventCallback)                       \
  X(clSetKernelArg)                           \
  X(clSetMemObjectDestructorCallback)         \
  X(clSetUserEventStatus)                     \
  X(clUnloadCompiler)                         \
  X(clUnloadPlatformCompiler)                 \
  X(clWaitForEvents)

#endif  // TEST_OPENCL_OPENCL_FUNCTIONS_H_
