// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/hta/hta_api.h"

#include <mutex>
#include <set>

#include "mace/runtimes/adapters/vendor_library.h"

namespace mace {
namespace {

// The library of the system, and the name that it had before.
constexpr const char *kLibraries[] = {"libhta_hexagon_runtime.so",
                                      "libhta_controller.so"};
constexpr LibraryNames kNames = {"HTA", "MACE_HTA_LIBRARY", kLibraries,
                                 sizeof(kLibraries) / sizeof(kLibraries[0])};

std::string DescriptionOf(const HtaApi &api, const std::string &library) {
  int version = 0;
  if (api.version == nullptr || api.version(&version) != kHtaSuccess) {
    return library;
  }
  return MakeString(library, " ", version);
}

// A library wants the call before all others, and only one.
MaceStatus Configure(const HtaApi &api) {
  static auto *mutex = new std::mutex;
  static auto *configured = new std::set<int (*)()>;
  const std::lock_guard<std::mutex> lock(*mutex);
  if (api.config == nullptr || configured->count(api.config) > 0) {
    return MaceStatus();
  }
  MACE_HTA_CHECK(api, config);
  configured->insert(api.config);
  return MaceStatus();
}

}  // namespace

Result<std::shared_ptr<const HtaApi>> OpenHtaApi() {
  auto api = std::make_shared<HtaApi>();
  const LibraryFunction functions[] = {
#define MACE_HTA_ENTRY(name, required, arguments) \
  {"hexagon_hta_nn_" #name, reinterpret_cast<void **>(&api->name), required},
      MACE_HTA_FUNCTIONS(MACE_HTA_ENTRY)
#undef MACE_HTA_ENTRY
  };
  MACE_ASSIGN_OR_RETURN(
      const std::string library,
      OpenLibrary(kNames, functions, sizeof(functions) / sizeof(functions[0])));
  MACE_RETURN_IF_ERROR(Configure(*api));
  api->description = DescriptionOf(*api, library);
  return std::shared_ptr<const HtaApi>(std::move(api));
}

MaceStatus HtaError(const char *call, int error) {
  // By -error.
  static constexpr const char *kErrors[] = {"no error",
                                            "there is no such graph",
                                            "the graph does not start",
                                            "the graph is not initialised",
                                            "the graph has no nodes",
                                            "the graph is not prepared",
                                            "the graph is not compiled",
                                            "failure",
                                            "unknown setting",
                                            "wrong state",
                                            "the power level can't be set",
                                            "the network can't be loaded",
                                            "wrong buffer",
                                            "wrong argument",
                                            "stored by another version",
                                            "out of memory",
                                            "it can't be compiled"};
  constexpr int kCount = sizeof(kErrors) / sizeof(kErrors[0]);
  const char *text =
      error <= 0 && -error < kCount ? kErrors[-error] : "unknown error";
  return RuntimeError(call, " failed: ", text, " (", error, ")");
}

}  // namespace mace
