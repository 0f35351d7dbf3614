// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/test_driver.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "test/opencl/load_test_driver.h"
#include "test/opencl/opencl_functions.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// The functions of the library, as its users get them.
struct Functions {
#define MACE_DECLARE_FUNCTION(name) decltype(&::name) name = nullptr;
  MACE_OPENCL_FUNCTIONS(MACE_DECLARE_FUNCTION)
#undef MACE_DECLARE_FUNCTION
};

constexpr char kSource[] = R"(
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
constexpr size_t kCount = 64;

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

  static const MaceTestOpenclControl *control;
  static Functions cl;
};

const MaceTestOpenclControl *TestDriverTest::control = nullptr;
Functions TestDriverTest::cl;

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

TEST_F(TestDriverTest, ForwardsAndKeepsALog) {
  {
    Program program(cl);
    std::vector<float> result;
    ASSERT_EQ(program.Run(&result), CL_SUCCESS) << Problems(*control);
    ASSERT_EQ(result.size(), kCount);
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i], i + 1.f);
    EXPECT_EQ(control->live_objects("buffer"), 2u);
    EXPECT_EQ(control->live_objects("event"), 2u);
    EXPECT_EQ(control->live_objects(nullptr), 8u);
    EXPECT_EQ(control->memory_bytes(), 2 * kCount * 4);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
  ExpectNoProblem();
  EXPECT_EQ(control->memory_bytes(), 0u);
  EXPECT_EQ(control->peak_memory_bytes(), 2 * kCount * 4);
  EXPECT_EQ(control->calls("clCreateBuffer"), 2u);
  EXPECT_EQ(control->calls("clReleaseMemObject"), 2u);
  EXPECT_EQ(control->calls(nullptr), control->log_size());
  std::vector<std::string> details;
  MaceTestOpenclCall call;
  for (size_t i = 0; control->log_entry(i, &call); ++i) {
    EXPECT_EQ(call.number, i + 1);
    EXPECT_EQ(call.result, CL_SUCCESS) << call.function;
    EXPECT_FALSE(call.injected);
    if (std::string(call.function) == "clEnqueueNDRangeKernel")
      details.push_back(call.detail);
  }
  EXPECT_THAT(details, ::testing::ElementsAre("add global 64 local any"));
}

TEST_F(TestDriverTest, EveryCallFailsOnce) {
  uint64_t failed = 0;
  for (uint64_t n = 1;; ++n) {
    control->reset();
    control->fail_call(n, 0);
    std::vector<float> result;
    cl_int error;
    {
      Program program(cl);
      error = program.Run(&result);
    }
    if (control->failures() == 0) {
      EXPECT_EQ(error, CL_SUCCESS);
      break;
    }
    ++failed;
    MaceTestOpenclCall call{};
    for (size_t i = 0; control->log_entry(i, &call) && !call.injected;) ++i;
    EXPECT_EQ(error, call.result) << call.function;
    EXPECT_EQ(error, control->plausible_error(call.function, 0));
    EXPECT_EQ(control->check_leaks(), 0u);
    EXPECT_EQ(control->problems(), 0u) << call.function << Problems(*control);
  }
  EXPECT_EQ(failed, 18u);
}

