// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of the documentation of MACE 1.0, "Advanced usage": a model that
// is transformed after it was read, an OpenclContext, a model from compiled
// code, and a tutor. `...`, and the arguments that the published page has lost,
// are filled in. (AP-12, AP-14, AP-16, AP-20, AP-21)

#include <map>

#include "test/old_api/application.h"

// Include the headers
#include "mace/public/mace.h"
// If the model_graph_format is code
#include "mace/public/digits.h"
#include "mace/public/mace_engine_factory.h"

using namespace mace;

namespace {

std::string FLAGS_model_file;
std::string FLAGS_model_data_file;

const std::vector<std::string> input_names = {"image"};
const std::vector<std::string> output_names = {"probability"};

void Run(const Application &application, MaceEngine *engine) {
  std::map<std::string, mace::MaceTensor> inputs;
  std::map<std::string, mace::MaceTensor> outputs;
  const auto floats = [](size_t size) {
    return std::shared_ptr<float>(new float[size],
                                  std::default_delete<float[]>());
  };
  const std::shared_ptr<float> buffer_in = floats(64);
  application.LoadInput(buffer_in);
  inputs["image"] = mace::MaceTensor({1, 8, 8, 1}, buffer_in);
  outputs["probability"] = mace::MaceTensor({1, 10}, floats(10));
  const MaceStatus status = engine->Run(inputs, &outputs);
  Report(status, outputs["probability"]);
}

MaceEngineConfig Configure(DeviceType device_type) {
  MaceEngineConfig config;
  config.SetRuntimeType(static_cast<RuntimeType>(device_type));
  std::shared_ptr<OpenclContext> opencl_context;
  const std::string storage_path = "path/to/storage";
  opencl_context = GPUContextBuilder()
                       .SetStoragePath(storage_path)
                       .SetOpenCLBinaryPaths({"path/to/opencl_binary_paths"})
                       .SetOpenCLParameterPath("path/to/opencl_parameter_file")
                       .Finalize();
  config.SetGPUContext(opencl_context);
  config.SetGPUHints(
      static_cast<GPUPerfHint>(GPUPerfHint::PERF_NORMAL),
      static_cast<GPUPriorityHint>(GPUPriorityHint::PRIORITY_LOW));
  return config;
}

void RunTransformed(const Application &application) {
  MaceStatus status;
  const MaceEngineConfig config = Configure(application.device_type);

  // Load model graph from file system
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> model_graph_data =
      make_unique<mace::port::ReadOnlyBufferMemoryRegion>();
  if (FLAGS_model_file != "") {
    auto fs = GetFileSystem();
    status = fs->NewReadOnlyMemoryRegionFromFile(FLAGS_model_file.c_str(),
                                                 &model_graph_data);
    if (status != MaceStatus::MACE_SUCCESS) {
      // Report error or fallback
      Fail(status);
    }
  }
  // Load model data from file system
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> model_weights_data =
      make_unique<mace::port::ReadOnlyBufferMemoryRegion>();
  if (FLAGS_model_data_file != "") {
    auto fs = GetFileSystem();
    status = fs->NewReadOnlyMemoryRegionFromFile(FLAGS_model_data_file.c_str(),
                                                 &model_weights_data);
    if (status != MaceStatus::MACE_SUCCESS) {
      // Report error or fallback
      Fail(status);
    }
  }
  if (model_graph_data == nullptr || model_weights_data == nullptr) {
    // Report error or fallback
    std::exit(4);
  }

  std::vector<unsigned char> transformed_model_graph_data;
  std::vector<unsigned char> transformed_model_weights_data;
  // Add transformations here.
  const auto copy = [](const port::ReadOnlyMemoryRegion &region) {
    const auto *bytes = static_cast<const unsigned char *>(region.data());
    return std::vector<unsigned char>(bytes, bytes + region.length());
  };
  transformed_model_graph_data = copy(*model_graph_data);
  transformed_model_weights_data = copy(*model_weights_data);
  // Release original model data after transformations
  model_graph_data.reset();
  model_weights_data.reset();

  // Create the MACE engine from the model buffer
  std::shared_ptr<mace::MaceEngine> engine;
  MaceStatus create_engine_status;
  create_engine_status = CreateMaceEngineFromProto(
      transformed_model_graph_data.data(), transformed_model_graph_data.size(),
      transformed_model_weights_data.data(),
      transformed_model_weights_data.size(), input_names, output_names, config,
      &engine);
  if (create_engine_status != MaceStatus::MACE_SUCCESS) {
    // Report error or fallback
    Fail(create_engine_status);
  }
  Run(application, engine.get());

  // An engine that shares the memory of another.
  std::shared_ptr<mace::MaceEngine> pupil;
  create_engine_status = CreateMaceEngineFromProto(
      transformed_model_graph_data.data(), transformed_model_graph_data.size(),
      transformed_model_weights_data.data(),
      transformed_model_weights_data.size(), input_names, output_names, config,
      &pupil, nullptr, engine.get());
  if (create_engine_status != MaceStatus::MACE_SUCCESS) {
    Fail(create_engine_status);
  }
  Run(application, pupil.get());
}

void RunFromCode(const Application &application) {
  const std::string model_name = "digits";
  const unsigned char *model_data_ptr = nullptr;
  const size_t model_data_size = 0;
  DeviceType device_type = application.device_type;
  // Create MaceEngine instance
  std::shared_ptr<mace::MaceEngine> engine;
  MaceStatus create_engine_status;
  // Create Engine from compiled code
  create_engine_status = CreateMaceEngineFromCode(
      model_name.c_str(),
      model_data_ptr,   // nullptr if model_data_format is code
      model_data_size,  // 0 if model_data_format is code
      input_names, output_names, device_type, &engine);
  if (create_engine_status != MaceStatus::MACE_SUCCESS) {
    // Report error or fallback
    Fail(create_engine_status);
  }
  Run(application, engine.get());
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const Application application(argv);
  FLAGS_model_file = application.model_file;
  FLAGS_model_data_file = application.model_data_file;
  RunFromCode(application);
  RunTransformed(application);
  return 0;
}
