// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for MediaTek's Neuron Adapter: the C interface as documented,
// strict about its arguments, which computes with reference.h. Its declarations
// are its own, so that the adapter's are checked against them.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "test/delegates/reference.h"
#include "test/delegates/stand_in.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace mace::stand_in {
namespace {

// Error codes, operand types and operations as NNAPI numbers them.
enum {
  OK = 0,
  UNEXPECTED_NULL = 3,
  BAD_DATA = 4,
  OP_FAILED = 5,
  BAD_STATE = 7
};
enum {
  FLOAT32 = 0,
  INT32 = 1,
  TENSOR_FLOAT32 = 3,
  TENSOR_INT32 = 4,
  TENSOR_QUANT8_ASYMM = 5,
  BOOL = 6,
  TENSOR_QUANT8_SYMM_PER_CHANNEL = 11,
  TENSOR_QUANT8_ASYMM_SIGNED = 14
};
enum {
  ADD = 0,
  AVERAGE_POOL_2D = 1,
  CONCATENATION = 2,
  CONV_2D = 3,
  DEPTHWISE_CONV_2D = 4,
  FULLY_CONNECTED = 9,
  LOGISTIC = 14,
  MAX_POOL_2D = 17,
  MUL = 18,
  RELU = 19,
  RELU6 = 21,
  RESHAPE = 22,
  RESIZE_BILINEAR = 23,
  SOFTMAX = 25,
  TANH = 28,
  DIV = 30,
  MEAN = 31,
  SUB = 36,
  RESIZE_NEAREST_NEIGHBOR = 94
};

Counts g_counts;

struct Operand {
  int32_t type = 0;
  std::vector<int64_t> dims;
  Scaling scaling;
  std::string value;  // of a constant
  // Values of more than 128 bytes stay in the memory of the caller.
  const void *far_value = nullptr;

  Element element() const {
    switch (type) {
      case TENSOR_FLOAT32:
      case FLOAT32:
        return Element::kFloat;
      case TENSOR_QUANT8_ASYMM:
        return Element::kUint8;
      case TENSOR_QUANT8_ASYMM_SIGNED:
      case TENSOR_QUANT8_SYMM_PER_CHANNEL:
        return Element::kInt8;
      default:
        return Element::kInt32;
    }
  }
  bool quantized() const {
    return element() == Element::kInt8 || element() == Element::kUint8;
  }
  size_t bytes() const {
    if (type == BOOL) return 1;
    return static_cast<size_t>(Elements(dims)) * ElementBytes(element());
  }
  const void *data() const {
    return far_value != nullptr ? far_value : value.data();
  }
};

struct Operation {
  int32_t type;
  std::vector<uint32_t> inputs;
  uint32_t output;
};

}  // namespace
}  // namespace mace::stand_in

using namespace mace::stand_in;  // NOLINT: the types of the interface follow.

struct NeuronModel {
  NeuronModel() { ++g_counts.alive; }
  ~NeuronModel() { --g_counts.alive; }
  std::vector<Operand> operands;
  std::vector<Operation> operations;
  std::vector<uint32_t> inputs;
  std::vector<uint32_t> outputs;
  bool finished = false;
  bool restored = false;
};

struct NeuronCompilation {
  explicit NeuronCompilation(NeuronModel *of) : model(of) { ++g_counts.alive; }
  ~NeuronCompilation() { --g_counts.alive; }
  NeuronModel *model;
  bool finished = false;
};

struct NeuronExecution {
  explicit NeuronExecution(NeuronCompilation *of) : compilation(of) {
    ++g_counts.alive;
  }
  ~NeuronExecution() { --g_counts.alive; }
  NeuronCompilation *compilation;
  std::map<int32_t, const void *> inputs;
  std::map<int32_t, void *> outputs;
};

struct NeuronOperandType {
  int32_t type;
  uint32_t dimensionCount;
  const uint32_t *dimensions;
  float scale;
  int32_t zeroPoint;
};

struct NeuronSymmPerChannelQuantParams {
  uint32_t channelDim;
  uint32_t scaleCount;
  const float *scales;
};

