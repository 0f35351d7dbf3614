// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole use of MACE in one program: a model from files or from the program
// itself, devices with a fallback, threads, the GPU's stored kernels, inputs
// and outputs of any number and type, shapes that the application decides,
// repeated runs, times, memory and placement. cpp/example.cc is the shortest
// program; mace_run measures models.
//
//   example --model=digits.pb --weights=digits.data --input_dir=in
//           --output_dir=out --devices=gpu,cpu --rounds=10
//
// Compiled with -DMACE_EXAMPLE_MODEL='"mace/public/<model>.h"', the header of a
// model as code, --model is the name of a model that is part of the program.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "mace/public/mace.h"

#ifdef MACE_EXAMPLE_MODEL
#include MACE_EXAMPLE_MODEL
#endif

namespace {

using mace::MaceStatus;
using mace::MaceTensor;
using Tensors = std::map<std::string, MaceTensor>;

constexpr char kUsage[] =
    "usage: example --model=FILE.pb --weights=FILE.data [FLAG...]\n"
    "  --input_dir=DIR    a file for each input, called as the input, with "
    "its\n"
    "                     elements; without it, inputs are zeros\n"
    "  --output_dir=DIR   writes a file for each output\n"
    "  --shape=NAME:DIMS  of an input with open dimensions, as image:1,8,8,1\n"
    "  --devices=LIST     in order of preference, of cpu, gpu, dsp, hta, htp\n"
    "                     and apu (default cpu)\n"
    "  --threads=N        of the CPU (default: one for each big core)\n"
    "  --storage=DIR      where the GPU's compiled kernels are kept\n"
    "  --kernels=FILE     kernels that were compiled before\n"
    "  --tuned=FILE       parameters that were tuned for the GPU\n"
    "  --rounds=N         how often to run (default 1)\n"
    "  --explain          print where each operator runs, and why\n";

// What the command line says.
struct Flags {
  std::string model, weights, input_dir, output_dir;
  std::string storage, kernels, tuned;
  std::vector<std::string> devices = {"cpu"};
  std::map<std::string, std::vector<int64_t>> shapes;
  int threads = -1;
  int rounds = 1;
  bool explain = false;
};

std::vector<std::string> Split(const std::string &text, char at) {
  std::vector<std::string> parts(1);
  for (char c : text) {
    if (c == at) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

// Whether `text` is a whole number of at least `least`.
bool ReadNumber(const std::string &text, int64_t least, int64_t *number) {
  char *end = nullptr;
  *number = std::strtoll(text.c_str(), &end, 10);
  return end != text.c_str() && *end == '\0' && *number >= least;
}

// "image:1,8,8,1"
bool ReadShape(const std::string &text, Flags *flags) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::vector<int64_t> &shape = flags->shapes[text.substr(0, colon)];
  for (const std::string &dim : Split(text.substr(colon + 1), ',')) {
    shape.emplace_back();
    if (!ReadNumber(dim, 1, &shape.back())) return false;
  }
  return true;
}

bool ReadFlag(const std::string &name, const std::string &value, Flags *flags) {
  const std::map<std::string, std::string *> texts = {
      {"--model", &flags->model},         {"--weights", &flags->weights},
      {"--input_dir", &flags->input_dir}, {"--output_dir", &flags->output_dir},
      {"--storage", &flags->storage},     {"--kernels", &flags->kernels},
      {"--tuned", &flags->tuned}};
  const auto text = texts.find(name);
  if (text != texts.end()) {
    *text->second = value;
    return !value.empty();
  }
  int64_t number = 0;
  if (name == "--shape") return ReadShape(value, flags);
  if (name == "--devices") {
    flags->devices = Split(value, ',');
    return true;
  }
  if (name == "--threads" && ReadNumber(value, 1, &number)) {
    flags->threads = static_cast<int>(number);
    return true;
  }
  if (name == "--rounds" && ReadNumber(value, 1, &number)) {
    flags->rounds = static_cast<int>(number);
    return true;
  }
  if (name == "--explain" && value.empty()) return flags->explain = true;
  return false;
}

MaceStatus Wrong(const std::string &message) {
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
}

// Devices, threads, and what the GPU stores.
MaceStatus Configure(const Flags &flags, mace::MaceEngineConfig *config) {
  const std::map<std::string, mace::RuntimeType> known = {
      {"cpu", mace::RT_CPU},     {"gpu", mace::RT_OPENCL},
      {"dsp", mace::RT_HEXAGON}, {"hta", mace::RT_HTA},
      {"htp", mace::RT_HTP},     {"apu", mace::RT_APU}};
  std::vector<mace::RuntimeType> devices;
  for (const std::string &name : flags.devices) {
    const auto found = known.find(name);
    if (found == known.end()) {
      return Wrong("--devices: '" + name +
                   "'; accepted: cpu, gpu, dsp, hta, htp, apu");
    }
    devices.push_back(found->second);
  }
  // An operator runs on the first device that can run it. With the CPU in the
  // list, a device that is not there costs a warning, and no engine.
  MaceStatus status = config->SetRuntimeTypes(devices);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  status = config->SetCPUThreadPolicy(
      flags.threads, mace::CPUAffinityPolicy::AFFINITY_BIG_ONLY);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  // Only the GPU reads these. One context may serve several engines.
  status = config->SetGPUContext(
      mace::GPUContextBuilder()
          .SetStoragePath(flags.storage)
          .SetOpenCLBinaryPaths(flags.kernels.empty()
                                    ? std::vector<std::string>()
                                    : std::vector<std::string>{flags.kernels})
          .SetOpenCLParameterPath(flags.tuned)
          .Finalize());
  if (status != MaceStatus::MACE_SUCCESS) return status;
  return config->SetGPUHints(mace::GPUPerfHint::PERF_NORMAL,
                             mace::GPUPriorityHint::PRIORITY_LOW);
}

// The graph in memory and the weights mapped: the engine reads them where they
// are, so both outlive it.
struct Model {
  std::vector<unsigned char> graph;
  std::unique_ptr<mace::port::ReadOnlyMemoryRegion> weights;
  std::shared_ptr<mace::MaceEngine> engine;

  MaceStatus Load(const Flags &flags);
};

MaceStatus Model::Load(const Flags &flags) {
  mace::MaceEngineConfig config;
  MaceStatus status = Configure(flags, &config);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  const unsigned char *bytes = nullptr;
  size_t size = 0;
  if (!flags.weights.empty()) {
    status = mace::GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
        flags.weights.c_str(), &weights);
    if (status != MaceStatus::MACE_SUCCESS) return status;
    bytes = static_cast<const unsigned char *>(weights->data());
    size = static_cast<size_t>(weights->length());
  }
  // Names of inputs and outputs may be left out: then all are used.
#ifdef MACE_EXAMPLE_MODEL
  return mace::CreateMaceEngineFromCode(flags.model, bytes, size, {}, {},
                                        config, &engine);
#else
  std::ifstream file(flags.model, std::ios::binary);
  if (!file) return Wrong("--model: can't read '" + flags.model + "'");
  graph.assign(std::istreambuf_iterator<char>(file),
               std::istreambuf_iterator<char>());
  return mace::CreateMaceEngineFromProto(graph.data(), graph.size(), bytes,
                                         size, {}, {}, config, &engine);
#endif
}

size_t ElementBytes(mace::IDataType type) {
  switch (type) {
    case mace::IDataType::IDT_FLOAT16:
    case mace::IDataType::IDT_BFLOAT16:
    case mace::IDataType::IDT_INT16:
      return 2;
    case mace::IDataType::IDT_INT8:
    case mace::IDataType::IDT_UINT8:
    case mace::IDataType::IDT_BOOL:
      return 1;
    default:
      return 4;
  }
}

size_t BytesOf(const MaceTensor &tensor) {
  size_t bytes = ElementBytes(tensor.data_type());
  for (int64_t dim : tensor.shape()) bytes *= static_cast<size_t>(dim);
  return bytes;
}

// The same tensor with memory of its own, of zeros.
MaceTensor WithMemory(const MaceTensor &tensor) {
  const std::shared_ptr<char> memory(new char[BytesOf(tensor) + 1](),
                                     std::default_delete<char[]>());
  return MaceTensor(tensor.shape(), std::shared_ptr<void>(memory),
                    tensor.data_format(), tensor.data_type());
}

std::string PathOf(const std::string &folder, std::string name) {
  for (char &c : name) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return folder + "/" + name;
}

MaceStatus ReadInput(const std::string &path, const MaceTensor &tensor) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  if (!file || bytes.size() != BytesOf(tensor)) {
    return Wrong(path + " has " + std::to_string(bytes.size()) +
                 " bytes; the input has " + std::to_string(BytesOf(tensor)));
  }
  std::copy(bytes.begin(), bytes.end(), tensor.data<char>().get());
  return MaceStatus();
}

