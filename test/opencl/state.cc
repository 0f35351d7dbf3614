// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "test/opencl/state.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

namespace mace {
namespace test_opencl {
namespace {

bool StartsWith(const char *text, const char *start) {
  return std::strncmp(text, start, std::strlen(start)) == 0;
}

struct Errors {
  const char *function;  // or the beginning of its name
  cl_int errors[4];
};

// In each row what drivers return most often is first. Of two rows that fit,
// the first counts.
constexpr Errors kErrors[] = {
    {"clGetPlatformIDs", {CL_PLATFORM_NOT_FOUND_KHR, CL_OUT_OF_HOST_MEMORY}},
    {"clGetDeviceIDs",
     {CL_DEVICE_NOT_FOUND, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    // As of drivers that do not know a parameter.
    {"clGetDeviceInfo",
     {CL_INVALID_VALUE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clGetPlatformInfo", {CL_INVALID_VALUE, CL_OUT_OF_HOST_MEMORY}},
    {"clGetEventProfilingInfo",
     {CL_PROFILING_INFO_NOT_AVAILABLE, CL_OUT_OF_RESOURCES}},
    {"clCreateContext",
     {CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateCommandQueue",
     {CL_OUT_OF_RESOURCES, CL_INVALID_QUEUE_PROPERTIES, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateBuffer",
     {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
      CL_INVALID_BUFFER_SIZE, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateSubBuffer",
     {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_MISALIGNED_SUB_BUFFER_OFFSET,
      CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateImage",
     {CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_IMAGE_FORMAT_NOT_SUPPORTED,
      CL_INVALID_IMAGE_SIZE, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateProgramWithBinary", {CL_INVALID_BINARY, CL_OUT_OF_HOST_MEMORY}},
    {"clBuildProgram",
     {CL_BUILD_PROGRAM_FAILURE, CL_OUT_OF_HOST_MEMORY,
      CL_COMPILER_NOT_AVAILABLE, CL_INVALID_BINARY}},
    {"clCompileProgram",
     {CL_COMPILE_PROGRAM_FAILURE, CL_OUT_OF_HOST_MEMORY,
      CL_COMPILER_NOT_AVAILABLE}},
    {"clLinkProgram", {CL_LINK_PROGRAM_FAILURE, CL_OUT_OF_HOST_MEMORY}},
    {"clCreateKernel",
     {CL_OUT_OF_RESOURCES, CL_INVALID_KERNEL_NAME, CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueueNDRangeKernel",
     {CL_OUT_OF_RESOURCES, CL_INVALID_WORK_GROUP_SIZE,
      CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueueMap",
     {CL_MAP_FAILURE, CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_OUT_OF_RESOURCES,
      CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueueUnmap", {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueueMarker", {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueueBarrier", {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
    {"clEnqueue",
     {CL_OUT_OF_RESOURCES, CL_MEM_OBJECT_ALLOCATION_FAILURE,
      CL_OUT_OF_HOST_MEMORY}},
    {"clWaitForEvents",
     {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, CL_OUT_OF_RESOURCES}},
    {"cl", {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY}},
};

// Settings of programs that do not know this driver, as mace_run.
void ReadEnvironment(State *state) {
  const char *family = std::getenv("MACE_TEST_OPENCL_FAMILY");
  if (family != nullptr && std::strcmp(family, "target") != 0) {
    state->family = FindFamily(family);
    if (state->family == nullptr) {
      std::fprintf(stderr,
                   "test driver: MACE_TEST_OPENCL_FAMILY: no family is named "
                   "'%s'\n",
                   family);
      std::abort();
    }
  }
  state->matrix_units = std::getenv("MACE_TEST_OPENCL_MATRIX_UNITS") != nullptr;
  if (const char *call = std::getenv("MACE_TEST_OPENCL_FAIL_CALL"))
    state->failures.call = std::strtoull(call, nullptr, 10);
}

// When the program ends, or when it unloads this library.
void WriteReport() {
  const char *path = std::getenv("MACE_TEST_OPENCL_REPORT");
  if (path == nullptr) return;
  std::FILE *file = std::fopen(path, "a");
  if (file == nullptr) {
    std::fprintf(stderr, "test driver: cannot write %s\n", path);
    return;
  }
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  state.account.CheckLeaks();
  std::fprintf(file, "%llu calls, %llu failed on request, %zu problems\n",
               static_cast<unsigned long long>(state.calls),
               static_cast<unsigned long long>(state.failed),
               state.account.problems().size());
  for (const std::string &problem : state.account.problems())
    std::fprintf(file, "%s\n", problem.c_str());
  std::fclose(file);
}

}  // namespace

State &State::Get() {
  static State *const state = [] {
    auto *made = new State;  // used until the process ends
    ReadEnvironment(made);
    std::atexit(WriteReport);
    return made;
  }();
  return *state;
}

std::vector<std::function<void()>> State::Keep(Kept object) {
  std::vector<std::function<void()>> now;
  kept_bytes += object.bytes;
  kept.push_back(std::move(object));
  while (kept.size() > kMostKept || kept_bytes > kMostKeptBytes) {
    kept_bytes -= kept.front().bytes;
    now.push_back(std::move(kept.front().release));
    kept.pop_front();
  }
  return now;
}

std::vector<std::function<void()>> State::TakeAllKept() {
  std::vector<std::function<void()>> now;
  for (Kept &object : kept) now.push_back(std::move(object.release));
  kept.clear();
  kept_bytes = 0;
  return now;
}

bool EmulatesMatrixUnits() {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.family != nullptr && state.matrix_units;
}

const Family *CurrentFamily() {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  return state.family;
}

Object CopyOf(const void *handle) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(handle);
  return object == nullptr ? Object() : *object;
}

bool IsLive(const void *handle) {
  State &state = State::Get();
  const std::lock_guard<std::mutex> lock(state.mutex);
  const Object *object = state.account.Find(handle);
  return object != nullptr && object->references > 0;
}

bool IsCounted(const char *function) {
  return !StartsWith(function, "clRelease");
}

bool WorksWhenLost(const char *function) {
  static const char *const kStarts[] = {"clGet", "clRetain", "clRelease",
                                        "clSet", "clCreateSampler"};
  for (const char *start : kStarts) {
    if (StartsWith(function, start)) return true;
  }
  return false;
}

cl_int LostError(const char *function) {
  if (StartsWith(function, "clCreateContext")) return CL_DEVICE_NOT_AVAILABLE;
  if (StartsWith(function, "clWaitForEvents"))
    return CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
  return CL_OUT_OF_RESOURCES;
}

cl_int PlausibleError(const char *function, size_t index) {
  for (const Errors &row : kErrors) {
    if (!StartsWith(function, row.function)) continue;
    return index < std::size(row.errors) ? row.errors[index] : 0;
  }
  return 0;
}

}  // namespace test_opencl
}  // namespace mace
