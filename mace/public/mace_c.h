/* Copyright 2026 The MACE Authors */
/* SPDX-License-Identifier: Apache-2.0 */

/* The C interface of MACE: the same engine for languages that can't include
 * C++, with an ABI that does not depend on a C++ library.
 *
 *   mace_engine *engine = NULL;
 *   mace_model model = {0};
 *   model.graph = graph;      model.graph_size = graph_size;
 *   model.weights = weights;  model.weights_size = weights_size;
 *   if (mace_engine_create(&model, NULL, &engine) != MACE_OK) {
 *     fprintf(stderr, "%s\n", mace_last_error());
 *   }
 *
 * Every function that can fail returns a code and stores a message for the
 * calling thread (mace_last_error). No function ends the process. An engine
 * may be used from any thread, but by only one call at a time, including
 * mace_engine_destroy. What mace.h says about fork() and mapped files also
 * holds here.
 *
 * The enumerations are plain int in the ABI; an undefined value is an error,
 * not undefined behaviour. */

#ifndef MACE_PUBLIC_MACE_C_H_
#define MACE_PUBLIC_MACE_C_H_

#include <stddef.h>
#include <stdint.h>

#ifndef MACE_API
#define MACE_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Numbers as in MaceStatus::Code. */
typedef int mace_code;
enum {
  MACE_OK = 0,
  MACE_ERROR_INVALID_ARGS = 1,
  MACE_ERROR_OUT_OF_RESOURCES = 2,
  MACE_ERROR_UNSUPPORTED = 3,
  MACE_ERROR_RUNTIME = 4
};

/* Numbers as in DeviceType. */
typedef int mace_device;
enum {
  MACE_DEVICE_CPU = 0,
  MACE_DEVICE_GPU = 2,
  MACE_DEVICE_HEXAGON = 3,
  MACE_DEVICE_HTA = 4,
  MACE_DEVICE_APU = 5
};

/* Numbers as in CPUAffinityPolicy. */
typedef int mace_affinity;
enum {
  MACE_AFFINITY_NONE = 0,
  MACE_AFFINITY_BIG_ONLY = 1,
  MACE_AFFINITY_LITTLE_ONLY = 2,
  MACE_AFFINITY_HIGH_PERFORMANCE = 3,
  MACE_AFFINITY_POWER_SAVE = 4
};

/* Numbers as in DataFormat. */
typedef int mace_format;
enum { MACE_FORMAT_NONE = 0, MACE_FORMAT_NHWC = 1, MACE_FORMAT_NCHW = 2 };

/* Numbers as in IDataType. */
typedef int mace_type;
enum {
  MACE_TYPE_FLOAT = 1,
  MACE_TYPE_UINT8 = 2,
  MACE_TYPE_INT32 = 4,
  MACE_TYPE_FLOAT16 = 5,
  MACE_TYPE_BFLOAT16 = 6,
  MACE_TYPE_INT8 = 7,
  MACE_TYPE_BOOL = 8,
  MACE_TYPE_INT16 = 9
};

/* Numbers as in MemoryType. */
typedef int mace_memory;
enum {
  MACE_MEMORY_CPU_BUFFER = 0,
  MACE_MEMORY_GPU_BUFFER = 1,
  MACE_MEMORY_GPU_IMAGE = 2,
  MACE_MEMORY_GPU_HARDWARE_BUFFER = 3
};

/* The most dimensions that a tensor can have. */
#define MACE_MAX_RANK 8

/* A loaded model, and the settings with which one is created. */

typedef struct mace_engine mace_engine;
typedef struct mace_config mace_config;

/* A model in memory. `weights` is used in place, must outlive the engine and
 * should start at a multiple of 64 (it is copied otherwise). If weights_path
 * is not NULL, that regular file is mapped instead; it must not be shortened
 * while the engine lives. The names choose inputs and outputs; a count of 0
 * means all inputs or outputs of the model. Set unused members to zero. */
typedef struct mace_model {
  const void *graph;
  size_t graph_size;
  const void *weights;
  size_t weights_size;
  const char *weights_path;
  const char *const *inputs;
  size_t input_count;
  const char *const *outputs;
  size_t output_count;
} mace_model;

