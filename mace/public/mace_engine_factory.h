// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Engines of models that are linked into the application.
//
// A deployment with `model_graph_format: code` is converted to an archive
// `<library_name>.a`, which defines these functions for the models of that
// deployment. Link it together with libmace. An application can link only one
// such archive; put several models into one deployment file.

#ifndef MACE_PUBLIC_MACE_ENGINE_FACTORY_H_
#define MACE_PUBLIC_MACE_ENGINE_FACTORY_H_

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {

// Names of the linked models: the tags of the deployment file.
MACE_API std::vector<std::string> LinkedModelNames();

// Newer form. (AP-16)
//
// `model_data`: the weights, if the deployment has `model_data_format: file`;
// used in place as by CreateMaceEngineFromProto, which also explains the
// arguments after `output_nodes`. Null with size 0 if the weights are linked
// in: they are then used where the program's loader put them, without a copy.
//
// MACE_INVALID_ARGS: no model of that name is linked in (the message lists
// those that are), or weights are missing or given twice.
MACE_API MaceStatus
CreateMaceEngineFromCode(const std::string &model_name,
                         const unsigned char *model_data,
                         size_t model_data_size,
                         const std::vector<std::string> &input_nodes,
                         const std::vector<std::string> &output_nodes,
                         const MaceEngineConfig &config,
                         std::shared_ptr<MaceEngine> *engine,
                         bool *model_data_unused = nullptr,
                         MaceEngine *tutor = nullptr,
                         bool fake_warmup = false);

// Older form. (AP-15)
//
// `model_data_file`: path of the weights; null or empty when they are linked
// in.
MACE_API MaceStatus
CreateMaceEngineFromCode(const std::string &model_name,
                         const char *model_data_file,
                         const std::vector<std::string> &input_nodes,
                         const std::vector<std::string> &output_nodes,
                         const MaceEngineConfig &config,
                         std::shared_ptr<MaceEngine> *engine);
MACE_API MaceStatus
CreateMaceEngineFromCode(const std::string &model_name,
                         const char *model_data_file,
                         const std::vector<std::string> &input_nodes,
                         const std::vector<std::string> &output_nodes,
                         DeviceType device_type,
                         std::shared_ptr<MaceEngine> *engine);
MACE_API MaceStatus
CreateMaceEngineFromCode(const std::string &model_name,
                         const std::string &model_data_file,
                         const std::vector<std::string> &input_nodes,
                         const std::vector<std::string> &output_nodes,
                         const MaceEngineConfig &config,
                         std::shared_ptr<MaceEngine> *engine);
MACE_API MaceStatus
CreateMaceEngineFromCode(const std::string &model_name,
                         const std::string &model_data_file,
                         const std::vector<std::string> &input_nodes,
                         const std::vector<std::string> &output_nodes,
                         DeviceType device_type,
                         std::shared_ptr<MaceEngine> *engine);

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_ENGINE_FACTORY_H_