TEST_F(TestDriverTest, FailsACallOfOneFunctionWithAnError) {
  control->fail_function("clCreateBuffer", 2, CL_OUT_OF_HOST_MEMORY);
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  EXPECT_EQ(program.MakeBuffers(), CL_OUT_OF_HOST_MEMORY);
  EXPECT_NE(program.from, nullptr);
  EXPECT_EQ(program.to, nullptr);
  EXPECT_EQ(control->failures(), 1u);
  EXPECT_EQ(control->plausible_error("clCreateBuffer", 0),
            CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(control->plausible_error("clCreateBuffer", 4), 0);
  EXPECT_EQ(control->plausible_error("clFinish", 0), CL_OUT_OF_RESOURCES);
  ExpectNoProblem();
}

TEST_F(TestDriverTest, AReleaseThatFailsReleases) {
  control->fail_function("clReleaseContext", 1, 0);
  {
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    EXPECT_EQ(cl.clReleaseContext(program.context), CL_OUT_OF_RESOURCES);
    program.context = nullptr;
  }
  EXPECT_EQ(control->check_leaks(), 0u) << Problems(*control);
}

TEST_F(TestDriverTest, AFailedBuildHasALog) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  control->fail_function("clBuildProgram", 1, 0);
  ASSERT_EQ(program.Build("add"), CL_BUILD_PROGRAM_FAILURE);
  cl_build_status status = CL_BUILD_NONE;
  EXPECT_EQ(cl.clGetProgramBuildInfo(program.program, program.device,
                                     CL_PROGRAM_BUILD_STATUS, sizeof status,
                                     &status, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(status, CL_BUILD_ERROR);
  char log[200];
  EXPECT_EQ(
      cl.clGetProgramBuildInfo(program.program, program.device,
                               CL_PROGRAM_BUILD_LOG, sizeof log, log, nullptr),
      CL_SUCCESS);
  EXPECT_THAT(log, HasSubstr("error: "));
  // The next build is the target's.
  EXPECT_EQ(cl.clBuildProgram(program.program, 1, &program.device, "", nullptr,
                              nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clGetProgramBuildInfo(program.program, program.device,
                                     CL_PROGRAM_BUILD_STATUS, sizeof status,
                                     &status, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(status, CL_BUILD_SUCCESS);
}

TEST_F(TestDriverTest, LostContextsStayLostAndNewOnesWork) {
  std::vector<float> result;
  {
    Program lost(cl);
    ASSERT_EQ(lost.Run(&result), CL_SUCCESS);
    control->lose_contexts(1);
    EXPECT_EQ(cl.clFinish(lost.queue), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(lost.Enqueue(kCount, 0), CL_OUT_OF_RESOURCES);
    EXPECT_EQ(cl.clWaitForEvents(1, &lost.computed),
              CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    cl_int status = 0;
    EXPECT_EQ(
        cl.clGetEventInfo(lost.computed, CL_EVENT_COMMAND_EXECUTION_STATUS,
                          sizeof status, &status, nullptr),
        CL_SUCCESS);
    EXPECT_LT(status, 0);
    cl_int error;
    EXPECT_EQ(cl.clCreateBuffer(lost.context, 0, 4, nullptr, &error), nullptr);
    EXPECT_EQ(error, CL_OUT_OF_RESOURCES);
    EXPECT_EQ(lost.SetArguments(), CL_SUCCESS);
    Program next(cl);
    EXPECT_EQ(next.Run(&result), CL_SUCCESS);
    EXPECT_EQ(cl.clFlush(lost.queue), CL_OUT_OF_RESOURCES);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
  ExpectNoProblem();
}

TEST_F(TestDriverTest, ALostDeviceComesBackWithReset) {
  std::vector<float> result;
  control->lose_device(1);
  EXPECT_EQ(Program(cl).Run(&result), CL_DEVICE_NOT_AVAILABLE);
  control->stop_failing();
  EXPECT_EQ(Program(cl).Run(&result), CL_DEVICE_NOT_AVAILABLE);
  control->reset();
  EXPECT_EQ(Program(cl).Run(&result), CL_SUCCESS);
}

TEST_F(TestDriverTest, LeaksAreNamed) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  cl_int error;
  void *pointer =
      cl.clEnqueueMapBuffer(program.queue, program.from, CL_TRUE, CL_MAP_READ,
                            0, 4, 0, nullptr, nullptr, &error);
  ASSERT_EQ(error, CL_SUCCESS);
  EXPECT_EQ(cl.clRetainMemObject(program.to), CL_SUCCESS);
  EXPECT_EQ(control->live_objects("mapping"), 1u);
  EXPECT_EQ(control->check_leaks(), 5u);
  const std::string problems = Problems(*control);
  EXPECT_THAT(problems, HasSubstr("not released: context (call 3, "
                                  "clCreateContext), 1 reference\n"));
  EXPECT_THAT(problems, HasSubstr("not released: queue (call 4, "));
  EXPECT_THAT(problems,
              HasSubstr("not unmapped: buffer of 256 bytes (call 5, "));
  EXPECT_THAT(problems, HasSubstr("not released: buffer of 256 bytes (call 6, "
                                  "clCreateBuffer), 2 references\n"));
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(program.queue, program.from, pointer, 0,
                                       nullptr, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseMemObject(program.to), CL_SUCCESS);
  // What is older than a reset is not reported.
  control->reset();
  EXPECT_EQ(control->check_leaks(), 0u);
}

TEST_F(TestDriverTest, UseAfterTheReleaseIsFound) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  const cl_mem released = program.from;
  ASSERT_EQ(cl.clReleaseMemObject(released), CL_SUCCESS);
  program.from = nullptr;
  float value = 0;
  EXPECT_EQ(cl.clEnqueueReadBuffer(program.queue, released, CL_TRUE, 0, 4,
                                   &value, 0, nullptr, nullptr),
            CL_INVALID_MEM_OBJECT);
  EXPECT_THAT(LastProblem(), HasSubstr("clEnqueueReadBuffer: used after its "
                                       "release: buffer of 256 bytes"));
  EXPECT_EQ(cl.clReleaseMemObject(released), CL_INVALID_MEM_OBJECT);
  EXPECT_THAT(LastProblem(), HasSubstr("released too often: buffer"));
  EXPECT_EQ(cl.clFinish(nullptr), CL_INVALID_COMMAND_QUEUE);
  EXPECT_THAT(LastProblem(), HasSubstr("clFinish: the queue is null"));
  EXPECT_EQ(cl.clRetainContext(reinterpret_cast<cl_context>(program.queue)),
            CL_INVALID_CONTEXT);
  EXPECT_THAT(LastProblem(), HasSubstr("the handle is no context"));
  // The handle does not become another object's right away.
  cl_int error;
  const cl_mem next =
      cl.clCreateBuffer(program.context, 0, kCount * 4, nullptr, &error);
  EXPECT_NE(next, released);
  EXPECT_EQ(cl.clReleaseMemObject(next), CL_SUCCESS);
}

TEST_F(TestDriverTest, KernelArgumentsAreChecked) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.Build("add"), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, 0), CL_INVALID_KERNEL_ARGS);
  EXPECT_THAT(LastProblem(), HasSubstr("argument 2 of add is not set"));
  ASSERT_EQ(program.SetArguments(), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, 0), CL_SUCCESS);
  ASSERT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
  ASSERT_EQ(cl.clReleaseMemObject(program.from), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, 0), CL_INVALID_KERNEL_ARGS);
  EXPECT_THAT(LastProblem(),
              HasSubstr("argument 0 of add is released: buffer"));
  EXPECT_EQ(cl.clSetKernelArg(program.kernel, 0, sizeof(cl_mem), &program.from),
            CL_INVALID_MEM_OBJECT);
  program.from = nullptr;
  EXPECT_EQ(cl.clSetKernelArg(program.kernel, 3, 4, &program.to),
            CL_INVALID_ARG_INDEX);
  EXPECT_THAT(LastProblem(), HasSubstr("argument 3; there are 3"));
}

TEST_F(TestDriverTest, WhatOnlyTheTargetFindsIsReported) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  float value = 0;
  EXPECT_EQ(cl.clEnqueueReadBuffer(program.queue, program.to, CL_TRUE,
                                   kCount * 4, 4, &value, 0, nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_THAT(LastProblem(),
              HasSubstr("clEnqueueReadBuffer: the driver returns -30"));
}

TEST_F(TestDriverTest, MemoryIsNotUsedWhileMappedForWriting) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.Build("add"), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  ASSERT_EQ(program.SetArguments(), CL_SUCCESS);
  cl_int error;
  for (const cl_map_flags flags : {CL_MAP_READ, CL_MAP_WRITE}) {
    void *pointer =
        cl.clEnqueueMapBuffer(program.queue, program.from, CL_TRUE, flags, 0, 4,
                              0, nullptr, nullptr, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(program.Enqueue(kCount, 0), CL_SUCCESS);
    EXPECT_EQ(control->problems(), flags == CL_MAP_READ ? 0u : 1u);
    ASSERT_EQ(cl.clEnqueueUnmapMemObject(program.queue, program.from, pointer,
                                         0, nullptr, nullptr),
              CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
  }
  EXPECT_THAT(LastProblem(),
              HasSubstr("argument 0 of add is mapped for writing: buffer"));
  EXPECT_EQ(cl.clEnqueueUnmapMemObject(program.queue, program.from, &error, 0,
                                       nullptr, nullptr),
            CL_INVALID_VALUE);
  EXPECT_THAT(LastProblem(), HasSubstr("the pointer is not mapped"));
}

TEST_F(TestDriverTest, LocalSizesAreChecked) {
  ASSERT_TRUE(control->set_family("work_group_64"));
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.Build("add"), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  ASSERT_EQ(program.SetArguments(), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, 64), CL_SUCCESS);
  ExpectNoProblem();
  EXPECT_EQ(program.Enqueue(128, 128), CL_INVALID_WORK_ITEM_SIZE);
  EXPECT_THAT(LastProblem(),
              HasSubstr("local size 128; the device allows 64x64x64"));
  ASSERT_TRUE(control->set_family("kernel_work_group_16"));
  EXPECT_EQ(program.Enqueue(kCount, 32), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_THAT(LastProblem(), HasSubstr("allows this kernel 16 work-items"));
  size_t most = 0;
  EXPECT_EQ(cl.clGetKernelWorkGroupInfo(program.kernel, program.device,
                                        CL_KERNEL_WORK_GROUP_SIZE, sizeof most,
                                        &most, nullptr),
            CL_SUCCESS);
  EXPECT_EQ(most, 16u);
  ASSERT_TRUE(control->set_family("target"));
  EXPECT_EQ(program.Enqueue(kCount, 48), CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_THAT(LastProblem(),
              HasSubstr("global size 64 is no multiple of local size 48"));
}

TEST_F(TestDriverTest, LocalMemoryIsLimited) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.Build("with_local"), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  ASSERT_EQ(cl.clSetKernelArg(program.kernel, 0, sizeof(cl_mem), &program.to),
            CL_SUCCESS);
  ASSERT_TRUE(control->set_family("local_8k"));
  // With 4 KB of the kernel's own.
  ASSERT_EQ(cl.clSetKernelArg(program.kernel, 1, 4096, nullptr), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, kCount), CL_SUCCESS);
  ExpectNoProblem();
  ASSERT_EQ(cl.clSetKernelArg(program.kernel, 1, 4100, nullptr), CL_SUCCESS);
  EXPECT_EQ(program.Enqueue(kCount, kCount), CL_OUT_OF_RESOURCES);
  EXPECT_THAT(LastProblem(), HasSubstr("bytes of local memory; the device has "
                                       "8192"));
}

TEST_F(TestDriverTest, SizesAreLimited) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  const cl_image_format format{CL_RGBA, CL_HALF_FLOAT};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 256;
  desc.image_height = 257;
  const auto make_image = [&] {
    cl_int error;
    const cl_mem image =
        cl.clCreateImage(program.context, 0, &format, &desc, nullptr, &error);
    EXPECT_EQ(image == nullptr, error != CL_SUCCESS);
    if (image) cl.clReleaseMemObject(image);
    return error;
  };
  const auto make_buffer = [&](size_t bytes) {
    cl_int error;
    const cl_mem buffer =
        cl.clCreateBuffer(program.context, 0, bytes, nullptr, &error);
    EXPECT_EQ(buffer == nullptr, error != CL_SUCCESS);
    if (buffer) cl.clReleaseMemObject(buffer);
    return error;
  };
  EXPECT_EQ(make_image(), CL_SUCCESS);
  EXPECT_EQ(control->peak_memory_bytes(), 256 * 257 * 8u);
  ASSERT_TRUE(control->set_family("image_256"));
  EXPECT_EQ(make_image(), CL_INVALID_IMAGE_SIZE);
  EXPECT_THAT(LastProblem(), HasSubstr("256x257; the device allows 256x256"));
  ASSERT_TRUE(control->set_family("no_images"));
  EXPECT_EQ(make_image(), CL_INVALID_OPERATION);
  ASSERT_TRUE(control->set_family("allocation_1m"));
  EXPECT_EQ(make_buffer(1 << 20), CL_SUCCESS);
  EXPECT_EQ(make_buffer((1 << 20) + 1), CL_INVALID_BUFFER_SIZE);
  EXPECT_THAT(LastProblem(), HasSubstr("1048577 bytes; the device allows"));
  // That memory is used up is nobody's mistake.
  control->reset();
  ASSERT_TRUE(control->set_family("memory_4m"));
  cl_int error;
  const cl_mem first =
      cl.clCreateBuffer(program.context, 0, 3 << 20, nullptr, &error);
  EXPECT_EQ(make_buffer(1 << 20), CL_SUCCESS);
  EXPECT_EQ(make_buffer((1 << 20) + 1), CL_MEM_OBJECT_ALLOCATION_FAILURE);
  EXPECT_EQ(cl.clReleaseMemObject(first), CL_SUCCESS);
  EXPECT_EQ(make_buffer((1 << 20) + 1), CL_SUCCESS);
  EXPECT_EQ(control->failures(), 0u);
  ExpectNoProblem();
}

TEST_F(TestDriverTest, FamiliesAnswerForTheDevice) {
  const std::string of_target = Text(CL_DEVICE_EXTENSIONS);
  size_t count = 0;
  while (const char *name = control->family_name(count++)) {
    ASSERT_TRUE(control->set_family(name));
    const std::string version = Text(CL_DEVICE_VERSION);
    EXPECT_THAT(version, HasSubstr("OpenCL ")) << name;
    EXPECT_EQ(Info<cl_device_type>(CL_DEVICE_TYPE), CL_DEVICE_TYPE_GPU);
    EXPECT_GT(Info<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE), 0u) << name;
    EXPECT_LE(Info<cl_ulong>(CL_DEVICE_MAX_MEM_ALLOC_SIZE),
              Info<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE))
        << name;
    // Extensions that the target lacks are left out on request only.
    const bool has_half = of_target.find("cl_khr_fp16") != std::string::npos;
    const bool lists_half =
        Text(CL_DEVICE_EXTENSIONS).find("cl_khr_fp16") != std::string::npos;
    EXPECT_LE(lists_half, has_half) << name;
    // A parameter of OpenCL 3.0, which older drivers do not know.
    cl_uint numeric = 0;
    const cl_int error =
        cl.clGetDeviceInfo(Device(), 0x105E, sizeof numeric, &numeric, nullptr);
    EXPECT_EQ(error,
              version.find("OpenCL 3") == 0 ? CL_SUCCESS : CL_INVALID_VALUE);
    std::vector<float> result;
    EXPECT_EQ(Program(cl).Run(&result), CL_SUCCESS) << name;
  }
  EXPECT_GE(count, 20u);
  EXPECT_FALSE(control->set_family("none"));
  ExpectNoProblem();
}