/* One input or output of a run. `data` holds `bytes` bytes, dense and
 * row-major; the caller owns it. For an output, `bytes` is the size of the
 * buffer, and mace_engine_run sets `rank` and `dims`. If a buffer is too small,
 * nothing is computed, and they are the shape that does not fit into it: with
 * `bytes` 0, a run only asks for the shape of the first such output. In GPU
 * memory, `data` is the cl_mem or the AHardwareBuffer, which the engine keeps
 * after the run (see MaceTensor), and `bytes` the size of its elements in a
 * dense buffer, of an image, too. Set unused members to zero. */
typedef struct mace_tensor {
  const char *name;
  void *data;
  size_t bytes;
  mace_type type;
  mace_format format;
  size_t rank;
  int64_t dims[MACE_MAX_RANK];
  mace_memory memory;
} mace_tensor;

/* What an engine says of itself is handed to functions of the application, one
 * item a call, with the pointer `user` that the application gave. The item and
 * its texts last until the call returns; a call must not use the engine. */

/* An input or output of a model. */
typedef struct mace_port {
  const char *name;
  const char *alias; /* another name; "" if there is none */
  mace_type type;
  mace_format format;
  size_t rank;
  int64_t dims[MACE_MAX_RANK]; /* -1: each run decides */
} mace_port;
typedef void (*mace_port_visitor)(const mace_port *port, void *user);

/* Where an operator runs, and how long it took: OperatorPlacement. */
typedef struct mace_operator {
  const char *name;
  const char *type;     /* "Conv2D" */
  const char *subgraph; /* "" if the model has one only */
  mace_device device;
  const char *kernel;      /* "" if the device has no choice */
  const char *output;      /* types and shapes; "" before shapes are known */
  const char *remark;      /* what else the device says; often "" */
  int64_t estimated_nanos; /* 0 if the model leaves shapes open */
  int64_t measured_nanos;  /* in the last mace_engine_run_timed; -1: none */
} mace_operator;
typedef void (*mace_operator_visitor)(const mace_operator *op, void *user);

/* Bytes of memory that an engine holds: EngineStats. */
typedef struct mace_engine_stats {
  size_t arena_bytes;
  size_t tensor_bytes;
  size_t constant_bytes;
  size_t prepared_bytes;
  size_t state_bytes;
  size_t operator_count;
} mace_engine_stats;

/* Numbers as in GPUPerfHint and GPUPriorityHint. */
typedef int mace_gpu_hint;
enum {
  MACE_GPU_HINT_DEFAULT = 0,
  MACE_GPU_HINT_LOW = 1,
  MACE_GPU_HINT_NORMAL = 2,
  MACE_GPU_HINT_HIGH = 3
};

/* What engines on the GPU store and read; see GPUContextBuilder. Everything is
 * copied. Set unused members to zero: NULL leaves a path or bytes out. */
typedef struct mace_gpu {
  const char *storage_path;
  const char *cache_full_path;
  int reuse_none; /* 1: OpenCLCacheReusePolicy::REUSE_NONE */
  const char *binary_path;
  const void *binary;
  size_t binary_size;
  const char *parameter_path;
  const void *parameter;
  size_t parameter_size;
  mace_gpu_hint perf_hint;
  mace_gpu_hint priority_hint;
  void *queue; /* a cl_command_queue: GPUContextBuilder::SetOpenCLQueue */
} mace_gpu;

/* As MaceVersion: a constant text. */
MACE_API const char *mace_version(void);

/* The message of the last function that failed on this thread; "" if none
 * failed. Valid until the next call of this library on this thread. */
MACE_API const char *mace_last_error(void);

/* Settings with their default values, for mace_config_destroy. Set on success
 * only. */
MACE_API mace_code mace_config_create(mace_config **config);
/* As MaceEngineConfig::SetRuntimeType, for the whole model. */
MACE_API mace_code mace_config_set_device(mace_config *config,
                                          mace_device device);
