// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_DRIVER_TESTING_H_
#define TEST_OPENCL_DRIVER_TESTING_H_

// What the tests of the driver share: its functions, and a program that uses
// them.

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "test/opencl/load_test_driver.h"
#include "test/opencl/opencl_functions.h"
#include "test/opencl/test_driver.h"

namespace mace {
namespace test_opencl {

// The functions of the library, as its users get them.
struct Functions {
#define MACE_DECLARE_FUNCTION(name) decltype(&::name) name = nullptr;
  MACE_OPENCL_FUNCTIONS(MACE_DECLARE_FUNCTION)
#undef MACE_DECLARE_FUNCTION
};

inline constexpr char kSource[] = R"(
__kernel void add(__global const float *a, __global float *b, const float c) {
  const int i = get_global_id(0);
  b[i] = a[i] + c;
}
__kernel void with_local(__global float *a, __local float *own) {
  __local float shared[1024];
  const int i = get_local_id(0);
  own[i] = a[i];
  shared[i] = a[i];
  barrier(CLK_LOCAL_MEM_FENCE);
  a[i] = own[get_local_size(0) - 1 - i] + shared[0];
}
)";
inline constexpr size_t kCount = 64;

class TestDriverTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string why;
    control = LoadTestDriver(&why);
    ASSERT_NE(control, nullptr) << why;
    void *library = dlopen(std::getenv("MACE_OPENCL_LIBRARY"), RTLD_NOW);
    ASSERT_NE(library, nullptr) << dlerror();
#define MACE_FIND_FUNCTION(name)                                        \
  cl.name = reinterpret_cast<decltype(cl.name)>(dlsym(library, #name)); \
  ASSERT_NE(cl.name, nullptr) << #name;
    MACE_OPENCL_FUNCTIONS(MACE_FIND_FUNCTION)
#undef MACE_FIND_FUNCTION
  }

  void SetUp() override {
    ASSERT_NE(control, nullptr);
    control->reset();
  }

  static std::string Text(cl_device_info name) {
    size_t size = 0;
    EXPECT_EQ(cl.clGetDeviceInfo(Device(), name, 0, nullptr, &size), 0);
    std::string text(size, '\0');
    EXPECT_EQ(cl.clGetDeviceInfo(Device(), name, size, &text[0], nullptr), 0);
    return text.c_str();
  }

  template <typename Value>
  static Value Info(cl_device_info name) {
    Value value{};
    EXPECT_EQ(cl.clGetDeviceInfo(Device(), name, sizeof value, &value, nullptr),
              0)
        << name;
    return value;
  }

  static cl_platform_id Platform() {
    cl_platform_id platform = nullptr;
    EXPECT_EQ(cl.clGetPlatformIDs(1, &platform, nullptr), 0);
    return platform;
  }

  static cl_device_id Device() {
    cl_device_id device = nullptr;
    EXPECT_EQ(
        cl.clGetDeviceIDs(Platform(), CL_DEVICE_TYPE_ALL, 1, &device, nullptr),
        0);
    return device;
  }

  // The last problem, which there has to be.
  static std::string LastProblem() {
    if (control->problems() == 0) return "no problem";
    return control->problem(control->problems() - 1);
  }

  static void ExpectNoProblem() {
    EXPECT_EQ(control->problems(), 0u) << Problems(*control);
  }

  static inline const MaceTestOpenclControl *control = nullptr;
  static inline Functions cl;
};

// By the clock of the device, in nanoseconds.
struct EventTimes {
  cl_ulong start = 0;
  cl_ulong end = 0;
};

inline EventTimes TimesOf(const Functions &cl, cl_event event) {
  EventTimes times;
  EXPECT_EQ(cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
                                       sizeof(cl_ulong), &times.start, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END,
                                       sizeof(cl_ulong), &times.end, nullptr),
            CL_SUCCESS);
  return times;
}

// What a careful program does: one kernel on two buffers. Releases what it
// made, whatever fails.
class Program {
 public:
  explicit Program(const Functions &functions) : cl(functions) {}

  ~Program() {
    for (cl_event event : {written, computed})
      if (event) cl.clReleaseEvent(event);
    for (cl_mem memory : {from, to})
      if (memory) cl.clReleaseMemObject(memory);
    if (kernel) cl.clReleaseKernel(kernel);
    if (program) cl.clReleaseProgram(program);
    if (queue) cl.clReleaseCommandQueue(queue);
    if (context) cl.clReleaseContext(context);
  }
  Program(const Program &) = delete;
  Program &operator=(const Program &) = delete;

  cl_int Open() {
    cl_platform_id platform;
    cl_int error = cl.clGetPlatformIDs(1, &platform, nullptr);
    if (error) return error;
    error =
        cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
    if (error) return error;
    context = cl.clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
    if (error) return error;
    queue = cl.clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE,
                                    &error);
    return error;
  }

  cl_int Build(const char *name) {
    cl_int error;
    const char *source = kSource;
    program =
        cl.clCreateProgramWithSource(context, 1, &source, nullptr, &error);
    if (error) return error;
    error = cl.clBuildProgram(program, 1, &device, "", nullptr, nullptr);
    if (error) return error;
    kernel = cl.clCreateKernel(program, name, &error);
    return error;
  }

  cl_int MakeBuffers() {
    cl_int error;
    from = cl.clCreateBuffer(context, CL_MEM_READ_ONLY, kCount * 4, nullptr,
                             &error);
    if (error) return error;
    to = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, kCount * 4, nullptr,
                           &error);
    return error;
  }

  cl_int SetArguments() {
    const float one = 1;
    cl_int error = cl.clSetKernelArg(kernel, 0, sizeof from, &from);
    if (!error) error = cl.clSetKernelArg(kernel, 1, sizeof to, &to);
    if (!error) error = cl.clSetKernelArg(kernel, 2, sizeof one, &one);
    return error;
  }

  cl_int Enqueue(size_t global, size_t local) {
    return cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global,
                                     local ? &local : nullptr, 0, nullptr,
                                     nullptr);
  }

  // Adds 1 to 0, 1, 2, ...
  cl_int Run(std::vector<float> *result) {
    cl_int error = Open();
    if (!error) error = Build("add");
    if (!error) error = MakeBuffers();
    if (!error) error = SetArguments();
    if (error) return error;
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
    error = cl.clEnqueueWriteBuffer(queue, from, CL_FALSE, 0, kCount * 4,
                                    values.data(), 0, nullptr, &written);
    if (error) return error;
    const size_t global = kCount;
    error = cl.clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &global,
                                      nullptr, 1, &written, &computed);
    // What was enqueued reads `values`.
    if (error) {
      cl.clFinish(queue);
      return error;
    }
    error = cl.clWaitForEvents(1, &computed);
    if (error) {
      cl.clFinish(queue);
      return error;
    }
    auto *mapped = static_cast<float *>(
        cl.clEnqueueMapBuffer(queue, to, CL_TRUE, CL_MAP_READ, 0, kCount * 4, 0,
                              nullptr, nullptr, &error));
    if (error) return error;
    result->assign(mapped, mapped + kCount);
    error = cl.clEnqueueUnmapMemObject(queue, to, mapped, 0, nullptr, nullptr);
    if (error) return error;
    return cl.clFinish(queue);
  }

  const Functions &cl;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  cl_program program = nullptr;
  cl_kernel kernel = nullptr;
  cl_mem from = nullptr;
  cl_mem to = nullptr;
  cl_event written = nullptr;
  cl_event computed = nullptr;
};

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_DRIVER_TESTING_H_
