// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "test/opencl/driver_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;

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

TEST_F(TestDriverTest, KernelsTakeTheTimesThatATestSays) {
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  ASSERT_EQ(program.Build("add"), CL_SUCCESS);
  ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
  ASSERT_EQ(program.SetArguments(), CL_SUCCESS);
  control->set_kernel_nanos([](const char *kernel, const char *options,
                               const size_t *global, const size_t *local) {
    EXPECT_STREQ(kernel, "add");
    EXPECT_STREQ(options, "");
    return uint64_t{1000} * global[0] + local[0] + local[1] + local[2];
  });
  cl_ulong last = 0;
  for (const size_t local : {8, 16}) {
    cl_event event = nullptr;
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(program.queue, program.kernel, 1, nullptr,
                                  &kCount, &local, 0, nullptr, &event),
        CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
    const EventTimes times = TimesOf(cl, event);
    EXPECT_EQ(times.end - times.start, 1000 * kCount + local + 2);
    EXPECT_GE(times.start, last);
    last = times.end;
    cl.clReleaseEvent(event);
  }
  ExpectNoProblem();
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
