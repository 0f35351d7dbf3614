// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hexagon/fastrpc_api.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace mace {
namespace {

constexpr char kVariable[] = "MACE_FASTRPC_LIBRARY";

struct Library {
  const char *name;
  FastRpcDomain domain;
};

// Linux systems have the version in the name.
constexpr Library kLibraries[] = {
    {"libcdsprpc.so", kComputeDsp},
    {"libcdsprpc.so.1", kComputeDsp},
    {"libadsprpc.so", kAudioDsp},
};

template <typename Function>
bool Find(void *library, const char *name, Function *function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  return *function != nullptr;
}

// The first function that the library lacks; null if it has all of them.
const char *FindFunctions(void *library, FastRpcApi *api) {
  if (!Find(library, "rpcmem_alloc", &api->allocate)) return "rpcmem_alloc";
  if (!Find(library, "rpcmem_free", &api->free)) return "rpcmem_free";
  if (!Find(library, "rpcmem_to_fd", &api->to_file)) return "rpcmem_to_fd";
  if (!Find(library, "remote_handle64_open", &api->open)) {
    return "remote_handle64_open";
  }
  if (!Find(library, "remote_handle64_invoke", &api->invoke)) {
    return "remote_handle64_invoke";
  }
  if (!Find(library, "remote_handle64_close", &api->close)) {
    return "remote_handle64_close";
  }
  Find(library, "remote_session_control", &api->control_session);
  Find(library, "remote_handle_control", &api->control_handle);
  return nullptr;
}

bool Open(const Library &wanted, FastRpcApi *api, std::string *problems) {
  if (!problems->empty()) *problems += "; ";
  // It stays open: it has threads of its own.
  void *library = dlopen(wanted.name, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char *error = dlerror();
    *problems += error == nullptr ? wanted.name : error;
    return false;
  }
  const char *missing = FindFunctions(library, api);
  if (missing != nullptr) {
    *problems += MakeString(wanted.name, " has no ", missing);
    return false;
  }
  // Older systems want it; newer ones have nothing to do.
  using Initialise = void (*)();
  Initialise initialise = nullptr;
  if (Find(library, "rpcmem_init", &initialise)) initialise();
  api->library = wanted.name;
  api->domain = wanted.domain;
  return true;
}

// Errors of the DSP are those of the host, and this number.
constexpr uint32_t kOfTheDsp = 0x80000400;

const char *Meaning(uint32_t error) {
  switch (error) {
    case 39:  // AEE_ENOSUCH
      return "its process for this program has ended";
    case 104:  // AEE_ECONNRESET
      return "it was restarted";
    default:
      break;
  }
  switch (error >= kOfTheDsp ? error - kOfTheDsp : error) {
    case 0x02:
    case 0x68:
      return "it has no memory";
    case 0x06:
    case 0x35:
    case 0x45:
      return "it cannot load libmace_hexagon_skel.so: the file is in no folder "
             "of "
             "ADSP_LIBRARY_PATH, or it lacks a signature";
    case 0x0d:
      return "its process for this program ends or has crashed";
    case 0x14:
    case 0x6c:
      return "it knows no such request";
    case 0x15:
    case 0x2b:
    case 0x4e:
      return "this program may not use it";
    case 0x38:
    case 0x69:
    case 0x81:
    case 0x82:
      return "libmace_hexagon_skel.so lacks a signature that this device "
             "knows, and "
             "the process is not for unsigned code";
    case 0x39:
    case 0x3b:
    case 0x43:
    case 0x4b:
    case 0x57:
      return "there is no such DSP, or its device file may not be opened";
    case 0x42:
      return "libmace_hexagon_skel.so is of another release";
    case 0x72:
      return "it refuses the connection";
    case 0x8a:
      return "too many programs use it";
    default:
      return nullptr;
  }
}

}  // namespace

Result<FastRpcApi> OpenFastRpcApi() {
  FastRpcApi api;
  std::string problems;
  const char *own = std::getenv(kVariable);
  if (own != nullptr && own[0] != '\0') {
    if (Open({own, kComputeDsp}, &api, &problems)) return api;
    return Unsupported("no FastRPC library: ", kVariable, " names ", own,
                       ", but ", problems);
  }
  for (const Library &library : kLibraries) {
    if (Open(library, &api, &problems)) return api;
  }
  return Unsupported(
      "this device has no FastRPC library, by which a DSP is reached (",
      problems, ")");
}

std::string FastRpcErrorText(int error) {
  char number[16];
  std::snprintf(number, sizeof(number), error < 0 ? "0x%08x" : "0x%x",
                static_cast<unsigned>(error));
  const char *meaning = Meaning(static_cast<uint32_t>(error));
  if (meaning == nullptr) return MakeString("error ", number);
  return MakeString("error ", number, ", ", meaning);
}

}  // namespace mace
