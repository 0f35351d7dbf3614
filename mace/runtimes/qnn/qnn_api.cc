// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/qnn/qnn_api.h"

#include "mace/public/mace_accelerators.h"
#include "mace/public/mace_status.h"
#include "mace/runtimes/adapters/vendor_library.h"

namespace mace {
namespace {

constexpr const char *kLibraries[] = {"libQnnHtp.so"};
constexpr LibraryNames kNames = {"QNN", "MACE_QNN_LIBRARY", kLibraries, 1};

constexpr uint32_t kMajor = 2;
// From then on a tensor has the room of its version 2.
constexpr uint32_t kLeastMinor = 14;

using GetProviders = QnnError (*)(const QnnProvider ***providers,
                                  uint32_t *count);

// Voltage corners.
constexpr uint32_t kSvs2 = 0x30;
constexpr uint32_t kSvs = 0x40;
constexpr uint32_t kSvsPlus = 0x50;
constexpr uint32_t kNominal = 0x60;
constexpr uint32_t kNominalPlus = 0x70;
constexpr uint32_t kTurbo = 0x80;
constexpr uint32_t kMost = 0xA0;

struct Power {
  uint32_t corner;
  uint32_t latency;  // of waking up, in microseconds
};

Power PowerOf(int performance) {
  switch (performance) {
    case HEXAGON_BURST:
      return {kMost, 40};
    case HEXAGON_SUSTAINED_HIGH_PERFORMANCE:
    case HEXAGON_HIGH_PERFORMANCE:
      return {kTurbo, 100};
    case HEXAGON_BALANCED:
      return {kNominalPlus, 1000};
    case HEXAGON_LOW_BALANCED:
      return {kNominal, 1000};
    case HEXAGON_HIGH_POWER_SAVER:
      return {kSvsPlus, 1000};
    case HEXAGON_POWER_SAVER:
      return {kSvs, 1000};
    default:
      return {kSvs2, 1000};
  }
}

// The first function that is null; null if all are there.
const char *MissingFunction(const QnnFunctions &api) {
#define MACE_QNN_NEEDS(function) \
  if (api.function == nullptr) return #function;
  MACE_QNN_NEEDS(backend_create)
  MACE_QNN_NEEDS(backend_free)
  MACE_QNN_NEEDS(context_create)
  MACE_QNN_NEEDS(context_free)
  MACE_QNN_NEEDS(graph_create)
  MACE_QNN_NEEDS(graph_add_node)
  MACE_QNN_NEEDS(graph_finalize)
  MACE_QNN_NEEDS(graph_execute)
  MACE_QNN_NEEDS(tensor_create)
#undef MACE_QNN_NEEDS
  return nullptr;
}

}  // namespace

MaceStatus QnnFailure(const char *call, QnnError error) {
  return RuntimeError(call, " failed (error ", static_cast<unsigned>(error),
                      ")");
}

Result<std::shared_ptr<QnnBackend>> QnnBackend::Open() {
  if (sizeof(void *) != sizeof(uint64_t)) {
    return Unsupported("QNN is for programs of 64 bits");
  }
  GetProviders get_providers = nullptr;
  const LibraryFunction functions[] = {
      {"QnnInterface_getProviders", reinterpret_cast<void **>(&get_providers),
       true}};
  MACE_ASSIGN_OR_RETURN(const std::string library,
                        OpenLibrary(kNames, functions, 1));
  const QnnProvider **providers = nullptr;
  uint32_t count = 0;
  MACE_QNN_CHECK("QnnInterface_getProviders",
                 get_providers(&providers, &count));
  std::shared_ptr<QnnBackend> backend(new QnnBackend());
  std::string found;
  for (uint32_t i = 0; i < count; ++i) {
    const QnnVersion &core = providers[i]->core;
    found += MakeString(found.empty() ? "" : ", ", core.major, ".", core.minor);
    if (core.major == kMajor && core.minor >= kLeastMinor) {
      backend->provider_ = providers[i];
    }
  }
  if (backend->provider_ == nullptr) {
    return Unsupported(library, " has QNN ",
                       found.empty() ? "of no version" : found.c_str(),
                       "; MACE uses version ", kMajor, " from ", kMajor, ".",
                       kLeastMinor, " on");
  }
  MACE_RETURN_IF_ERROR(backend->Start(library));
  return backend;
}

MaceStatus QnnBackend::Start(const std::string &library) {
  const char *missing = MissingFunction(api());
  if (missing != nullptr) {
    return Unsupported(library, " has no ", missing);
  }
  const char *build = nullptr;
  if (api().backend_get_build_id != nullptr) api().backend_get_build_id(&build);
  version_ = MakeString(library, " ", provider_->core.major, ".",
                        provider_->core.minor, ".", provider_->core.patch, " ",
                        build == nullptr ? "" : build);
  MACE_QNN_CHECK("backendCreate",
                 api().backend_create(nullptr, nullptr, &backend_));
  if (api().device_create != nullptr && api().device_free != nullptr) {
    MACE_QNN_CHECK("deviceCreate",
                   api().device_create(nullptr, nullptr, &device_));
  }
  return MaceStatus();
}

bool QnnBackend::SetPower(int performance) {
  if (performance == HEXAGON_SYSTEM_SETTINGS) return true;
  const QnnInfrastructure *power = nullptr;
  if (api().device_get_infrastructure == nullptr ||
      api().device_get_infrastructure(&power) != kQnnSuccess ||
      power == nullptr || power->create_power == nullptr ||
      power->destroy_power == nullptr || power->set_power == nullptr ||
      power->create_power(0, 0, &power_id_) != kQnnSuccess) {
    return false;
  }
  power_ = power;
  const Power wish = PowerOf(performance);
  QnnPowerConfig config = {};
  config.option = kQnnPowerDcvs;
  config.context = power_id_;
  config.set_dcvs = 1;
  config.mode = kQnnPowerPerformance;
  config.set_latency = 1;
  config.latency = wish.latency;
  config.set_bus = 1;
  config.set_core = 1;
  for (int i = 0; i < 3; ++i) config.bus[i] = config.core[i] = wish.corner;
  const QnnPowerConfig *configs[] = {&config, nullptr};
  return power_->set_power(power_id_, configs) == kQnnSuccess;
}

QnnBackend::~QnnBackend() {
  if (power_ != nullptr) power_->destroy_power(power_id_);
  if (device_ != nullptr) api().device_free(device_);
  if (backend_ != nullptr) api().backend_free(backend_);
}

}  // namespace mace
