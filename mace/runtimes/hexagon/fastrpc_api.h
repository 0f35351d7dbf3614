// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The system's FastRPC library, opened at run time. Its declarations are our
// own, by its public documentation.

#ifndef MACE_RUNTIMES_HEXAGON_FASTRPC_API_H_
#define MACE_RUNTIMES_HEXAGON_FASTRPC_API_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

// An argument of a remote call: a buffer or a handle.
union FastRpcArgument {
  struct {
    void *data;
    size_t bytes;
  } buffer;
  uint64_t handle;
};

// The number of a call: its method, and how many buffers go in and come out.
constexpr uint32_t FastRpcCall(uint32_t method,
                               uint32_t inputs,
                               uint32_t outputs) {
  return method << 24 | inputs << 16 | outputs << 8;
}

// DSPs of a system, by the numbers that FastRPC gives them.
struct FastRpcDomain {
  int number;
  const char *name;
};
constexpr FastRpcDomain kComputeDsp = {3, "cdsp"};
constexpr FastRpcDomain kAudioDsp = {0, "adsp"};

// Of ControlSession.
constexpr uint32_t kUnsignedModule = 2;
struct FastRpcUnsignedModule {
  int domain;
  int enable;
};

constexpr uint32_t kKillProcess = 6;
struct FastRpcKill {
  int domain;
};

// Of ControlHandle.
constexpr uint32_t kDspInfo = 2;
enum FastRpcAttribute : uint32_t {
  kUnsignedSupport = 1,
  kVectorsOf128Bytes = 3,  // how many contexts have them
  kArchitecture = 6,       // 0x68 in the lowest 8 bits: v68
};
struct FastRpcCapability {
  uint32_t domain;
  uint32_t attribute;
  uint32_t value;  // the answer
};

// Of FastRpcApi::allocate.
constexpr int kSystemHeap = 25;
constexpr uint32_t kCachedMemory = 1;

struct FastRpcApi {
  std::string library;  // its name
  FastRpcDomain domain = kComputeDsp;
  void *(*allocate)(int heap, uint32_t flags, int bytes) = nullptr;
  void (*free)(void *memory) = nullptr;
  int (*to_file)(void *memory) = nullptr;
  int (*open)(const char *uri, uint64_t *handle) = nullptr;
  int (*invoke)(uint64_t handle,
                uint32_t call,
                FastRpcArgument *arguments) = nullptr;
  int (*close)(uint64_t handle) = nullptr;
  // Older systems lack these, which are null then.
  int (*control_session)(uint32_t request,
                         void *data,
                         uint32_t bytes) = nullptr;
  int (*control_handle)(uint32_t request, void *data, uint32_t bytes) = nullptr;
};

// libcdsprpc.so, else libadsprpc.so, or the one that MACE_FASTRPC_LIBRARY
// names. UNSUPPORTED if there is none.
Result<FastRpcApi> OpenFastRpcApi();

// "error 0x80000406 (it cannot load the library)".
std::string FastRpcErrorText(int error);

}  // namespace mace

#endif  // MACE_RUNTIMES_HEXAGON_FASTRPC_API_H_
