// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/public/mace_c.h"

#include <algorithm>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "mace/core/base/c_error.h"
#include "mace/core/base/shape.h"
#include "mace/core/base/status.h"
#include "mace/core/model/model.h"
#include "mace/public/mace.h"
#include "mace/public/mace_c_handles.h"

namespace mace {
namespace {

MaceStatus Names(const char *const *names,
                 size_t count,
                 std::vector<std::string> *result) {
  for (size_t i = 0; i < count; ++i) {
    if (names == nullptr || names[i] == nullptr) {
      return InvalidArgs("name ", i, " of ", count, " is NULL");
    }
    result->emplace_back(names[i]);
  }
  return MaceStatus::MACE_SUCCESS;
}

size_t ElementSize(mace_type type) {
  switch (type) {
    case MACE_TYPE_FLOAT:
    case MACE_TYPE_INT32:
      return 4;
    case MACE_TYPE_FLOAT16:
    case MACE_TYPE_BFLOAT16:
    case MACE_TYPE_INT16:
      return 2;
    case MACE_TYPE_UINT8:
    case MACE_TYPE_INT8:
    case MACE_TYPE_BOOL:
      return 1;
    default:
      return 0;
  }
}

// Adds a tensor over the caller's memory. An output's room is given as a flat
// shape, since its dims are not known before the run.
MaceStatus AddTensor(const char *kind,
                     const mace_tensor &tensor,
                     bool is_output,
                     std::map<std::string, MaceTensor> *tensors) {
  if (tensor.name == nullptr) return InvalidArgs("an ", kind, " has no name");
  const size_t element_size = ElementSize(tensor.type);
  if (element_size == 0) {
    return InvalidArgs(kind, " '", tensor.name, "' has the unknown type ",
                       static_cast<int>(tensor.type));
  }
  if (tensor.format < MACE_FORMAT_NONE || tensor.format > MACE_FORMAT_NCHW) {
    return InvalidArgs(kind, " '", tensor.name, "' has the unknown format ",
                       static_cast<int>(tensor.format));
  }
  std::vector<int64_t> dims;
  if (is_output) {
    dims.push_back(static_cast<int64_t>(tensor.bytes / element_size));
  } else {
    if (tensor.rank > MACE_MAX_RANK) {
      return InvalidArgs(kind, " '", tensor.name, "' has ", tensor.rank,
                         " dimensions; at most ", MACE_MAX_RANK,
                         " are possible");
    }
    const Shape shape(tensor.dims, tensor.rank);
    const int64_t elements = shape.CheckedElements();
    if (elements < 0 ||
        static_cast<uint64_t>(elements) > tensor.bytes / element_size) {
      return InvalidArgs(kind, " '", tensor.name, "' has the shape ",
                         shape.ToString(), ", which does not fit its ",
                         tensor.bytes, " bytes");
    }
    dims.assign(shape.begin(), shape.end());
  }
  // The caller owns the memory.
  const std::shared_ptr<void> data(tensor.data, [](void *) {});
  const bool added =
      tensors
          ->emplace(
              tensor.name,
              MaceTensor(dims, data, static_cast<DataFormat>(tensor.format),
                         static_cast<IDataType>(tensor.type),
                         static_cast<MemoryType>(tensor.memory)))
          .second;
  if (!added) {
    return InvalidArgs(kind, " '", tensor.name, "' is given twice");
  }
  return MaceStatus::MACE_SUCCESS;
}

MaceStatus CreateEngine(const mace_model &model,
                        const MaceEngineConfig &config,
                        std::shared_ptr<MaceEngine> *engine) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  MACE_RETURN_IF_ERROR(Names(model.inputs, model.input_count, &inputs));
  MACE_RETURN_IF_ERROR(Names(model.outputs, model.output_count, &outputs));
  const auto *graph = static_cast<const unsigned char *>(model.graph);
  if (graph == nullptr && model.graph_size > 0) {
    return InvalidArgs("the graph is NULL");
  }
  MACE_RETURN_IF_ERROR(CheckModelSize(model.graph_size));
  if (model.weights_path != nullptr) {
    return CreateMaceEngineFromProto(
        std::vector<unsigned char>(graph, graph + model.graph_size),
        model.weights_path, inputs, outputs, config, engine);
  }
  return CreateMaceEngineFromProto(
      graph, model.graph_size,
      static_cast<const unsigned char *>(model.weights), model.weights_size,
      inputs, outputs, config, engine);
}

MaceStatus RunEngine(MaceEngine *engine,
                     const mace_tensor *inputs,
                     size_t input_count,
                     mace_tensor *outputs,
                     size_t output_count,
                     RunMetadata *metadata) {
  std::map<std::string, MaceTensor> in;
  std::map<std::string, MaceTensor> out;
  for (size_t i = 0; i < input_count; ++i) {
    MACE_RETURN_IF_ERROR(AddTensor("input", inputs[i], false, &in));
  }
  for (size_t i = 0; i < output_count; ++i) {
    MACE_RETURN_IF_ERROR(AddTensor("output", outputs[i], true, &out));
  }
  const MaceStatus status = engine->Run(in, &out, metadata);
  for (size_t i = 0; i < output_count; ++i) {
    const std::vector<int64_t> &shape = out[outputs[i].name].shape();
    outputs[i].rank = shape.size();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      outputs[i].dims[axis] = shape[axis];
    }
  }
  return status;
}