namespace mace::stand_in {
namespace {

// How many inputs an operation has; -1: any.
int InputsOf(int32_t type) {
  switch (type) {
    case CONV_2D:
      return 13;
    case DEPTHWISE_CONV_2D:
      return 14;
    case AVERAGE_POOL_2D:
    case MAX_POOL_2D:
      return 11;
    case FULLY_CONNECTED:
      return 4;
    case ADD:
    case SUB:
    case MUL:
    case DIV:
    case SOFTMAX:
    case MEAN:
      return 3;
    case RESIZE_BILINEAR:
    case RESIZE_NEAREST_NEIGHBOR:
      return 6;
    case RESHAPE:
      return 2;
    case RELU:
    case RELU6:
    case LOGISTIC:
    case TANH:
      return 1;
    case CONCATENATION:
      return -1;
    default:
      return -2;
  }
}

class Evaluation {
 public:
  explicit Evaluation(const NeuronModel &model)
      : model_(model), values_(model.operands.size()) {}

  bool Run(const NeuronExecution &execution) {
    for (size_t i = 0; i < model_.inputs.size(); ++i) {
      const auto found = execution.inputs.find(static_cast<int32_t>(i));
      if (found == execution.inputs.end()) return false;
      const uint32_t id = model_.inputs[i];
      const Operand &operand = model_.operands[id];
      values_[id] = FromElements(operand.dims, operand.element(),
                                 operand.scaling, found->second);
    }
    for (const Operation &operation : model_.operations) {
      const Operand &output = model_.operands[operation.output];
      Array result = Compute(operation);
      if (Elements(result.dims) != Elements(output.dims)) return false;
      if (operation.type == RESHAPE) result.dims = output.dims;
      if (result.dims != output.dims) return false;
      if (output.quantized()) {
        std::string rounded(output.bytes(), '\0');
        ToElements(result, output.element(), output.scaling, rounded.data());
        result = FromElements(output.dims, output.element(), output.scaling,
                              rounded.data());
      }
      values_[operation.output] = std::move(result);
    }
    for (size_t i = 0; i < model_.outputs.size(); ++i) {
      const auto found = execution.outputs.find(static_cast<int32_t>(i));
      if (found == execution.outputs.end()) return false;
      const Operand &operand = model_.operands[model_.outputs[i]];
      ToElements(values_[model_.outputs[i]], operand.element(), operand.scaling,
                 found->second);
    }
    return true;
  }

 private:
  Array At(uint32_t id) const {
    const Operand &operand = model_.operands[id];
    if (operand.data() == nullptr || operand.bytes() == 0 ||
        (operand.value.empty() && operand.far_value == nullptr)) {
      return values_[id];
    }
    return FromElements(operand.dims, operand.element(), operand.scaling,
                        operand.data());
  }
  int64_t Int(uint32_t id) const {
    const Operand &operand = model_.operands[id];
    if (operand.type == BOOL) return operand.value[0];
    int32_t value = 0;
    std::memcpy(&value, operand.data(), sizeof(value));
    return value;
  }

  // Its scales are those of input and filter.
  Array Bias(const Operation &operation) const {
    const Operand &bias = model_.operands[operation.inputs[2]];
    Array values = At(operation.inputs[2]);
    if (bias.type == TENSOR_FLOAT32) return values;
    const double input = model_.operands[operation.inputs[0]].scaling.scales[0];
    const auto &scales = model_.operands[operation.inputs[1]].scaling.scales;
    for (size_t i = 0; i < values.values.size(); ++i) {
      values.values[i] *= input * scales[scales.size() == 1 ? 0 : i];
    }
    return values;
  }

  static Array Fused(const Array &x, int64_t activation) {
    return Map(x, [activation](double value) {
      if (activation == 1) return std::max(value, 0.0);
      if (activation == 3) return std::clamp(value, 0.0, 6.0);
      return value;
    });
  }

  Array Conv(const Operation &op, bool depthwise) const {
    const auto &in = op.inputs;
    const size_t after = depthwise ? 1 : 0;
    Array filter = At(in[1]);
    const Array x = At(in[0]);
    int64_t groups = 1;
    Window window = {{filter.dims[1], filter.dims[2]},
                     {Int(in[8]), Int(in[7])},
                     {Int(in[12 + after]), Int(in[11 + after])},
                     {Int(in[5]), Int(in[6]), Int(in[3]), Int(in[4])}};
    if (depthwise) {
      const int64_t outputs = filter.dims[3];
      groups = x.dims[3];
      if (outputs != groups * Int(in[9])) return Array();
      filter = DepthwiseAsGroups(filter, outputs);
      filter.dims = {outputs, window.kernel[0], window.kernel[1], 1};
    }
    return Fused(Convolve(x, filter, Bias(op), window, groups),
                 Int(in[9 + after]));
  }

