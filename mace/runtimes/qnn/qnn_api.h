// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What MACE uses of Qualcomm's AI Engine Direct (QNN), by its public C
// interface of version 2 for programs of 64 bits. Names, numbers and layouts
// are those of the public documentation; no header of Qualcomm was at hand.

#ifndef MACE_RUNTIMES_QNN_QNN_API_H_
#define MACE_RUNTIMES_QNN_QNN_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

using QnnHandle = void *;
using QnnError = uint64_t;
constexpr QnnError kQnnSuccess = 0;

// Element types.
constexpr uint32_t kQnnInt32 = 0x0032;
constexpr uint32_t kQnnUint32 = 0x0132;
constexpr uint32_t kQnnFloat32 = 0x0232;
constexpr uint32_t kQnnFixedInt8 = 0x0308;
constexpr uint32_t kQnnFixedInt32 = 0x0332;
constexpr uint32_t kQnnFixedUint8 = 0x0408;
constexpr uint32_t kQnnBool8 = 0x0508;

// What a tensor is for.
constexpr uint32_t kQnnAppWrite = 0;
constexpr uint32_t kQnnAppRead = 1;
constexpr uint32_t kQnnNative = 3;
constexpr uint32_t kQnnStatic = 4;

// What integers stand for: scale * (q + offset).
struct QnnScaleOffset {
  float scale;
  int32_t offset;
};
struct QnnAxisScaleOffset {
  int32_t axis;
  uint32_t count;
  QnnScaleOffset *scales;
};
constexpr uint32_t kQnnDefined = 1;
constexpr uint32_t kQnnUndefined = 0x7FFFFFFF;
constexpr uint32_t kQnnPerTensor = 0;
constexpr uint32_t kQnnPerAxis = 1;
struct QnnQuantization {
  uint32_t definition;
  uint32_t encoding;
  union {
    QnnScaleOffset whole;
    QnnAxisScaleOffset axis;
    uint64_t room[4];
  };
};

struct QnnClientBuffer {
  void *data;
  uint32_t size;
};

// Version 1 of a tensor, in the room of version 2.
constexpr uint32_t kQnnTensorVersion = 1;
struct QnnTensorV1 {
  uint32_t id;
  const char *name;
  uint32_t type;
  uint32_t format;
  uint32_t data_type;
  QnnQuantization quantization;
  uint32_t rank;
  uint32_t *dimensions;
  uint32_t memory_type;
  union {
    QnnClientBuffer buffer;
    void *memory_handle;
  };
};
struct QnnTensor {
  uint32_t version;
  union {
    QnnTensorV1 v1;
    uint64_t room[17];
  };
};

struct QnnScalar {
  uint32_t data_type;
  union {
    float float_value;
    uint32_t uint32_value;
    uint8_t bool_value;
    uint64_t room;
  };
};
constexpr uint32_t kQnnScalarParam = 0;
constexpr uint32_t kQnnTensorParam = 1;
struct QnnParam {
  uint32_t type;
  const char *name;
  union {
    QnnScalar scalar;
    QnnTensor tensor;
  };
};

constexpr uint32_t kQnnOpVersion = 1;
struct QnnOpConfig {
  uint32_t version;
  const char *name;
  const char *package;
  const char *type;
  uint32_t param_count;
  QnnParam *params;
  uint32_t input_count;
  QnnTensor *inputs;
  uint32_t output_count;
  QnnTensor *outputs;
};

// A setting of a graph: `custom` is of the backend.
constexpr uint32_t kQnnGraphCustom = 0;
struct QnnGraphConfig {
  uint32_t option;
  void *custom;
};
constexpr uint32_t kQnnHtpPrecision = 2;
constexpr uint32_t kQnnHtpHalf = 1;
struct QnnHtpGraphConfig {
  uint32_t option;
  union {
    uint32_t precision;
    uint64_t room[2];
  };
};

// Clock and voltage of the HTP.
struct QnnPowerConfig {
  uint32_t option;
  uint32_t context;
  uint32_t set_dcvs;
  uint32_t dcvs;
  uint32_t mode;
  uint32_t set_latency;
  uint32_t latency;
  uint32_t set_sleep;
  uint32_t sleep;
  uint32_t set_bus;
  uint32_t bus[3];  // least, target, most
  uint32_t set_core;
  uint32_t core[3];
};
constexpr uint32_t kQnnPowerDcvs = 1;
constexpr uint32_t kQnnPowerPerformance = 0x10;
struct QnnInfrastructure {
  uint32_t type;
  QnnError (*create_power)(uint32_t device, uint32_t core, uint32_t *id);
  QnnError (*destroy_power)(uint32_t id);
  QnnError (*set_power)(uint32_t id, const QnnPowerConfig **configs);
  void *set_memory;
};

// What was measured; levels are 1 (basic) and 2 (each operator).
using QnnEventId = uint64_t;
constexpr uint32_t kQnnMicroseconds = 1;
constexpr uint32_t kQnnCycles = 3;
struct QnnEvent {
  uint32_t type;
  uint32_t unit;
  uint64_t value;
  const char *name;
};

struct QnnVersion {
  uint32_t major;
  uint32_t minor;
  uint32_t patch;
};

