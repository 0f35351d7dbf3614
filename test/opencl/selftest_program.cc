// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Runs a model with the storage path that is given, and prints what a test of
// the self-test wants to know. Further arguments:
//
//   nchw    the input is in another order than the model declares
//   half    arithmetic is in half as well
//   open    the driver is open before the engine is made
//   ignore  SIGCHLD is ignored
//   reap    a handler of SIGCHLD reaps all children

#include <dirent.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "mace/core/testing/engine_maker.h"
#include "mace/core/testing/model_builder.h"
#include "mace/ops/testing/op_case.h"
#include "mace/public/mace.h"

namespace mace {
namespace {

using core_test::Dims;
using core_test::MadeEngine;
using core_test::ModelBuilder;
using op_test::OpCase;
using op_test::Random;

constexpr int64_t kOutputs = 6 * 5 * 16;

struct Modes {
  bool nchw = false;
  bool half = false;
};

int g_forks = 0;
volatile sig_atomic_t g_reaped = 0;

void CountFork() { ++g_forks; }

void Reap(int) {
  while (waitpid(-1, nullptr, WNOHANG) > 0) g_reaped = g_reaped + 1;
}

int CountFiles() {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

ModelBuilder Network(bool half) {
  Random random(1, Random::Quiet());
  OpCase op_case("Conv2D");
  op_case.Packed(random.Floats({16, 3, 3, 8}, -0.3f, 0.3f));
  const std::vector<uint8_t> &bytes = op_case.inputs[0].value.bytes;
  ModelBuilder model;
  model.Input("x", {1, 12, 10, 8});
  const uint64_t offset = model.AppendWeights(bytes.data(), bytes.size());
  model
      .RawConstant("f", {16, 3, 3, 8}, DataType::kFloat32,
                   op_case.inputs[0].layout, 1, offset, bytes.size())
      .Operator("conv", "Conv2D", {"x", "f"}, {"a"},
                {core_test::StringAttribute("padding", "SAME")})
      .Operator("tanh", "Activation", {"a"}, {"b"},
                {core_test::StringAttribute("activation", "TANH")})
      .Operator("square", "Eltwise", {"b"}, {"c"},
                {core_test::StringAttribute("mode", "SQUARE")})
      .Operator("pool", "Pooling", {"c"}, {"y"},
                {core_test::IntsAttribute("kernels", {2, 2}),
                 core_test::IntsAttribute("strides", {2, 2})})
      .Output("y")
      .DataTypes(half ? "fp16_fp16" : "fp16_fp32");
  return model;
}

// Empty if it failed.
std::vector<float> RunOn(const std::vector<RuntimeType> &runtimes,
                         const std::string &folder,
                         const Modes &modes,
                         std::string *explanation) {
  core_test::MakeOptions options;
  options.config.SetRuntimeTypes(runtimes);
  options.config.SetGPUContext(
      GPUContextBuilder().SetStoragePath(folder).Finalize());
  const MadeEngine made = core_test::Make(Network(modes.half), options);
  if (made.engine == nullptr) {
    std::printf("no engine: %s\n", made.status.information().c_str());
    return {};
  }
  Random random(7, Random::Quiet());
  const std::vector<float> x = random.Floats({1, 12, 10, 8}).floats();
  core_test::Tensors outputs = {{"y", core_test::Room(kOutputs)}};
  const MaceTensor input =
      modes.nchw ? core_test::Floats({1, 8, 12, 10}, x, DataFormat::NCHW)
                 : core_test::Floats({1, 12, 10, 8}, x);
  const MaceStatus status = made.engine->Run({{"x", input}}, &outputs);
  if (status.code() != MaceStatus::MACE_SUCCESS) {
    std::printf("no result: %s\n", status.information().c_str());
    return {};
  }
  *explanation = made.engine->Explain();
  return core_test::Values(outputs["y"]);
}

int Main(int argc, char **argv) {
  const std::string folder = argc > 1 ? argv[1] : "";
  Modes modes;
  for (int i = 2; i < argc; ++i) {
    const std::string mode = argv[i];
    modes.nchw = modes.nchw || mode == "nchw";
    modes.half = modes.half || mode == "half";
    if (mode == "ignore") std::signal(SIGCHLD, SIG_IGN);
    if (mode == "reap") std::signal(SIGCHLD, Reap);
    std::vector<RuntimeType> types;
    if (mode == "open") GetRuntimeTypes(&types);
  }
  pthread_atfork(CountFork, nullptr, nullptr);
  std::string explanation;
  const std::vector<float> wanted = RunOn({RT_CPU}, "", modes, &explanation);
  const int files = CountFiles();
  const std::vector<float> found =
      RunOn({RT_OPENCL, RT_CPU}, folder, modes, &explanation);
  if (wanted.empty() || found.size() != wanted.size()) return 1;
  double error = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double difference = std::fabs(double{found[i]} - wanted[i]);
    error = std::isnan(difference) ? 1 : std::max(error, difference);
  }
  std::printf("%s\nresult is %s\n", explanation.c_str(),
              error < 2e-3 ? "right" : "wrong");
  std::printf("forks: %d\n", g_forks);
  // What the driver itself opened does not count: the second engine has it.
  const int with_driver = CountFiles();
  RunOn({RT_OPENCL, RT_CPU}, folder, modes, &explanation);
  std::printf("files that stay open: %d\n", CountFiles() - with_driver);
  std::printf("files of the driver: %s\n",
              with_driver - files <= 8 ? "few" : "many");
  std::printf("children left: %s\n",
              waitpid(-1, nullptr, WNOHANG) == -1 ? "none" : "some");
  return 0;
}

}  // namespace
}  // namespace mace

int main(int argc, char **argv) { return mace::Main(argc, argv); }