MaceStatus WriteOutput(const std::string &path, const MaceTensor &tensor) {
  std::ofstream file(path, std::ios::binary);
  file.write(tensor.data<char>().get(),
             static_cast<std::streamsize>(BytesOf(tensor)));
  file.close();
  return file ? MaceStatus() : Wrong("can't write " + path);
}

// Inputs as the model declares them, or as --shape says, and outputs for them.
// The same memory serves all runs: none allocates any.
MaceStatus MakeTensors(const Flags &flags,
                       mace::MaceEngine *engine,
                       Tensors *inputs,
                       Tensors *outputs) {
  MaceStatus status = engine->Describe(inputs, nullptr);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  for (const auto &shape : flags.shapes) {
    const auto found = inputs->find(shape.first);
    if (found == inputs->end()) {
      return Wrong("--shape: the model has no input '" + shape.first + "'");
    }
    const MaceTensor &old = found->second;
    found->second = MaceTensor(shape.second, std::shared_ptr<void>(),
                               old.data_format(), old.data_type());
  }
  // Says also which shapes are still open.
  status = engine->Describe(inputs, outputs);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  for (auto &input : *inputs) {
    input.second = WithMemory(input.second);
    if (flags.input_dir.empty()) continue;
    status = ReadInput(PathOf(flags.input_dir, input.first), input.second);
    if (status != MaceStatus::MACE_SUCCESS) return status;
  }
  for (auto &output : *outputs) output.second = WithMemory(output.second);
  return MaceStatus();
}