// Asks an engine for its inputs or outputs.
struct CPortVisitor : PortVisitor {
  mace_port_visitor visit_port;
  void *user;
};

void VisitPort(const PortVisitor &visitor, const PortDescription &found) {
  constexpr mace_type kTypes[] = {0,
                                  MACE_TYPE_FLOAT,
                                  MACE_TYPE_FLOAT16,
                                  MACE_TYPE_BFLOAT16,
                                  MACE_TYPE_INT32,
                                  MACE_TYPE_INT8,
                                  MACE_TYPE_UINT8,
                                  MACE_TYPE_BOOL,
                                  MACE_TYPE_INT16};
  mace_port port = {};
  port.name = found.name;
  port.alias = found.alias;
  if (found.data_type >= 0 &&
      found.data_type < static_cast<int>(sizeof(kTypes) / sizeof(*kTypes))) {
    port.type = kTypes[found.data_type];
  }
  port.format = static_cast<mace_format>(found.data_format);
  port.rank = found.rank;
  const bool is_nchw = !visitor.of_inputs && found.rank == 4 &&
                       found.data_format == DataFormat::NCHW;
  for (size_t axis = 0; axis < found.rank; ++axis) {
    constexpr size_t kOfNchw[] = {0, 3, 1, 2};
    port.dims[axis] = found.dims[is_nchw ? kOfNchw[axis] : axis];
  }
  const auto &c_visitor = static_cast<const CPortVisitor &>(visitor);
  c_visitor.visit_port(&port, c_visitor.user);
}

// `inputs` is NULL: the inputs; else, the outputs for these inputs.
MaceStatus VisitPorts(MaceEngine *engine,
                      const mace_tensor *inputs,
                      size_t input_count,
                      mace_port_visitor visit,
                      void *user) {
  if (visit == nullptr) return IsNull("visit");
  std::map<std::string, MaceTensor> shapes;
  for (size_t i = 0; i < input_count; ++i) {
    static char no_element = 0;
    mace_tensor tensor = inputs[i];
    tensor.data = &no_element;
    tensor.bytes = std::numeric_limits<size_t>::max();
    MACE_RETURN_IF_ERROR(AddTensor("input", tensor, false, &shapes));
  }
  CPortVisitor visitor;
  visitor.of_inputs = inputs == nullptr;
  visitor.visit = &VisitPort;
  visitor.found = nullptr;
  visitor.visit_port = visit;
  visitor.user = user;
  RunMetadata question;
  question.port_visitor = &visitor;
  return engine->Run(shapes, nullptr, &question);
}

