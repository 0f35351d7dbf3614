// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The examples of MACE's documentation of January 2019 (0.10): "Basic usage",
// with the settings of "Tuning for specific SoC's GPU", and "from compiled
// code". They differ from the document in what does not compile there: the text
// has `engine.Run`, of a pointer, and declares `status` twice; and `...` is
// filled in. (AP-06 to AP-13, AP-15)

#include <functional>
#include <map>
#include <numeric>

#include "test/old_api/application.h"

// Include the headers
#include "mace/public/mace.h"
// If the model_graph_format is code
#include "mace/public/digits.h"
#include "mace/public/mace_engine_factory.h"

using namespace mace;

namespace {

void Run(const Application &application, bool from_code) {
  // 0. Declare the device type (must be same with ``runtime`` in configuration
  // file)
  DeviceType device_type = application.device_type;

  // 1. configuration
  MaceStatus status;
  MaceEngineConfig config(device_type);
  std::shared_ptr<GPUContext> gpu_context;
  // Set the path to store compiled OpenCL kernel binaries.
  // please make sure your application have read/write rights of the directory.
  // this is used to reduce the initialization time since the compiling is too
  // slow. It's suggested to set this even when pre-compiled OpenCL program file
  // is provided because the OpenCL version upgrade may also leads to kernel
  // recompilations.
  const std::string storage_path = "path/to/storage";
  gpu_context = GPUContextBuilder()
                    .SetStoragePath(storage_path)
                    .SetOpenCLBinaryPaths({"path/to/opencl_binary_paths"})
                    .SetOpenCLParameterPath("path/to/opencl_parameter_file")
                    .Finalize();
  config.SetGPUContext(gpu_context);
  config.SetGPUHints(
      static_cast<GPUPerfHint>(GPUPerfHint::PERF_NORMAL),
      static_cast<GPUPriorityHint>(GPUPriorityHint::PRIORITY_LOW));

  // 2. Define the input and output tensor names.
  std::vector<std::string> input_names = {"image"};
  std::vector<std::string> output_names = {"probability"};
  const size_t input_count = 1, output_count = 1;
  const std::vector<std::vector<int64_t>> input_shapes = {{1, 8, 8, 1}};
  const std::vector<std::vector<int64_t>> output_shapes = {{1, 10}};
  const std::string model_name = "digits";
  const std::string model_data_file =
      from_code ? "" : application.model_data_file;
  const std::vector<unsigned char> &model_pb_data = application.model_pb_data;

  // 3. Create MaceEngine instance
  std::shared_ptr<mace::MaceEngine> engine;
  MaceStatus create_engine_status;

  if (from_code) {
    // Create Engine from compiled code
    create_engine_status = CreateMaceEngineFromCode(
        model_name.c_str(),
        model_data_file,  // empty string if model_data_format is code
        input_names, output_names, device_type, &engine);
  } else {
    // Create Engine from model file
    create_engine_status = CreateMaceEngineFromProto(
        model_pb_data, model_data_file.c_str(), input_names, output_names,
        device_type, &engine);
  }
  if (create_engine_status != MaceStatus::MACE_SUCCESS) {
    // fall back to other strategy.
    Fail(create_engine_status);
  }

  // 4. Create Input and Output tensor buffers
  std::map<std::string, mace::MaceTensor> inputs;
  std::map<std::string, mace::MaceTensor> outputs;
  for (size_t i = 0; i < input_count; ++i) {
    // Allocate input and output
    int64_t input_size =
        std::accumulate(input_shapes[i].begin(), input_shapes[i].end(), 1,
                        std::multiplies<int64_t>());
    auto buffer_in = std::shared_ptr<float>(new float[input_size],
                                            std::default_delete<float[]>());
    // Load input here
    application.LoadInput(buffer_in);

    inputs[input_names[i]] = mace::MaceTensor(input_shapes[i], buffer_in);
  }

  for (size_t i = 0; i < output_count; ++i) {
    int64_t output_size =
        std::accumulate(output_shapes[i].begin(), output_shapes[i].end(), 1,
                        std::multiplies<int64_t>());
    auto buffer_out = std::shared_ptr<float>(new float[output_size],
                                             std::default_delete<float[]>());
    outputs[output_names[i]] = mace::MaceTensor(output_shapes[i], buffer_out);
  }

  // 5. Run the model
  status = engine->Run(inputs, &outputs);
  Report(status, outputs[output_names[0]]);
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  const Application application(argv);
  Run(application, true);
  Run(application, false);
  return 0;
}
