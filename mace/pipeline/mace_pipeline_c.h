/* Copyright 2026 The MACE Authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* Chains of engines (MacePipeline of mace_pipeline.h) in C.
 *
 *   mace_pipeline *pipeline = NULL;
 *   mace_pipeline_create(&pipeline);
 *   mace_pipeline_add_model(pipeline, "detect", &detector, config);
 *   mace_pipeline_add_model(pipeline, "classify", &classifier, config);
 *   mace_pipeline_connect(pipeline, "detect", "boxes", "classify", "regions",
 *                         NULL);
 *   if (mace_pipeline_run(pipeline, inputs, 1, outputs, 1) != MACE_OK) {
 *     fprintf(stderr, "%s\n", mace_pipeline_error(pipeline));
 *   }
 *
 * The library does not contain these functions. One source of the application
 * does, in C++17, which only has to say
 *
 *   #define MACE_PIPELINE_IMPLEMENTATION
 *   #include "mace/pipeline/mace_pipeline_c.h"
 *
 * Every function that can fail returns a code; mace_pipeline_error has the
 * message. No function ends the process. A pipeline may be used from any
 * thread, but by only one call at a time. */

#ifndef MACE_PIPELINE_MACE_PIPELINE_C_H_
#define MACE_PIPELINE_MACE_PIPELINE_C_H_

#include <stddef.h>
#include <stdint.h>

#include "mace/public/mace_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mace_pipeline mace_pipeline;

/* An input or output of a stage that a run did not use in place: how many bytes
 * were copied, whether it is an output, and why, as the end of a sentence. */
typedef struct mace_copy {
  const char *stage;
  const char *tensor;
  int64_t bytes;
  int is_output;
  const char *reason;
} mace_copy;

/* A pipeline without stages, for mace_pipeline_destroy; NULL if the function
 * fails. */
mace_code mace_pipeline_create(mace_pipeline **pipeline);

/* Adds the next stage; stages run in the order in which they are added. The
 * engines of one pipeline share their intermediate memory. `config` may be NULL
 * for the defaults. What `model` refers to must live as said there: `weights`
 * as long as the pipeline, all else until the function returns. Errors are
 * those of mace_engine_create, and MACE_ERROR_INVALID_ARGS if the name of the
 * stage is empty, has a '/' or is taken. */
mace_code mace_pipeline_add_model(mace_pipeline *pipeline,
                                  const char *stage,
                                  const mace_model *model,
                                  const mace_config *config);

/* As above, with an engine of its own memory. The pipeline keeps it also when
 * it is destroyed; nobody else may use it while the pipeline runs. */
mace_code mace_pipeline_add_engine(mace_pipeline *pipeline,
                                   const char *stage,
                                   mace_engine *engine);

/* Links an output of a stage to an input of a later one. With `memory`, which
 * may be NULL, the link is there: `data`, `bytes`, `type`, `format`, `memory`,
 * and as `dims` the shape. MACE_ERROR_INVALID_ARGS if there is no such stage,
 * output or input, or if the input has a link already. */
mace_code mace_pipeline_connect(mace_pipeline *pipeline,
                                const char *from,
                                const char *output,
                                const char *to,
                                const char *input,
                                const mace_tensor *memory);

/* As mace_engine_run, with the names "stage/tensor", or "tensor" where only one
 * stage has such an input that no link feeds, or such an output that no link
 * reads. */
mace_code mace_pipeline_run(mace_pipeline *pipeline,
                            const mace_tensor *inputs,
                            size_t input_count,
                            mace_tensor *outputs,
                            size_t output_count);

/* What the last run copied; 0 if everything was used in place. Valid until the
 * next call for this pipeline. */
size_t mace_pipeline_copies(const mace_pipeline *pipeline,
                            const mace_copy **copies);

/* MacePipeline::Explain. Valid until the next call for this pipeline. */
const char *mace_pipeline_explain(mace_pipeline *pipeline);

/* The message of the last function that failed for this pipeline; "" if none
 * failed. Valid until the next call for this pipeline. */
const char *mace_pipeline_error(const mace_pipeline *pipeline);

/* NULL is allowed. */
void mace_pipeline_destroy(mace_pipeline *pipeline);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MACE_PIPELINE_MACE_PIPELINE_C_H_ */

#if defined(MACE_PIPELINE_IMPLEMENTATION) && defined(__cplusplus)
#undef MACE_PIPELINE_IMPLEMENTATION

#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "mace/pipeline/mace_pipeline.h"
#include "mace/public/mace_c_handles.h"

struct mace_pipeline {
  mace::MacePipeline pipeline;
  // Weights of models that were named by path.
  std::vector<std::unique_ptr<mace::port::ReadOnlyMemoryRegion>> regions;
  std::vector<std::string> stages;
  std::vector<mace::RunMetadata> metadata;
  std::vector<mace_copy> copies;
  std::string text;
  std::string error;
};

