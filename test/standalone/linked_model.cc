// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An application with a model linked in: linked_model [WEIGHTS-FILE]. It
// classifies an image of one colour in all ways that the factory offers, whose
// results must agree, and checks the errors for missing models and weights.

#include <cmath>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/digits.h"
#include "mace/public/mace.h"
#include "mace/public/mace_engine_factory.h"

namespace {

namespace digits = mace::models::digits;

int failures = 0;

void Expect(bool condition, const std::string &what) {
  if (condition) return;
  std::fprintf(stderr, "expected: %s\n", what.c_str());
  ++failures;
}

std::vector<float> Run(const mace::MaceStatus &created,
                       mace::MaceEngine *engine) {
  if (created != mace::MaceStatus::MACE_SUCCESS) {
    Expect(false, "an engine, not: " + created.information());
    return {};
  }
  const auto buffer = [](size_t count, float value) {
    auto data =
        std::shared_ptr<float>(new float[count], [](float *p) { delete[] p; });
    for (size_t i = 0; i < count; ++i) data.get()[i] = value;
    return data;
  };
  const auto probability = buffer(10, -1);
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs[digits::InputNames()[0]] =
      mace::MaceTensor(digits::InputShapes()[0], buffer(64, 0.5f));
  outputs[digits::OutputNames()[0]] =
      mace::MaceTensor(digits::OutputShapes()[0], probability);
  const mace::MaceStatus status = engine->Run(inputs, &outputs);
  Expect(status == mace::MaceStatus::MACE_SUCCESS, status.information());
  return {probability.get(), probability.get() + 10};
}

}  // namespace

int main(int argc, char **argv) {
  const std::string file = argc > 1 ? argv[1] : "";
  const std::vector<std::string> inputs = digits::InputNames();
  const std::vector<std::string> outputs = digits::OutputNames();
  const mace::MaceEngineConfig config;
  std::shared_ptr<mace::MaceEngine> engine;

  Expect(mace::LinkedModelNames() ==
             std::vector<std::string>({digits::ModelName()}),
         "one model of that name");
  Expect(digits::kWeightsLinked == file.empty(),
         "a file of weights as the header says");

  mace::MaceStatus status = mace::CreateMaceEngineFromCode(
      "digits", file, inputs, outputs, mace::DeviceType::CPU, &engine);
  const std::vector<float> older = Run(status, engine.get());
  float sum = 0;
  for (float value : older) sum += value;
  Expect(std::fabs(sum - 1) < 1e-5f, "probabilities that sum to 1");

  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> weights;
  const unsigned char *data = nullptr;
  size_t size = 0;
  if (!file.empty()) {
    mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(file.c_str(),
                                                           &weights);
    data = static_cast<const unsigned char *>(weights->data());
    size = static_cast<size_t>(weights->length());
  }
  std::shared_ptr<mace::MaceEngine> second;
  status =
      mace::CreateMaceEngineFromCode("digits", data, size, inputs, outputs,
                                     config, &second, nullptr, engine.get());
  Expect(Run(status, second.get()) == older, "the same from both forms");

  status = mace::CreateMaceEngineFromCode("letters", "", inputs, outputs,
                                          mace::DeviceType::CPU, &engine);
  Expect(status == mace::MaceStatus::MACE_INVALID_ARGS &&
             status.information().find("digits") != std::string::npos,
         "a refusal that lists the models, not: " + status.information());
  std::printf("linked model: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
