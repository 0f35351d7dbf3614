// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// MaceEngine::Impl: from a model file to an engine.

#include <algorithm>
#include <cstring>
#include <utility>

#include "mace/core/border.h"
#include "mace/core/cpu_topology.h"
#include "mace/core/crc32.h"
#include "mace/core/device.h"
#include "mace/core/engine.h"
#include "mace/core/logging.h"
#include "mace/core/model_check.h"
#include "mace/core/model_reader.h"
#include "mace/core/near_names.h"
#include "mace/core/pages.h"

namespace mace {
namespace {

bool Means(const ValueInfo &info, const std::string &name) {
  return info.name == name || (!info.alias.empty() && info.alias == name);
}

std::vector<std::string> NamesOf(const std::vector<ValueInfo> &infos) {
  std::vector<std::string> names;
  for (const ValueInfo &info : infos) names.push_back(info.name);
  return names;
}

}  // namespace

Result<std::unique_ptr<MaceEngine::Impl>> MaceEngine::Impl::Create(
    const EngineRequest &request) {
  std::unique_ptr<Impl> engine(new Impl());
  MACE_RETURN_IF_ERROR(engine->Load(request));
  return engine;
}

MaceStatus MaceEngine::Impl::Load(const EngineRequest &request) {
  MACE_ASSIGN_OR_RETURN(model_, ReadModel(request.graph, request.graph_size));
  MACE_RETURN_IF_ERROR(CheckModelStructure(model_, request.weights_size));
  MACE_RETURN_IF_ERROR(StartDevice(request.options));
  MACE_RETURN_IF_ERROR(CheckOperators(model_, device_->type()));
  MACE_RETURN_IF_ERROR(device_->CheckHints(model_.hints));
  MACE_RETURN_IF_ERROR(StartThreads(request.options));
  const void *weights = nullptr;
  MACE_RETURN_IF_ERROR(PlaceWeights(request, &weights));
  check_numerics_ = request.options.check_numerics;
  row_bands_ = request.options.row_bands && !check_numerics_;
  arena_ = request.arena != nullptr ? request.arena : std::make_shared<Arena>();

  std::vector<std::string> output_names = request.output_nodes;
  if (output_names.empty()) output_names = NamesOf(model_.outputs);
  if (output_names.empty()) {
    return InvalidArgs("model '", model_.name,
                       "' declares no outputs; name the wanted tensors");
  }
  MACE_ASSIGN_OR_RETURN(program_, Program::Create(model_, weights, output_names,
                                                  device_.get(), pool_.get()));
  MACE_RETURN_IF_ERROR(MakeInputPorts(request.input_nodes));
  MakeOutputPorts();
  external_.assign(program_->tensors().size(), 0);
  MACE_RETURN_IF_ERROR(PrepareDeclaredShapes(request.fake_warmup));
  VLOG(1) << "loaded model '" << model_.name
          << "': " << program_->nodes().size() << " operators, "
          << model_.data_size << " bytes of constants, "
          << program_->prepared_bytes() << " bytes prepared";
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::StartDevice(const EngineOptions &options) {
  DeviceType device = options.device;
  for (const auto &[subgraph, type] : options.subgraph_devices) {
    if (subgraph != model_.name) {
      return InvalidArgs("a runtime is set for subgraph '", subgraph,
                         "', but the model has the single subgraph '",
                         model_.name, "'");
    }
    device = type;
  }
  MACE_ASSIGN_OR_RETURN(device_, DeviceRegistration::Create(device));
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::StartThreads(const EngineOptions &options) {
  int threads = options.num_threads;
  if (!options.has_thread_policy) {
    threads = PlaceThreadsHere(0, AFFINITY_BIG_ONLY).threads;
  }
  pool_ = ThreadPool::Create(threads, options.affinity);
  if (pool_ == nullptr) {
    return OutOfResources("the threads of the engine can't be started");
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::PlaceWeights(const EngineRequest &request,
                                          const void **weights) {
  *weights = request.weights;
  if (request.weights_size == 0) {
    weights_unused_ = true;
    return MaceStatus::MACE_SUCCESS;
  }
  if (request.weights == nullptr) {
    return InvalidArgs("the weights are ", request.weights_size,
                       " bytes at a null pointer");
  }
  if (request.options.check_weights) {
    const uint32_t crc = Crc32(request.weights, request.weights_size);
    if (crc != model_.data_crc32) {
      return InvalidArgs("the weights of model '", model_.name,
                         "' are damaged: their checksum is ", crc,
                         ", the model says ", model_.data_crc32,
                         "; copy or convert the model again");
    }
  }
  if (IsAligned(request.weights, kMemoryAlignment)) {
    return MaceStatus::MACE_SUCCESS;
  }
  LOG(WARNING) << "the weights do not start at a multiple of "
               << kMemoryAlignment << " bytes; " << request.weights_size
               << " bytes are copied";
  if (!weights_copy_.Allocate(request.weights_size)) {
    return OutOfResources("no memory to copy ", request.weights_size,
                          " bytes of weights, which do not start at a "
                          "multiple of ",
                          kMemoryAlignment, " bytes");
  }
  MapNewMemory(weights_copy_.data(), request.weights_size, pool_.get());
  std::memcpy(weights_copy_.data(), request.weights, request.weights_size);
  *weights = weights_copy_.data();
  weights_unused_ = true;
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus MaceEngine::Impl::MakeInputPorts(
    const std::vector<std::string> &input_nodes) {
  std::string unknown;
  for (const std::string &name : input_nodes) {
    const bool known = std::any_of(
        model_.inputs.begin(), model_.inputs.end(),
        [&name](const ValueInfo &info) { return Means(info, name); });
    if (!known) {
      unknown += MakeString("\n  '", name, "'; the nearest are ",
                            NearNames(name, NamesOf(model_.inputs)));
    }
  }
  if (!unknown.empty()) {
    return InvalidArgs("model '", model_.name, "' has no input:", unknown);
  }

  std::string missing;
  std::vector<char> needed(model_.inputs.size(), 0);
  for (int id : program_->inputs()) {
    const size_t index = program_->tensors()[id].input_index;
    const ValueInfo &info = model_.inputs[index];
    needed[index] = 1;
    inputs_.push_back({&info, id});
    const bool named = std::any_of(
        input_nodes.begin(), input_nodes.end(),
        [&info](const std::string &name) { return Means(info, name); });
    if (!named && !input_nodes.empty()) missing += " '" + info.name + "'";
  }
  if (!missing.empty()) {
    return InvalidArgs("the wanted outputs of model '", model_.name,
                       "' need input(s) that were not named:", missing);
  }
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) continue;
    unneeded_inputs_.push_back(model_.inputs[i].name);
    if (!model_.inputs[i].alias.empty()) {
      unneeded_inputs_.push_back(model_.inputs[i].alias);
    }
  }
  return MaceStatus::MACE_SUCCESS;
}

void MaceEngine::Impl::MakeOutputPorts() {
  for (int id : program_->outputs()) {
    // A name and its alias, or one name twice, are one output.
    const bool seen =
        std::any_of(outputs_.begin(), outputs_.end(),
                    [id](const OutputPort &port) { return port.tensor == id; });
    if (seen) continue;
    OutputPort port;
    port.tensor = id;
    const std::string &name = program_->tensors()[id].tensor.name;
    for (const ValueInfo &info : model_.outputs) {
      if (info.name == name) port.info = &info;
    }
    outputs_.push_back(port);
  }
}

// Shows a model that contradicts itself when it is loaded, not when it is
// first run.
MaceStatus MaceEngine::Impl::PrepareDeclaredShapes(bool fake_warmup) {
  std::vector<UserTensor> users;
  for (const InputPort &port : inputs_) {
    UserTensor user;
    const Shape &shape = port.info->shape;
    user.shape =
        port.info->data_format == DataFormat::NCHW ? NchwToNhwc(shape) : shape;
    if (shape.rank() == 0 || shape.CheckedElements() < 0) {
      if (fake_warmup) {
        LOG(WARNING) << "nothing is prepared before the first run, as the "
                        "shape of input '"
                     << port.info->name << "' is not fixed";
      }
      return MaceStatus::MACE_SUCCESS;
    }
    users.push_back(user);
  }
  MACE_RETURN_IF_ERROR(ReshapeFor(users));
  if (!fake_warmup) return MaceStatus::MACE_SUCCESS;
  std::lock_guard<std::mutex> lock(arena_->mutex);
  MACE_RETURN_IF_ERROR(UpdatePlan());
  MACE_RETURN_IF_ERROR(TakeArena());
  // Makes the system hand out the pages now.
  if (arena_->memory.data() != nullptr) {
    std::memset(arena_->memory.data(), 0, arena_->memory.bytes());
  }
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace mace