  Array Pooled(const Operation &op) const {
    const auto &in = op.inputs;
    const Window window = {{Int(in[8]), Int(in[7])},
                           {Int(in[6]), Int(in[5])},
                           {1, 1},
                           {Int(in[3]), Int(in[4]), Int(in[1]), Int(in[2])}};
    return Fused(Pool(At(in[0]), window, op.type == AVERAGE_POOL_2D),
                 Int(in[9]));
  }

  Array Arithmetic(const Operation &op) const {
    const int32_t type = op.type;
    return Fused(Broadcast(At(op.inputs[0]), At(op.inputs[1]),
                           [type](double a, double b) {
                             if (type == ADD) return a + b;
                             if (type == SUB) return a - b;
                             return type == MUL ? a * b : a / b;
                           }),
                 Int(op.inputs[2]));
  }

  Array Compute(const Operation &op) const {
    const auto &in = op.inputs;
    switch (op.type) {
      case CONV_2D:
        return Conv(op, false);
      case DEPTHWISE_CONV_2D:
        return Conv(op, true);
      case FULLY_CONNECTED:
        return Fused(Multiply(At(in[0]), At(in[1]), Bias(op)), Int(in[3]));
      case AVERAGE_POOL_2D:
      case MAX_POOL_2D:
        return Pooled(op);
      case ADD:
      case SUB:
      case MUL:
      case DIV:
        return Arithmetic(op);
      case CONCATENATION: {
        std::vector<Array> parts;
        for (size_t i = 0; i + 1 < in.size(); ++i) parts.push_back(At(in[i]));
        return Join(parts, Int(in.back()));
      }
      case SOFTMAX:
        return Softmax(At(in[0]), Int(in[2]));
      case MEAN: {
        std::vector<int64_t> axes;
        for (double axis : At(in[1]).values) {
          axes.push_back(static_cast<int64_t>(axis));
        }
        return Mean(At(in[0]), axes, Int(in[2]) != 0);
      }
      case RESIZE_BILINEAR:
      case RESIZE_NEAREST_NEIGHBOR:
        return Resize(At(in[0]), Int(in[2]), Int(in[1]),
                      op.type == RESIZE_BILINEAR, Int(in[4]) != 0,
                      Int(in[5]) != 0);
      case RELU:
        return Fused(At(in[0]), 1);
      case RELU6:
        return Fused(At(in[0]), 3);
      case LOGISTIC:
        return Map(At(in[0]), [](double x) { return 1 / (1 + std::exp(-x)); });
      case TANH:
        return Map(At(in[0]), [](double x) { return std::tanh(x); });
      default:
        return At(in[0]);
    }
  }

  const NeuronModel &model_;
  std::vector<Array> values_;
};

std::string Serialized(const NeuronModel &model) {
  Writer writer;
  writer.Number<uint64_t>(model.operands.size());
  for (const Operand &operand : model.operands) {
    writer.Number(operand.type);
    writer.Numbers(operand.dims);
    writer.Numbers(operand.scaling.scales);
    writer.Number(operand.scaling.zero_point);
    writer.Number(operand.scaling.axis);
    writer.Text(operand.far_value == nullptr
                    ? operand.value
                    : std::string(static_cast<const char *>(operand.far_value),
                                  operand.bytes()));
  }
  writer.Number<uint64_t>(model.operations.size());
  for (const Operation &operation : model.operations) {
    writer.Number(operation.type);
    writer.Numbers(operation.inputs);
    writer.Number(operation.output);
  }
  writer.Numbers(model.inputs);
  writer.Numbers(model.outputs);
  return writer.Finish();
}

void Deserialize(Reader *reader, NeuronModel *model) {
  model->operands.resize(reader->Number<uint64_t>());
  for (Operand &operand : model->operands) {
    operand.type = reader->Number<int32_t>();
    operand.dims = reader->Numbers<int64_t>();
    operand.scaling.scales = reader->Numbers<double>();
    operand.scaling.zero_point = reader->Number<int64_t>();
    operand.scaling.axis = reader->Number<int64_t>();
    operand.value = reader->Text();
  }
  model->operations.resize(reader->Number<uint64_t>());
  for (Operation &operation : model->operations) {
    operation.type = reader->Number<int32_t>();
    operation.inputs = reader->Numbers<uint32_t>();
    operation.output = reader->Number<uint32_t>();
  }
  model->inputs = reader->Numbers<uint32_t>();
  model->outputs = reader->Numbers<uint32_t>();
  model->finished = model->restored = true;
}

}  // namespace
}  // namespace mace::stand_in

