// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The command line of mace_run.

#ifndef MACE_TOOLS_OPTIONS_H_
#define MACE_TOOLS_OPTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace.h"

namespace mace {
namespace tools {

// Exit statuses.
enum ExitStatus {
  kExitSuccess = 0,
  // The model ran wrongly, or the system failed (memory, driver, disk).
  kExitFailed = 1,
  // The request cannot be carried out as given: flags, files, model, shapes.
  kExitBadRequest = 2,
};

// One input or output of the model, as the flags describe it.
struct TensorSpec {
  std::string name;
  std::vector<int64_t> shape;
  IDataType data_type = IDataType::IDT_FLOAT;
  DataFormat data_format = DataFormat::NHWC;
};

// What the flags say of the GPU.
struct GpuOptions {
  std::string cache_full_path;
  std::string binary_file;
  std::string parameter_file;
  int cache_reuse_policy = 1;
  int perf_hint = 3;
  int priority_hint = 3;
  bool out_of_range_check = false;
};

// What the flags say of the DSP.
struct DspOptions {
  bool unsigned_pd = false;
  int power = 0;  // a HexagonNNCornerType
  bool dcvs = false;
  int latency_us = 0;
};

// What the flags say of accelerators: HTA, HTP and APU.
struct AcceleratorFlags {
  std::string binary_file;
  std::string storage_file;
  int cache_policy = 0;
  int boost_hint = 100;
  int preference_hint = 1;
  int performance = 0;
};

struct Options {
  std::string model_name;
  std::string model_file;
  std::string model_data_file;
  std::string runtime = "cpu";
  GpuOptions gpu;
  DspOptions dsp;
  AcceleratorFlags accelerator;

  std::vector<TensorSpec> inputs;
  std::vector<TensorSpec> outputs;

  // Raw element files `<prefix>_<name>`; without one, inputs are random.
  std::string input_file;
  std::string output_file;
  // Every `<input_dir>/<first input><suffix>` is one sample.
  std::string input_dir;
  std::string output_dir;
  uint64_t seed = 0;

  int round = 1;
  // Instead of rounds; 0: rounds.
  double duration_s = 0;
  int warmup_rounds = 1;
  double progress_s = 10;
  int restart_round = 1;
  int malloc_check_cycle = -1;
  int num_threads = -1;
  int cpu_affinity_policy = 1;
  int vlog_level = 0;
  bool fake_warmup = false;
  bool plan_only = false;
  bool out_of_range_check = true;
  bool check_weights = true;
  bool memory = false;
  int64_t memory_limit = 0;  // bytes; 0: none
  bool explain = false;

  bool benchmark = false;
  double max_seconds = 10.0;
  bool measure_peak = false;
  bool measure_capability = true;
  std::string report_json;  // "-" is standard output
};

struct ParseOutcome {
  bool run = false;  // false: exit with `status`
  int status = kExitSuccess;
};

// Fills `options` from the arguments. If the model is not to be run, prints the
// help, the version or one error message that names the flag.
ParseOutcome ParseOptions(int argc, const char *const *argv, Options *options);

// "a,b" -> {"a", "b"}; "\," is a comma that belongs to a name.
std::vector<std::string> SplitList(const std::string &text, char separator);

// Whether `runtime`, as the flag gives it, names an accelerator.
bool NamesAccelerator(const std::string &runtime);

// Whether `runtime`, as the flag gives it, names a device:
// "front=gpu+cpu,back=cpu" names gpu and cpu.
bool NamesRuntime(const std::string &runtime, const std::string &device);

// "1,224,224,3:1,10" -> two shapes; "scalar" is the shape without dimensions.
// Returns an empty text, or what is wrong.
std::string ParseShapes(const std::string &text,
                        std::vector<std::vector<int64_t>> *shapes);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_OPTIONS_H_
