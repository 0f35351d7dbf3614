// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/public/mace_engine_factory.h"

#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "mace/embedding/linked_models.h"

namespace mace {
namespace {

using embedding::GetLinkedModels;
using embedding::LinkedModel;
using embedding::LinkedModels;

MaceStatus Invalid(const std::string &message) {
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
}

// Finds a model; null with a message in `status` if there is none.
const LinkedModel *FindModel(const std::string &name,
                             bool weights_given,
                             MaceStatus *status) {
  const LinkedModels linked = GetLinkedModels();
  for (size_t i = 0; i < linked.count; ++i) {
    const LinkedModel &model = linked.models[i];
    if (name != model.name) continue;
    const bool weights_linked = model.weights.begin != nullptr;
    if (weights_linked == weights_given) {
      *status = Invalid(weights_linked
                            ? name + ": its weights are linked in; pass none"
                            : name +
                                  ": its weights are not linked in; pass "
                                  "them (" +
                                  name + ".data)");
      return nullptr;
    }
    return &model;
  }
  std::string names;
  for (size_t i = 0; i < linked.count; ++i) {
    names += (i == 0 ? "" : ", ") + std::string(linked.models[i].name);
  }
  *status =
      Invalid("no model '" + name + "' is linked in; there are: " + names);
  return nullptr;
}

// No exception may reach the application.
template <typename Function>
MaceStatus Guarded(const Function &function) {
  try {
    return function();
  } catch (const std::exception &) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
  }
}

}  // namespace

std::vector<std::string> LinkedModelNames() {
  const LinkedModels linked = GetLinkedModels();
  std::vector<std::string> names;
  for (size_t i = 0; i < linked.count; ++i) {
    names.emplace_back(linked.models[i].name);
  }
  return names;
}

MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const unsigned char *model_data,
    size_t model_data_size,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine,
    bool *model_data_unused,
    MaceEngine *tutor,
    bool fake_warmup) {
  return Guarded([&] {
    const bool given = model_data != nullptr && model_data_size > 0;
    MaceStatus status;
    const LinkedModel *model = FindModel(model_name, given, &status);
    if (model == nullptr) return status;
    const unsigned char *weights = given ? model_data : model->weights.begin;
    const size_t size = given ? model_data_size : model->weights.size();
    return CreateMaceEngineFromProto(
        model->graph.begin, model->graph.size(), weights, size, input_nodes,
        output_nodes, config, engine, model_data_unused, tutor, fake_warmup);
  });
}

MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const char *model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine) {
  return Guarded([&] {
    const std::string file = model_data_file == nullptr ? "" : model_data_file;
    if (file.empty()) {
      return CreateMaceEngineFromCode(model_name, nullptr, 0, input_nodes,
                                      output_nodes, config, engine);
    }
    MaceStatus status;
    const LinkedModel *model = FindModel(model_name, true, &status);
    if (model == nullptr) return status;
    const std::vector<unsigned char> graph(model->graph.begin,
                                           model->graph.end);
    return CreateMaceEngineFromProto(graph, file, input_nodes, output_nodes,
                                     config, engine);
  });
}

MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const char *model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    DeviceType device_type,
    std::shared_ptr<MaceEngine> *engine) {
  return Guarded([&] {
    return CreateMaceEngineFromCode(model_name, model_data_file, input_nodes,
                                    output_nodes, MaceEngineConfig(device_type),
                                    engine);
  });
}

MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const std::string &model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine) {
  return CreateMaceEngineFromCode(model_name, model_data_file.c_str(),
                                  input_nodes, output_nodes, config, engine);
}

MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const std::string &model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    DeviceType device_type,
    std::shared_ptr<MaceEngine> *engine) {
  return CreateMaceEngineFromCode(model_name, model_data_file.c_str(),
                                  input_nodes, output_nodes, device_type,
                                  engine);
}

}  // namespace mace
