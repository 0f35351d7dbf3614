// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What MACE uses of MediaTek's Neuron Adapter (NeuroPilot), by its public C
// interface. Its names and numbers are those of the public documentation and of
// Android's NNAPI, which it follows; no header of MediaTek was at hand.

#ifndef MACE_RUNTIMES_NEURON_NEURON_API_H_
#define MACE_RUNTIMES_NEURON_NEURON_API_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

struct NeuronModel;
struct NeuronCompilation;
struct NeuronExecution;

struct NeuronOperandType {
  int32_t type;
  uint32_t dimension_count;
  const uint32_t *dimensions;
  float scale;
  int32_t zero_point;
};

struct NeuronChannelScales {
  uint32_t channel_dimension;
  uint32_t count;
  const float *scales;
};

constexpr int kNeuronNoError = 0;

// Types of operands.
constexpr int32_t kNeuronFloat32 = 0;
constexpr int32_t kNeuronInt32 = 1;
constexpr int32_t kNeuronTensorFloat32 = 3;
constexpr int32_t kNeuronTensorInt32 = 4;
constexpr int32_t kNeuronTensorUint8 = 5;
constexpr int32_t kNeuronBool = 6;
// Signed, with a scale for each index of a dimension.
constexpr int32_t kNeuronTensorChannelInt8 = 11;
constexpr int32_t kNeuronTensorInt8 = 14;

// Operations.
constexpr int32_t kNeuronAdd = 0;
constexpr int32_t kNeuronAveragePool = 1;
constexpr int32_t kNeuronConcat = 2;
constexpr int32_t kNeuronConv2d = 3;
constexpr int32_t kNeuronDepthwiseConv2d = 4;
constexpr int32_t kNeuronFullyConnected = 9;
constexpr int32_t kNeuronLogistic = 14;
constexpr int32_t kNeuronMaxPool = 17;
constexpr int32_t kNeuronMul = 18;
constexpr int32_t kNeuronRelu = 19;
constexpr int32_t kNeuronRelu6 = 21;
constexpr int32_t kNeuronReshape = 22;
constexpr int32_t kNeuronResizeBilinear = 23;
constexpr int32_t kNeuronSoftmax = 25;
constexpr int32_t kNeuronTanh = 28;
constexpr int32_t kNeuronDiv = 30;
constexpr int32_t kNeuronMean = 31;
constexpr int32_t kNeuronSub = 36;
constexpr int32_t kNeuronResizeNearest = 94;

// Activations of operations.
constexpr int32_t kNeuronFusedNone = 0;
constexpr int32_t kNeuronFusedRelu = 1;
constexpr int32_t kNeuronFusedRelu6 = 3;

// X(result, name, is required, arguments)
#define MACE_NEURON_FUNCTIONS(X)                                              \
  X(int, Neuron_getVersion, false, (uint8_t *version))                        \
  X(int, NeuronModel_create, true, (NeuronModel * *model))                    \
  X(void, NeuronModel_free, true, (NeuronModel * model))                      \
  X(int, NeuronModel_finish, true, (NeuronModel * model))                     \
  X(int, NeuronModel_getSupportedOperations, false,                           \
    (NeuronModel * model, bool *supported, uint32_t count))                   \
  X(int, NeuronModel_addOperand, true,                                        \
    (NeuronModel * model, const NeuronOperandType *type))                     \
  X(int, NeuronModel_setOperandValue, true,                                   \
    (NeuronModel * model, int32_t index, const void *buffer, size_t length))  \
  X(int, NeuronModel_setOperandSymmPerChannelQuantParams, true,               \
    (NeuronModel * model, int32_t index, const NeuronChannelScales *scales))  \
  X(int, NeuronModel_addOperation, true,                                      \
    (NeuronModel * model, int32_t type, uint32_t input_count,                 \
     const uint32_t *inputs, uint32_t output_count, const uint32_t *outputs)) \
  X(int, NeuronModel_identifyInputsAndOutputs, true,                          \
    (NeuronModel * model, uint32_t input_count, const uint32_t *inputs,       \
     uint32_t output_count, const uint32_t *outputs))                         \
  X(int, NeuronModel_relaxComputationFloat32toFloat16, true,                  \
    (NeuronModel * model, bool allow))                                        \
  X(int, NeuronModel_restoreFromCompiledNetwork, false,                       \
    (NeuronModel * *model, NeuronCompilation * *compilation,                  \
     const void *buffer, size_t size))                                        \
  X(int, NeuronCompilation_create, true,                                      \
    (NeuronModel * model, NeuronCompilation * *compilation))                  \
  X(void, NeuronCompilation_free, true, (NeuronCompilation * compilation))    \
  X(int, NeuronCompilation_finish, true, (NeuronCompilation * compilation))   \
  X(int, NeuronCompilation_setPreference, false,                              \
    (NeuronCompilation * compilation, int32_t preference))                    \
  X(int, NeuronCompilation_getCompiledNetworkSize, false,                     \
    (NeuronCompilation * compilation, size_t *size))                          \
  X(int, NeuronCompilation_storeCompiledNetwork, false,                       \
    (NeuronCompilation * compilation, void *buffer, size_t size))             \
  X(int, NeuronExecution_create, true,                                        \
    (NeuronCompilation * compilation, NeuronExecution * *execution))          \
  X(void, NeuronExecution_free, true, (NeuronExecution * execution))          \
  X(int, NeuronExecution_setInput, true,                                      \
    (NeuronExecution * execution, int32_t index,                              \
     const NeuronOperandType *type, const void *buffer, size_t length))       \
  X(int, NeuronExecution_setOutput, true,                                     \
    (NeuronExecution * execution, int32_t index,                              \
     const NeuronOperandType *type, void *buffer, size_t length))             \
  X(int, NeuronExecution_setBoostHint, false,                                 \
    (NeuronExecution * execution, uint8_t boost))                             \
  X(int, NeuronExecution_compute, true, (NeuronExecution * execution))

struct NeuronApi {
#define MACE_NEURON_MEMBER(result, name, required, arguments) \
  result(*name) arguments;
  MACE_NEURON_FUNCTIONS(MACE_NEURON_MEMBER)
#undef MACE_NEURON_MEMBER
  // "libneuron_adapter.so 5.0.1"
  std::string version;
};

// Opens MACE_NEURON_LIBRARY of the environment, or the first library of the
// usual names.
Result<std::shared_ptr<const NeuronApi>> OpenNeuronApi();

// MACE_RUNTIME_ERROR "NeuronModel_finish failed: out of memory (1)".
MaceStatus NeuronError(const char *call, int error);

// Returns from the calling function if the call fails.
#define MACE_NEURON_CHECK(api, function, ...)                    \
  do {                                                           \
    const int mace_neuron_error_ = (api).function(__VA_ARGS__);  \
    if (mace_neuron_error_ != ::mace::kNeuronNoError) {          \
      return ::mace::NeuronError(#function, mace_neuron_error_); \
    }                                                            \
  } while (false)

}  // namespace mace

#endif  // MACE_RUNTIMES_NEURON_NEURON_API_H_
