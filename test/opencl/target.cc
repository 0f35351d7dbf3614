// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/target.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace mace {
namespace test_opencl {
namespace {

const Target *Load() {
  auto *loaded = new Target;  // until the process ends, as drivers are
  const char *path = std::getenv("MACE_TEST_OPENCL_TARGET");
  if (path == nullptr || *path == '\0') path = "libOpenCL.so.1";
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    loaded->error =
        std::string("cannot load the OpenCL driver: ") + dlerror() + kInstall;
    return loaded;
  }
#define MACE_FIND_FUNCTION(name)                                          \
  loaded->name =                                                          \
      reinterpret_cast<decltype(loaded->name)>(dlsym(library, #name));    \
  if (loaded->name == nullptr)                                            \
    loaded->error += std::string(loaded->error.empty() ? path : "") +     \
                     (loaded->error.empty() ? " has no " : ", ") + #name; \
  if (loaded->name == &::name)                                            \
    loaded->error = std::string(path) + " is this test driver itself";
  MACE_OPENCL_FUNCTIONS(MACE_FIND_FUNCTION)
#undef MACE_FIND_FUNCTION
  return loaded;
}

}  // namespace

const Target &target() {
  static const Target *const loaded = Load();
  return *loaded;
}

std::string TargetExtensions() {
  cl_platform_id platform;
  cl_device_id device;
  size_t size = 0;
  if (target().clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      target().clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device,
                              nullptr) != CL_SUCCESS ||
      target().clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, 0, nullptr,
                               &size) != CL_SUCCESS) {
    return "";
  }
  std::string text(size, '\0');
  if (target().clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, size, &text[0],
                               nullptr) != CL_SUCCESS) {
    return "";
  }
  return text.c_str();
}

void *FindOwnFunction(const char *name) {
#define MACE_COMPARE_NAME(function)      \
  if (std::strcmp(name, #function) == 0) \
    return reinterpret_cast<void *>(&::function);
  MACE_OPENCL_FUNCTIONS(MACE_COMPARE_NAME)
#undef MACE_COMPARE_NAME
  return nullptr;
}

}  // namespace test_opencl
}  // namespace mace
