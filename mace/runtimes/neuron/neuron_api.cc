// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/neuron/neuron_api.h"

#include "mace/runtimes/adapters/vendor_library.h"

namespace mace {
namespace {

// In the order in which they are tried: the library that applications may open,
// then that of the system.
constexpr const char *kLibraries[] = {"libneuronusdk_adapter.mtk.so",
                                      "libneuron_adapter_mgvi.so",
                                      "libneuron_adapter.so"};
constexpr LibraryNames kNames = {"NeuroPilot", "MACE_NEURON_LIBRARY",
                                 kLibraries,
                                 sizeof(kLibraries) / sizeof(kLibraries[0])};

std::string VersionOf(const NeuronApi &api, const std::string &library) {
  if (api.Neuron_getVersion == nullptr) return library;
  // Major, minor, patch; an older interface gives one number of 4 bytes.
  uint8_t version[16] = {};
  if (api.Neuron_getVersion(version) != kNeuronNoError) return library;
  return MakeString(library, " ", version[0], ".", version[1], ".", version[2],
                    ".", version[3]);
}

}  // namespace

Result<std::shared_ptr<const NeuronApi>> OpenNeuronApi() {
  auto api = std::make_shared<NeuronApi>();
  const LibraryFunction functions[] = {
#define MACE_NEURON_ENTRY(result, name, required, arguments) \
  {#name, reinterpret_cast<void **>(&api->name), required},
      MACE_NEURON_FUNCTIONS(MACE_NEURON_ENTRY)
#undef MACE_NEURON_ENTRY
  };
  MACE_ASSIGN_OR_RETURN(
      const std::string library,
      OpenLibrary(kNames, functions, sizeof(functions) / sizeof(functions[0])));
  api->version = VersionOf(*api, library);
  return std::shared_ptr<const NeuronApi>(std::move(api));
}

MaceStatus NeuronError(const char *call, int error) {
  static constexpr const char *kErrors[] = {"no error",
                                            "out of memory",
                                            "incomplete",
                                            "a null pointer",
                                            "bad data",
                                            "the operation failed",
                                            "unmappable",
                                            "bad state",
                                            "bad version",
                                            "the output is too small",
                                            "the device is not available"};
  constexpr int kCount = sizeof(kErrors) / sizeof(kErrors[0]);
  const char *text =
      error >= 0 && error < kCount ? kErrors[error] : "unknown error";
  return RuntimeError(call, " failed: ", text, " (", error, ")");
}

}  // namespace mace
