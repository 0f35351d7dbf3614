// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/options.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "mace/tools/console.h"

namespace mace {
namespace tools {
namespace {

// The flags about inputs and outputs as given, before they are joined.
struct NodeFlags {
  std::string node;
  std::string shape;
  std::string data_type = "float32";
  std::string data_format = "NHWC";
};

bool ParseDataType(const std::string &text, IDataType *type) {
  static const std::map<std::string, IDataType> types = {
      {"float32", IDataType::IDT_FLOAT},
      {"float16", IDataType::IDT_FLOAT16},
      {"bfloat16", IDataType::IDT_BFLOAT16},
      {"int32", IDataType::IDT_INT32},
      {"int8", IDataType::IDT_INT8},
      {"uint8", IDataType::IDT_UINT8},
      {"bool", IDataType::IDT_BOOL},
      {"int16", IDataType::IDT_INT16},
  };
  const auto found = types.find(text);
  if (found == types.end()) return false;
  *type = found->second;
  return true;
}

bool ParseDataFormat(const std::string &text, DataFormat *format) {
  static const std::map<std::string, DataFormat> formats = {
      {"NONE", DataFormat::NONE},
      {"NHWC", DataFormat::NHWC},
      {"NCHW", DataFormat::NCHW},
  };
  const auto found = formats.find(text);
  if (found == formats.end()) return false;
  *format = found->second;
  return true;
}

// One value may apply to all nodes. (DS-11)
bool Spread(size_t count, std::vector<std::string> *values) {
  if (values->size() == 1) values->resize(count, values->front());
  return values->size() == count;
}

// Joins the flags of one side ("input" or "output"). Returns an error text, or
// "".
std::string JoinNodes(const std::string &side,
                      const NodeFlags &flags,
                      std::vector<TensorSpec> *specs) {
  const std::vector<std::string> names = SplitList(flags.node, ',');
  std::set<std::string> seen;
  for (const std::string &name : names) {
    if (name.empty()) return "--" + side + "_node holds an empty name";
    if (!seen.insert(name).second) {
      return "--" + side + "_node names " + name + " twice";
    }
  }
  std::vector<std::vector<int64_t>> shapes;
  const std::string wrong = ParseShapes(flags.shape, &shapes);
  if (!wrong.empty()) return "--" + side + "_shape: " + wrong;
  const std::string counts =
      std::to_string(names.size()) + " names in --" + side + "_node";
  if (shapes.size() != names.size()) {
    return "--" + side + "_shape has " + std::to_string(shapes.size()) +
           " shapes for the " + counts +
           " (shapes are separated by ':', dimensions by ',')";
  }
  std::vector<std::string> types = SplitList(flags.data_type, ',');
  std::vector<std::string> formats = SplitList(flags.data_format, ',');
  if (!Spread(names.size(), &types)) {
    return "--" + side + "_data_type needs one type, or one for each of the " +
           counts;
  }
  if (!Spread(names.size(), &formats)) {
    return "--" + side +
           "_data_format needs one format, or one for each of the " + counts;
  }
  for (size_t i = 0; i < names.size(); ++i) {
    TensorSpec spec;
    spec.name = names[i];
    spec.shape = shapes[i];
    if (!ParseDataType(types[i], &spec.data_type)) {
      return "--" + side + "_data_type: '" + types[i] +
             "' is none of float32, float16, bfloat16, int32, int16, int8, "
             "uint8, bool";
    }
    if (!ParseDataFormat(formats[i], &spec.data_format)) {
      return "--" + side + "_data_format: '" + formats[i] +
             "' is none of NHWC, NCHW, NONE";
    }
    specs->push_back(std::move(spec));
  }
  return "";
}

// Shows a number's name in the help; CLI11 would add its bounds.
template <typename T>
CLI::Validator Within(T least, T most) {
  return CLI::Range(least, most).description("");
}

void AddNodeFlags(CLI::App *app, const std::string &side, NodeFlags *flags) {
  const std::string group = side == "input" ? "Inputs" : "Outputs";
  app->add_option("--" + side + "_node", flags->node, "names, separated by ','")
      ->required()
      ->type_name("NAMES")
      ->group(group);
  app->add_option("--" + side + "_shape", flags->shape,
                  "shapes in the user's order; ':' between shapes, ',' inside"
                  " (1,224,224,3:1,10); 'scalar' has no dimensions")
      ->required()
      ->type_name("SHAPES")
      ->group(group);
  app->add_option("--" + side + "_data_type", flags->data_type,
                  "float32 (default), float16, bfloat16, int32, int16, int8,"
                  " uint8 or bool; one for all, or one each")
      ->type_name("TYPES")
      ->group(group);
  app->add_option("--" + side + "_data_format", flags->data_format,
                  "NHWC (default), NCHW or NONE; one for all, or one each")
      ->type_name("FORMATS")
      ->group(group);
}

void AddModelFlags(CLI::App *app, Options *options) {
  app->add_option("--model_name", options->model_name,
                  "name shown in reports; which model, in a program that "
                  "contains models")
      ->type_name("NAME");
  app->add_option("--model_file", options->model_file,
                  "model graph (<model>.pb); required unless the program "
                  "contains models")
      ->type_name("FILE");
  app->add_option("--model_data_file", options->model_data_file,
                  "model weights (<model>.data)")
      ->type_name("FILE");
  app->add_option("--runtime", options->runtime,
                  "cpu (default), or several in the order of wish, as gpu+cpu;"
                  " by subgraph: front=gpu+cpu,back=cpu")
      ->type_name("NAME");
  app->add_option("--input_file", options->input_file,
                  "prefix of raw input files: <prefix>_<name>, every character"
                  " of the name that is no letter or digit as '_'; without"
                  " it, inputs are random")
      ->type_name("PREFIX")
      ->group("Inputs");
  app->add_option("--input_dir", options->input_dir,
                  "folder of samples: <name><suffix>, the same suffix for all"
                  " inputs of a sample; needs --output_dir")
      ->type_name("DIR")
      ->group("Inputs");
  app->add_option("--seed", options->seed, "of random inputs (default 0)")
      ->type_name("N")
      ->group("Inputs");
  app->add_option("--output_file", options->output_file,
                  "prefix of the raw output files: <prefix>_<name>, as of"
                  " --input_file")
      ->type_name("PREFIX")
      ->group("Outputs");
  app->add_option("--output_dir", options->output_dir,
                  "where the outputs of --input_dir go: <name><suffix>")
      ->type_name("DIR")
      ->group("Outputs");
}

void AddRunFlags(CLI::App *app, Options *options) {
  CLI::Option *const round =
      app->add_option("--round", options->round, "timed runs (default 1)")
          ->type_name("N")
          ->check(Within(1, 100000000));
  app->add_option("--duration", options->duration_s,
                  "run for so long, instead of --round times")
      ->type_name("SECONDS")
      ->check(Within(0.001, 604800.0))
      ->excludes(round);
  CLI::Option *const warmup_rounds =
      app->add_option("--warmup_rounds", options->warmup_rounds,
                      "untimed runs before the others (default 1)")
          ->type_name("N")
          ->check(Within(1, 100000000));
  app->add_option("--restart_round", options->restart_round,
                  "how often the engine is made anew (default 1)")
      ->type_name("N")
      ->check(Within(1, 100000000));
  app->add_option("--malloc_check_cycle", options->malloc_check_cycle,
                  "print the process's memory every so many runs (default:"
                  " never)")
      ->type_name("N");
  app->add_option("--num_threads", options->num_threads,
                  "-1 (default): as many as the policy selects cores")
      ->type_name("N");
  app->add_option("--cpu_affinity_policy", options->cpu_affinity_policy,
                  "0 none, 1 big cores (default), 2 little cores, 3 high"
                  " performance, 4 power save")
      ->type_name("0..4")
      ->check(Within(0, 4));
  app->add_option("--vlog_level", options->vlog_level,
                  "the library's verbose log level, 0 (default) to 5")
      ->type_name("0..5")
      ->check(Within(0, 5));
  app->add_flag("--fake_warmup", options->fake_warmup,
                "prepare the engine instead of a first, untimed run")
      ->excludes(warmup_rounds);
  app->add_flag("--plan_only", options->plan_only,
                "prepare the engine for the inputs, and run nothing: --explain,"
                " --memory and --report_json tell of the plan");
  app->add_flag("--out_of_range_check", options->out_of_range_check,
                "fail when an output holds NaN or Inf and name the operator"
                " that made the first (default true)");
  app->add_flag("--check_weights", options->check_weights,
                "before anything is timed, compare the checksum of the weights"
                " with the model's (default true)");
  app->add_flag("--memory", options->memory,
                "print the memory that the engine holds after the runs");
  app->add_option("--memory_limit", options->memory_limit,
                  "fail instead of holding more than so much (default 0: any)")
      ->type_name("BYTES")
      ->check(Within<int64_t>(0, std::numeric_limits<int64_t>::max()));
  app->add_flag("--explain", options->explain,
                "print where each operator runs, why, and its estimated time; "
                "with --benchmark the measured one, too");
}

void AddReportFlags(CLI::App *app, Options *options) {
  app->add_flag("--benchmark", options->benchmark,
                "print the statistics of runs and operators")
      ->group("Reports");
  app->add_option("--max_seconds", options->max_seconds,
                  "longest time of one benchmark section without --duration "
                  "(default 10)")
      ->type_name("SECONDS")
      ->check(Within(0.001, 86400.0))
      ->group("Reports");
  app->add_flag("--measure_peak", options->measure_peak,
                "measure the processor's peak arithmetic and memory rates")
      ->group("Reports");
  app->add_flag("--measure_capability", options->measure_capability,
                "time a loop that tells processors apart, else print 0"
                " (default true)")
      ->group("Reports");
  app->add_option("--report_json,--json", options->report_json,
                  "write everything that was measured to this file; -: to "
                  "standard output, and all other output to standard error")
      ->type_name("FILE")
      ->group("Reports");
  app->add_option("--progress_seconds", options->progress_s,
                  "seconds between lines of progress on standard error, in a "
                  "file or pipe (default 10; 0: none)")
      ->type_name("SECONDS")
      ->check(Within(0.0, 86400.0))
      ->group("Reports");
}

constexpr char kGpuGroup[] = "GPU";

void AddGpuFlags(CLI::App *app, GpuOptions *gpu) {
  app->add_option("--opencl_cache_full_path", gpu->cache_full_path,
                  "file in which compiled kernels are kept; without it, a file "
                  "in the folder MACE_INTERNAL_STORAGE_PATH of the environment")
      ->type_name("FILE")
      ->group(kGpuGroup);
  app->add_option("--opencl_cache_reuse_policy", gpu->cache_reuse_policy,
                  "1 (default): use kernels that an earlier run kept; 0: "
                  "compile them again")
      ->type_name("0|1")
      ->check(Within(0, 1))
      ->group(kGpuGroup);
  app->add_option("--opencl_binary_file", gpu->binary_file,
                  "kernels that were compiled before for this GPU and driver")
      ->type_name("FILE")
      ->group(kGpuGroup);
  app->add_option("--opencl_parameter_file", gpu->parameter_file,
                  "parameters that were tuned for this GPU")
      ->type_name("FILE")
      ->group(kGpuGroup);
  app->add_option("--gpu_perf_hint", gpu->perf_hint,
                  "performance: 0 default, 1 low, 2 normal, 3 high (default)")
      ->type_name("0..3")
      ->check(Within(0, 3))
      ->group(kGpuGroup);
  app->add_option("--gpu_priority_hint", gpu->priority_hint,
                  "priority: 0 default, 1 low, 2 normal, 3 high (default)")
      ->type_name("0..3")
      ->check(Within(0, 3))
      ->group(kGpuGroup);
  app->add_flag("--gpu_out_of_range_check", gpu->out_of_range_check,
                "fail at the first operator whose result has NaN or Inf; slow")
      ->group(kGpuGroup);
}

constexpr char kDspGroup[] = "DSP";

void AddDspFlags(CLI::App *app, DspOptions *dsp) {
  app->add_flag("--dsp_unsigned_pd", dsp->unsigned_pd,
                "insist on a process of the DSP for unsigned code")
      ->group(kDspGroup);
  app->add_option("--dsp_power", dsp->power,
                  "the clock of the DSP: 0 (default) as the system likes, 1 "
                  "most (turbo plus) to 7 least (SVS2)")
      ->type_name("0..7")
      ->check(Within(0, 7))
      ->group(kDspGroup);
  app->add_flag("--dsp_dcvs", dsp->dcvs,
                "--dsp_power is the most; below it, the DSP chooses")
      ->group(kDspGroup);
  app->add_option("--dsp_latency", dsp->latency_us,
                  "how long the DSP may take to wake up, in microseconds; 0 "
                  "(default): no wish")
      ->type_name("US")
      ->check(CLI::NonNegativeNumber)
      ->group(kDspGroup);
}

// Of a group for one runtime.
void WarnOfFlags(const CLI::App &app,
                 const std::string &runtime,
                 const char *group,
                 const char *device) {
  if (NamesRuntime(runtime, device)) return;
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_group() != group || option->count() == 0) continue;
    MACE_TOOL_WARNING(option->get_name() + " has no effect: --runtime=" +
                      runtime + " does not name the " + device);
  }
}

constexpr char kAcceleratorGroup[] = "Accelerators: HTA, HTP, APU";
constexpr char kApuFlags[] = "--apu_";
constexpr char kHtpFlags[] = "--htp_";

void AddAcceleratorFlags(CLI::App *app, AcceleratorFlags *flags) {
  app->add_option("--accelerator_cache_policy", flags->cache_policy,
                  "what is done with the compiled model: 0 (default) nothing, "
                  "1 store it, 2 load it, 3 load it, or else store it")
      ->type_name("0..3")
      ->check(Within(0, 3))
      ->group(kAcceleratorGroup);
  app->add_option("--accelerator_binary_file", flags->binary_file,
                  "the compiled model to load")
      ->type_name("FILE")
      ->group(kAcceleratorGroup);
  app->add_option("--accelerator_storage_file", flags->storage_file,
                  "where the compiled model is stored")
      ->type_name("FILE")
      ->group(kAcceleratorGroup);
  app->add_option("--apu_boost_hint", flags->boost_hint,
                  "the clock of the APU: 0 slow to 100 (default) fast")
      ->type_name("0..100")
      ->check(Within(0, 100))
      ->group(kAcceleratorGroup);
  app->add_option("--apu_preference_hint", flags->preference_hint,
                  "the APU prefers 0 low power, 1 (default) a fast answer, 2 "
                  "sustained speed")
      ->type_name("0..2")
      ->check(Within(0, 2))
      ->group(kAcceleratorGroup);
  app->add_option("--htp_performance", flags->performance,
                  "the clock of the HTP: 0 (default) burst, to 7 least power; "
                  "8: as the system is set")
      ->type_name("0..8")
      ->check(Within(0, 8))
      ->group(kAcceleratorGroup);
}

// The runtimes that a flag is for, of which one must be named.
const char *MissingRuntime(const std::string &flag,
                           const std::string &runtime) {
  if (flag.rfind(kApuFlags, 0) == 0) {
    return NamesRuntime(runtime, "apu") ? nullptr : "the apu";
  }
  if (flag.rfind(kHtpFlags, 0) == 0) {
    return NamesRuntime(runtime, "htp") ? nullptr : "the htp";
  }
  return NamesAccelerator(runtime) ? nullptr : "hta, htp or apu";
}

void WarnOfAcceleratorFlags(const CLI::App &app, const std::string &runtime) {
  for (const CLI::Option *option : app.get_options()) {
    if (option->get_group() != kAcceleratorGroup || option->count() == 0) {
      continue;
    }
    const char *missing = MissingRuntime(option->get_name(), runtime);
    if (missing == nullptr) continue;
    MACE_TOOL_WARNING(option->get_name() + " has no effect: --runtime=" +
                      runtime + " does not name " + missing);
  }
}

ParseOutcome Refuse(const std::string &message) {
  MACE_TOOL_ERROR(message + "; see mace_run --help");
  return {false, kExitBadRequest};
}

// Finds contradictions between flags that are valid separately; "" if none.
std::string CheckCombinations(const Options &options) {
  if (!options.input_dir.empty() && !options.input_file.empty()) {
    return "--input_dir and --input_file cannot be given together";
  }
  if (options.input_dir.empty() != options.output_dir.empty()) {
    return "--input_dir and --output_dir must be given together";
  }
  if (options.plan_only && (options.benchmark || !options.input_dir.empty())) {
    return "--plan_only runs nothing; leave out --benchmark and --input_dir";
  }
  if (!options.input_dir.empty() && options.duration_s > 0) {
    return "--duration repeats one set of inputs; give --input_file instead of "
           "--input_dir";
  }
  if (!options.input_dir.empty() && options.benchmark) {
    return "--benchmark measures one set of inputs; give --input_file "
           "instead of --input_dir";
  }
  return "";
}

}  // namespace

