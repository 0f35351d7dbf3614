// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// An application with the models of two libraries linked in:
//   linked_models DIGITS.pb DIGITS.data NUMERALS.pb NUMERALS.data
// It runs each from its files and from code, whose results must have the same
// bits, and checks the errors for missing models and weights.

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/digits.h"
#include "mace/public/mace.h"
#include "mace/public/mace_engine_factory.h"
#include "mace/public/numerals.h"

namespace {

using mace::MaceStatus;
using Bytes = std::vector<unsigned char>;
using Names = std::vector<std::string>;

int failures = 0;

void Expect(bool condition, const std::string &what) {
  if (condition) return;
  std::fprintf(stderr, "expected: %s\n", what.c_str());
  ++failures;
}

Bytes ReadFile(const char *path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream),
          std::istreambuf_iterator<char>()};
}

// What the header of a model says, and its files.
struct Model {
  std::string name;
  bool weights_linked;
  Names inputs, outputs;
  Bytes graph;
  std::string weights_file;
};

std::vector<float> Run(const MaceStatus &created, mace::MaceEngine *engine) {
  if (created != MaceStatus::MACE_SUCCESS) {
    Expect(false, "an engine, not: " + created.information());
    return {};
  }
  const auto buffer = [](size_t count, float value) {
    auto data =
        std::shared_ptr<float>(new float[count], [](float *p) { delete[] p; });
    for (size_t i = 0; i < count; ++i) {
      data.get()[i] = value + static_cast<float>(i % 7) / 16;
    }
    return data;
  };
  const auto probability = buffer(10, -1);
  std::map<std::string, mace::MaceTensor> inputs, outputs;
  inputs["image"] = mace::MaceTensor({1, 8, 8, 1}, buffer(64, 0.25f));
  outputs["probability"] = mace::MaceTensor({1, 10}, probability);
  const MaceStatus status = engine->Run(inputs, &outputs);
  Expect(status == MaceStatus::MACE_SUCCESS, status.information());
  return {probability.get(), probability.get() + 10};
}

bool SameBits(const std::vector<float> &a, const std::vector<float> &b) {
  return a.size() == 10 && b.size() == 10 &&
         std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

void RefusesWrongWeights(const Model &model) {
  std::shared_ptr<mace::MaceEngine> engine;
  const std::string wrong = model.weights_linked ? model.weights_file : "";
  const MaceStatus status = mace::CreateMaceEngineFromCode(
      model.name, wrong, model.inputs, model.outputs, mace::DeviceType::CPU,
      &engine);
  const char *part = model.weights_linked ? "pass none" : "pass them";
  Expect(status == MaceStatus::MACE_INVALID_ARGS &&
             status.information().find(part) != std::string::npos,
         std::string(part) + ", not: " + status.information());
}

// From files, and from code in all ways that the factory offers.
std::vector<float> RunInEveryWay(const Model &model) {
  const mace::MaceEngineConfig config;
  const Bytes weights = ReadFile(model.weights_file.c_str());
  std::shared_ptr<mace::MaceEngine> files, older, newer;
  const std::vector<float> expected =
      Run(mace::CreateMaceEngineFromProto(
              model.graph.data(), model.graph.size(), weights.data(),
              weights.size(), model.inputs, model.outputs, config, &files),
          files.get());
  float sum = 0;
  for (float value : expected) sum += value;
  Expect(std::fabs(sum - 1) < 1e-3f, "probabilities that sum to 1");

  const bool given = !model.weights_linked;
  const std::vector<float> by_path =
      Run(mace::CreateMaceEngineFromCode(
              model.name, given ? model.weights_file : std::string(),
              model.inputs, model.outputs, mace::DeviceType::CPU, &older),
          older.get());
  const std::vector<float> by_address =
      Run(mace::CreateMaceEngineFromCode(
              model.name, given ? weights.data() : nullptr,
              given ? weights.size() : 0, model.inputs, model.outputs, config,
              &newer, nullptr, older.get()),
          newer.get());
  Expect(SameBits(by_path, expected), model.name + ": the bits of its files");
  Expect(SameBits(by_address, expected), model.name + ": the bits of both");
  RefusesWrongWeights(model);
  return expected;
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) return 2;
  namespace digits = mace::models::digits;
  namespace numerals = mace::models::numerals;
  Expect(mace::LinkedModelNames() ==
             Names({digits::ModelName(), numerals::ModelName()}),
         "the models of both libraries");
  const std::vector<float> first = RunInEveryWay(
      {digits::ModelName(), digits::kWeightsLinked, digits::InputNames(),
       digits::OutputNames(), ReadFile(argv[1]), argv[2]});
  const std::vector<float> second = RunInEveryWay(
      {numerals::ModelName(), numerals::kWeightsLinked, numerals::InputNames(),
       numerals::OutputNames(), ReadFile(argv[3]), argv[4]});
  Expect(!SameBits(first, second), "two models, not one of them twice");

  std::shared_ptr<mace::MaceEngine> engine;
  const MaceStatus status = mace::CreateMaceEngineFromCode(
      "letters", "", digits::InputNames(), digits::OutputNames(),
      mace::DeviceType::CPU, &engine);
  Expect(status == MaceStatus::MACE_INVALID_ARGS &&
             status.information().find("digits, numerals") != std::string::npos,
         "a refusal that lists the models, not: " + status.information());
  std::printf("linked models: %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