void VisitOperators(const MaceEngine &engine,
                    void (*visit)(const mace_operator *op, void *user),
                    void *user) {
  const EnginePlacement placement = engine.GetPlacement();
  for (const OperatorPlacement &found : placement.operators) {
    const mace_operator op = {
        found.operator_name.c_str(), found.type.c_str(),
        found.subgraph.c_str(),      static_cast<mace_device>(found.device),
        found.kernel.c_str(),        found.output.c_str(),
        found.remark.c_str(),        found.estimated_nanos,
        found.measured_nanos};
    visit(&op, user);
  }
}

}  // namespace
}  // namespace mace

static_assert(MACE_MAX_RANK == mace::Shape::kMaxRank, "one limit for both");
static_assert(MACE_MEMORY_GPU_BUFFER == mace::GPU_BUFFER &&
                  MACE_MEMORY_GPU_IMAGE == mace::GPU_IMAGE &&
                  MACE_MEMORY_GPU_HARDWARE_BUFFER == mace::GPU_HARDWARE_BUFFER,
              "the same numbers");

const char *mace_version(void) { return mace::MaceVersion(); }

const char *mace_last_error(void) { return mace::LastErrorOfC().c_str(); }

mace_code mace_config_create(mace_config **config) {
  return mace::GuardWith(config, "config", [config]() -> mace::MaceStatus {
    *config = new mace_config();
    return mace::MaceStatus::MACE_SUCCESS;
  });
}

mace_code mace_config_set_device(mace_config *config, mace_device device) {
  return mace_config_set_devices(config, &device, 1);
}

mace_code mace_config_set_devices(mace_config *config,
                                  const mace_device *devices,
                                  size_t count) {
  return mace::GuardWith(config, "config", [=]() -> mace::MaceStatus {
    if (devices == nullptr) return mace::IsNull("devices");
    std::vector<mace::RuntimeType> types;
    for (size_t i = 0; i < count; ++i) {
      types.push_back(static_cast<mace::RuntimeType>(devices[i]));
    }
    return config->config.SetRuntimeTypes(types);
  });
}

mace_code mace_config_set_cpu_threads(mace_config *config,
                                      int num_threads,
                                      mace_affinity policy) {
  return mace::GuardWith(
      config, "config", [config, num_threads, policy]() -> mace::MaceStatus {
        return config->config.SetCPUThreadPolicy(
            num_threads, static_cast<mace::CPUAffinityPolicy>(policy));
      });
}

namespace {

// Sets what is on or off.
mace_code SetFlag(mace_config *config,
                  mace::MaceStatus (mace::MaceEngineConfig::*set)(bool),
                  int enabled) {
  return mace::GuardWith(config, "config", [=]() -> mace::MaceStatus {
    return (config->config.*set)(enabled != 0);
  });
}

// Calls a function of an engine without arguments.
mace_code Call(mace_engine *engine,
               mace::MaceStatus (mace::MaceEngine::*function)()) {
  return mace::GuardWith(engine, "engine", [=]() -> mace::MaceStatus {
    return (engine->engine.get()->*function)();
  });
}

}  // namespace

mace_code mace_config_set_out_of_range_check(mace_config *config, int enabled) {
  return SetFlag(config, &mace::MaceEngineConfig::SetOutOfRangeCheck, enabled);
}

mace_code mace_config_set_weights_check(mace_config *config, int enabled) {
  return SetFlag(config, &mace::MaceEngineConfig::SetWeightsCheck, enabled);
}

mace_code mace_config_set_memory_limit(mace_config *config, size_t bytes) {
  return mace::GuardWith(config, "config", [=]() -> mace::MaceStatus {
    return config->config.SetMemoryLimit(bytes);
  });
}

void mace_config_destroy(mace_config *config) { delete config; }

mace_code mace_engine_create(const mace_model *model,
                             const mace_config *config,
                             mace_engine **engine) {
  return mace::Guard([model, config, engine]() -> mace::MaceStatus {
    if (model == nullptr || engine == nullptr) {
      return mace::InvalidArgs("`model` or `engine` is NULL");
    }
    auto made = std::make_unique<mace_engine>();
    MACE_RETURN_IF_ERROR(mace::CreateEngine(
        *model, config == nullptr ? mace::MaceEngineConfig() : config->config,
        &made->engine));
    *engine = made.release();
    return mace::MaceStatus::MACE_SUCCESS;
  });
}