std::vector<std::string> SplitList(const std::string &text, char separator) {
  std::vector<std::string> parts(1);
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size() && text[i + 1] == separator) {
      parts.back().push_back(text[++i]);
    } else if (text[i] == separator) {
      parts.emplace_back();
    } else {
      parts.back().push_back(text[i]);
    }
  }
  return parts;
}

bool NamesRuntime(const std::string &runtime, const std::string &device) {
  for (const std::string &part : SplitList(runtime, ',')) {
    const size_t equals = part.rfind('=');
    const std::string names =
        equals == std::string::npos ? part : part.substr(equals + 1);
    for (const std::string &name : SplitList(names, '+')) {
      if (name == device) return true;
    }
  }
  return false;
}

bool NamesAccelerator(const std::string &runtime) {
  return NamesRuntime(runtime, "hta") || NamesRuntime(runtime, "htp") ||
         NamesRuntime(runtime, "apu");
}

std::string ParseShapes(const std::string &text,
                        std::vector<std::vector<int64_t>> *shapes) {
  // Larger tensors do not fit into any memory.
  constexpr int64_t kMaxElements = int64_t{1} << 40;
  for (const std::string &part : SplitList(text, ':')) {
    std::vector<int64_t> shape;
    int64_t elements = 1;
    if (part != "scalar") {
      for (const std::string &word : SplitList(part, ',')) {
        char *end = nullptr;
        errno = 0;
        const int64_t dim = std::strtoll(word.c_str(), &end, 10);
        if (word.empty() || *end != '\0' || errno != 0 || dim < 0) {
          return "'" + word + "' in '" + part +
                 "' is not a dimension; give a number from 0";
        }
        if (dim != 0) {
          if (dim > kMaxElements / elements) {
            return "'" + part + "' has too many elements";
          }
          elements *= dim;
        }
        shape.push_back(dim);
      }
    }
    shapes->push_back(std::move(shape));
  }
  return "";
}