namespace mace {
namespace internal {

inline MaceStatus NotGiven(const char *name) {
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                    "`" + std::string(name) + "` is NULL");
}

// Runs the body of a function, and keeps its message.
template <typename Function>
mace_code GuardC(mace_pipeline *pipeline, const Function &function) {
  if (pipeline == nullptr) return MACE_ERROR_INVALID_ARGS;
  const MaceStatus status = Guard(function);
  if (status == MaceStatus::MACE_SUCCESS) return MACE_OK;
  const MaceStatus kept = Guard([&] {
    pipeline->error = status.information();
    return MaceStatus();
  });
  if (!(kept == MaceStatus::MACE_SUCCESS)) pipeline->error.clear();
  return static_cast<mace_code>(status.code());
}

inline MaceStatus NamesOfC(const char *const *names,
                           size_t count,
                           std::vector<std::string> *result) {
  for (size_t i = 0; i < count; ++i) {
    if (names == nullptr || names[i] == nullptr) return NotGiven("names");
    result->emplace_back(names[i]);
  }
  return MaceStatus();
}

// A tensor over the caller's memory; `has_shape`: not only room.
inline MaceStatus TensorOfC(const mace_tensor &given,
                            bool has_shape,
                            MaceTensor *result) {
  const std::string name = given.name == nullptr ? "" : given.name;
  const auto type = static_cast<IDataType>(given.type);
  const int64_t size = ElementBytes(type);
  if (size == 0 || given.format < MACE_FORMAT_NONE ||
      given.format > MACE_FORMAT_NCHW || given.rank > MACE_MAX_RANK) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                      "tensor '" + name +
                          "' has an unknown type or format, or more than " +
                          std::to_string(MACE_MAX_RANK) + " dimensions");
  }
  std::vector<int64_t> dims;
  if (has_shape) {
    dims.assign(given.dims, given.dims + given.rank);
    const int64_t bytes = DenseBytes(dims, type);
    if (bytes < 0 || static_cast<uint64_t>(bytes) > given.bytes) {
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                        "tensor '" + name + "' has a shape that does not fit " +
                            std::to_string(given.bytes) + " bytes");
    }
  } else {
    dims.push_back(static_cast<int64_t>(given.bytes) / size);
  }
  *result = MaceTensor(dims, std::shared_ptr<void>(given.data, [](void *) {}),
                       static_cast<DataFormat>(given.format), type,
                       static_cast<MemoryType>(given.memory));
  return MaceStatus();
}

inline MaceStatus TensorsOfC(const mace_tensor *given,
                             size_t count,
                             bool have_shapes,
                             MacePipeline::Tensors *result) {
  for (size_t i = 0; i < count; ++i) {
    if (given == nullptr || given[i].name == nullptr) return NotGiven("name");
    MaceTensor tensor;
    const MaceStatus status = TensorOfC(given[i], have_shapes, &tensor);
    if (status != MaceStatus::MACE_SUCCESS) return status;
    if (!result->emplace(given[i].name, tensor).second) {
      return MaceStatus(
          MaceStatus::MACE_INVALID_ARGS,
          "tensor '" + std::string(given[i].name) + "' is given twice");
    }
  }
  return MaceStatus();
}

inline MaceStatus AddModelOfC(mace_pipeline *pipeline,
                              const std::string &stage,
                              const mace_model &model,
                              const mace_config *config) {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  MaceStatus status = NamesOfC(model.inputs, model.input_count, &inputs);
  if (status == MaceStatus::MACE_SUCCESS) {
    status = NamesOfC(model.outputs, model.output_count, &outputs);
  }
  if (status != MaceStatus::MACE_SUCCESS) return status;
  const void *weights = model.weights;
  size_t size = model.weights_size;
  std::unique_ptr<port::ReadOnlyMemoryRegion> region;
  if (model.weights_path != nullptr) {
    status = GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
        model.weights_path, &region);
    if (status != MaceStatus::MACE_SUCCESS) return status;
    weights = region->data();
    size = static_cast<size_t>(region->length());
  }
  // Room first: a stage that was added needs its weights.
  pipeline->regions.reserve(pipeline->regions.size() + 1);
  status = pipeline->pipeline.AddModel(
      stage, static_cast<const unsigned char *>(model.graph), model.graph_size,
      static_cast<const unsigned char *>(weights), size,
      config == nullptr ? MaceEngineConfig() : config->config, inputs, outputs);
  if (status == MaceStatus::MACE_SUCCESS && region != nullptr) {
    pipeline->regions.push_back(std::move(region));
  }
  return status;
}

// Runs `add`, and keeps the name of the stage that it adds.
template <typename Function>
MaceStatus AddStageOfC(mace_pipeline *pipeline,
                       const char *stage,
                       const Function &add) {
  if (stage == nullptr) return NotGiven("stage");
  pipeline->stages.emplace_back(stage);
  const MaceStatus status = add();
  if (status != MaceStatus::MACE_SUCCESS) pipeline->stages.pop_back();
  return status;
}

