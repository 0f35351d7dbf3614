// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the driver emulates and checks of recorded launches, and of times.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/opencl/driver_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;

constexpr cl_command_queue_properties kRecordable = 1u << 30;

using NewRecording = void *(CL_API_CALL *)(cl_command_queue, cl_int *);
using OfRecording = cl_int(CL_API_CALL *)(void *);
using EnqueueRecording = cl_int(CL_API_CALL *)(cl_command_queue,
                                               void *,
                                               size_t,
                                               const void *,
                                               size_t,
                                               const void *,
                                               size_t,
                                               const void *,
                                               size_t,
                                               const void *,
                                               cl_uint,
                                               const cl_event *,
                                               cl_event *);

class RecordingTest : public TestDriverTest {
 protected:
  template <typename Function>
  static Function Find(const char *name) {
    return reinterpret_cast<Function>(
        cl.clGetExtensionFunctionAddressForPlatform(Platform(), name));
  }

  // A program on an Adreno, with a queue that records.
  void Open(Program *program) {
    ASSERT_TRUE(control->set_family("adreno_740"));
    ASSERT_EQ(program->Open(), CL_SUCCESS);
    ASSERT_EQ(program->Build("add"), CL_SUCCESS);
    ASSERT_EQ(program->MakeBuffers(), CL_SUCCESS);
    ASSERT_EQ(program->SetArguments(), CL_SUCCESS);
    const std::vector<float> zeros(kCount);
    for (cl_mem memory : {program->from, program->to}) {
      ASSERT_EQ(cl.clEnqueueWriteBuffer(program->queue, memory, CL_TRUE, 0,
                                        kCount * 4, zeros.data(), 0, nullptr,
                                        nullptr),
                CL_SUCCESS);
    }
    cl_int error;
    recorded_ = cl.clCreateCommandQueue(program->context, program->device,
                                        kRecordable, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    create_ = Find<NewRecording>("clNewRecordingQCOM");
    end_ = Find<OfRecording>("clEndRecordingQCOM");
    release_ = Find<OfRecording>("clReleaseRecordingQCOM");
    enqueue_ = Find<EnqueueRecording>("clEnqueueRecordingQCOM");
    ASSERT_TRUE(create_ && end_ && release_ && enqueue_);
  }

  cl_int Record(const Program &program) {
    const size_t global = kCount;
    const size_t local = 8;
    return cl.clEnqueueNDRangeKernel(recorded_, program.kernel, 1, nullptr,
                                     &global, &local, 0, nullptr, nullptr);
  }
  cl_int Replay(const Program &program, void *recording) {
    return enqueue_(program.queue, recording, 0, nullptr, 0, nullptr, 0,
                    nullptr, 0, nullptr, 0, nullptr, nullptr);
  }
  static float First(const Program &program) {
    float value = -1;
    EXPECT_EQ(cl.clEnqueueReadBuffer(program.queue, program.to, CL_TRUE, 0,
                                     sizeof value, &value, 0, nullptr, nullptr),
              CL_SUCCESS);
    return value;
  }

  cl_command_queue recorded_ = nullptr;
  NewRecording create_ = nullptr;
  OfRecording end_ = nullptr;
  OfRecording release_ = nullptr;
  EnqueueRecording enqueue_ = nullptr;
};

TEST_F(RecordingTest, AdrenoRunsWhatItRecordedWhenItIsReplayed) {
  {
    Program program(cl);
    Open(&program);
    cl_int error;
    void *recording = create_(recorded_, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(control->live_objects("recording"), 1u);
    EXPECT_EQ(Record(program), CL_SUCCESS);
    EXPECT_EQ(end_(recording), CL_SUCCESS);
    EXPECT_EQ(First(program), 0);
    EXPECT_EQ(Replay(program, recording), CL_SUCCESS);
    EXPECT_EQ(First(program), 1);
    ExpectNoProblem();
    EXPECT_EQ(release_(recording), CL_SUCCESS);
    EXPECT_EQ(cl.clReleaseCommandQueue(recorded_), CL_SUCCESS);
  }
  EXPECT_EQ(control->check_leaks(), 0u) << Problems(*control);
}

TEST_F(RecordingTest, SaysWhatIsWrongWithARecording) {
  Program program(cl);
  Open(&program);
  EXPECT_EQ(Record(program), CL_INVALID_OPERATION);
  EXPECT_THAT(LastProblem(), HasSubstr("the queue has no recording"));
  cl_int error;
  EXPECT_EQ(create_(program.queue, &error), nullptr);
  EXPECT_THAT(LastProblem(), HasSubstr("the queue does not record"));
  void *recording = create_(recorded_, &error);
  ASSERT_EQ(error, CL_SUCCESS);
  EXPECT_EQ(create_(recorded_, &error), nullptr);
  EXPECT_THAT(LastProblem(), HasSubstr("another recording"));
  EXPECT_EQ(Record(program), CL_SUCCESS);
  EXPECT_EQ(Replay(program, recording), CL_INVALID_OPERATION);
  EXPECT_THAT(LastProblem(), HasSubstr("the recording is not ended"));
  EXPECT_EQ(end_(recording), CL_SUCCESS);
  EXPECT_EQ(end_(recording), CL_INVALID_OPERATION);
  EXPECT_EQ(program.SetArguments(), CL_SUCCESS);
  EXPECT_EQ(Replay(program, recording), CL_INVALID_OPERATION);
  EXPECT_THAT(LastProblem(), HasSubstr("were set after it was recorded"));
  EXPECT_EQ(cl.clReleaseMemObject(program.to), CL_SUCCESS);
  program.to = nullptr;
  EXPECT_EQ(Replay(program, recording), CL_INVALID_OPERATION);
  EXPECT_THAT(LastProblem(), HasSubstr("an argument of add is released"));
  EXPECT_GT(control->check_leaks(), 0u);
  EXPECT_THAT(Problems(*control), HasSubstr("recording"));
  EXPECT_EQ(release_(recording), CL_SUCCESS);
  EXPECT_EQ(cl.clReleaseCommandQueue(recorded_), CL_SUCCESS);
}

TEST_F(RecordingTest, OthersHaveNoRecordableQueues) {
  EXPECT_EQ(Find<NewRecording>("clNewRecordingQCOM"), nullptr);
  ASSERT_TRUE(control->set_family("adreno_630"));
  EXPECT_EQ(Find<NewRecording>("clNewRecordingQCOM"), nullptr);
}

TEST_F(RecordingTest, CommandBuffersAreCheckedAndFailOnRequest) {
  const auto create =
      Find<clCreateCommandBufferKHR_fn>("clCreateCommandBufferKHR");
  if (create == nullptr) {
    GTEST_SKIP() << "the real driver has no command buffers";
  }
  const auto launch =
      Find<clCommandNDRangeKernelKHR_fn>("clCommandNDRangeKernelKHR");
  const auto finish =
      Find<clFinalizeCommandBufferKHR_fn>("clFinalizeCommandBufferKHR");
  const auto enqueue =
      Find<clEnqueueCommandBufferKHR_fn>("clEnqueueCommandBufferKHR");
  const auto release =
      Find<clReleaseCommandBufferKHR_fn>("clReleaseCommandBufferKHR");
  {
    Program program(cl);
    std::vector<float> result;
    ASSERT_EQ(program.Run(&result), CL_SUCCESS);
    cl_int error;
    control->fail_function("clCreateCommandBufferKHR", 1, 0);
    EXPECT_EQ(create(1, &program.queue, nullptr, &error), nullptr);
    EXPECT_EQ(error, CL_OUT_OF_RESOURCES);
    const cl_command_buffer_khr buffer =
        create(1, &program.queue, nullptr, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    const size_t global = kCount;
    const size_t local = 8;
    EXPECT_EQ(launch(buffer, nullptr, nullptr, program.kernel, 1, nullptr,
                     &global, &local, 0, nullptr, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(finish(buffer), CL_SUCCESS);
    EXPECT_EQ(enqueue(0, nullptr, buffer, 0, nullptr, nullptr), CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
    ExpectNoProblem();
    EXPECT_EQ(cl.clReleaseMemObject(program.to), CL_SUCCESS);
    program.to = nullptr;
    EXPECT_EQ(enqueue(0, nullptr, buffer, 0, nullptr, nullptr),
              CL_INVALID_OPERATION);
    EXPECT_THAT(LastProblem(), HasSubstr("an argument of add is released"));
    EXPECT_EQ(release(buffer), CL_SUCCESS);
  }
  EXPECT_EQ(control->check_leaks(), 0u) << Problems(*control);
}

TEST_F(RecordingTest, TimesAreThoseThatATestSets) {
  Program program(cl);
  std::vector<float> result;
  ASSERT_EQ(program.Run(&result), CL_SUCCESS);
  control->set_kernel_times(1000);
  const size_t global = kCount;
  const size_t local = 8;
  cl_ulong last_end = 0;
  for (int i = 0; i < 2; ++i) {
    cl_event event;
    ASSERT_EQ(
        cl.clEnqueueNDRangeKernel(program.queue, program.kernel, 1, nullptr,
                                  &global, &local, 0, nullptr, &event),
        CL_SUCCESS);
    ASSERT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
    const EventTimes times = TimesOf(cl, event);
    EXPECT_EQ(times.end - times.start, kCount / 8 * 1000);
    EXPECT_GE(times.start, last_end);
    last_end = times.end;
    EXPECT_EQ(cl.clReleaseEvent(event), CL_SUCCESS);
  }
}

TEST_F(RecordingTest, NvidiaLimitsTheGroupsOfADimension) {
  ASSERT_TRUE(control->set_family("nvidia_h100"));
  Program program(cl);
  std::vector<float> result;
  ASSERT_EQ(program.Run(&result), CL_SUCCESS);
  const size_t local[2] = {1, 1};
  const size_t most[2] = {1, 65535};
  const size_t more[2] = {1, 65536};
  const auto enqueue = [&](const size_t *global) {
    return cl.clEnqueueNDRangeKernel(program.queue, program.kernel, 2, nullptr,
                                     global, local, 0, nullptr, nullptr);
  };
  EXPECT_EQ(enqueue(most), CL_SUCCESS);
  ExpectNoProblem();
  EXPECT_EQ(enqueue(more), CL_OUT_OF_RESOURCES);
  EXPECT_THAT(LastProblem(), HasSubstr("65535 groups in a dimension"));
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