// In the order of version 2; functions that are not used are addresses.
struct QnnFunctions {
  void *property_has_capability;
  QnnError (*backend_create)(QnnHandle log,
                             const void **config,
                             QnnHandle *backend);
  void *backend_set_config;
  void *backend_get_api_version;
  QnnError (*backend_get_build_id)(const char **id);
  void *backend_register_op_package;
  void *backend_get_supported_operations;
  QnnError (*backend_validate)(QnnHandle backend, QnnOpConfig op);
  QnnError (*backend_free)(QnnHandle backend);
  QnnError (*context_create)(QnnHandle backend,
                             QnnHandle device,
                             const void **config,
                             QnnHandle *context);
  void *context_set_config;
  QnnError (*context_get_binary_size)(QnnHandle context, uint64_t *size);
  QnnError (*context_get_binary)(QnnHandle context,
                                 void *buffer,
                                 uint64_t size,
                                 uint64_t *written);
  QnnError (*context_create_from_binary)(QnnHandle backend,
                                         QnnHandle device,
                                         const void **config,
                                         const void *buffer,
                                         uint64_t size,
                                         QnnHandle *context,
                                         QnnHandle profile);
  QnnError (*context_free)(QnnHandle context, QnnHandle profile);
  QnnError (*graph_create)(QnnHandle context,
                           const char *name,
                           const QnnGraphConfig **config,
                           QnnHandle *graph);
  void *graph_create_subgraph;
  void *graph_set_config;
  QnnError (*graph_add_node)(QnnHandle graph, QnnOpConfig op);
  QnnError (*graph_finalize)(QnnHandle graph,
                             QnnHandle profile,
                             QnnHandle signal);
  QnnError (*graph_retrieve)(QnnHandle context,
                             const char *name,
                             QnnHandle *graph);
  QnnError (*graph_execute)(QnnHandle graph,
                            const QnnTensor *inputs,
                            uint32_t input_count,
                            QnnTensor *outputs,
                            uint32_t output_count,
                            QnnHandle profile,
                            QnnHandle signal);
  void *graph_execute_async;
  void *tensor_create_context_tensor;
  QnnError (*tensor_create)(QnnHandle graph, QnnTensor *tensor);
  void *log[3];
  QnnError (*profile_create)(QnnHandle backend,
                             uint32_t level,
                             QnnHandle *profile);
  void *profile_set_config;
  QnnError (*profile_get_events)(QnnHandle profile,
                                 const QnnEventId **events,
                                 uint32_t *count);
  QnnError (*profile_get_sub_events)(QnnEventId event,
                                     const QnnEventId **events,
                                     uint32_t *count);
  QnnError (*profile_get_event_data)(QnnEventId event, QnnEvent *data);
  void *profile_get_extended_event_data;
  QnnError (*profile_free)(QnnHandle profile);
  void *memory[2];
  void *device_get_platform_info;
  void *device_free_platform_info;
  QnnError (*device_get_infrastructure)(const QnnInfrastructure **result);
  QnnError (*device_create)(QnnHandle log,
                            const void **config,
                            QnnHandle *device);
  void *device_set_config;
  void *device_get_info;
  QnnError (*device_free)(QnnHandle device);
  void *signal[4];
};

struct QnnProvider {
  uint32_t backend_id;
  const char *name;
  QnnVersion core;
  QnnVersion backend;
  QnnFunctions functions;
};

#ifdef __LP64__
static_assert(sizeof(QnnQuantization) == 40 && sizeof(QnnTensor) == 144 &&
              sizeof(QnnParam) == 160 && sizeof(QnnOpConfig) == 80);
#endif

// A backend and its device; all engines of a process may have one each.
class QnnBackend {
 public:
  // Opens MACE_QNN_LIBRARY of the environment, or the first library of the
  // usual names.
  static Result<std::shared_ptr<QnnBackend>> Open();
  ~QnnBackend();
  QnnBackend(const QnnBackend &) = delete;
  QnnBackend &operator=(const QnnBackend &) = delete;

  const QnnFunctions &api() const { return provider_->functions; }
  QnnHandle backend() const { return backend_; }
  QnnHandle device() const { return device_; }
  // "libQnnHtp.so 2.25.0 v2.25.0.240728"
  const std::string &version() const { return version_; }
  // Votes for a clock while the object lives; false if the library can't.
  bool SetPower(int performance);

 private:
  QnnBackend() = default;
  MaceStatus Start(const std::string &library);

  const QnnProvider *provider_ = nullptr;
  QnnHandle backend_ = nullptr;
  QnnHandle device_ = nullptr;
  const QnnInfrastructure *power_ = nullptr;
  uint32_t power_id_ = 0;
  std::string version_;
};

// MACE_RUNTIME_ERROR "graphFinalize failed (error 1002)".
MaceStatus QnnFailure(const char *call, QnnError error);

#define MACE_QNN_CHECK(call, expression)                   \
  do {                                                     \
    const ::mace::QnnError mace_qnn_error_ = (expression); \
    if (mace_qnn_error_ != ::mace::kQnnSuccess) {          \
      return ::mace::QnnFailure(call, mace_qnn_error_);    \
    }                                                      \
  } while (false)

}  // namespace mace

#endif  // MACE_RUNTIMES_QNN_QNN_API_H_
