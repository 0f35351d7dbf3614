// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "test/opencl/driver_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;

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

// Each command moves the same numbers on; arguments in another order would not.
TEST_F(TestDriverTest, ForwardsCommandsOnBuffers) {
  {
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
    const cl_command_queue queue = program.queue;
    std::vector<uint8_t> values(kCount * 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = i;
    std::vector<uint8_t> back(values.size());
    // Rows of 16 bytes: 4 x 8 of them from (4, 2) to (8, 1).
    const size_t from[] = {4, 2, 0};
    const size_t to[] = {8, 1, 0};
    const size_t region[] = {4, 8, 1};
    const auto at = [](const size_t *origin, size_t x, size_t y) {
      return (origin[1] + y) * 16 + origin[0] + x;
    };
    const uint8_t fill = 7;
    EXPECT_EQ(cl.clEnqueueFillBuffer(queue, program.to, &fill, 1, 0,
                                     back.size(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueWriteBufferRect(queue, program.from, CL_TRUE, from,
                                          to, region, 16, 0, 16, 0,
                                          values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(
        cl.clEnqueueCopyBufferRect(queue, program.from, program.to, from, to,
                                   region, 16, 0, 16, 0, 0, nullptr, nullptr),
        CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadBufferRect(queue, program.to, CL_TRUE, to, from,
                                         region, 16, 0, 16, 0, back.data(), 0,
                                         nullptr, nullptr),
              CL_SUCCESS);
    for (size_t y = 0; y < 8; ++y)
      for (size_t x = 0; x < 4; ++x)
        EXPECT_EQ(back[at(from, x, y)], values[at(to, x, y)]);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, program.to, CL_TRUE, 0, back.size(),
                                     back.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(back[0], 7);
    EXPECT_EQ(back[at(to, 3, 7)], values[at(to, 3, 7)]);
    EXPECT_EQ(cl.clEnqueueWriteBuffer(queue, program.from, CL_TRUE, 32, 64,
                                      values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueCopyBuffer(queue, program.from, program.to, 32, 128,
                                     64, 0, nullptr, nullptr),
              CL_SUCCESS);
    const cl_buffer_region part{128, 128};
    cl_int error;
    const cl_mem half =
        cl.clCreateSubBuffer(program.to, CL_MEM_READ_WRITE,
                             CL_BUFFER_CREATE_TYPE_REGION, &part, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadBuffer(queue, half, CL_TRUE, 0, 64, back.data(),
                                     0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(back[63], 63);
    EXPECT_EQ(control->memory_bytes(), 2 * kCount * 4);
    EXPECT_EQ(cl.clReleaseMemObject(half), CL_SUCCESS);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
  ExpectNoProblem();
}

TEST_F(TestDriverTest, ForwardsCommandsOnImages) {
  {
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    ASSERT_EQ(program.MakeBuffers(), CL_SUCCESS);
    const cl_command_queue queue = program.queue;
    const cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
    cl_image_desc desc{};
    desc.image_type = CL_MEM_OBJECT_IMAGE2D;
    desc.image_width = 8;
    desc.image_height = 4;
    cl_int error;
    cl_mem images[2];
    for (cl_mem &image : images) {
      image = cl.clCreateImage(program.context, CL_MEM_READ_WRITE, &format,
                               &desc, nullptr, &error);
      ASSERT_EQ(error, CL_SUCCESS);
    }
    size_t width = 0;
    EXPECT_EQ(cl.clGetImageInfo(images[0], CL_IMAGE_WIDTH, sizeof width, &width,
                                nullptr),
              CL_SUCCESS);
    EXPECT_EQ(width, 8u);
    std::vector<uint32_t> pixels(32);
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = 1000 * i;
    std::vector<uint32_t> back(32);
    const size_t zero[] = {0, 0, 0};
    const size_t whole[] = {8, 4, 1};
    const size_t corner[] = {2, 1, 0};
    const size_t region[] = {3, 2, 1};
    const cl_uint color[] = {1, 0, 0, 0};
    EXPECT_EQ(cl.clEnqueueWriteImage(queue, images[0], CL_TRUE, zero, whole, 0,
                                     0, pixels.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueFillImage(queue, images[1], color, zero, whole, 0,
                                    nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueCopyImage(queue, images[0], images[1], zero, corner,
                                    region, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueReadImage(queue, images[1], CL_TRUE, corner, region,
                                    0, 0, back.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(back[5], pixels[8 + 2]);
    EXPECT_EQ(cl.clEnqueueCopyImageToBuffer(queue, images[1], program.to, zero,
                                            whole, 16, 0, nullptr, nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clEnqueueCopyBufferToImage(queue, program.to, images[0], 16,
                                            zero, whole, 0, nullptr, nullptr),
              CL_SUCCESS);
    size_t pitch = 0;
    auto *mapped = static_cast<uint8_t *>(cl.clEnqueueMapImage(
        queue, images[0], CL_TRUE, CL_MAP_READ, zero, whole, &pitch, nullptr, 0,
        nullptr, nullptr, &error));
    ASSERT_EQ(error, CL_SUCCESS);
    ASSERT_GE(pitch, 32u);
    EXPECT_EQ(mapped[0], 1);
    uint32_t pixel;
    std::memcpy(&pixel, mapped + 2 * pitch + 4 * 4, sizeof pixel);
    EXPECT_EQ(pixel, pixels[8 + 2]);
    EXPECT_EQ(control->live_objects("mapping"), 1u);
    EXPECT_EQ(cl.clEnqueueUnmapMemObject(queue, images[0], mapped, 0, nullptr,
                                         nullptr),
              CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(queue), CL_SUCCESS);
    EXPECT_EQ(control->live_objects("image"), 2u);
    const cl_sampler sampler = cl.clCreateSampler(
        program.context, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &error);
    EXPECT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(control->live_objects("sampler"), 1u);
    EXPECT_EQ(cl.clReleaseSampler(sampler), CL_SUCCESS);
    for (cl_mem image : images)
      EXPECT_EQ(cl.clReleaseMemObject(image), CL_SUCCESS);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
  ExpectNoProblem();
}

TEST_F(TestDriverTest, ForwardsEventsAndMarkers) {
  {
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    cl_int error;
    const cl_event user = cl.clCreateUserEvent(program.context, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    cl_event events[2];
    EXPECT_EQ(
        cl.clEnqueueMarkerWithWaitList(program.queue, 1, &user, &events[0]),
        CL_SUCCESS);
    EXPECT_EQ(
        cl.clEnqueueBarrierWithWaitList(program.queue, 0, nullptr, &events[1]),
        CL_SUCCESS);
    std::promise<cl_int> called;
    EXPECT_EQ(
        cl.clSetEventCallback(
            events[1], CL_COMPLETE,
            [](cl_event, cl_int status, void *data) {
              static_cast<std::promise<cl_int> *>(data)->set_value(status);
            },
            &called),
        CL_SUCCESS);
    EXPECT_EQ(cl.clFlush(program.queue), CL_SUCCESS);
    cl_int status = CL_COMPLETE;
    EXPECT_EQ(cl.clGetEventInfo(events[0], CL_EVENT_COMMAND_EXECUTION_STATUS,
                                sizeof status, &status, nullptr),
              CL_SUCCESS);
    EXPECT_NE(status, CL_COMPLETE);
    EXPECT_EQ(cl.clSetUserEventStatus(user, CL_COMPLETE), CL_SUCCESS);
    EXPECT_EQ(cl.clWaitForEvents(2, events), CL_SUCCESS);
    EXPECT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
    EXPECT_EQ(called.get_future().get(), CL_COMPLETE);
    EXPECT_EQ(control->live_objects("event"), 3u);
    cl.clReleaseEvent(events[0]);
    EXPECT_EQ(
        cl.clEnqueueMarkerWithWaitList(program.queue, 1, &events[0], nullptr),
        CL_INVALID_EVENT);
    EXPECT_THAT(LastProblem(), HasSubstr("used after its release: event"));
    cl.clReleaseEvent(events[1]);
    cl.clReleaseEvent(user);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
}

TEST_F(TestDriverTest, ForwardsProgramsFromBinariesAndParts) {
  {
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    ASSERT_EQ(program.Build("add"), CL_SUCCESS);
    size_t size = 0;
    EXPECT_EQ(cl.clGetProgramInfo(program.program, CL_PROGRAM_BINARY_SIZES,
                                  sizeof size, &size, nullptr),
              CL_SUCCESS);
    std::vector<unsigned char> binary(size);
    unsigned char *bytes = binary.data();
    EXPECT_EQ(cl.clGetProgramInfo(program.program, CL_PROGRAM_BINARIES,
                                  sizeof(char *), static_cast<void *>(&bytes),
                                  nullptr),
              CL_SUCCESS);
    const unsigned char *given = bytes;
    cl_int status;
    cl_int error;
    const cl_program loaded = cl.clCreateProgramWithBinary(
        program.context, 1, &program.device, &size, &given, &status, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(
        cl.clBuildProgram(loaded, 1, &program.device, "", nullptr, nullptr),
        CL_SUCCESS);
    cl_kernel kernels[2];
    cl_uint count = 0;
    EXPECT_EQ(cl.clCreateKernelsInProgram(loaded, 2, kernels, &count),
              CL_SUCCESS);
    EXPECT_EQ(count, 2u);
    EXPECT_EQ(control->live_objects("kernel"), 3u);
    for (cl_kernel kernel : kernels)
      EXPECT_EQ(cl.clReleaseKernel(kernel), CL_SUCCESS);
    const char *source = kSource;
    const cl_program part = cl.clCreateProgramWithSource(
        program.context, 1, &source, nullptr, &error);
    EXPECT_EQ(cl.clCompileProgram(part, 1, &program.device, "", 0, nullptr,
                                  nullptr, nullptr, nullptr),
              CL_SUCCESS);
    const cl_program linked =
        cl.clLinkProgram(program.context, 1, &program.device, "", 1, &part,
                         nullptr, nullptr, &error);
    EXPECT_EQ(error, CL_SUCCESS);
    EXPECT_EQ(control->live_objects("program"), 4u);
    for (cl_program other : {loaded, part, linked})
      EXPECT_EQ(cl.clReleaseProgram(other), CL_SUCCESS);
  }
  EXPECT_EQ(control->check_leaks(), 0u);
  ExpectNoProblem();
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

}  // namespace
}  // namespace test_opencl
}  // namespace mace
