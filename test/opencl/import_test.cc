// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What the driver emulates and checks of buffers in an AHardwareBuffer.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "test/opencl/driver_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;

constexpr uint32_t kBytes = kCount * 4;
constexpr cl_mem_flags kExtHostPtr = cl_mem_flags{1} << 29;
constexpr cl_mem_flags kQcomFlags =
    CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR | kExtHostPtr;

using ImportMemory = cl_mem(CL_API_CALL *)(
    cl_context, cl_mem_flags, const intptr_t *, void *, size_t, cl_int *);
struct HostPtr {
  cl_uint type;
  cl_uint policy;
  void *buffer;
};

class ImportTest : public TestDriverTest {
 protected:
  static void SetUpTestSuite() {
    TestDriverTest::SetUpTestSuite();
    std::string why;
    window_ = LoadTestNativeWindow(&why);
    ASSERT_NE(window_, nullptr) << why;
  }
  static AHardwareBuffer *Allocate(
      uint32_t format = AHARDWAREBUFFER_FORMAT_BLOB,
      uint64_t usage = AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER) {
    AHardwareBuffer_Desc desc = {};
    desc.width = kBytes;
    desc.height = 1;
    desc.layers = 1;
    desc.format = format;
    desc.usage = usage;
    AHardwareBuffer *buffer = nullptr;
    EXPECT_EQ(window_->allocate(&desc, &buffer), 0);
    return buffer;
  }
  static ImportMemory FindImport() {
    return reinterpret_cast<ImportMemory>(
        cl.clGetExtensionFunctionAddressForPlatform(Platform(),
                                                    "clImportMemoryARM"));
  }
  static cl_mem OfArm(cl_context context,
                      void *buffer,
                      cl_int *error,
                      cl_mem_flags flags = CL_MEM_READ_WRITE,
                      intptr_t type = 0x41E2,
                      size_t bytes = SIZE_MAX) {
    const intptr_t properties[] = {0x40B2, type, 0};
    return FindImport()(context, flags, properties, buffer, bytes, error);
  }
  static cl_mem OfQcom(cl_context context,
                       void *buffer,
                       cl_int *error,
                       cl_mem_flags flags = kQcomFlags,
                       size_t bytes = kBytes,
                       cl_uint type = 0x4119,
                       cl_uint policy = 0x40A5) {
    HostPtr host = {type, policy, buffer};
    return cl.clCreateBuffer(context, flags, bytes, &host, error);
  }

  // A kernel adds 1 in the memory of the AHardwareBuffer.
  static void ExpectComputes(const char *family, bool arm) {
    SCOPED_TRACE(family);
    control->reset();
    ASSERT_TRUE(control->set_family(family));
    AHardwareBuffer *buffer = Allocate();
    auto *values = static_cast<float *>(window_->memory(buffer));
    for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i);
    {
      Program program(cl);
      ASSERT_EQ(program.Open(), CL_SUCCESS);
      ASSERT_EQ(program.Build("add"), CL_SUCCESS);
      const uint64_t bytes = control->memory_bytes();
      cl_int error = CL_SUCCESS;
      program.from = arm ? OfArm(program.context, buffer, &error)
                         : OfQcom(program.context, buffer, &error);
      ASSERT_EQ(error, CL_SUCCESS);
      EXPECT_EQ(control->memory_bytes(), bytes);  // it is the caller's
      program.to = cl.clCreateBuffer(program.context, CL_MEM_READ_WRITE, kBytes,
                                     nullptr, &error);
      ASSERT_EQ(error, CL_SUCCESS);
      ASSERT_EQ(program.SetArguments(), CL_SUCCESS);
      // In place.
      ASSERT_EQ(cl.clSetKernelArg(program.kernel, 1, sizeof(cl_mem),
                                  static_cast<void *>(&program.from)),
                CL_SUCCESS);
      ASSERT_EQ(program.Enqueue(kCount, kCount), CL_SUCCESS);
      ASSERT_EQ(cl.clFinish(program.queue), CL_SUCCESS);
    }
    for (size_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(values[i], static_cast<float>(i + 1));
    }
    EXPECT_EQ(window_->references(buffer), 1);
    window_->release(buffer);
    EXPECT_EQ(control->check_leaks(), 0u);
    ExpectNoProblem();
  }

  static void ExpectRefused(cl_mem made, cl_int error, const char *problem) {
    EXPECT_EQ(made, nullptr) << problem;
    EXPECT_NE(error, CL_SUCCESS) << problem;
    EXPECT_THAT(LastProblem(), HasSubstr(problem));
  }

  static inline const MaceTestNativeWindow *window_ = nullptr;
};

TEST_F(ImportTest, KernelsUseTheMemory) {
  ExpectComputes("mali_g710", true);
  ExpectComputes("adreno_740", false);
}

