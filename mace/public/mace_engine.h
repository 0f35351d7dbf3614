// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Engines: how a model is loaded and run.

#ifndef MACE_PUBLIC_MACE_ENGINE_H_
#define MACE_PUBLIC_MACE_ENGINE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace_config.h"
#include "mace/public/mace_devices.h"
#include "mace/public/mace_statistics.h"
#include "mace/public/mace_status.h"
#include "mace/public/mace_tensor.h"

namespace mace {

// What the library tells MaceEngine::Describe of an input or output. Not for
// applications.
struct PortDescription {
  const char *name;
  const char *alias;    // empty if there is none
  const int64_t *dims;  // of an output: NHWC where the data format is NCHW
  size_t rank;
  DataFormat data_format;
  int data_type;  // a number of mace.proto
};
struct PortVisitor {
  // The inputs, as the model declares them; otherwise the outputs of a run.
  bool of_inputs;
  void (*visit)(const PortVisitor &visitor, const PortDescription &port);
  std::map<std::string, MaceTensor> *found;
};

// A loaded model. Not copyable. Run is thread-compatible; two engines may run
// at the same time unless one is the other's tutor.
class MACE_API MaceEngine {
 public:
  // For the library: applications create engines with the CreateMaceEngine...
  // functions.
  class Impl;
  explicit MaceEngine(std::unique_ptr<Impl> impl);
  MaceEngine(const MaceEngine &) = delete;
  MaceEngine &operator=(const MaceEngine &) = delete;
  ~MaceEngine();

  // Runs the model. `inputs` holds every input by name; shapes may differ from
  // those of the deployment file and from run to run. `outputs` holds the
  // wanted outputs by name; Run writes to their buffers. `run_metadata` may be
  // null. On x86, floats below 2^-126 that the run computes become 0; the
  // calling thread's floating-point mode is as before when Run returns.
  //
  // Outputs are complete when Run returns, those in GPU memory too. A run on
  // the application's queue starts after the commands that the queue has.
  //
  // MACE_INVALID_ARGS: an input is missing, there is no such input or output,
  // or a tensor has a shape, type, format or buffer that does not fit
  // (MaceTensor). MACE_OUT_OF_RESOURCES: there is no memory, or too little by
  // SetMemoryLimit. MACE_UNSUPPORTED: memory of the GPU without a GPU that can
  // use it. MACE_RUNTIME_ERROR: a driver failed, or SetOutOfRangeCheck found a
  // value. When a run fails, outputs may have been written to in part. If a
  // device fails and the CPU may take its place (SetRuntimeTypes), the same
  // call runs the model again without the device.
  MaceStatus Run(const std::map<std::string, MaceTensor> &inputs,
                 std::map<std::string, MaceTensor> *outputs,
                 RunMetadata *run_metadata = nullptr);

  // Says what Run takes and gives, without a run. Adds to `inputs` every input
  // that it lacks, with the shape that the model declares (the largest one
  // where it has limits; -1: open). Replaces `outputs`, which may be null, by
  // all outputs of a run with inputs of these shapes: the shape (the largest
  // one if the run determines it), the data format that the model declares, and
  // the element type that needs no conversion. Elements are not read, and the
  // added tensors have none. MACE_INVALID_ARGS if `outputs` is not null and a
  // shape is open. Everything that depends on the shapes is prepared for a
  // later run. This function is code of the application. (ZC-02, ZC-08)
  MaceStatus Describe(std::map<std::string, MaceTensor> *inputs,
                      std::map<std::string, MaceTensor> *outputs);

  // Frees the memory of intermediate tensors; the next Run allocates it again.
  // (AP-19)
  MaceStatus ReleaseIntermediateBuffer();

  // Some models keep values, called states, from one run to the next (the cache
  // of a decoder, the state of a recurrent network). States are not inputs or
  // outputs of Run. All of them are zero before the first run and after this
  // call. A run that fails does not change them.
  MaceStatus ResetStates();

  // Memory that the engine holds now, in bytes. tensor_bytes is that of the
  // last shapes that were prepared; 0 before.
  EngineStats GetStats() const;

  // Where each operator runs, and why. Known from the engine's creation on, but
  // for what depends on shapes that the model leaves open, and measured times.
  // Empty if there is no memory for the answer.
  EnginePlacement GetPlacement() const;

  // The same as text: one line per operator with device, kernel and shapes,
  // followed by the reasons why preferred devices do not run it. Empty if there
  // is no memory for the text.
  std::string Explain() const;

  Impl *impl();  // for the library

 private:
  static void AddPort(const PortVisitor &visitor, const PortDescription &port);

