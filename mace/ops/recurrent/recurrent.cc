// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/recurrent/recurrent.h"

namespace mace {
namespace {

// The text, which programs that make random cases read, names the shape that
// would be accepted.
MaceStatus Check(ShapeContext *context,
                 RecurrentInput port,
                 const char *name,
                 const Shape &expected) {
  const Tensor *tensor = context->input(port);
  if (tensor == nullptr || tensor->shape == expected) return MaceStatus();
  return InvalidArgs("input '", name, "' has the shape ",
                     tensor->shape.ToString(), "; it must be ",
                     expected.ToString());
}

MaceStatus CheckPorts(const RecurrentAttributes &attributes,
                      const ShapeContext &context) {
  const RecurrentMode mode = attributes.mode;
  if (context.input(kRecurrentReverseWeightsInput) != nullptr &&
      attributes.reverse) {
    return InvalidArgs("has reverse_weights and the attribute reverse");
  }
  const bool with_params =
      mode == RecurrentMode::LSTM ||
      (mode == RecurrentMode::GRU && attributes.reset_after);
  if (context.input(kRecurrentParamsInput) != nullptr && !with_params) {
    return InvalidArgs(
        "has params, which belong to LSTM and to GRU with reset_after");
  }
  if (context.input(kRecurrentInitialMemoryInput) != nullptr &&
      mode != RecurrentMode::LSTM) {
    return InvalidArgs("has an initial_memory, which belongs to LSTM");
  }
  const size_t outputs = mode == RecurrentMode::LSTM ? 3 : 2;
  if (context.output_count() != outputs) {
    return InvalidArgs("has ", context.output_count(), " outputs, not ",
                       outputs);
  }
  return MaceStatus();
}

}  // namespace

MaceStatus InferRecurrentShapes(const RecurrentAttributes &attributes,
                                ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckPorts(attributes, *context));
  const Shape &input = context->input(kRecurrentInputInput)->shape;
  const Tensor &weights = *context->input(kRecurrentWeightsInput);
  const Tensor *reverse = context->input(kRecurrentReverseWeightsInput);
  if (input.rank() != 3) {
    return InvalidArgs("the input has ", input.rank(), " dimensions, not 3");
  }
  if (weights.groups != 1 || (reverse != nullptr && reverse->groups != 1)) {
    return InvalidArgs("the weights are packed for several groups");
  }
  const int64_t gates = RecurrentGates(attributes.mode);
  const int64_t directions = reverse == nullptr ? 1 : 2;
  const int64_t units = weights.shape.back();
  if (units == 0) return InvalidArgs("the weights have no elements");
  const Shape square = {gates * units, units};
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentWeightsInput, "weights", square));
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentReverseWeightsInput, "reverse_weights", square));
  MACE_RETURN_IF_ERROR(Check(context, kRecurrentInputInput, "input",
                             {input[0], input[1], directions * gates * units}));
  const bool batch_first = attributes.batch_first;
  const int64_t steps = input[batch_first ? 1 : 0];
  const int64_t batch = input[batch_first ? 0 : 1];
  const int64_t params =
      attributes.mode == RecurrentMode::LSTM ? 3 * units : units;
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentParamsInput, "params", {directions, params}));
  const Shape state = batch_first ? Shape{batch, directions, units}
                                  : Shape{directions, batch, units};
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentInitialHiddenInput, "initial_hidden", state));
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentInitialMemoryInput, "initial_memory", state));
  MACE_RETURN_IF_ERROR(
      Check(context, kRecurrentLengthsInput, "lengths", {batch}));
  const Shape output = batch_first ? Shape{batch, steps, directions, units}
                                   : Shape{steps, directions, batch, units};
  MACE_RETURN_IF_ERROR(SetOutput(context, 0, output, DataType::kFloat32));
  for (size_t i = 1; i < context->output_count(); ++i) {
    MACE_RETURN_IF_ERROR(SetOutput(context, i, state, DataType::kFloat32));
  }
  return MaceStatus();
}

}  // namespace mace
