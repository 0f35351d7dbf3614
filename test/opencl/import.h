// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#ifndef TEST_OPENCL_IMPORT_H_
#define TEST_OPENCL_IMPORT_H_

#include <cstddef>

#include "test/opencl/call.h"

namespace mace {
namespace test_opencl {

// Of cl_qcom_ext_host_ptr: the pointer is one to a description of memory.
constexpr cl_mem_flags kExtHostPtr = cl_mem_flags{1} << 29;

// What the target is to make of a clCreateBuffer with that flag: a buffer in
// the memory of an AHardwareBuffer.
struct Import {
  cl_mem_flags flags = 0;
  size_t bytes = 0;
  void *memory = nullptr;
  const void *hardware_buffer = nullptr;
};
// Refuses the call if it is wrong.
Import ImportOfQcom(cl_mem_flags flags,
                    size_t bytes,
                    void *host_ptr,
                    Call *call);

// That the AHardwareBuffer of a buffer, if it has one, is not released before
// the buffer.
void CheckImportIsAlive(const void *memory, Call *call);

// clImportMemoryARM; null if the name or the device is another.
void *FindImportFunction(const char *name);

}  // namespace test_opencl
}  // namespace mace

#endif  // TEST_OPENCL_IMPORT_H_
