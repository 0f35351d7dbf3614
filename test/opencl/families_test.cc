// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test/opencl/driver_testing.h"

namespace mace {
namespace test_opencl {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

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

TEST_F(TestDriverTest, ImagesOfBuffersHaveLimits) {
  const cl_image_format format{CL_RGBA, CL_HALF_FLOAT};
  cl_image_desc desc{};
  desc.image_type = CL_MEM_OBJECT_IMAGE2D;
  desc.image_width = 100;
  desc.image_height = 3;
  const auto make_view = [&](const char *family, size_t row, size_t bytes) {
    control->reset();
    EXPECT_TRUE(control->set_family(family));
    Program program(cl);
    EXPECT_EQ(program.Open(), CL_SUCCESS);
    cl_int error;
    const cl_mem buffer =
        cl.clCreateBuffer(program.context, 0, bytes, nullptr, &error);
    desc.buffer = buffer;
    desc.image_row_pitch = row;
    const cl_mem image =
        cl.clCreateImage(program.context, 0, &format, &desc, nullptr, &error);
    if (image) {
      // The memory is the buffer's.
      EXPECT_EQ(control->memory_bytes(), bytes);
      cl.clReleaseMemObject(image);
    }
    cl.clReleaseMemObject(buffer);
    return error;
  };
  // Rows begin at multiples of 64 pixels of 8 bytes.
  EXPECT_EQ(make_view("adreno_630", 1024, 3072), CL_SUCCESS);
  ExpectNoProblem();
  EXPECT_EQ(make_view("adreno_630", 896, 3072), CL_INVALID_IMAGE_DESCRIPTOR);
  EXPECT_THAT(LastProblem(), HasSubstr("multiples of 64 pixels"));
  EXPECT_EQ(make_view("adreno_630", 512, 3072), CL_INVALID_IMAGE_DESCRIPTOR);
  EXPECT_EQ(make_view("adreno_630", 1024, 3071), CL_INVALID_IMAGE_DESCRIPTOR);
  EXPECT_THAT(LastProblem(), HasSubstr("3072 bytes in a buffer of 3071"));
  EXPECT_EQ(make_view("nvidia_h100", 1024, 3072), CL_INVALID_IMAGE_DESCRIPTOR);
  EXPECT_THAT(LastProblem(), HasSubstr("no cl_khr_image2d_from_buffer"));
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

}  // namespace
}  // namespace test_opencl
}  // namespace mace
