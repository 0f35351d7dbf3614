// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/loop/fail_schema.h"
#include "mace/ops/loop/loop_begin_schema.h"
#include "mace/ops/loop/loop_end_schema.h"

namespace mace {
namespace {

MaceStatus CheckScalar(const char *name, const Tensor *tensor) {
  if (tensor == nullptr || tensor->elements() == 1) return MaceStatus();
  return InvalidArgs(name, " has the shape ", tensor->shape.ToString(),
                     ", not one element");
}

}  // namespace

MaceStatus InferLoopBeginShapes(const LoopBeginAttributes & /*attributes*/,
                                ShapeContext *context) {
  MACE_RETURN_IF_ERROR(CheckScalar("go", context->input(kLoopBeginGoInput)));
  MACE_RETURN_IF_ERROR(
      CheckScalar("trips", context->input(kLoopBeginTripsInput)));
  const size_t states = context->input_count() - kLoopBeginInitialInput;
  if (context->output_count() != states + kLoopBeginStateOutput) {
    return InvalidArgs("it has ", states, " initial value(s) and ",
                       context->output_count(), " outputs");
  }
  MACE_RETURN_IF_ERROR(
      SetOutput(context, kLoopBeginEntersOutput, Shape(), DataType::kBool));
  MACE_RETURN_IF_ERROR(
      SetOutput(context, kLoopBeginStepOutput, Shape(), DataType::kInt32));
  for (size_t i = 0; i < states; ++i) {
    const Tensor *initial = context->input(kLoopBeginInitialInput + i);
    if (initial == nullptr) {
      return InvalidArgs("initial value ", i, " is missing");
    }
    MACE_RETURN_IF_ERROR(SetOutput(context, kLoopBeginStateOutput + i,
                                   initial->shape, initial->data_type));
  }
  return MaceStatus();
}

MaceStatus InferLoopEndShapes(const LoopEndAttributes &attributes,
                              ShapeContext *context) {
  const Tensor *trips = context->input(kLoopEndTripsInput);
  MACE_RETURN_IF_ERROR(
      CheckScalar("enters", context->input(kLoopEndEntersInput)));
  MACE_RETURN_IF_ERROR(CheckScalar("step", context->input(kLoopEndStepInput)));
  MACE_RETURN_IF_ERROR(
      CheckScalar("again", context->input(kLoopEndAgainInput)));
  MACE_RETURN_IF_ERROR(CheckScalar("trips", trips));
  const auto states = static_cast<size_t>(attributes.states);
  const size_t values = context->input_count() - kLoopEndValuesInput;
  if (values < 2 * states ||
      context->output_count() != values - states + kLoopEndResultOutput) {
    return InvalidArgs("it has ", states, " state(s), ", values, " values and ",
                       context->output_count(), " outputs");
  }
  MACE_RETURN_IF_ERROR(
      SetOutput(context, kLoopEndMoreOutput, Shape(), DataType::kBool));
  for (size_t i = 0; i < values; ++i) {
    if (context->input(kLoopEndValuesInput + i) == nullptr) {
      return InvalidArgs("value ", i, " is missing");
    }
  }
  for (size_t i = 0; i < states; ++i) {
    const Tensor &state = *context->input(kLoopEndValuesInput + i);
    const Tensor &next = *context->input(kLoopEndValuesInput + states + i);
    if (!(state.shape == next.shape) || state.data_type != next.data_type) {
      return InvalidArgs("a round makes ", DataTypeName(next.data_type),
                         next.shape.ToString(), " ('", next.name, "') of ",
                         DataTypeName(state.data_type), state.shape.ToString(),
                         " ('", state.name,
                         "'); what a loop hands on must keep its shape");
    }
    MACE_RETURN_IF_ERROR(SetOutput(context, kLoopEndResultOutput + i,
                                   state.shape, state.data_type));
  }
  if (values == 2 * states) return MaceStatus();
  if (trips == nullptr || trips->data == nullptr) {
    return Unsupported(
        "it collects a value of each round, but their number is not known "
        "before the run");
  }
  const int32_t rounds = *trips->As<int32_t>();
  for (size_t i = 2 * states; i < values; ++i) {
    const Tensor &scanned = *context->input(kLoopEndValuesInput + i);
    Shape shape;
    shape.Append(rounds < 0 ? 0 : rounds);
    if (scanned.shape.rank() + 1 > Shape::kMaxRank) {
      return InvalidArgs("scanned value ", scanned.name, " has ",
                         scanned.shape.rank(), " dimensions");
    }
    for (size_t axis = 0; axis < scanned.shape.rank(); ++axis) {
      shape.Append(scanned.shape[axis]);
    }
    MACE_RETURN_IF_ERROR(SetOutput(context, kLoopEndResultOutput + i - states,
                                   shape, scanned.data_type));
  }
  return MaceStatus();
}

MaceStatus InferFailShapes(const FailAttributes & /*attributes*/,
                           ShapeContext *context) {
  MACE_RETURN_IF_ERROR(
      CheckScalar("condition", context->input(kFailConditionInput)));
  const Tensor &x = *context->input(kFailXInput);
  return SetOutput(context, kFailOutputOutput, x.shape, x.data_type);
}

}  // namespace mace
