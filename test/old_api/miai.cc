// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The example of "MiAI Compute Engine" (2018), step by step, with its comments.
// It differs from the document in what does not compile there: step 2 comes
// before step 1, which uses its variable; the text has `engine.Run`, of a
// pointer; and `...` is filled in. (AP-13, AP-15, AP-22, AP-23)

#include <functional>
#include <map>
#include <numeric>

#include "test/old_api/application.h"

// include the header files
#include "mace/public/mace.h"
#include "mace/public/mace_engine_factory.h"
#include "mace/public/mace_runtime.h"

using namespace mace;

namespace {

void Run(const Application &application, bool from_code) {
  // 0. set internal storage factory(**Call once**)
  const std::string file_path = "/path/to/store/internel/files";
  std::shared_ptr<KVStorageFactory> storage_factory(
      new FileStorageFactory(file_path));
  ConfigKVStorageFactory(storage_factory);

  // 2. Declare the device type(must be same with ``runtime`` in configuration
  // file)
  DeviceType device_type = application.device_type;

  // 1. set precompiled OpenCL binary file paths if you use gpu of specified
  // SOC, Besides the binary rely on the OpenCL driver of the SOC, if OpenCL
  // driver changed, you should recompiled the binary file.
  std::vector<std::string> opencl_binary_paths = {"/path/to/opencl_binary"};
  if (device_type == DeviceType::GPU) {
    mace::SetOpenCLBinaryPaths(opencl_binary_paths);
  }

  // 3. Define the input and output tensor names.
  std::vector<std::string> input_names = {"image"};
  std::vector<std::string> output_names = {"probability"};
  const size_t input_count = 1, output_count = 1;
  const std::vector<std::vector<int64_t>> input_shapes = {{1, 8, 8, 1}};
  const std::vector<std::vector<int64_t>> output_shapes = {{1, 10}};
  const std::string model_name = "digits";
  const std::string &model_data_file = application.model_data_file;
  const std::vector<unsigned char> &model_pb_data = application.model_pb_data;

  // 4. Create MaceEngine object
  std::shared_ptr<mace::MaceEngine> engine;
  MaceStatus create_engine_status;
  if (from_code) {
    // Create Engine from code
    create_engine_status =
        CreateMaceEngineFromCode(model_name.c_str(), nullptr, input_names,
                                 output_names, device_type, &engine);
  } else {
    // Create Engine from proto file
    create_engine_status = CreateMaceEngineFromProto(
        model_pb_data, model_data_file.c_str(), input_names, output_names,
        device_type, &engine);
  }
  if (create_engine_status != MaceStatus::MACE_SUCCESS) {
    Fail(create_engine_status);
  }

  // 5. Create Input and Output objects
  std::map<std::string, mace::MaceTensor> inputs;
  std::map<std::string, mace::MaceTensor> outputs;
  for (size_t i = 0; i < input_count; ++i) {
    // Allocate input and output
    int64_t input_size =
        std::accumulate(input_shapes[i].begin(), input_shapes[i].end(), 1,
                        std::multiplies<int64_t>());
    auto buffer_in = std::shared_ptr<float>(new float[input_size],
                                            std::default_delete<float[]>());
    // load input
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

  // 6. Run the model
  MaceStatus status = engine->Run(inputs, &outputs);
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
