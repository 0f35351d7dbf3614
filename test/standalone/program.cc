// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An application built without Bazel: checks that the library loads and runs,
// and reports an invalid file as an error instead of ending the process.

#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "mace/public/mace_runtime.h"

namespace {

int failures = 0;

void Expect(bool condition, const char *what) {
  if (condition) return;
  std::fprintf(stderr, "expected: %s\n", what);
  ++failures;
}

// What an application for GPUs calls links with every library, whether or not
// it has a GPU runtime.
void ExpectGpuSettings() {
  mace::ConfigKVStorageFactory(
      std::make_shared<mace::FileStorageFactory>("/nonexistent"));
  mace::SetOpenCLBinaryPaths({"/nonexistent/kernels.bin"});
  mace::MaceEngineConfig config;
  const std::shared_ptr<mace::GPUContext> context =
      mace::GPUContextBuilder()
          .SetStoragePath("/nonexistent")
          .SetOpenCLParameterPath("/nonexistent/parameters.bin")
          .Finalize();
  Expect(config.SetGPUContext(context) == mace::MaceStatus::MACE_SUCCESS,
         "a GPU context");
  Expect(config.SetGPUHints(mace::PERF_NORMAL, mace::PRIORITY_LOW) ==
             mace::MaceStatus::MACE_SUCCESS,
         "GPU hints");
  Expect(
      config.SetGPUContext(
          mace::GPUContextBuilder().SetOpenCLBinary(nullptr, 1).Finalize()) ==
          mace::MaceStatus::MACE_INVALID_ARGS,
      "MACE_INVALID_ARGS for a GPU context");
}

}  // namespace

int main() {
  const std::string version = mace::MaceVersion();
  Expect(!version.empty(), "a version");

  const std::vector<unsigned char> no_model(100, 0xFF);
  mace::MaceEngineConfig config;
  std::shared_ptr<mace::MaceEngine> engine;
  const mace::MaceStatus status = mace::CreateMaceEngineFromProto(
      no_model.data(), no_model.size(), nullptr, 0, {"input"}, {"output"},
      config, &engine);
  Expect(status == mace::MaceStatus::MACE_INVALID_ARGS, "MACE_INVALID_ARGS");
  Expect(!status.information().empty(), "a reason");
  Expect(engine == nullptr, "no engine");

  ExpectGpuSettings();

  // Templates that the library instantiates too.
  std::map<std::string, mace::MaceTensor> tensors;
  const auto data =
      std::shared_ptr<float>(new float[6](), [](float *p) { delete[] p; });
  tensors["input"] = mace::MaceTensor({1, 2, 3}, data);
  Expect(tensors["input"].shape() == std::vector<int64_t>({1, 2, 3}),
         "the shape that was given");
  std::printf("libmace %s: %d failures\n", version.c_str(), failures);
  return failures == 0 ? 0 : 1;
}
