// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/hardware_buffer.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace mace {
namespace {

// The functions are in the first since Android 8, and in the second by what it
// links.
const char *const kLibraries[] = {"libnativewindow.so", "libandroid.so"};

// Of cl_arm_import_memory and its layer for AHardwareBuffer. Not every header
// of Khronos has the latter.
constexpr char kArmImport[] = "cl_arm_import_memory";
constexpr char kArmHardwareBuffer[] =
    "cl_arm_import_memory_android_hardware_buffer";
constexpr intptr_t kImportTypeArm = 0x40B2;
constexpr intptr_t kImportTypeHardwareBufferArm = 0x41E2;
constexpr size_t kWholeAllocationArm = SIZE_MAX;
using ImportMemoryArm = cl_mem(CL_API_CALL *)(cl_context,
                                              cl_mem_flags,
                                              const intptr_t *properties,
                                              void *memory,
                                              size_t bytes,
                                              cl_int *error);

// Of cl_qcom_android_ahardwarebuffer_host_ptr, which is in no header of
// Khronos, and of cl_qcom_ext_host_ptr below it.
constexpr char kQcomHardwareBuffer[] =
    "cl_qcom_android_ahardwarebuffer_host_ptr";
constexpr cl_mem_flags kExtHostPtrQcom = cl_mem_flags{1} << 29;
constexpr cl_uint kHardwareBufferQcom = 0x4119;
constexpr cl_uint kHostWriteBackQcom = 0x40A5;
struct QcomHostPtr {
  cl_uint allocation_type;
  cl_uint host_cache_policy;
  AHardwareBuffer *buffer;
};

bool HasArm(const GpuDevice &device) {
  return device.HasExtension(kArmImport) &&
         device.HasExtension(kArmHardwareBuffer);
}

template <typename Function>
bool Find(void *library, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

bool Open(const char *name, HardwareBufferApi *api, std::string *problems) {
  if (!problems->empty()) *problems += "; ";
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    *problems += error == nullptr ? name : error;
    return false;
  }
  const char *missing = nullptr;
  if (!Find(library, "AHardwareBuffer_describe", &api->describe)) {
    missing = "AHardwareBuffer_describe";
  } else if (!Find(library, "AHardwareBuffer_acquire", &api->acquire)) {
    missing = "AHardwareBuffer_acquire";
  } else if (!Find(library, "AHardwareBuffer_release", &api->release)) {
    missing = "AHardwareBuffer_release";
  }
  if (missing == nullptr) return true;
  *problems += MakeString(name, " has no ", missing);
  return false;
}

}  // namespace

Result<HardwareBufferApi> OpenHardwareBufferApi() {
  HardwareBufferApi api;
  std::string problems;
  const char *own = std::getenv("MACE_NATIVE_WINDOW_LIBRARY");
  if (own != nullptr && own[0] != '\0') {
    if (Open(own, &api, &problems)) return api;
    return Unsupported("MACE_NATIVE_WINDOW_LIBRARY names ", own, ": ",
                       problems);
  }
  for (const char *name : kLibraries) {
    if (Open(name, &api, &problems)) return api;
  }
  return Unsupported(
      "this system is not Android 8 or later, which has the functions for it (",
      problems, ")");
}

bool ImportsHardwareBuffers(const GpuDevice &device) {
  return HasArm(device) || device.HasExtension(kQcomHardwareBuffer);
}

Result<ClMemory> ImportHardwareBuffer(const OpenclRuntime &runtime,
                                      AHardwareBuffer *buffer,
                                      size_t bytes,
                                      const std::string &what) {
  const ClApi &api = runtime.api();
  cl_int error = CL_SUCCESS;
  if (HasArm(runtime.device())) {
    const auto import = reinterpret_cast<ImportMemoryArm>(
        api.clGetExtensionFunctionAddressForPlatform(runtime.device().platform,
                                                     "clImportMemoryARM"));
    if (import == nullptr) {
      return Unsupported(what, " is an AHardwareBuffer, but the driver of ",
                         runtime.device().name, " lists ", kArmImport,
                         " and has no clImportMemoryARM; give GPU_BUFFER or "
                         "CPU_BUFFER");
    }
    const intptr_t properties[] = {kImportTypeArm, kImportTypeHardwareBufferArm,
                                   0};
    ClMemory memory(import(runtime.context(), CL_MEM_READ_WRITE, properties,
                           buffer, kWholeAllocationArm, &error),
                    api.clReleaseMemObject);
    MACE_CL_CHECK("clImportMemoryARM", what, error);
    return memory;
  }
  // The CPU accesses the buffer between AHardwareBuffer_lock and _unlock, which
  // write its caches back.
  QcomHostPtr host = {kHardwareBufferQcom, kHostWriteBackQcom, buffer};
  return runtime.MakeBuffer(
      CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR | kExtHostPtrQcom, bytes, what,
      &host);
}

}  // namespace mace