TEST_F(TestDriverTest, AdrenoIsItself) {
  ASSERT_TRUE(control->set_family("adreno_630"));
  EXPECT_EQ(Text(CL_DEVICE_NAME), "QUALCOMM Adreno(TM)");
  EXPECT_EQ(Text(CL_DEVICE_VERSION), "OpenCL 2.0 Adreno(TM) 630");
  EXPECT_EQ(Info<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE), 32u << 10);
  EXPECT_EQ(Info<size_t>(CL_DEVICE_IMAGE2D_MAX_WIDTH), 16384u);
  EXPECT_EQ(Info<cl_bool>(CL_DEVICE_HOST_UNIFIED_MEMORY), CL_TRUE);
  char text[100];
  EXPECT_EQ(cl.clGetPlatformInfo(Platform(), CL_PLATFORM_NAME, sizeof text,
                                 text, nullptr),
            CL_SUCCESS);
  EXPECT_STREQ(text, "QUALCOMM Snapdragon(TM)");
  // Too short for it.
  EXPECT_EQ(cl.clGetDeviceInfo(Device(), CL_DEVICE_NAME, 3, text, nullptr),
            CL_INVALID_VALUE);
  cl_device_id device;
  EXPECT_EQ(
      cl.clGetDeviceIDs(Platform(), CL_DEVICE_TYPE_GPU, 1, &device, nullptr),
      CL_SUCCESS);
  EXPECT_EQ(
      cl.clGetDeviceIDs(Platform(), CL_DEVICE_TYPE_CPU, 1, &device, nullptr),
      CL_DEVICE_NOT_FOUND);
  EXPECT_THAT(Text(CL_DEVICE_EXTENSIONS), HasSubstr("cl_qcom_perf_hint"));
  EXPECT_THAT(Text(CL_DEVICE_EXTENSIONS), Not(HasSubstr("host_ptr")));
  control->claim_all_extensions(1);
  EXPECT_THAT(Text(CL_DEVICE_EXTENSIONS), HasSubstr("cl_qcom_ion_host_ptr"));
}