EXPORT int64_t StandInCount(const char *name) { return g_counts.Named(name); }

EXPORT int Neuron_getVersion(uint8_t *version) {
  const uint8_t numbers[] = {5, 1, 2};
  std::memcpy(version, numbers, sizeof(numbers));
  return OK;
}

EXPORT int NeuronModel_create(NeuronModel **model) {
  if (Fails("create")) return OP_FAILED;
  *model = new NeuronModel;
  return OK;
}
EXPORT void NeuronModel_free(NeuronModel *model) { delete model; }

EXPORT int NeuronModel_addOperand(NeuronModel *model,
                                  const NeuronOperandType *type) {
  if (model->finished) return BAD_STATE;
  Operand operand;
  operand.type = type->type;
  operand.dims.assign(type->dimensions,
                      type->dimensions + type->dimensionCount);
  if (operand.type == TENSOR_QUANT8_ASYMM ||
      operand.type == TENSOR_QUANT8_ASYMM_SIGNED) {
    if (type->scale <= 0) return BAD_DATA;
    operand.scaling.scales = {static_cast<double>(type->scale)};
    operand.scaling.zero_point = type->zeroPoint;
  } else if (type->scale != 0 || type->zeroPoint != 0) {
    return BAD_DATA;
  }
  model->operands.push_back(operand);
  return OK;
}

EXPORT int NeuronModel_setOperandValue(NeuronModel *model,
                                       int32_t index,
                                       const void *buffer,
                                       size_t length) {
  Operand &operand = model->operands[static_cast<size_t>(index)];
  if (buffer == nullptr) return UNEXPECTED_NULL;
  if (length != operand.bytes()) return BAD_DATA;
  constexpr size_t kCopied = 128;
  if (length <= kCopied) {
    operand.value.assign(static_cast<const char *>(buffer), length);
  } else {
    operand.far_value = buffer;
  }
  return OK;
}

EXPORT int NeuronModel_setOperandSymmPerChannelQuantParams(
    NeuronModel *model,
    int32_t index,
    const NeuronSymmPerChannelQuantParams *params) {
  Operand &operand = model->operands[static_cast<size_t>(index)];
  if (operand.type != TENSOR_QUANT8_SYMM_PER_CHANNEL ||
      params->channelDim >= operand.dims.size() ||
      static_cast<int64_t>(params->scaleCount) !=
          operand.dims[params->channelDim]) {
    return BAD_DATA;
  }
  operand.scaling.axis = params->channelDim;
  operand.scaling.scales.assign(params->scales,
                                params->scales + params->scaleCount);
  return OK;
}

EXPORT int NeuronModel_addOperation(NeuronModel *model,
                                    int32_t type,
                                    uint32_t input_count,
                                    const uint32_t *inputs,
                                    uint32_t output_count,
                                    const uint32_t *outputs) {
  const int expected = InputsOf(type);
  if (output_count != 1 || expected == -2 ||
      (expected >= 0 && static_cast<uint32_t>(expected) != input_count)) {
    return BAD_DATA;
  }
  for (uint32_t i = 0; i < input_count; ++i) {
    if (inputs[i] >= model->operands.size()) return BAD_DATA;
  }
  model->operations.push_back(
      {type, std::vector<uint32_t>(inputs, inputs + input_count), outputs[0]});
  return OK;
}

EXPORT int NeuronModel_identifyInputsAndOutputs(NeuronModel *model,
                                                uint32_t input_count,
                                                const uint32_t *inputs,
                                                uint32_t output_count,
                                                const uint32_t *outputs) {
  model->inputs.assign(inputs, inputs + input_count);
  model->outputs.assign(outputs, outputs + output_count);
  for (uint32_t input : model->inputs) {
    if (std::count(model->outputs.begin(), model->outputs.end(), input) > 0) {
      return BAD_DATA;
    }
  }
  return OK;
}

EXPORT int NeuronModel_relaxComputationFloat32toFloat16(NeuronModel *, bool) {
  return OK;
}

