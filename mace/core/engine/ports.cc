// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/core/engine/ports.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "mace/core/base/aligned_memory.h"
#include "mace/core/base/near_names.h"
#include "mace/core/engine/mace_tensor.h"
#include "mace/core/graph/placement.h"
#include "mace/core/memory/border.h"

namespace mace {
namespace {

bool IsFormat(DataFormat format) {
  return format == DataFormat::NHWC || format == DataFormat::NCHW ||
         format == DataFormat::NONE;
}

std::vector<std::string> InputNames(const Model &model) {
  std::vector<std::string> names;
  for (const ValueInfo &info : model.inputs) names.push_back(info.name);
  return names;
}

// "input 'x' has ..."
MaceStatus PortError(MaceStatus::Code code,
                     const char *kind,
                     const std::string &name,
                     const char *problem) {
  return JoinStatus(code, {kind, " '", name, "' ", problem});
}

MaceStatus NullBuffer(const char *kind, const std::string &name) {
  return PortError(MaceStatus::MACE_INVALID_ARGS, kind, name,
                   "has a null buffer");
}

// Checks that inputs and outputs share.
MaceStatus CheckCallerTensor(const char *kind,
                             const std::string &name,
                             const MaceTensor &given,
                             const ValueInfo *info,
                             DataType graph_type,
                             HostTensor *host) {
  const MaceTensorAccess::Impl *impl = MaceTensorAccess::Of(given);
  if (impl == nullptr) {
    return PortError(MaceStatus::MACE_OUT_OF_RESOURCES, kind, name,
                     "was made without memory, or moved from");
  }
  host->data = impl->data.get();
  host->memory = given.memory_type();
  if (host->memory != CPU_BUFFER && CheckDeviceTensors == nullptr) {
    return PortError(MaceStatus::MACE_UNSUPPORTED, kind, name,
                     "is in GPU memory: this library has no GPU runtime");
  }
  if (!IsFormat(given.data_format())) {
    return InvalidArgs(kind, " '", name, "' has the unknown data format ",
                       static_cast<int>(given.data_format()),
                       "; use NONE, NHWC or NCHW");
  }
  host->data_type = given.data_type() == IDataType::IDT_NOT_SET
                        ? graph_type
                        : FromPublicType(given.data_type());
  const bool is_input = kind[0] == 'i';
  if (!CanConvert(is_input ? host->data_type : graph_type,
                  is_input ? graph_type : host->data_type)) {
    return InvalidArgs(kind, " '", name, "' is ", DataTypeName(graph_type),
                       " in the model, but the given tensor is ",
                       DataTypeName(host->data_type),
                       CanConvert(DataType::kFloat32, graph_type)
                           ? "; float32, float16 and bfloat16 are accepted"
                           : "");
  }
  if (given.data_format() == DataFormat::NCHW && info != nullptr &&
      info->data_format == DataFormat::NONE) {
    return PortError(MaceStatus::MACE_INVALID_ARGS, kind, name,
                     "is NCHW, but has data format NONE in the model");
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace

bool IsNameOf(const std::string &tensor_name,
              const ValueInfo *info,
              const std::string &name) {
  return tensor_name == name ||
         (info != nullptr && !info->alias.empty() && info->alias == name);
}

Result<Ports> Ports::Create(const Graph &graph,
                            const std::vector<std::string> &input_nodes) {
  const Model &model = graph.model();
  const auto is_input = [](const ValueInfo &info, const std::string &name) {
    return IsNameOf(info.name, &info, name);
  };
  std::string unknown;
  for (const std::string &name : input_nodes) {
    const bool known = std::any_of(
        model.inputs.begin(), model.inputs.end(),
        [&](const ValueInfo &info) { return is_input(info, name); });
    if (!known) {
      unknown += MakeString("\n  '", name, "'; the nearest are ",
                            NearNames(name, InputNames(model)));
    }
  }
  if (!unknown.empty()) {
    return InvalidArgs("model '", model.name, "' has no input:", unknown);
  }

  Ports ports(graph);
  std::string missing;
  std::vector<char> needed(model.inputs.size(), 0);
  for (size_t place = 0; place < graph.inputs().size(); ++place) {
    const int id = graph.inputs()[place];
    const size_t index = graph.tensors()[id].input_index;
    const ValueInfo &info = model.inputs[index];
    needed[index] = 1;
    const bool is_state = std::any_of(
        graph.states().begin(), graph.states().end(),
        [id](const Graph::State &state) { return state.input == id; });
    if (is_state) continue;
    ports.inputs_.push_back({&info, id, place});
    const bool named = std::any_of(
        input_nodes.begin(), input_nodes.end(),
        [&](const std::string &name) { return is_input(info, name); });
    if (!named && !input_nodes.empty()) missing += " '" + info.name + "'";
  }
  if (!missing.empty()) {
    return InvalidArgs("the wanted outputs of model '", model.name,
                       "' need input(s) that were not named:", missing);
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) continue;
    ports.unneeded_inputs_.push_back(model.inputs[i].name);
    if (!model.inputs[i].alias.empty()) {
      ports.unneeded_inputs_.push_back(model.inputs[i].alias);
    }
  }

  for (size_t i = 0; i < graph.requested_outputs(); ++i) {
    const int id = graph.outputs()[i];
    // A name and its alias, or the same name twice, are one output.
    const bool seen =
        std::any_of(ports.outputs_.begin(), ports.outputs_.end(),
                    [id](const OutputPort &port) { return port.tensor == id; });
    if (seen) continue;
    OutputPort port;
    port.tensor = id;
    port.name = &graph.tensors()[id].tensor.name;
    for (const ValueInfo &info : model.outputs) {
      if (info.name == *port.name) port.info = &info;
    }
    ports.outputs_.push_back(port);
  }
  MACE_RETURN_IF_ERROR(ports.CheckAliases());
  return ports;
}

MaceStatus Ports::CheckAliases() const {
  std::string problems;
  const auto check = [&problems](const char *kind, const std::string &name,
                                 const ValueInfo *info,
                                 const std::string &other_name,
                                 const ValueInfo *other) {
    if (info == nullptr || info->alias.empty() || name == other_name) return;
    if (!IsNameOf(other_name, other, info->alias)) return;
    problems +=
        MakeString("\n  ", kind, " '", name, "' has the alias '", info->alias,
                   "', which is also a name of '", other_name, "'");
  };
  for (const InputPort &port : inputs_) {
    for (const InputPort &other : inputs_) {
      check("input", port.info->name, port.info, other.info->name, other.info);
    }
  }
  for (const OutputPort &port : outputs_) {
    for (const OutputPort &other : outputs_) {
      check("output", *port.name, port.info, *other.name, other.info);
    }
  }
  if (problems.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("names of model '", graph_->model().name,
                     "' are ambiguous:", problems);
}

MaceStatus Ports::MatchInputs(const CallerTensors &given,
                              std::vector<CallerTensor> *callers,
                              std::vector<Shape> *shapes) const {
  size_t found = 0;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    CallerTensor &caller = (*callers)[i];
    caller.tensor = inputs_[i].tensor;
    caller.is_input = true;
    const ValueInfo &info = *inputs_[i].info;
    auto tensor = given.find(info.name);
    if (tensor == given.end() && !info.alias.empty()) {
      tensor = given.find(info.alias);
    }
    if (tensor == given.end()) return WrongInputs(given);
    ++found;
    MACE_RETURN_IF_ERROR(MatchInput(inputs_[i], tensor->second, &caller.host));
    (*shapes)[inputs_[i].place] = caller.host.shape;
  }
  return found == given.size() ? MaceStatus() : WrongInputs(given);
}

// Returns success if all tensors other than the inputs may be ignored.
MaceStatus Ports::WrongInputs(const CallerTensors &given) const {
  std::vector<std::string> names;
  for (const InputPort &port : inputs_) names.push_back(port.info->name);
  std::vector<char> seen(inputs_.size(), 0);
  std::string problems;
  for (const auto &[name, tensor] : given) {
    size_t i = 0;
    while (i < inputs_.size() && !IsNameOf(names[i], inputs_[i].info, name)) {
      ++i;
    }
    if (i < inputs_.size()) {
      if (seen[i] != 0) {
        problems += MakeString("\n  '", name,
                               "' is the second name given for one input");
      }
      seen[i] = 1;
    } else if (std::find(unneeded_inputs_.begin(), unneeded_inputs_.end(),
                         name) == unneeded_inputs_.end()) {
      problems +=
          MakeString("\n  '", name, "' is not an input; the nearest are ",
                     NearNames(name, names));
    }
  }
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (seen[i] == 0) {
      problems += MakeString("\n  '", names[i], "' is missing");
    }
  }
  if (problems.empty()) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs("wrong inputs for model '", graph_->model().name,
                     "':", problems);
}

// What the converter computed of a fixed dimension is in the model, so that an
// operator may take another length, but compute something else.
MaceStatus Ports::CheckShape(const ValueInfo &info,
                             const Shape &given,
                             bool nchw) {
  Shape declared = info.shape;
  Shape most = info.largest_shape.rank() > 0 ? info.largest_shape : info.shape;
  if (nchw != (info.data_format == DataFormat::NCHW) && given.rank() == 4) {
    declared = nchw ? NhwcToNchw(declared) : NchwToNhwc(declared);
    most = nchw ? NhwcToNchw(most) : NchwToNhwc(most);
  }
  for (size_t i = 0; i < declared.rank(); ++i) {
    const bool fixed = declared[i] >= 0;
    if (given[i] == most[i]) continue;
    if (!fixed && (most[i] < 0 || given[i] < most[i])) continue;
    return InvalidArgs("input '", info.name, "' has the shape ",
                       given.ToString(), ": dimension ", i, " is ", given[i],
                       ", but the model was converted for ",
                       fixed ? "" : "at most ", most[i], " (", most.ToString(),
                       fixed ? "); to let each run decide it, give -1 for it"
                             : "); give a larger limit",
                       " in input_shapes and convert the model again");
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Ports::MatchInput(const InputPort &port,
                             const MaceTensor &given,
                             HostTensor *host) const {
  const ValueInfo &info = *port.info;
  MACE_RETURN_IF_ERROR(
      CheckCallerTensor("input", info.name, given, &info,
                        graph_->tensors()[port.tensor].tensor.data_type, host));
  const std::vector<int64_t> &dims = given.shape();
  const size_t rank = dims.size();
  if (rank > Shape::kMaxRank ||
      (info.shape.rank() > 0 && rank != info.shape.rank())) {
    return InvalidArgs("input '", info.name, "' has ", info.shape.rank(),
                       " dimensions in the model (", info.shape.ToString(),
                       "), but the given tensor has ", rank);
  }
  const Shape shape(dims.data(), rank);
  const int64_t elements = shape.CheckedElements();
  if (elements < 0) {
    return InvalidArgs("input '", info.name, "' has the shape ",
                       shape.ToString(), ", which is negative or too large");
  }
  if (elements > MaceTensorAccess::Of(given)->capacity ||
      (host->data == nullptr && elements > 0)) {
    return NullBuffer("input", info.name);
  }
  host->nchw = rank == 4 && given.data_format() == DataFormat::NCHW;
  host->shape = host->nchw ? NchwToNhwc(shape) : shape;
  MACE_RETURN_IF_ERROR(CheckShape(info, shape, host->nchw));
  host->capacity_bytes =
      elements * static_cast<int64_t>(DataTypeSize(host->data_type));
  return MaceStatus::MACE_SUCCESS;
}

size_t Ports::FindOutput(const std::string &name) const {
  // A tensor's own name comes before another one's alias.
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (*outputs_[i].name == name) return i;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (IsNameOf(*outputs_[i].name, outputs_[i].info, name)) return i;
  }
  return outputs_.size();
}

MaceStatus Ports::MatchOutputs(CallerTensors *given,
                               const GraphShapes &shapes,
                               std::vector<CallerTensor> *callers) const {
  CallerTensor *own = callers->data() + inputs_.size();
  for (size_t i = 0; i < outputs_.size(); ++i) {
    own[i].tensor = outputs_[i].tensor;
    own[i].is_input = false;
    own[i].host = HostTensor();
  }
  for (auto &[name, tensor] : *given) {
    const size_t i = FindOutput(name);
    if (i == outputs_.size() || own[i].host.data != nullptr) {
      return WrongOutputs(*given);
    }
    MACE_RETURN_IF_ERROR(MatchOutput(outputs_[i], &tensor,
                                     shapes.tensors[outputs_[i].tensor],
                                     &own[i].host));
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus Ports::WrongOutputs(const CallerTensors &given) const {
  std::vector<std::string> names;
  for (const OutputPort &port : outputs_) names.push_back(*port.name);
  std::vector<char> seen(outputs_.size(), 0);
  std::string problems;
  for (const auto &[name, tensor] : given) {
    const size_t i = FindOutput(name);
    if (i == outputs_.size()) {
      problems += MakeString("\n  '", name,
                             "' is not an output that the engine was created "
                             "with; the nearest are ",
                             NearNames(name, names));
    } else if (seen[i] != 0) {
      problems += MakeString("\n  '", name,
                             "' is the second name given for one output");
    } else {
      seen[i] = 1;
    }
  }
  return InvalidArgs("wrong outputs for model '", graph_->model().name,
                     "':", problems);
}

MaceStatus Ports::MatchOutput(const OutputPort &port,
                              MaceTensor *given,
                              const Tensor &tensor,
                              HostTensor *host) const {
  MACE_RETURN_IF_ERROR(CheckCallerTensor("output", tensor.name, *given,
                                         port.info, tensor.data_type, host));
  host->nchw =
      tensor.shape.rank() == 4 && given->data_format() == DataFormat::NCHW;
  MaceTensorAccess::Impl *impl = MaceTensorAccess::Of(given);
  const int64_t capacity = impl->capacity;
  if (capacity < tensor.elements()) {
    // What the caller needs to try again.
    const Shape needed = host->nchw ? NhwcToNchw(tensor.shape) : tensor.shape;
    impl->shape.assign(needed.begin(), needed.end());
    return InvalidArgs("output '", tensor.name, "' has the shape ",
                       needed.ToString(), " (", tensor.elements(),
                       " elements), but the given buffer has room for ",
                       std::max<int64_t>(capacity, 0));
  }
  if (host->data == nullptr && tensor.elements() > 0) {
    return NullBuffer("output", tensor.name);
  }
  if (host->data == nullptr) host->data = NoElements();
  host->shape = tensor.shape;
  host->capacity_bytes =
      tensor.elements() * static_cast<int64_t>(DataTypeSize(host->data_type));
  return MaceStatus::MACE_SUCCESS;
}

void Ports::Visit(const GraphShapes *shapes, const PortVisitor &visitor) const {
  const bool inputs = shapes == nullptr;
  const size_t count = inputs ? inputs_.size() : outputs_.size();
  for (size_t i = 0; i < count; ++i) {
    const ValueInfo *info = inputs ? inputs_[i].info : outputs_[i].info;
    const int id = inputs ? inputs_[i].tensor : outputs_[i].tensor;
    const Tensor &tensor =
        inputs ? graph_->tensors()[id].tensor : shapes->tensors[id];
    const Shape &shape = !inputs                          ? tensor.shape
                         : info->largest_shape.rank() > 0 ? info->largest_shape
                                                          : info->shape;
    visitor.visit(
        visitor,
        {tensor.name.c_str(), info == nullptr ? "" : info->alias.c_str(),
         shape.begin(), shape.rank(),
         info == nullptr ? DataFormat::NHWC : info->data_format,
         static_cast<int>(tensor.data_type)});
  }
}

void Ports::SetOutputShapes(const GraphShapes &shapes,
                            const std::vector<CallerTensor> &callers,
                            CallerTensors *given) const {
  for (auto &[name, tensor] : *given) {
    const size_t i = FindOutput(name);
    const Shape &result = shapes.tensors[outputs_[i].tensor].RunShape();
    const Shape shape =
        callers[inputs_.size() + i].host.nchw ? NhwcToNchw(result) : result;
    MaceTensorAccess::Of(&tensor)->shape.assign(shape.begin(), shape.end());
  }
}

}  // namespace mace
