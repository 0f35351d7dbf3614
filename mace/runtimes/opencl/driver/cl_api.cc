// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/cl_api.h"

#include <dlfcn.h>

#include <cstdlib>

namespace mace {
namespace {

// In the order in which they are tried. Android's vendors put the driver where
// their own GPU library is; some apps may only open it by its full path.
const char *const kLibraries[] = {
    "libOpenCL.so",
#ifdef __ANDROID__
#ifdef __LP64__
    "/system/vendor/lib64/libOpenCL.so",
    "/system/lib64/libOpenCL.so",
    "/vendor/lib64/libOpenCL.so",
    "/system/vendor/lib64/libPVROCL.so",
    "/vendor/lib64/libPVROCL.so",
    "/system/vendor/lib64/egl/libGLES_mali.so",
    "/vendor/lib64/egl/libGLES_mali.so",
    "/system/lib64/egl/libGLES_mali.so",
#else
    "/system/vendor/lib/libOpenCL.so",
    "/system/lib/libOpenCL.so",
    "/vendor/lib/libOpenCL.so",
    "/system/vendor/lib/libPVROCL.so",
    "/vendor/lib/libPVROCL.so",
    "/system/vendor/lib/egl/libGLES_mali.so",
    "/vendor/lib/egl/libGLES_mali.so",
    "/system/lib/egl/libGLES_mali.so",
#endif
    "libOpenCL-pixel.so",
    "libOpenCL-car.so",
    "libGLES_mali.so",
    "libPVROCL.so",
#else
    "libOpenCL.so.1", "libmali.so.1", "libmali.so", "libPVROCL.so.1",
#endif
};

// The first function that the library lacks; null if it has all of them.
const char *FindFunctions(void *library, ClApi *api) {
#define MACE_CL_FIND(name)                                                \
  api->name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name)); \
  if (api->name == nullptr) return #name;
  MACE_CL_FUNCTIONS(MACE_CL_FIND)
#undef MACE_CL_FIND
  api->clCreateCommandQueueWithProperties =
      reinterpret_cast<decltype(api->clCreateCommandQueueWithProperties)>(
          dlsym(library, "clCreateCommandQueueWithProperties"));
  return nullptr;
}

// Pixel phones and some cars have a driver whose functions must be enabled.
void EnableDriver(void *library) {
  using Enable = void (*)();
  const auto enable = reinterpret_cast<Enable>(dlsym(library, "enableOpenCL"));
  if (enable != nullptr) enable();
}

bool Open(const char *name, ClApi *api, std::string *problems) {
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (!problems->empty()) *problems += "; ";
  if (library == nullptr) {
    const char *error = dlerror();
    *problems += error == nullptr ? name : error;
    return false;
  }
  EnableDriver(library);
  const char *missing = FindFunctions(library, api);
  if (missing != nullptr) {
    *problems += MakeString(name, " has no ", missing);
    return false;
  }
  api->library = name;
  return true;
}

}  // namespace

Result<std::shared_ptr<const ClApi>> OpenClApi() {
  auto api = std::make_shared<ClApi>();
  std::string problems;
  const char *own = std::getenv("MACE_OPENCL_LIBRARY");
  if (own != nullptr && own[0] != '\0') {
    if (Open(own, api.get(), &problems)) {
      return std::shared_ptr<const ClApi>(api);
    }
    return Unsupported("no OpenCL driver: MACE_OPENCL_LIBRARY names ", own,
                       ", but ", problems);
  }
  for (const char *name : kLibraries) {
    if (Open(name, api.get(), &problems)) {
      return std::shared_ptr<const ClApi>(api);
    }
  }
  return Unsupported(
      "no OpenCL 1.2 driver found on this device; set MACE_OPENCL_LIBRARY to "
      "its path if it has one (",
      problems, ")");
}

std::string ClErrorName(cl_int error) {
  static constexpr const char *kFirst[] = {
      "CL_SUCCESS",
      "CL_DEVICE_NOT_FOUND",
      "CL_DEVICE_NOT_AVAILABLE",
      "CL_COMPILER_NOT_AVAILABLE",
      "CL_MEM_OBJECT_ALLOCATION_FAILURE",
      "CL_OUT_OF_RESOURCES",
      "CL_OUT_OF_HOST_MEMORY",
      "CL_PROFILING_INFO_NOT_AVAILABLE",
      "CL_MEM_COPY_OVERLAP",
      "CL_IMAGE_FORMAT_MISMATCH",
      "CL_IMAGE_FORMAT_NOT_SUPPORTED",
      "CL_BUILD_PROGRAM_FAILURE",
      "CL_MAP_FAILURE",
      "CL_MISALIGNED_SUB_BUFFER_OFFSET",
      "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"};
  static constexpr const char *kInvalid[] = {
      "CL_INVALID_VALUE",           "CL_INVALID_DEVICE_TYPE",
      "CL_INVALID_PLATFORM",        "CL_INVALID_DEVICE",
      "CL_INVALID_CONTEXT",         "CL_INVALID_QUEUE_PROPERTIES",
      "CL_INVALID_COMMAND_QUEUE",   "CL_INVALID_HOST_PTR",
      "CL_INVALID_MEM_OBJECT",      "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
      "CL_INVALID_IMAGE_SIZE",      "CL_INVALID_SAMPLER",
      "CL_INVALID_BINARY",          "CL_INVALID_BUILD_OPTIONS",
      "CL_INVALID_PROGRAM",         "CL_INVALID_PROGRAM_EXECUTABLE",
      "CL_INVALID_KERNEL_NAME",     "CL_INVALID_KERNEL_DEFINITION",
      "CL_INVALID_KERNEL",          "CL_INVALID_ARG_INDEX",
      "CL_INVALID_ARG_VALUE",       "CL_INVALID_ARG_SIZE",
      "CL_INVALID_KERNEL_ARGS",     "CL_INVALID_WORK_DIMENSION",
      "CL_INVALID_WORK_GROUP_SIZE", "CL_INVALID_WORK_ITEM_SIZE",
      "CL_INVALID_GLOBAL_OFFSET",   "CL_INVALID_EVENT_WAIT_LIST",
      "CL_INVALID_EVENT",           "CL_INVALID_OPERATION",
      "CL_INVALID_GL_OBJECT",       "CL_INVALID_BUFFER_SIZE",
      "CL_INVALID_MIP_LEVEL",       "CL_INVALID_GLOBAL_WORK_SIZE"};
  constexpr int kFirstCount = sizeof(kFirst) / sizeof(kFirst[0]);
  constexpr int kInvalidCount = sizeof(kInvalid) / sizeof(kInvalid[0]);
  constexpr int kFirstInvalid = 30;
  const char *name = "OpenCL error";
  if (error <= 0 && -error < kFirstCount) name = kFirst[-error];
  if (-error >= kFirstInvalid && -error < kFirstInvalid + kInvalidCount) {
    name = kInvalid[-error - kFirstInvalid];
  }
  return MakeString(name, " (", error, ")");
}

MaceStatus ClError(const char *call, cl_int error, const std::string &what) {
  const std::string message =
      MakeString(call, what.empty() ? "" : " (", what, what.empty() ? "" : ")",
                 " failed: ", ClErrorName(error));
  switch (error) {
    case CL_OUT_OF_RESOURCES:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
      return OutOfResources(message);
    default:
      return RuntimeError(message);
  }
}

}  // namespace mace