inline MaceStatus RunOfC(mace_pipeline *pipeline,
                         const mace_tensor *inputs,
                         size_t input_count,
                         mace_tensor *outputs,
                         size_t output_count) {
  pipeline->copies.clear();
  MacePipeline::Tensors in;
  MacePipeline::Tensors out;
  MaceStatus status = TensorsOfC(inputs, input_count, true, &in);
  if (status == MaceStatus::MACE_SUCCESS) {
    status = TensorsOfC(outputs, output_count, false, &out);
  }
  if (status != MaceStatus::MACE_SUCCESS) return status;
  status = pipeline->pipeline.Run(in, &out, &pipeline->metadata);
  for (size_t i = 0; i < output_count; ++i) {
    const std::vector<int64_t> &shape = out[outputs[i].name].shape();
    outputs[i].rank = shape.size();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      outputs[i].dims[axis] = shape[axis];
    }
  }
  if (status != MaceStatus::MACE_SUCCESS) return status;
  for (size_t s = 0; s < pipeline->metadata.size(); ++s) {
    for (const TensorCopy &copy : pipeline->metadata[s].border_copies) {
      pipeline->copies.push_back(
          {pipeline->stages[s].c_str(), copy.tensor.c_str(), copy.bytes,
           copy.is_output ? 1 : 0, CopyReasonText(copy.reason)});
    }
  }
  return MaceStatus();
}

}  // namespace internal
}  // namespace mace

mace_code mace_pipeline_create(mace_pipeline **pipeline) {
  if (pipeline == nullptr) return MACE_ERROR_INVALID_ARGS;
  *pipeline = nullptr;
  const mace::MaceStatus status = mace::internal::Guard([pipeline] {
    *pipeline = new mace_pipeline();
    return mace::MaceStatus();
  });
  return static_cast<mace_code>(status.code());
}

mace_code mace_pipeline_add_model(mace_pipeline *pipeline,
                                  const char *stage,
                                  const mace_model *model,
                                  const mace_config *config) {
  return mace::internal::GuardC(pipeline, [&]() -> mace::MaceStatus {
    if (model == nullptr) return mace::internal::NotGiven("model");
    return mace::internal::AddStageOfC(pipeline, stage, [&] {
      return mace::internal::AddModelOfC(pipeline, stage, *model, config);
    });
  });
}

mace_code mace_pipeline_add_engine(mace_pipeline *pipeline,
                                   const char *stage,
                                   mace_engine *engine) {
  return mace::internal::GuardC(pipeline, [&]() -> mace::MaceStatus {
    if (engine == nullptr) return mace::internal::NotGiven("engine");
    return mace::internal::AddStageOfC(pipeline, stage, [&] {
      return pipeline->pipeline.AddEngine(stage, engine->engine);
    });
  });
}

mace_code mace_pipeline_connect(mace_pipeline *pipeline,
                                const char *from,
                                const char *output,
                                const char *to,
                                const char *input,
                                const mace_tensor *memory) {
  return mace::internal::GuardC(pipeline, [&]() -> mace::MaceStatus {
    for (const char *name : {from, output, to, input}) {
      if (name == nullptr) return mace::internal::NotGiven("name");
    }
    mace::MaceTensor link;
    if (memory != nullptr) {
      const mace::MaceStatus status =
          mace::internal::TensorOfC(*memory, true, &link);
      if (status != mace::MaceStatus::MACE_SUCCESS) return status;
    }
    return pipeline->pipeline.Connect(from, output, to, input,
                                      memory == nullptr ? nullptr : &link);
  });
}

mace_code mace_pipeline_run(mace_pipeline *pipeline,
                            const mace_tensor *inputs,
                            size_t input_count,
                            mace_tensor *outputs,
                            size_t output_count) {
  return mace::internal::GuardC(pipeline, [&] {
    return mace::internal::RunOfC(pipeline, inputs, input_count, outputs,
                                  output_count);
  });
}

size_t mace_pipeline_copies(const mace_pipeline *pipeline,
                            const mace_copy **copies) {
  if (pipeline == nullptr) return 0;
  if (copies != nullptr) *copies = pipeline->copies.data();
  return pipeline->copies.size();
}

const char *mace_pipeline_explain(mace_pipeline *pipeline) {
  if (pipeline == nullptr) return "";
  pipeline->text = pipeline->pipeline.Explain();
  return pipeline->text.c_str();
}

const char *mace_pipeline_error(const mace_pipeline *pipeline) {
  return pipeline == nullptr ? "`pipeline` is NULL" : pipeline->error.c_str();
}

void mace_pipeline_destroy(mace_pipeline *pipeline) { delete pipeline; }

#endif  // MACE_PIPELINE_IMPLEMENTATION