/* As MaceEngineConfig::SetRuntimeTypes, for the whole model: `count` devices in
 * order of preference. */
MACE_API mace_code mace_config_set_devices(mace_config *config,
                                           const mace_device *devices,
                                           size_t count);
/* As MaceEngineConfig::SetCPUThreadPolicy. If num_threads is -1, the policy
 * chooses the number of threads. */
MACE_API mace_code mace_config_set_cpu_threads(mace_config *config,
                                               int num_threads,
                                               mace_affinity policy);
/* As MaceEngineConfig::SetGPUContext and SetGPUHints. Each call replaces the
 * settings of the one before. */
MACE_API mace_code mace_config_set_gpu(mace_config *config,
                                       const mace_gpu *gpu);
/* As MaceEngineConfig::SetOutOfRangeCheck. */
MACE_API mace_code mace_config_set_out_of_range_check(mace_config *config,
                                                      int enabled);
/* Creating the engine reads all weights once and compares their checksum with
 * the one in the model. Off by default; their size is always compared. */
MACE_API mace_code mace_config_set_weights_check(mace_config *config,
                                                 int enabled);
/* As MaceEngineConfig::SetMemoryLimit, in bytes: 0 (the default) is no limit.
 */
MACE_API mace_code mace_config_set_memory_limit(mace_config *config,
                                                size_t bytes);
/* NULL is allowed. */
MACE_API void mace_config_destroy(mace_config *config);

/* As CreateMaceEngineFromProto, with its errors. `config` may be NULL for the
 * defaults; neither it nor the struct `model` is needed afterwards. `engine`,
 * for mace_engine_destroy, is set on success only. */
MACE_API mace_code mace_engine_create(const mace_model *model,
                                      const mace_config *config,
                                      mace_engine **engine);
/* As MaceEngine::Run, with its errors: `inputs` has every input of the model,
 * `outputs` those that are wanted. Blocks until the outputs are complete. */
MACE_API mace_code mace_engine_run(mace_engine *engine,
                                   const mace_tensor *inputs,
                                   size_t input_count,
                                   mace_tensor *outputs,
                                   size_t output_count);
/* As mace_engine_run; and the time of each operator is measured, which costs a
 * little. mace_engine_visit_operators tells it. */
MACE_API mace_code mace_engine_run_timed(mace_engine *engine,
                                         const mace_tensor *inputs,
                                         size_t input_count,
                                         mace_tensor *outputs,
                                         size_t output_count);

/* The inputs that a run takes, in the order of the model, as it declares them.
 * As MaceEngine::Describe. */
MACE_API mace_code mace_engine_visit_inputs(mace_engine *engine,
                                            mace_port_visitor visit,
                                            void *user);
/* All outputs of a run with these inputs, which are all of the model, in the
 * order of the model. Of inputs, names, types, formats, ranks and dims count.
 * As MaceEngine::Describe, with its errors. */
MACE_API mace_code mace_engine_visit_outputs(mace_engine *engine,
                                             const mace_tensor *inputs,
                                             size_t input_count,
                                             mace_port_visitor visit,
                                             void *user);
/* The operators in the order of execution: MaceEngine::GetPlacement. */
MACE_API mace_code mace_engine_visit_operators(mace_engine *engine,
                                               mace_operator_visitor visit,
                                               void *user);
/* The text of MaceEngine::Explain, in one call. */
MACE_API mace_code mace_engine_explain(mace_engine *engine,
                                       void (*write)(const char *text,
                                                     void *user),
                                       void *user);
/* As MaceEngine::GetStats. */
MACE_API mace_code mace_engine_get_stats(mace_engine *engine,
                                         mace_engine_stats *stats);

/* As MaceEngine::ReleaseIntermediateBuffer. */
MACE_API mace_code mace_engine_release_intermediate_buffer(mace_engine *engine);
/* As MaceEngine::ResetStates. */
MACE_API mace_code mace_engine_reset_states(mace_engine *engine);
/* NULL is allowed. */
MACE_API void mace_engine_destroy(mace_engine *engine);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* MACE_PUBLIC_MACE_C_H_ */
