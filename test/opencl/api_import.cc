// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Buffers in the memory of an AHardwareBuffer of the stand-in
// (native_window.h): cl_arm_import_memory_android_hardware_buffer and
// cl_qcom_android_ahardwarebuffer_host_ptr. The target gets
// CL_MEM_USE_HOST_PTR.

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "test/opencl/import.h"
#include "test/opencl/native_window.h"

namespace mace {
namespace test_opencl {
namespace {

constexpr char kArm[] = "cl_arm_import_memory_android_hardware_buffer";
constexpr char kQcom[] = "cl_qcom_android_ahardwarebuffer_host_ptr";

constexpr intptr_t kImportType = 0x40B2;
constexpr intptr_t kImportHardwareBuffer = 0x41E2;
constexpr cl_uint kQcomHardwareBuffer = 0x4119;
constexpr cl_uint kHostUncached = 0x40A4;
constexpr cl_uint kHostWriteCombining = 0x40A7;
constexpr cl_uint kHostIoCoherent = 0x40A9;

// As Qualcomm's cl_ext_qcom.h declares it.
struct HostPtr {
  cl_uint allocation_type;
  cl_uint host_cache_policy;
  AHardwareBuffer *buffer;
};

// Null if there is none: then nothing can be an AHardwareBuffer.
const MaceTestNativeWindow *NativeWindow() {
  const char *path = std::getenv("MACE_NATIVE_WINDOW_LIBRARY");
  if (path == nullptr) return nullptr;
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  const auto function = reinterpret_cast<MaceTestNativeWindowFunction>(
      dlsym(library, "mace_test_native_window"));
  return function == nullptr ? nullptr : function();
}

bool DeviceHas(const char *extension) {
  const Family *family = CurrentFamily();
  return family != nullptr && HasExtension(family->extensions, extension);
}

Import ImportOf(AHardwareBuffer *buffer,
                cl_mem_flags flags,
                size_t bytes,
                Call *call) {
  Import import;
  import.flags = flags | CL_MEM_USE_HOST_PTR;
  const MaceTestNativeWindow *window = NativeWindow();
  if (window == nullptr || window->references(buffer) == 0) {
    call->Refuse(CL_INVALID_HOST_PTR, "the memory is no AHardwareBuffer");
    return import;
  }
  AHardwareBuffer_Desc desc;
  window->describe(buffer, &desc);
  if (desc.format != AHARDWAREBUFFER_FORMAT_BLOB) {
    call->Refuse(CL_INVALID_OPERATION, "the AHardwareBuffer is no BLOB");
  }
  if ((desc.usage & AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER) == 0) {
    call->Refuse(CL_INVALID_OPERATION,
                 "the AHardwareBuffer is not for data of the GPU");
  }
  if (bytes > desc.width) {
    call->Refuse(CL_INVALID_BUFFER_SIZE,
                 std::to_string(bytes) + " bytes of an AHardwareBuffer of " +
                     std::to_string(desc.width));
  }
  import.bytes = bytes == 0 ? desc.width : bytes;
  import.memory = window->memory(buffer);
  import.hardware_buffer = buffer;
  return import;
}

cl_mem ImportMemoryArm(cl_context context,
                       cl_mem_flags flags,
                       const intptr_t *properties,
                       void *memory,
                       size_t size,
                       cl_int *errcode_ret) {
  Call call("clImportMemoryARM");
  call.Uses(Kind::kContext, context);
  if (properties == nullptr || properties[0] != kImportType ||
      properties[1] != kImportHardwareBuffer || properties[2] != 0) {
    call.Refuse(CL_INVALID_PROPERTY,
                "the only memory that this driver imports is an "
                "AHardwareBuffer");
    return call.RefusedHandle<cl_mem>(errcode_ret);
  }
  constexpr cl_mem_flags kHostPtrs =
      CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
  if ((flags & (kHostPtrs | kExtHostPtr)) != 0) {
    call.Refuse(CL_INVALID_VALUE, "flags of memory that is not imported");
  }
  // The size of an AHardwareBuffer is its own.
  if (size != SIZE_MAX) {
    call.Refuse(CL_INVALID_VALUE,
                "the size is not CL_IMPORT_MEMORY_WHOLE_ALLOCATION_ARM");
  }
  const Import import =
      ImportOf(static_cast<AHardwareBuffer *>(memory), flags, 0, &call);
  call.Detail(std::to_string(import.bytes) + " bytes");
  if (!call.forwards()) return call.RefusedHandle<cl_mem>(errcode_ret);
  cl_int error;
  cl_mem made = target().clCreateBuffer(context, import.flags, import.bytes,
                                        import.memory, &error);
  return call.Made(Kind::kBuffer, made, context, error, errcode_ret,
                   [&](Object *object) {
                     object->release_now = true;
                     object->hardware_buffer = import.hardware_buffer;
                     State::Get().account.SetBytes(object, import.bytes, false);
                   });
}

}  // namespace

Import ImportOfQcom(cl_mem_flags flags,
                    size_t bytes,
                    void *host_ptr,
                    Call *call) {
  if (!DeviceHas(kQcom)) {
    call->Refuse(CL_INVALID_VALUE, std::string("the device has no ") + kQcom);
    return {};
  }
  if ((flags & CL_MEM_USE_HOST_PTR) == 0 || host_ptr == nullptr) {
    call->Refuse(CL_INVALID_VALUE,
                 "CL_MEM_EXT_HOST_PTR_QCOM without CL_MEM_USE_HOST_PTR");
    return {};
  }
  HostPtr host;
  std::memcpy(&host, host_ptr, sizeof host);
  if (host.allocation_type != kQcomHardwareBuffer) {
    call->Refuse(CL_INVALID_HOST_PTR,
                 "the only memory that this driver imports is an "
                 "AHardwareBuffer");
    return {};
  }
  if ((host.host_cache_policy < kHostUncached ||
       host.host_cache_policy > kHostWriteCombining) &&
      host.host_cache_policy != kHostIoCoherent) {
    call->Refuse(CL_INVALID_HOST_PTR,
                 "unknown policy " + std::to_string(host.host_cache_policy));
  }
  return ImportOf(host.buffer, flags & ~kExtHostPtr, bytes, call);
}

void CheckImportIsAlive(const void *memory, Call *call) {
  const void *buffer = nullptr;
  {
    State &state = State::Get();
    const std::lock_guard<std::mutex> lock(state.mutex);
    const Object *object = state.account.Find(memory);
    if (object == nullptr || object->references <= 0) return;
    buffer = object->hardware_buffer;
  }
  if (buffer == nullptr) return;
  const MaceTestNativeWindow *window = NativeWindow();
  if (window == nullptr ||
      window->references(static_cast<const AHardwareBuffer *>(buffer)) == 0) {
    call->Note("its AHardwareBuffer was released before it");
  }
}

void *FindImportFunction(const char *name) {
  if (std::strcmp(name, "clImportMemoryARM") != 0 || !DeviceHas(kArm)) {
    return nullptr;
  }
  return reinterpret_cast<void *>(&ImportMemoryArm);
}

}  // namespace test_opencl
}  // namespace mace
