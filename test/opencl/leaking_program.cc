// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A program that knows nothing of the test driver, and does not release its
// context. Prints the device's name, or the error of the call that failed.

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "test/opencl/opencl_functions.h"

int main() {
  void *library = dlopen(std::getenv("MACE_OPENCL_LIBRARY"), RTLD_NOW);
  if (library == nullptr) {
    std::puts(dlerror());
    return 1;
  }
#define MACE_FIND_FUNCTION(name) \
  const auto name = reinterpret_cast<decltype(&::name)>(dlsym(library, #name))
  MACE_FIND_FUNCTION(clGetPlatformIDs);
  MACE_FIND_FUNCTION(clGetDeviceIDs);
  MACE_FIND_FUNCTION(clGetDeviceInfo);
  MACE_FIND_FUNCTION(clCreateContext);
  cl_platform_id platform;
  cl_int error = clGetPlatformIDs(1, &platform, nullptr);
  cl_device_id device = nullptr;
  if (!error)
    error = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr);
  char name[100];
  if (!error)
    error = clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, nullptr);
  if (!error) clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
  if (error)
    std::printf("%d", error);
  else
    std::printf("%s", name);
  return 0;
}