TEST_F(ImportTest, OnlySomeDevicesHaveIt) {
  for (const char *family : {"mali_g72", "adreno_740", "target"}) {
    ASSERT_TRUE(control->set_family(family));
    EXPECT_EQ(FindImport(), nullptr) << family;
  }
  for (const char *family : {"mali_g710", "adreno_630"}) {
    control->reset();
    ASSERT_TRUE(control->set_family(family));
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    AHardwareBuffer *buffer = Allocate();
    cl_int error = CL_SUCCESS;
    ExpectRefused(OfQcom(program.context, buffer, &error), error,
                  "has no cl_qcom_android_ahardwarebuffer_host_ptr");
    window_->release(buffer);
  }
}

TEST_F(ImportTest, MistakesAreFoundOnMali) {
  ASSERT_TRUE(control->set_family("mali_g710"));
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  AHardwareBuffer *good = Allocate();
  AHardwareBuffer *pixels = Allocate(AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM);
  AHardwareBuffer *no_data = Allocate(AHARDWAREBUFFER_FORMAT_BLOB,
                                      AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN);
  cl_int error = CL_SUCCESS;
  ExpectRefused(OfArm(program.context, good, &error, CL_MEM_USE_HOST_PTR),
                error, "flags of memory that is not imported");
  ExpectRefused(OfArm(program.context, good, &error, CL_MEM_READ_WRITE, 0x40B4),
                error, "is an AHardwareBuffer");
  ExpectRefused(
      OfArm(program.context, good, &error, CL_MEM_READ_WRITE, 0x41E2, kBytes),
      error, "WHOLE_ALLOCATION");
  ExpectRefused(OfArm(program.context, pixels, &error), error, "no BLOB");
  ExpectRefused(OfArm(program.context, no_data, &error), error,
                "not for data of the GPU");
  ExpectRefused(OfArm(program.context, &program, &error), error,
                "no AHardwareBuffer");
  ExpectRefused(OfArm(program.context, nullptr, &error), error,
                "no AHardwareBuffer");
  window_->release(good);
  ExpectRefused(OfArm(program.context, good, &error), error,
                "no AHardwareBuffer");
  window_->release(pixels);
  window_->release(no_data);
}

TEST_F(ImportTest, MistakesAreFoundOnAdreno) {
  ASSERT_TRUE(control->set_family("adreno_740"));
  Program program(cl);
  ASSERT_EQ(program.Open(), CL_SUCCESS);
  AHardwareBuffer *good = Allocate();
  cl_int error = CL_SUCCESS;
  ExpectRefused(
      OfQcom(program.context, good, &error, CL_MEM_READ_WRITE | kExtHostPtr),
      error, "without CL_MEM_USE_HOST_PTR");
  ExpectRefused(OfQcom(program.context, good, &error, kQcomFlags, kBytes + 1),
                error, "257 bytes of an AHardwareBuffer of 256");
  ExpectRefused(
      OfQcom(program.context, good, &error, kQcomFlags, kBytes, 0x40A8), error,
      "is an AHardwareBuffer");
  ExpectRefused(
      OfQcom(program.context, good, &error, kQcomFlags, kBytes, 0x4119, 0x40A8),
      error, "unknown policy");
  ExpectRefused(OfQcom(program.context, &program, &error), error,
                "no AHardwareBuffer");
  window_->release(good);
}

TEST_F(ImportTest, AnEarlyReleaseIsFound) {
  for (const bool arm : {true, false}) {
    control->reset();
    ASSERT_TRUE(control->set_family(arm ? "mali_g710" : "adreno_740"));
    Program program(cl);
    ASSERT_EQ(program.Open(), CL_SUCCESS);
    AHardwareBuffer *buffer = Allocate();
    cl_int error = CL_SUCCESS;
    program.from = arm ? OfArm(program.context, buffer, &error)
                       : OfQcom(program.context, buffer, &error);
    ASSERT_EQ(error, CL_SUCCESS);
    window_->release(buffer);
    ExpectNoProblem();
    cl.clReleaseMemObject(program.from);
    program.from = nullptr;
    EXPECT_THAT(LastProblem(),
                HasSubstr("AHardwareBuffer was released before it"));
  }
}

// Of the stand-in.
TEST_F(ImportTest, ReferencesAreCounted) {
  const int misuses = window_->misuses();
  AHardwareBuffer *buffer = Allocate();
  window_->acquire(buffer);
  EXPECT_EQ(window_->references(buffer), 2);
  window_->release(buffer);
  EXPECT_NE(window_->memory(buffer), nullptr);
  window_->release(buffer);
  EXPECT_EQ(window_->references(buffer), 0);
  EXPECT_EQ(window_->misuses(), misuses);
  AHardwareBuffer_Desc desc;
  window_->release(buffer);
  window_->acquire(buffer);
  window_->describe(buffer, &desc);
  EXPECT_EQ(window_->memory(buffer), nullptr);
  EXPECT_EQ(window_->misuses(), misuses + 4);
}

}  // namespace
}  // namespace test_opencl
}  // namespace mace