EXPORT int NeuronModel_finish(NeuronModel *model) {
  if (Fails("finish")) return BAD_DATA;
  if (model->outputs.empty()) return BAD_STATE;
  model->finished = true;
  return OK;
}

EXPORT int NeuronModel_getSupportedOperations(NeuronModel *model,
                                              bool *supported,
                                              uint32_t count) {
  if (!model->finished || count != model->operations.size()) return BAD_STATE;
  for (uint32_t i = 0; i < count; ++i) {
    supported[i] =
        !Fails("refuse " + std::to_string(model->operations[i].type));
  }
  return OK;
}

EXPORT int NeuronModel_restoreFromCompiledNetwork(
    NeuronModel **model,
    NeuronCompilation **compilation,
    const void *buffer,
    size_t size) {
  if (Fails("restore")) return BAD_DATA;
  Reader reader(buffer, size);
  if (!reader.ok()) return BAD_DATA;
  *model = new NeuronModel;
  Deserialize(&reader, *model);
  *compilation = new NeuronCompilation(*model);
  return OK;
}

EXPORT int NeuronCompilation_create(NeuronModel *model,
                                    NeuronCompilation **compilation) {
  if (!model->finished) return BAD_STATE;
  *compilation = new NeuronCompilation(model);
  return OK;
}
EXPORT void NeuronCompilation_free(NeuronCompilation *compilation) {
  delete compilation;
}

EXPORT int NeuronCompilation_setPreference(NeuronCompilation *compilation,
                                           int32_t preference) {
  if (compilation->finished) return BAD_STATE;
  g_counts.preference = preference;
  return OK;
}

EXPORT int NeuronCompilation_finish(NeuronCompilation *compilation) {
  if (Fails("compile")) return OP_FAILED;
  compilation->finished = true;
  ++(compilation->model->restored ? g_counts.restored : g_counts.compiled);
  return OK;
}

EXPORT int NeuronCompilation_getCompiledNetworkSize(
    NeuronCompilation *compilation, size_t *size) {
  if (!compilation->finished) return BAD_STATE;
  *size = Serialized(*compilation->model).size();
  return OK;
}

EXPORT int NeuronCompilation_storeCompiledNetwork(
    NeuronCompilation *compilation, void *buffer, size_t size) {
  const std::string bytes = Serialized(*compilation->model);
  if (bytes.size() != size) return BAD_DATA;
  std::memcpy(buffer, bytes.data(), size);
  return OK;
}

EXPORT int NeuronExecution_create(NeuronCompilation *compilation,
                                  NeuronExecution **execution) {
  if (!compilation->finished) return BAD_STATE;
  *execution = new NeuronExecution(compilation);
  return OK;
}
EXPORT void NeuronExecution_free(NeuronExecution *execution) {
  delete execution;
}

EXPORT int NeuronExecution_setBoostHint(NeuronExecution *, uint8_t boost) {
  g_counts.hint = boost;
  return OK;
}

EXPORT int NeuronExecution_setInput(NeuronExecution *execution,
                                    int32_t index,
                                    const NeuronOperandType *,
                                    const void *buffer,
                                    size_t length) {
  const NeuronModel &model = *execution->compilation->model;
  const auto at = static_cast<size_t>(index);
  if (at >= model.inputs.size() ||
      model.operands[model.inputs[at]].bytes() != length) {
    return BAD_DATA;
  }
  execution->inputs[index] = buffer;
  return OK;
}

EXPORT int NeuronExecution_setOutput(NeuronExecution *execution,
                                     int32_t index,
                                     const NeuronOperandType *,
                                     void *buffer,
                                     size_t length) {
  const NeuronModel &model = *execution->compilation->model;
  const auto at = static_cast<size_t>(index);
  if (at >= model.outputs.size() ||
      model.operands[model.outputs[at]].bytes() != length) {
    return BAD_DATA;
  }
  execution->outputs[index] = buffer;
  return OK;
}

#ifndef MACE_STAND_IN_WITHOUT_COMPUTE
EXPORT int NeuronExecution_compute(NeuronExecution *execution) {
  if (Fails("execute")) return OP_FAILED;
  ++g_counts.executed;
  Evaluation evaluation(*execution->compilation->model);
  return evaluation.Run(*execution) ? OK : BAD_DATA;
}
#endif
