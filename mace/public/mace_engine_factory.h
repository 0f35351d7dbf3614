// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Engines of models that are linked into the application.
//
// A deployment with `model_graph_format: code` is converted to an archive
// `<library_name>.a` with the bytes of its models, and a header
// `mace/public/<model>.h` for each. Include the headers of the models that the
// program uses, in any of its sources, and link the archives and libmace. A
// program may have models of several deployments.
//
// The functions are compiled as a part of the application. A shared library
// has its own models: it does not see those of the program that loads it, nor
// the program those of the library.

#ifndef MACE_PUBLIC_MACE_ENGINE_FACTORY_H_
#define MACE_PUBLIC_MACE_ENGINE_FACTORY_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

// Not shared between a program and the libraries that it loads.
#define MACE_OF_THIS_MODULE __attribute__((visibility("hidden")))

namespace mace {

// What generated headers and the functions below need; not for applications.
namespace embedding {

// Bytes of the program; `begin` is null if there are none.
struct Bytes {
  const unsigned char *begin = nullptr;
  const unsigned char *end = nullptr;

  size_t size() const { return static_cast<size_t>(end - begin); }
};

class LinkedModel;

// The head of the list of all models.
MACE_OF_THIS_MODULE inline std::atomic<const LinkedModel *> &NewestModel() {
  static std::atomic<const LinkedModel *> newest{nullptr};
  return newest;
}

// A model, which is in the list from its construction on, for ever.
class MACE_OF_THIS_MODULE LinkedModel {
 public:
  LinkedModel(const char *its_name,
              const Bytes &its_graph,
              const Bytes &its_weights)
      : name(its_name), graph(its_graph), weights(its_weights) {
    next = NewestModel().load();
    while (!NewestModel().compare_exchange_weak(next, this)) {
    }
  }
  LinkedModel(const LinkedModel &) = delete;
  LinkedModel &operator=(const LinkedModel &) = delete;

  const char *const name;
  const Bytes graph;
  // None if the application brings them; else at a multiple of 64.
  const Bytes weights;
  const LinkedModel *next = nullptr;
};

}  // namespace embedding

// Names of the linked models, which are those of the deployment files, in
// alphabetical order.
MACE_OF_THIS_MODULE inline std::vector<std::string> LinkedModelNames() {
  std::vector<std::string> names;
  for (const embedding::LinkedModel *model = embedding::NewestModel().load();
       model != nullptr; model = model->next) {
    names.emplace_back(model->name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

namespace embedding {

inline MaceStatus InvalidModel(const std::string &message) {
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
}

inline std::string NotLinked(const std::string &name) {
  const std::vector<std::string> names = LinkedModelNames();
  if (names.empty()) {
    return "no model is linked in: include mace/public/<model>.h of each model "
           "in a source of this program or library";
  }
  std::string list;
  for (const std::string &item : names) {
    list += (list.empty() ? "" : ", ") + item;
  }
  return "no model '" + name + "' is linked in; there are: " + list;
}

// Finds a model; null with a message in `status` if there is none.
MACE_OF_THIS_MODULE inline const LinkedModel *FindModel(const std::string &name,
                                                        bool weights_given,
                                                        MaceStatus *status) {
  const LinkedModel *found = nullptr;
  for (const LinkedModel *model = NewestModel().load(); model != nullptr;
       model = model->next) {
    if (name != model->name) continue;
    if (found != nullptr) {
      *status = InvalidModel("two linked libraries have a model '" + name +
                             "'; rename one of them");
      return nullptr;
    }
    found = model;
  }
  if (found == nullptr) {
    *status = InvalidModel(NotLinked(name));
    return nullptr;
  }
  const bool weights_linked = found->weights.begin != nullptr;
  if (weights_linked == weights_given) {
    *status = InvalidModel(
        name + (weights_linked
                    ? ": its weights are linked in; pass none"
                    : ": its weights are not linked in; pass them (" + name +
                          ".data)"));
    return nullptr;
  }
  return found;
}

// Calls a function, whose exceptions do not reach the application.
template <typename Function>
MaceStatus Guarded(const Function &function) {
#if defined(__cpp_exceptions)
  try {
    return function();
  } catch (const std::exception &) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES);
  }
#else
  return function();
#endif
}

}  // namespace embedding

// Newer form. (AP-16)
//
// `model_data`: the weights, if the deployment has `model_data_format: file`;
// used in place as by CreateMaceEngineFromProto, which also explains the
// arguments after `output_nodes`. Null with size 0 if the weights are linked
// in: they are then used where the program's loader put them, without a copy.
//
// MACE_INVALID_ARGS: no model of that name is linked in (the message lists
// those that are), or weights are missing or given twice.
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const unsigned char *model_data,
    size_t model_data_size,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine,
    bool *model_data_unused = nullptr,
    MaceEngine *tutor = nullptr,
    bool fake_warmup = false) {
  return embedding::Guarded([&] {
    const bool given = model_data != nullptr && model_data_size > 0;
    MaceStatus status;
    const embedding::LinkedModel *model =
        embedding::FindModel(model_name, given, &status);
    if (model == nullptr) return status;
    const unsigned char *weights = given ? model_data : model->weights.begin;
    const size_t size = given ? model_data_size : model->weights.size();
    return CreateMaceEngineFromProto(
        model->graph.begin, model->graph.size(), weights, size, input_nodes,
        output_nodes, config, engine, model_data_unused, tutor, fake_warmup);
  });
}

// Older form. (AP-15)
//
// `model_data_file`: path of the weights; null or empty when they are linked
// in.
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const char *model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine) {
  return embedding::Guarded([&] {
    const std::string file = model_data_file == nullptr ? "" : model_data_file;
    if (file.empty()) {
      return CreateMaceEngineFromCode(model_name, nullptr, 0, input_nodes,
                                      output_nodes, config, engine);
    }
    MaceStatus status;
    const embedding::LinkedModel *model =
        embedding::FindModel(model_name, true, &status);
    if (model == nullptr) return status;
    const std::vector<unsigned char> graph(model->graph.begin,
                                           model->graph.end);
    return CreateMaceEngineFromProto(graph, file, input_nodes, output_nodes,
                                     config, engine);
  });
}
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const char *model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    DeviceType device_type,
    std::shared_ptr<MaceEngine> *engine) {
  return embedding::Guarded([&] {
    return CreateMaceEngineFromCode(model_name, model_data_file, input_nodes,
                                    output_nodes, MaceEngineConfig(device_type),
                                    engine);
  });
}
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const std::string &model_data_file,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    const MaceEngineConfig &config,
    std::shared_ptr<MaceEngine> *engine) {
  return CreateMaceEngineFromCode(model_name, model_data_file.c_str(),
                                  input_nodes, output_nodes, config, engine);
}
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
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

// As in the documentation of 1.0. (AP-16)
MACE_OF_THIS_MODULE inline MaceStatus CreateMaceEngineFromCode(
    const std::string &model_name,
    const unsigned char *model_data,
    size_t model_data_size,
    const std::vector<std::string> &input_nodes,
    const std::vector<std::string> &output_nodes,
    DeviceType device_type,
    std::shared_ptr<MaceEngine> *engine) {
  return embedding::Guarded([&] {
    return CreateMaceEngineFromCode(model_name, model_data, model_data_size,
                                    input_nodes, output_nodes,
                                    MaceEngineConfig(device_type), engine);
  });
}

}  // namespace mace

#undef MACE_OF_THIS_MODULE

// Headers of models.

#endif  // MACE_PUBLIC_MACE_ENGINE_FACTORY_H_