namespace {

mace_code Run(mace_engine *engine,
              const mace_tensor *inputs,
              size_t input_count,
              mace_tensor *outputs,
              size_t output_count,
              mace::RunMetadata *metadata) {
  return mace::GuardWith(engine, "engine", [=]() -> mace::MaceStatus {
    if ((inputs == nullptr && input_count > 0) ||
        (outputs == nullptr && output_count > 0)) {
      return mace::InvalidArgs("`inputs` or `outputs` is NULL");
    }
    return mace::RunEngine(engine->engine.get(), inputs, input_count, outputs,
                           output_count, metadata);
  });
}

}  // namespace

mace_code mace_engine_run(mace_engine *engine,
                          const mace_tensor *inputs,
                          size_t input_count,
                          mace_tensor *outputs,
                          size_t output_count) {
  return Run(engine, inputs, input_count, outputs, output_count, nullptr);
}

mace_code mace_engine_run_timed(mace_engine *engine,
                                const mace_tensor *inputs,
                                size_t input_count,
                                mace_tensor *outputs,
                                size_t output_count) {
  mace::RunMetadata metadata;
  return Run(engine, inputs, input_count, outputs, output_count, &metadata);
}

mace_code mace_engine_visit_inputs(mace_engine *engine,
                                   mace_port_visitor visit,
                                   void *user) {
  return mace_engine_visit_outputs(engine, nullptr, 0, visit, user);
}

mace_code mace_engine_visit_outputs(mace_engine *engine,
                                    const mace_tensor *inputs,
                                    size_t input_count,
                                    mace_port_visitor visit,
                                    void *user) {
  return mace::GuardWith(engine, "engine", [=]() -> mace::MaceStatus {
    return mace::VisitPorts(engine->engine.get(), inputs, input_count, visit,
                            user);
  });
}

namespace {

// Tells the caller something of an engine: tell(engine, wanted, user), where
// `wanted` must not be NULL.
template <typename Wanted>
mace_code Tell(mace_engine *engine,
               Wanted *wanted,
               const char *name,
               void (*tell)(const mace::MaceEngine &, Wanted *, void *),
               void *user) {
  return mace::GuardWith(engine, "engine", [=]() -> mace::MaceStatus {
    if (wanted == nullptr) return mace::IsNull(name);
    tell(*engine->engine, wanted, user);
    return mace::MaceStatus::MACE_SUCCESS;
  });
}

using TextWriter = void(const char *text, void *user);

}  // namespace

mace_code mace_engine_visit_operators(mace_engine *engine,
                                      mace_operator_visitor visit,
                                      void *user) {
  return Tell(engine, visit, "visit", &mace::VisitOperators, user);
}

mace_code mace_engine_explain(mace_engine *engine,
                              void (*write)(const char *text, void *user),
                              void *user) {
  return Tell<TextWriter>(
      engine, write, "write",
      [](const mace::MaceEngine &from, TextWriter *to, void *context) {
        to(from.Explain().c_str(), context);
      },
      user);
}

mace_code mace_engine_get_stats(mace_engine *engine, mace_engine_stats *stats) {
  return mace::GuardWith(engine, "engine", [=]() -> mace::MaceStatus {
    if (stats == nullptr) return mace::IsNull("stats");
    const mace::EngineStats found = engine->engine->GetStats();
    *stats = {found.arena_bytes,    found.tensor_bytes, found.constant_bytes,
              found.prepared_bytes, found.state_bytes,  found.operator_count};
    return mace::MaceStatus::MACE_SUCCESS;
  });
}

mace_code mace_engine_release_intermediate_buffer(mace_engine *engine) {
  return Call(engine, &mace::MaceEngine::ReleaseIntermediateBuffer);
}

mace_code mace_engine_reset_states(mace_engine *engine) {
  return Call(engine, &mace::MaceEngine::ResetStates);
}

void mace_engine_destroy(mace_engine *engine) { delete engine; }
