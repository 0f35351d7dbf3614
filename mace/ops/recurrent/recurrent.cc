// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/recurrent/dynamic_quantize_recurrent_schema.h"
#include "mace/ops/recurrent/recurrent_schema.h"

namespace mace {
namespace {

// What both operators have.
struct Layer {
  RecurrentMode mode = RecurrentMode::RNN;
  bool reverse = false;
  bool batch_first = false;
  bool reset_after = false;
};
struct Ports {
  size_t input;
  size_t weights;
  size_t reverse_weights;
  size_t params;
  size_t initial_hidden;
  size_t initial_memory;
  size_t lengths;
};

template <typename Attributes>
Layer LayerOf(const Attributes &a) {
  return {a.mode, a.reverse, a.batch_first, a.reset_after};
}

int64_t RecurrentGates(RecurrentMode mode) {
  if (mode == RecurrentMode::RNN) return 1;
  return mode == RecurrentMode::GRU ? 3 : 4;
}

// The text, which programs that make random cases read, names the shape that
// would be accepted.
MaceStatus Check(ShapeContext *context,
                 size_t port,
                 const char *name,
                 const Shape &expected) {
  const Tensor *tensor = context->input(port);
  if (tensor == nullptr || tensor->shape == expected) return MaceStatus();
  return InvalidArgs("input '", name, "' has the shape ",
                     tensor->shape.ToString(), "; it must be ",
                     expected.ToString());
}

MaceStatus CheckPorts(const Layer &layer,
                      const Ports &ports,
                      const ShapeContext &context) {
  if (context.input(ports.reverse_weights) != nullptr && layer.reverse) {
    return InvalidArgs("has reverse_weights and the attribute reverse");
  }
  const bool with_params =
      layer.mode == RecurrentMode::LSTM ||
      (layer.mode == RecurrentMode::GRU && layer.reset_after);
  if (context.input(ports.params) != nullptr && !with_params) {
    return InvalidArgs(
        "has params, which belong to LSTM and to GRU with reset_after");
  }
  if (context.input(ports.initial_memory) != nullptr &&
      layer.mode != RecurrentMode::LSTM) {
    return InvalidArgs("has an initial_memory, which belongs to LSTM");
  }
  const size_t outputs = layer.mode == RecurrentMode::LSTM ? 3 : 2;
  if (context.output_count() != outputs) {
    return InvalidArgs("has ", context.output_count(), " outputs, not ",
                       outputs);
  }
  return MaceStatus();
}

// Of weights that have `units` and `shape` in each direction.
MaceStatus InferShapes(const Layer &layer,
                       const Ports &ports,
                       int64_t units,
                       const Shape &shape,
                       ShapeContext *context) {
  const Shape &input = context->input(ports.input)->shape;
  if (units == 0) return InvalidArgs("the weights have no elements");
  const int64_t gates = RecurrentGates(layer.mode);
  const int64_t directions =
      context->input(ports.reverse_weights) == nullptr ? 1 : 2;
  MACE_RETURN_IF_ERROR(Check(context, ports.weights, "weights", shape));
  MACE_RETURN_IF_ERROR(
      Check(context, ports.reverse_weights, "reverse_weights", shape));
  MACE_RETURN_IF_ERROR(Check(context, ports.input, "input",
                             {input[0], input[1], directions * gates * units}));
  const bool batch_first = layer.batch_first;
  const int64_t steps = input[batch_first ? 1 : 0];
  const int64_t batch = input[batch_first ? 0 : 1];
  const int64_t params = layer.mode == RecurrentMode::LSTM ? 3 * units : units;
  MACE_RETURN_IF_ERROR(
      Check(context, ports.params, "params", {directions, params}));
  const Shape state = batch_first ? Shape{batch, directions, units}
                                  : Shape{directions, batch, units};
  MACE_RETURN_IF_ERROR(
      Check(context, ports.initial_hidden, "initial_hidden", state));
  MACE_RETURN_IF_ERROR(
      Check(context, ports.initial_memory, "initial_memory", state));
  MACE_RETURN_IF_ERROR(Check(context, ports.lengths, "lengths", {batch}));
  const Shape output = batch_first ? Shape{batch, steps, directions, units}
                                   : Shape{steps, directions, batch, units};
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, output, DataType::kFloat32));
  for (size_t i = 1; i < context->output_count(); ++i) {
    MACE_RETURN_IF_ERROR(SetOutput(context, i, state, DataType::kFloat32));
  }
  return MaceStatus();
}

MaceStatus CheckRank(const Shape &input) {
  if (input.rank() == 3) return MaceStatus();
  return InvalidArgs("the input has ", input.rank(), " dimensions, not 3");
}

}  // namespace

MaceStatus InferRecurrentShapes(const RecurrentAttributes &attributes,
                                ShapeContext *context) {
  const Layer layer = LayerOf(attributes);
  const Ports ports = {
      kRecurrentInputInput,          kRecurrentWeightsInput,
      kRecurrentReverseWeightsInput, kRecurrentParamsInput,
      kRecurrentInitialHiddenInput,  kRecurrentInitialMemoryInput,
      kRecurrentLengthsInput};
  MACE_RETURN_IF_ERROR(CheckPorts(layer, ports, *context));
  MACE_RETURN_IF_ERROR(CheckRank(context->input(ports.input)->shape));
  const Tensor &weights = *context->input(ports.weights);
  const Tensor *reverse = context->input(ports.reverse_weights);
  if (weights.groups != 1 || (reverse != nullptr && reverse->groups != 1)) {
    return InvalidArgs("the weights are packed for several groups");
  }
  const int64_t units = weights.shape.back();
  return InferShapes(layer, ports, units,
                     {RecurrentGates(layer.mode) * units, units}, context);
}

MaceStatus InferDynamicQuantizeRecurrentShapes(
    const DynamicQuantizeRecurrentAttributes &attributes,
    ShapeContext *context) {
  const Layer layer = LayerOf(attributes);
  const Ports ports = {kDynamicQuantizeRecurrentInputInput,
                       kDynamicQuantizeRecurrentWeightsInput,
                       kDynamicQuantizeRecurrentReverseWeightsInput,
                       kDynamicQuantizeRecurrentParamsInput,
                       kDynamicQuantizeRecurrentInitialHiddenInput,
                       kDynamicQuantizeRecurrentInitialMemoryInput,
                       kDynamicQuantizeRecurrentLengthsInput};
  MACE_RETURN_IF_ERROR(CheckPorts(layer, ports, *context));
  MACE_RETURN_IF_ERROR(CheckRank(context->input(ports.input)->shape));
  const Shape &weights = context->input(ports.weights)->shape;
  if (weights.rank() != 2) {
    return InvalidArgs("the weights have ", weights.rank(),
                       " dimensions, not 2");
  }
  const int64_t columns = RecurrentGates(layer.mode) * weights[0];
  const int64_t directions =
      context->input(ports.reverse_weights) == nullptr ? 1 : 2;
  MACE_RETURN_IF_ERROR(Check(context,
                             kDynamicQuantizeRecurrentWeightScalesInput,
                             "weight_scales", {directions, columns}));
  MACE_RETURN_IF_ERROR(Check(context,
                             kDynamicQuantizeRecurrentWeightZeroPointsInput,
                             "weight_zero_points", {directions, columns}));
  return InferShapes(layer, ports, weights[0], {weights[0], columns}, context);
}

}  // namespace mace
