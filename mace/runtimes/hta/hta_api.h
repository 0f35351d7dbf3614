// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// What MACE uses of the runtime of Qualcomm's HTA (Hexagon Tensor Accelerator),
// by its public C interface: a graph of nodes, as Hexagon NN has them. Names,
// numbers and layouts are those that are public; no library of Qualcomm was at
// hand.

#ifndef MACE_RUNTIMES_HTA_HTA_API_H_
#define MACE_RUNTIMES_HTA_HTA_API_H_

#include <cstdint>
#include <memory>
#include <string>

#include "mace/core/base/status.h"

namespace mace {

constexpr int kHtaSuccess = 0;

// Operations of nodes, by their place in the list of the interface.
constexpr uint32_t kHtaInput = 0;
constexpr uint32_t kHtaOutput = 1;
constexpr uint32_t kHtaRelu = 21;              // QuantizedRelu_8
constexpr uint32_t kHtaReluX = 23;             // QuantizedReluX_8
constexpr uint32_t kHtaMaxPool = 25;           // QuantizedMaxPool_8
constexpr uint32_t kHtaAveragePool = 27;       // QuantizedAvgPool_8
constexpr uint32_t kHtaConcat = 31;            // QuantizedConcat_8
constexpr uint32_t kHtaReshape = 60;           // QuantizedReshape
constexpr uint32_t kHtaSoftmax = 119;          // QuantizedSoftmax_8
constexpr uint32_t kHtaAdd = 140;              // QuantizedAdd_8p8to8
constexpr uint32_t kHtaResizeLinear = 141;     // QuantizedResizeBilinear_8
constexpr uint32_t kHtaConv2d = 180;           // Supernode_8x8p32to8
constexpr uint32_t kHtaDepthwiseConv2d = 181;  // DepthwiseSupernode_8x8p32to8

// Padding of nodes.
constexpr int32_t kHtaNoPadding = 0;  // of operations without a window
constexpr int32_t kHtaSame = 1;
constexpr int32_t kHtaValid = 2;

// One result of another node.
struct HtaPort {
  uint32_t node;
  uint32_t index;
};

constexpr int kHtaMostDimensions = 8;
struct HtaResult {
  uint32_t rank;
  uint32_t sizes[kHtaMostDimensions];
  uint32_t element_bytes;
  int32_t zero_offset;
  float step;
};

// An input or output of the graph in a run.
struct HtaTensor {
  uint32_t batches;
  uint32_t height;
  uint32_t width;
  uint32_t depth;
  uint8_t *data;
  uint32_t bytes;
  uint32_t valid_bytes;
  uint32_t unused;
};

static_assert(sizeof(HtaPort) == 8 && sizeof(HtaResult) == 48);
#ifdef __LP64__
static_assert(sizeof(HtaTensor) == 40);
#endif

// X(name, is required, arguments); all return 0, or a negative error.
#define MACE_HTA_FUNCTIONS(X)                                               \
  X(config, false, (void))                                                  \
  X(version, false, (int *version))                                         \
  X(init, true, (int32_t *graph))                                           \
  X(append_const_node, true,                                                \
    (int32_t graph, uint32_t node, uint32_t batches, uint32_t height,       \
     uint32_t width, uint32_t depth, const uint8_t *data, uint32_t bytes))  \
  X(append_node, true,                                                      \
    (int32_t graph, uint32_t node, uint32_t operation, int32_t padding,     \
     const HtaPort *inputs, uint32_t input_count, const HtaResult *outputs, \
     uint32_t output_count))                                                \
  X(prepare, true, (int32_t graph))                                         \
  X(execute_new, true,                                                      \
    (int32_t graph, const HtaTensor *inputs, uint32_t input_count,          \
     HtaTensor *outputs, uint32_t output_count))                            \
  X(teardown, true, (int32_t graph))                                        \
  X(serialize_size, false, (int32_t graph, uint32_t *bytes))                \
  X(serialize, false, (int32_t graph, void *buffer, uint32_t bytes))        \
  X(deserialize, false, (void *buffer, uint32_t bytes, int32_t *graph))

// Functions without their prefix, hexagon_hta_nn_.
struct HtaApi {
#define MACE_HTA_MEMBER(name, required, arguments) int(*name) arguments;
  MACE_HTA_FUNCTIONS(MACE_HTA_MEMBER)
#undef MACE_HTA_MEMBER
  // "libhta_hexagon_runtime.so 65538"
  std::string description;
};

// Opens MACE_HTA_LIBRARY of the environment, or the first library of the usual
// names, and configures it, once in a process.
Result<std::shared_ptr<const HtaApi>> OpenHtaApi();

// MACE_RUNTIME_ERROR "hexagon_hta_nn_prepare failed: it can't be compiled
// (-16)".
MaceStatus HtaError(const char *call, int error);

// Returns from the calling function if the call fails.
#define MACE_HTA_CHECK(api, function, ...)                                   \
  do {                                                                       \
    const int mace_hta_error_ = (api).function(__VA_ARGS__);                 \
    if (mace_hta_error_ != ::mace::kHtaSuccess) {                            \
      return ::mace::HtaError("hexagon_hta_nn_" #function, mace_hta_error_); \
    }                                                                        \
  } while (false)

}  // namespace mace

#endif  // MACE_RUNTIMES_HTA_HTA_API_H_