MaceStatus RunAll(const Flags &flags) {
  Model model;
  MaceStatus status = model.Load(flags);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  Tensors inputs, outputs;
  status = MakeTensors(flags, model.engine.get(), &inputs, &outputs);
  if (status != MaceStatus::MACE_SUCCESS) return status;
  std::vector<double> times;
  for (int round = 0; round < flags.rounds; ++round) {
    const auto start = std::chrono::steady_clock::now();
    // The CPU takes over when a device fails; what is left to an application
    // is what it does without the result.
    status = model.engine->Run(inputs, &outputs);
    if (status != MaceStatus::MACE_SUCCESS) return status;
    const std::chrono::duration<double, std::milli> took =
        std::chrono::steady_clock::now() - start;
    times.push_back(took.count());
  }
  // The first run also prepares what depends on shapes.
  const double first = times[0];
  std::sort(times.begin(), times.end());
  std::printf("%d runs, first %.3f ms, median %.3f ms\n", flags.rounds, first,
              times[times.size() / 2]);
  const mace::EngineStats stats = model.engine->GetStats();
  std::printf("memory: %lld bytes of intermediate tensors\n",
              static_cast<long long>(stats.arena_bytes));
  if (flags.explain) std::printf("%s\n", model.engine->Explain().c_str());
  for (const auto &output : outputs) {
    // The run may have determined the shape.
    const MaceTensor &tensor = output.second;
    std::printf("%s: [", output.first.c_str());
    for (size_t i = 0; i < tensor.shape().size(); ++i) {
      std::printf(i == 0 ? "%lld" : ", %lld",
                  static_cast<long long>(tensor.shape()[i]));
    }
    std::printf("], %zu bytes\n", BytesOf(tensor));
    if (flags.output_dir.empty()) continue;
    status = WriteOutput(PathOf(flags.output_dir, output.first), tensor);
    if (status != MaceStatus::MACE_SUCCESS) return status;
  }
  return MaceStatus();
}

}  // namespace

int main(int argc, char **argv) {
  Flags flags;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    const bool has_value = equals != std::string::npos;
    if (!ReadFlag(word.substr(0, equals),
                  has_value ? word.substr(equals + 1) : "", &flags)) {
      std::fprintf(stderr, "example: '%s' is wrong\n%s", argv[i], kUsage);
      return 2;
    }
  }
  if (flags.model.empty()) {
    std::fprintf(stderr, "example: --model is missing\n%s", kUsage);
    return 2;
  }
  const MaceStatus status = RunAll(flags);
  if (status != MaceStatus::MACE_SUCCESS) {
    std::fprintf(stderr, "example: %s\n", status.information().c_str());
    return 1;
  }
  return 0;
}
