// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// MaceEngine::Impl: the tensors of a caller against the ports of the model.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/core/aligned_memory.h"
#include "mace/core/border.h"
#include "mace/core/engine.h"
#include "mace/core/mace_tensor.h"
#include "mace/core/near_names.h"

namespace mace {
namespace {

const char *FormatName(DataFormat format) {
  switch (format) {
    case DataFormat::NHWC:
      return "NHWC";
    case DataFormat::NCHW:
      return "NCHW";
    case DataFormat::NONE:
      break;
  }
  return "NONE";
}

// A MaceTensor that had no memory for its own description (see MaceTensor).
MaceStatus NoDescription(const char *kind, const std::string &name) {
  return OutOfResources(kind, " '", name,
                        "': there was no memory when its tensor was made, or "
                        "it was moved from");
}

// What input and output checks have in common.
MaceStatus CheckUserTensor(const char *kind,
                           const std::string &name,
                           const MaceTensor &given,
                           const ValueInfo *info,
                           DataType graph_type,
                           UserTensor *user) {
  if (given.memory_type() != CPU_BUFFER) {
    return Unsupported(kind, " '", name,
                       "' lies in GPU memory, which this engine can't use");
  }
  user->data_type = given.data_type() == IDataType::IDT_NOT_SET
                        ? graph_type
                        : FromPublicType(given.data_type());
  const bool is_input = kind[0] == 'i';
  if (!CanConvert(is_input ? user->data_type : graph_type,
                  is_input ? graph_type : user->data_type)) {
    return InvalidArgs(kind, " '", name, "' is ", DataTypeName(graph_type),
                       " in the model, but the tensor given is ",
                       DataTypeName(user->data_type),
                       CanConvert(DataType::kFloat32, graph_type)
                           ? "; float32, float16 and bfloat16 are possible"
                           : "");
  }
  if (given.data_format() == DataFormat::NCHW && info != nullptr &&
      info->data_format == DataFormat::NONE) {
    return InvalidArgs(kind, " '", name,
                       "' has data format NONE in the model; the tensor given "
                       "is ",
                       FormatName(given.data_format()));
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace

bool Means(const ValueInfo *info,
           const std::string &tensor_name,
           const std::string &name) {
  return tensor_name == name ||
         (info != nullptr && !info->alias.empty() && info->alias == name);
}

MaceStatus MaceEngine::Impl::MatchInputs(const Inputs &inputs,
                                         std::vector<UserTensor> *users) {
  std::vector<char> given(inputs_.size(), 0);
  std::vector<std::string> names;
  for (const InputPort &port : inputs_) names.push_back(port.info->name);
  std::string problems;
  for (const auto &[name, tensor] : inputs) {
    size_t i = 0;
    while (i < inputs_.size() &&
           !Means(inputs_[i].info, inputs_[i].info->name, name)) {
      ++i;
    }
    if (i == inputs_.size()) {
      if (std::find(unneeded_inputs_.begin(), unneeded_inputs_.end(), name) ==
          unneeded_inputs_.end()) {
        problems += MakeString("\n  '", name, "' is no input; the nearest are ",
                               NearNames(name, names));
      }
      continue;
    }
    given[i] = 1;
    MACE_RETURN_IF_ERROR(MatchInput(inputs_[i], tensor, &(*users)[i]));
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!given[i]) problems += MakeString("\n  '", names[i], "' is missing");
  }
  if (problems.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("wrong inputs for model '", model_.name, "':", problems);
}

MaceStatus MaceEngine::Impl::MatchInput(const InputPort &port,
                                        const MaceTensor &given,
                                        UserTensor *user) const {
  const ValueInfo &info = *port.info;
  const Tensor &tensor = program_->tensors()[port.tensor].tensor;
  if (given.impl_ == nullptr) return NoDescription("input", info.name);
  MACE_RETURN_IF_ERROR(CheckUserTensor("input", info.name, given, &info,
                                       tensor.data_type, user));
  const std::vector<int64_t> &dims = given.shape();
  const size_t rank = dims.size();
  if (rank > Shape::kMaxRank ||
      (info.shape.rank() > 0 && rank != info.shape.rank())) {
    return InvalidArgs("input '", info.name, "' has ", info.shape.rank(),
                       " dimensions in the model (", info.shape.ToString(),
                       "), the tensor given has ", rank);
  }
  const Shape shape(dims.data(), rank);
  const int64_t elements = shape.CheckedElements();
  if (elements < 0) {
    return InvalidArgs("input '", info.name, "' has the shape ",
                       shape.ToString(), ", which is negative or too large");
  }
  if (elements > given.impl_->capacity) {
    return InvalidArgs("input '", info.name, "' has no buffer");
  }
  user->data = given.impl_->data.get();
  if (user->data == nullptr && elements > 0) {
    return InvalidArgs("input '", info.name, "' has a null buffer");
  }
  user->nchw = rank == 4 && given.data_format() == DataFormat::NCHW;
  user->shape = user->nchw ? NchwToNhwc(shape) : shape;
  user->capacity_bytes =
      elements * static_cast<int64_t>(DataTypeSize(user->data_type));
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::MatchOutputs(Inputs *outputs,
                                          std::vector<UserTensor> *users) {
  std::vector<std::string> names;
  for (const OutputPort &port : outputs_) {
    names.push_back(program_->tensors()[port.tensor].tensor.name);
  }
  std::vector<char> given(outputs_.size(), 0);
  std::string problems;
  for (const auto &[name, tensor] : *outputs) {
    size_t i = 0;
    while (i < outputs_.size() && !Means(outputs_[i].info, names[i], name)) ++i;
    if (i == outputs_.size()) {
      problems += MakeString("\n  '", name,
                             "' was not among the output nodes when the engine "
                             "was made; the nearest are ",
                             NearNames(name, names));
      continue;
    }
    if (given[i]) {
      problems += MakeString("\n  '", name,
                             "' is an output that was given by another name");
      continue;
    }
    given[i] = 1;
    MACE_RETURN_IF_ERROR(MatchOutput(outputs_[i], tensor, &(*users)[i]));
  }
  if (problems.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("wrong outputs for model '", model_.name, "':", problems);
}

MaceStatus MaceEngine::Impl::MatchOutput(const OutputPort &port,
                                         const MaceTensor &given,
                                         UserTensor *user) const {
  const Tensor &tensor = program_->tensors()[port.tensor].tensor;
  if (given.impl_ == nullptr) return NoDescription("output", tensor.name);
  MACE_RETURN_IF_ERROR(CheckUserTensor("output", tensor.name, given, port.info,
                                       tensor.data_type, user));
  const int64_t capacity = given.impl_->capacity;
  if (capacity < tensor.elements()) {
    return InvalidArgs("output '", tensor.name, "' has the shape ",
                       tensor.shape.ToString(), " (", tensor.elements(),
                       " elements), but the buffer given holds ",
                       std::max<int64_t>(capacity, 0));
  }
  user->data = given.impl_->data.get();
  if (user->data == nullptr && tensor.elements() > 0) {
    return InvalidArgs("output '", tensor.name, "' has a null buffer");
  }
  if (user->data == nullptr) user->data = NoElements();
  user->nchw =
      tensor.shape.rank() == 4 && given.data_format() == DataFormat::NCHW;
  user->capacity_bytes =
      tensor.elements() * static_cast<int64_t>(DataTypeSize(user->data_type));
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