TEST_F(TestDriverTest, HintsNeedTheirExtension) {
  const auto open = [&](const char *family) {
    EXPECT_TRUE(control->set_family(family));
    const cl_device_id device = Device();
    // CL_CONTEXT_PERF_HINT_QCOM, CL_PERF_HINT_HIGH_QCOM
    const cl_context_properties properties[] = {0x40C2, 0x40C3, 0};
    cl_int error;
    const cl_context context =
        cl.clCreateContext(properties, 1, &device, nullptr, nullptr, &error);
    if (context) cl.clReleaseContext(context);
    return error;
  };
  EXPECT_EQ(open("adreno_506"), CL_SUCCESS);
  ExpectNoProblem();
  EXPECT_EQ(open("mali_g72"), CL_INVALID_PROPERTY);
  EXPECT_THAT(LastProblem(), HasSubstr("the device has no cl_qcom_perf_hint"));
}

TEST_F(TestDriverTest, NewFunctionsNeedANewDriver) {
  ASSERT_TRUE(control->set_family("mali_t880"));
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  cl_int error;
  EXPECT_EQ(cl.clCreateCommandQueueWithProperties(
                program.context, program.device, nullptr, &error),
            nullptr);
  EXPECT_EQ(error, CL_INVALID_OPERATION);
  EXPECT_THAT(LastProblem(), HasSubstr("older than OpenCL 2.0"));
}

