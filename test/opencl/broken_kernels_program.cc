// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Usage: broken_kernels_program KERNEL
//
// Runs a kernel with one mistake, or none, for the test of what finds mistakes.
// Exit status: 0 if OpenCL reported no error, whatever the kernel did.

#include <dlfcn.h>

#include <cstdio>
#include <vector>

#include "test/opencl/opencl_functions.h"

namespace {

// Work-items of one work group; the buffers have one element for each.
constexpr size_t kItems = 16;

constexpr char kSource[] = R"(
__kernel void right(__global const float *in, __global float *out,
                    __local float *between) {
  const int i = get_global_id(0);
  between[i] = in[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  out[i] = between[15 - i];
}
__kernel void reads_beyond(__global const float *in, __global float *out,
                           __local float *between) {
  out[get_global_id(0)] = in[get_global_id(0) + 1];
}
__kernel void writes_beyond(__global const float *in, __global float *out,
                            __local float *between) {
  out[get_global_id(0) + 1] = in[get_global_id(0)];
}
__kernel void reads_before(__global const float *in, __global float *out,
                           __local float *between) {
  vstore4(vload4(0, in + get_global_id(0) / 4 * 4 - 1),
          get_global_id(0) / 4, out);
}
__kernel void local_beyond(__global const float *in, __global float *out,
                           __local float *between) {
  between[get_global_id(0) + 1] = in[get_global_id(0)];
  out[get_global_id(0)] = between[get_global_id(0) + 1];
}
__kernel void races(__global const float *in, __global float *out,
                    __local float *between) {
  const int i = get_global_id(0);
  between[i] = in[i];
  out[i] = between[15 - i];
}
)";

struct Functions {
#define MACE_DECLARE_FUNCTION(name) decltype(&::name) name = nullptr;
  MACE_OPENCL_FUNCTIONS(MACE_DECLARE_FUNCTION)
#undef MACE_DECLARE_FUNCTION
};

bool Load(Functions *cl) {
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  if (library == nullptr) return false;
#define MACE_FIND_FUNCTION(name) \
  cl->name = reinterpret_cast<decltype(cl->name)>(dlsym(library, #name));
  MACE_OPENCL_FUNCTIONS(MACE_FIND_FUNCTION)
#undef MACE_FIND_FUNCTION
  return true;
}

// The error of the call that failed. What was made lives as long as the
// process.
cl_int Run(const Functions &cl, const char *name) {
  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_int error = cl.clGetPlatformIDs(1, &platform, nullptr);
  if (error == 0)
    error =
        cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  if (error != 0) return error;
  cl_context context =
      cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  if (error != 0) return error;
  cl_command_queue queue = cl.clCreateCommandQueue(context, device, 0, &error);
  if (error != 0) return error;
  const char *source = kSource;
  cl_program program =
      cl.clCreateProgramWithSource(context, 1, &source, nullptr, &error);
  if (error == 0)
    error = cl.clBuildProgram(program, 1, &device, "", nullptr, nullptr);
  if (error != 0) return error;
  cl_kernel kernel = cl.clCreateKernel(program, name, &error);
  if (error != 0) return error;
  constexpr size_t kBytes = kItems * sizeof(float);
  std::vector<float> data(kItems, 1.0f);
  for (cl_uint i = 0; i < 2 && error == 0; ++i) {
    const cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem buffer =
        cl.clCreateBuffer(context, flags, kBytes, data.data(), &error);
    if (error == 0)
      error = cl.clSetKernelArg(kernel, i, sizeof(cl_mem),
                                static_cast<const void *>(&buffer));
  }
  if (error == 0) error = cl.clSetKernelArg(kernel, 2, kBytes, nullptr);
  if (error != 0) return error;
  error = cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &kItems, &kItems,
                                    0, nullptr, nullptr);
  return error == 0 ? cl.clFinish(queue) : error;
}

}  // namespace

int main(int argc, char **argv) {
  Functions cl;
  if (argc != 2 || !Load(&cl)) {
    std::fputs("usage: broken_kernels_program KERNEL\n", stderr);
    return 2;
  }
  const cl_int error = Run(cl, argv[1]);
  std::printf("%s: OpenCL error %d\n", argv[1], error);
  return error == 0 ? 0 : 2;
}