  std::unique_ptr<Impl> impl_;
};

inline void MaceEngine::AddPort(const PortVisitor &visitor,
                                const PortDescription &port) {
  std::map<std::string, MaceTensor> &found = *visitor.found;
  if (*port.alias != '\0' && found.count(port.alias) > 0) return;
  std::vector<int64_t> shape(port.dims, port.dims + port.rank);
  if (!visitor.of_inputs && port.rank == 4 &&
      port.data_format == DataFormat::NCHW) {
    shape = {shape[0], shape[3], shape[1], shape[2]};
  }
  constexpr IDataType kTypes[] = {
      IDataType::IDT_NOT_SET,  IDataType::IDT_FLOAT, IDataType::IDT_FLOAT16,
      IDataType::IDT_BFLOAT16, IDataType::IDT_INT32, IDataType::IDT_INT8,
      IDataType::IDT_UINT8,    IDataType::IDT_BOOL,  IDataType::IDT_INT16};
  const bool known =
      port.data_type >= 0 &&
      port.data_type < static_cast<int>(sizeof(kTypes) / sizeof(kTypes[0]));
  found.emplace(port.name, MaceTensor(shape, nullptr, port.data_format,
                                      kTypes[known ? port.data_type : 0]));
}

inline MaceStatus MaceEngine::Describe(
    std::map<std::string, MaceTensor> *inputs,
    std::map<std::string, MaceTensor> *outputs) {
  if (inputs == nullptr) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS, "`inputs` is null");
  }
  RunMetadata question;
  PortVisitor visitor = {true, &AddPort, inputs};
  question.port_visitor = &visitor;
  const MaceStatus status = Run({}, nullptr, &question);
  if (status != MaceStatus::MACE_SUCCESS || outputs == nullptr) return status;
  // Run refuses null buffers.
  static char element = 0;
  std::map<std::string, MaceTensor> shapes;
  for (const auto &input : *inputs) {
    const MaceTensor &tensor = input.second;
    shapes.emplace(
        input.first,
        MaceTensor(tensor.shape(),
                   std::shared_ptr<void>(std::shared_ptr<void>(), &element),
                   tensor.data_format(), tensor.data_type()));
  }
  outputs->clear();
  visitor = {false, &AddPort, outputs};
  return Run(shapes, nullptr, &question);
}

// Newer form: graph and weights are in memory. (AP-14)
//
// `model_graph_proto`: a model that the converter wrote (`<model>.pb`); not
// needed after the call. `model_weights_data`: `<model>.data`; the two sizes
// are in bytes. `input_nodes`, `output_nodes`: which tensors are inputs and
// outputs, by name; none: all that the model declares. `engine`: set on
// success, unchanged otherwise. `model_weights_data` is used in place and must
// outlive the engine, unless
// `*model_data_unused` is set to true. Its address should be a multiple of 64
// (a mapped file is); otherwise the constants are copied once.
// `tutor`: an initialised engine whose intermediate memory the new one shares
// (AP-20); the two must not run at the same time, and the tutor must live
// longer.
// `fake_warmup`: prepare everything that the first run would prepare, without
// running the model.
//
// MACE_INVALID_ARGS: graph or weights are damaged or do not belong together, a
// name is not in the model, or `engine` is null. MACE_UNSUPPORTED: this library
// or machine lacks an operator or a device (see SetRuntimeTypes).
// MACE_OUT_OF_RESOURCES: there is no memory, or too little by SetMemoryLimit.
MACE_API MaceStatus
CreateMaceEngineFromProto(const unsigned char *model_graph_proto,
                          size_t model_graph_proto_size,
                          const unsigned char *model_weights_data,
                          size_t model_weights_data_size,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          const MaceEngineConfig &config,
                          std::shared_ptr<MaceEngine> *engine,
                          bool *model_data_unused = nullptr,
                          MaceEngine *tutor = nullptr,
                          bool fake_warmup = false);

// Older form: the weights are a regular file, which stays mapped as long as the
// engine lives. An empty name is no file, for a model without weights.
// Arguments and errors as above; MACE_INVALID_ARGS, too, if the file can't be
// opened. (AP-13)
//
// The file may be deleted or replaced by renaming another file over it, but
// must not be written to or shortened in place. If a process reads a mapped
// page beyond the end of the file, the operating system ends the process with
// SIGBUS, and no library can turn that into a status. If others may write to
// the file, read it into memory and use the function above.
MACE_API MaceStatus
CreateMaceEngineFromProto(const std::vector<unsigned char> &model_pb,
                          const std::string &model_data_file,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          const MaceEngineConfig &config,
                          std::shared_ptr<MaceEngine> *engine);
MACE_API MaceStatus
CreateMaceEngineFromProto(const std::vector<unsigned char> &model_pb,
                          const std::string &model_data_file,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          DeviceType device_type,
                          std::shared_ptr<MaceEngine> *engine);

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_ENGINE_H_