TEST_F(TestDriverTest, FindsItsOwnFunctionsByName) {
  void *found =
      cl.clGetExtensionFunctionAddressForPlatform(Platform(), "clCreateBuffer");
  EXPECT_EQ(found, reinterpret_cast<void *>(cl.clCreateBuffer));
  EXPECT_EQ(cl.clGetExtensionFunctionAddressForPlatform(Platform(), "clNone"),
            nullptr);
}

TEST_F(TestDriverTest, CountsCallsOfAllThreads) {
  constexpr int kThreads = 4;
  constexpr int kCalls = 500;
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (int k = 0; k < kCalls; ++k) {
        cl_int error;
        const cl_mem buffer =
            cl.clCreateBuffer(program.context, 0, 64, nullptr, &error);
        if (buffer) cl.clReleaseMemObject(buffer);
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(control->calls("clCreateBuffer"), uint64_t{kThreads * kCalls});
  EXPECT_EQ(control->live_objects("buffer"), 0u);
  ExpectNoProblem();
}

// Runs another program with settings of the driver; what it prints.
std::string RunProgram(const std::string &settings) {
  const std::string command = settings + " test/opencl/leaking_program";
  std::FILE *output = popen(command.c_str(), "r");
  char text[200] = "";
  if (output == nullptr || std::fgets(text, sizeof text, output) == nullptr)
    ADD_FAILURE() << command;
  if (output != nullptr) pclose(output);
  return text;
}

TEST_F(TestDriverTest, ReadsSettingsAndWritesAReport) {
  const std::string report = ::testing::TempDir() + "report.txt";
  const std::string family = "MACE_TEST_OPENCL_FAMILY=mali_g72 ";
  EXPECT_EQ(RunProgram(family + "MACE_TEST_OPENCL_REPORT=" + report),
            "Mali-G72");
  std::ifstream file(report);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, HasSubstr("4 calls, 0 failed on request, 1 problems\n"));
  EXPECT_THAT(text, HasSubstr("not released: context (call 4, "));
  EXPECT_EQ(RunProgram("MACE_TEST_OPENCL_FAIL_CALL=4"),
            std::to_string(CL_DEVICE_NOT_AVAILABLE));
  EXPECT_EQ(RunProgram("MACE_TEST_OPENCL_TARGET=/none.so"),
            std::to_string(CL_PLATFORM_NOT_FOUND_KHR));
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