ParseOutcome ParseOptions(int argc, const char *const *argv, Options *options) {
  CLI::App app(
      "Runs a MACE model: time, memory, outputs.\n"
      "Exit status: 0 done; 1 the model or the system failed; 2 the request "
      "is wrong.",
      "mace_run");
  NodeFlags input_flags;
  NodeFlags output_flags;
  app.footer(
      "A switch is turned off by --name=false.\n\n"
      "Example:\n"
      "  mace_run --model_file=m.pb --model_data_file=m.data --benchmark \\\n"
      "      --input_node=image --input_shape=1,224,224,3 \\\n"
      "      --output_node=label --output_shape=1,1000");
  app.set_version_flag("--version", std::string(MaceVersion()));
  AddModelFlags(&app, options);
  AddNodeFlags(&app, "input", &input_flags);
  AddNodeFlags(&app, "output", &output_flags);
  AddRunFlags(&app, options);
  AddReportFlags(&app, options);
  AddGpuFlags(&app, &options->gpu);
  AddDspFlags(&app, &options->dsp);
  AddAcceleratorFlags(&app, &options->accelerator);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &answer) {  // --help, --version
    return {false, app.exit(answer)};
  } catch (const CLI::ParseError &error) {
    return Refuse(error.what());
  }
  std::string wrong = JoinNodes("input", input_flags, &options->inputs);
  if (wrong.empty()) {
    wrong = JoinNodes("output", output_flags, &options->outputs);
  }
  if (wrong.empty()) wrong = CheckCombinations(*options);
  if (!wrong.empty()) return Refuse(wrong);
  WarnOfFlags(app, options->runtime, kGpuGroup, "gpu");
  WarnOfFlags(app, options->runtime, kDspGroup, "dsp");
  WarnOfAcceleratorFlags(app, options->runtime);
  return {true, kExitSuccess};
}

}  // namespace tools
}  // namespace mace
