// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The C++ interface of MACE: the only header that a C++ application needs.
//
//   std::shared_ptr<mace::MaceEngine> engine;
//   mace::MaceEngineConfig config;
//   config.SetCPUThreadPolicy(4, mace::CPUAffinityPolicy::AFFINITY_BIG_ONLY);
//   mace::MaceStatus status = mace::CreateMaceEngineFromProto(
//       graph, graph_size, weights, weights_size, {"input"}, {"output"},
//       config, &engine);
//   if (status != mace::MaceStatus::MACE_SUCCESS) {
//     // status.information() says what is wrong; use a fallback.
//   }
//   status = engine->Run(inputs, &outputs);
//
// No function of this library ends the process or throws: a function that fails
// returns a MaceStatus. A function that is documented as thread-compatible may
// be called from any thread, but not from two at once on the same object. The
// destructor counts as such a call: if a thread runs an engine, give that
// thread its own copy of the shared_ptr.
//
// After fork() the parent and the child may each run or destroy an engine. The
// child does not inherit the parent's threads, so its first run starts new
// ones; if that fails, it runs on the calling thread and logs a warning. No
// other thread may run or create an engine while fork() is called: the child
// would wait for these threads for ever.

#ifndef MACE_PUBLIC_MACE_H_
#define MACE_PUBLIC_MACE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#ifndef MACE_API
#define MACE_API __attribute__((visibility("default")))
#endif

namespace mace {

// Version of the library, e.g. "1.0.0-8-gdeadbee".
MACE_API const char *MaceVersion();

// Where a model runs. Equals `runtime` of the deployment file. NPU is the
// accelerator of a delegate of the application, see mace_delegate.h. (AP-04)
enum DeviceType : int {
  CPU = 0,
  GPU = 2,
  HEXAGON = 3,
  HTA = 4,
  APU = 5,
  HTP = 6,
  NPU = 7,
};

// Newer spelling of DeviceType, used per subgraph. (AP-25)
enum RuntimeType : int {
  RT_CPU = CPU,
  RT_OPENCL = GPU,
  RT_HEXAGON = HEXAGON,
  RT_HTA = HTA,
  RT_APU = APU,
  RT_HTP = HTP,
  RT_NPU = NPU,
};

// Order of the dimensions of a rank-4 input or output.
enum class DataFormat { NONE = 0, NHWC = 1, NCHW = 2 };

// Element type of an input or output.
enum class IDataType {
  IDT_NOT_SET = 0,
  IDT_FLOAT = 1,
  IDT_UINT8 = 2,
  IDT_INT32 = 4,
  IDT_FLOAT16 = 5,
  IDT_BFLOAT16 = 6,
  IDT_INT8 = 7,
  IDT_BOOL = 8,
  IDT_INT16 = 9,
};

// Where the elements of an input or output are: in the memory of the process,
// or in memory of the application that the GPU then uses in place. See
// docs/user/gpu.md for what such memory has to be.
enum MemoryType : int {
  CPU_BUFFER = 0,
  GPU_BUFFER = 1,           // a cl_mem that is a buffer
  GPU_IMAGE = 2,            // a cl_mem that is a two-dimensional image
  GPU_HARDWARE_BUFFER = 3,  // an AHardwareBuffer of Android
};

// Which cores the worker threads are bound to. "Big" and "little" follow the
// maximum frequency that the system reports for each core. (CV-22)
enum CPUAffinityPolicy : int {
  AFFINITY_NONE = 0,
  AFFINITY_BIG_ONLY = 1,
  AFFINITY_LITTLE_ONLY = 2,
  AFFINITY_HIGH_PERFORMANCE = 3,
  AFFINITY_POWER_SAVE = 4,
};

enum GPUPerfHint : int {
  PERF_DEFAULT = 0,
  PERF_LOW = 1,
  PERF_NORMAL = 2,
  PERF_HIGH = 3,
};

// How fast the clock of the DSP runs: from SVS2, the slowest, to TURBOPLUS.
enum HexagonNNCornerType : int {
  HEXAGON_NN_CORNER_RELEASE = 0,  // no wish
  HEXAGON_NN_CORNER_TURBOPLUS,
  HEXAGON_NN_CORNER_TURBO,
  HEXAGON_NN_CORNER_NOMPLUS,
  HEXAGON_NN_CORNER_NOMINAL,
  HEXAGON_NN_CORNER_SVSPLUS,
  HEXAGON_NN_CORNER_SVS,
  HEXAGON_NN_CORNER_SVS2,
};

enum GPUPriorityHint : int {
  PRIORITY_DEFAULT = 0,
  PRIORITY_LOW = 1,
  PRIORITY_NORMAL = 2,
  PRIORITY_HIGH = 3,
};

// What an engine does with OpenCL kernels that an earlier engine compiled and
// stored.
enum class OpenCLCacheReusePolicy : int {
  REUSE_NONE = 0,      // compile them again
  REUSE_SAME_GPU = 1,  // use those that the same GPU and driver compiled
};

// What an engine does with the parts of a model that it compiled for an
// accelerator (HTA, HTP, APU, or a delegate of the application).
enum AcceleratorCachePolicy : int {
  // Compiles them, and stores nothing.
  ACCELERATOR_CACHE_NONE = 0,
  // Compiles them, and writes them to the storage file.
  ACCELERATOR_CACHE_STORE = 1,
  // Reads them from the binary file, compiles what the file lacks, and stores
  // nothing.
  ACCELERATOR_CACHE_LOAD = 2,
  // Reads them from the binary file; if it lacks some, compiles these, and
  // writes all to the storage file. If only one of the files is named, it is
  // both.
  APU_CACHE_LOAD_OR_STORE = 3,
};

// What an APU prefers.
enum APUPreferenceHint : int {
  NEURON_PREFER_LOW_POWER = 0,
  NEURON_PREFER_FAST_SINGLE_ANSWER = 1,
  NEURON_PREFER_SUSTAINED_SPEED = 2,
};

// The clock that an HTP asks for, by the names of Qualcomm.
enum HexagonPerformanceType : int {
  HEXAGON_BURST = 0,
  HEXAGON_SUSTAINED_HIGH_PERFORMANCE = 1,
  HEXAGON_HIGH_PERFORMANCE = 2,
  HEXAGON_BALANCED = 3,
  HEXAGON_LOW_BALANCED = 4,
  HEXAGON_POWER_SAVER = 5,
  HEXAGON_LOW_POWER_SAVER = 6,
  HEXAGON_HIGH_POWER_SAVER = 7,
  HEXAGON_SYSTEM_SETTINGS = 8,
};

// The result of a call: a code and, on failure, one sentence that names the
// operator, tensor, file or argument at fault and what would be accepted.
class MACE_API MaceStatus {
 public:
  enum Code {
    MACE_SUCCESS = 0,
    // The caller's arguments or the model are wrong.
    MACE_INVALID_ARGS = 1,
    // Memory or another resource of the system ran out.
    MACE_OUT_OF_RESOURCES = 2,
    // The model or the request needs what this build or device lacks.
    MACE_UNSUPPORTED = 3,
    // A driver or an operating system call failed.
    MACE_RUNTIME_ERROR = 4,
  };

  MaceStatus();
  MaceStatus(Code code);  // NOLINT(runtime/explicit): `return MACE_SUCCESS`.
  MaceStatus(Code code, std::string information);
  MaceStatus(const MaceStatus &);
  MaceStatus(MaceStatus &&) noexcept;
  MaceStatus &operator=(const MaceStatus &);
  MaceStatus &operator=(MaceStatus &&) noexcept;
  ~MaceStatus();

  Code code() const;
  // "Code name: message"; "Success" if there is nothing to say.
  std::string information() const;

  bool operator==(const MaceStatus &other) const;
  bool operator!=(const MaceStatus &other) const;

 private:
  Code code_;
  std::shared_ptr<const std::string> message_;  // null if none
};

// One input or output: a shape and shared ownership of its elements.
//
// The buffer holds product(shape) elements of data_type(), dense and row-major,
// with dimensions in the order data_format(). For an output, the buffer must be
// large enough for the result; Run updates shape(). If it is not, Run computes
// nothing, returns MACE_INVALID_ARGS, and shape() is what does not fit.
//
// With GPU_BUFFER or GPU_IMAGE, `data` is the cl_mem itself: its get() is the
// handle. The engine must run on the application's queue
// (GPUContextBuilder::SetOpenCLQueue). It retains the cl_mem until a later run
// has another one in its place, or until the engine is destroyed.
//
// With GPU_HARDWARE_BUFFER, `data` is the AHardwareBuffer itself: of the format
// AHARDWAREBUFFER_FORMAT_BLOB, with the usage
// AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, and at least as many bytes wide as the
// elements take. The engine may run on any queue. It imports the buffer, and
// holds a reference to it (AHardwareBuffer_acquire) as long as it would hold a
// cl_mem; the application may release its own after Run. Before Run, the
// application has to wait for what writes to the buffer, and while Run works,
// nobody may lock it for the CPU. Run returns MACE_UNSUPPORTED before Android
// 8, and on a GPU whose driver can't import such memory; MACE_INVALID_ARGS if
// format, usage or size are wrong.
class MACE_API MaceTensor {
 public:
  MaceTensor();
  MaceTensor(const std::vector<int64_t> &shape,
             std::shared_ptr<void> data,
             DataFormat format = DataFormat::NHWC,
             IDataType data_type = IDataType::IDT_FLOAT,
             MemoryType memory_type = CPU_BUFFER);
  MaceTensor(const MaceTensor &);
  MaceTensor(MaceTensor &&) noexcept;
  MaceTensor &operator=(const MaceTensor &);
  MaceTensor &operator=(MaceTensor &&) noexcept;
  ~MaceTensor();

  const std::vector<int64_t> &shape() const;
  // Elements as float; use data<T>() for another element type.
  std::shared_ptr<float> data() const;
  template <typename T>
  std::shared_ptr<T> data() const {
    return std::static_pointer_cast<T>(raw_data());
  }
  std::shared_ptr<void> raw_data() const;
  DataFormat data_format() const;
  IDataType data_type() const;
  MemoryType memory_type() const;

 private:
  friend struct MaceTensorAccess;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

// What an operator did in one run.
struct CallStats {
  int64_t start_micros;  // since the start of the run's clock
  int64_t end_micros;
  int64_t duration_nanos;  // the same span, for short operators
};

// Attributes of convolution-like operators; empty for the others.
struct ConvPoolArgs {
  std::vector<int> strides;
  int padding_type;  // -1 explicit, 0 VALID, 1 SAME
  std::vector<int> paddings;
  std::vector<int> dilations;
  std::vector<int64_t> kernels;
};

struct OperatorStats {
  std::string operator_name;
  std::string type;
  std::vector<std::vector<int64_t>> output_shape;
  ConvPoolArgs args;
  CallStats stats;
  int64_t macs;   // multiply-accumulates of this call; 0 if it has none
  int64_t bytes;  // bytes of inputs, constants and outputs
  DeviceType device;
  bool quantized;  // computes in integers that stand for floats
};

// Why a tensor is copied. (ZC-05, ZC-06, ZC-07, ZC-09)
enum class CopyReason : int {
  DEVICE = 0,      // the devices have memory of their own
  FORMAT = 1,      // the buffer is NCHW; engines compute in NHWC
  TYPE = 2,        // the buffer has another element type than the model
  ALIGNMENT = 3,   // the address is less aligned than those of malloc
  BEFORE_RUN = 4,  // the output is a constant, or known before the run
  SHARED = 5,      // the output is also an input, or overlaps another buffer
};

// A tensor that is copied from one device's memory to another's, or between the
// caller's buffer and the engine's memory.
struct TensorCopy {
  std::string tensor;
  DeviceType from;
  DeviceType to;
  int64_t bytes;  // -1 before shapes are known
  // Index of the operator before which the tensor is copied.
  size_t before_operator = 0;
  CopyReason reason = CopyReason::DEVICE;
  bool is_output = false;  // of the model, copied to the caller's buffer
};

// What the library tells MaceEngine::Describe of an input or output.
struct PortDescription {
  const char *name;
  const char *alias;    // empty if there is none
  const int64_t *dims;  // of an output: NHWC where the data format is NCHW
  size_t rank;
  DataFormat data_format;
  int data_type;  // a number of mace.proto
};
struct PortVisitor {
  // The inputs, as the model declares them; otherwise the outputs of a run.
  bool of_inputs;
  void (*visit)(const PortVisitor &visitor, const PortDescription &port);
  std::map<std::string, MaceTensor> *found;
};

// Filled by MaceEngine::Run when given; timing each operator costs a little.
class MACE_API RunMetadata {
 public:
  std::vector<OperatorStats> op_stats;
  // The inputs and outputs that the run did not use in place. The caller's
  // buffers count as the CPU's memory; before_operator is 0. (ZC-01)
  std::vector<TensorCopy> border_copies;

  // The library's way to add to border_copies, or to clear it if `tensor` is
  // null. This is code of the application.
  using BorderCopyNote = void (*)(RunMetadata *metadata,
                                  const std::string *tensor,
                                  int64_t bytes,
                                  DeviceType device,
                                  bool is_output,
                                  CopyReason reason);
  BorderCopyNote note_border_copy = &AddBorderCopy;
  // Of MaceEngine::Describe: what it asks instead of a run.
  const PortVisitor *port_visitor = nullptr;

 private:
  static void AddBorderCopy(RunMetadata *metadata,
                            const std::string *tensor,
                            int64_t bytes,
                            DeviceType device,
                            bool is_output,
                            CopyReason reason) {
    if (tensor == nullptr) {
      metadata->border_copies.clear();
      return;
    }
    TensorCopy copy;
    copy.tensor = *tensor;
    copy.from = is_output ? device : CPU;
    copy.to = is_output ? CPU : device;
    copy.bytes = bytes;
    copy.reason = reason;
    copy.is_output = is_output;
    metadata->border_copies.push_back(copy);
  }
};

// Memory and placement figures of an engine, for tools.
struct EngineStats {
  size_t arena_bytes;     // intermediate memory now held
  size_t tensor_bytes;    // sum of all intermediate tensors, unshared
  size_t constant_bytes;  // bytes of constants used in place
  size_t prepared_bytes;  // bytes of constants copied or transformed at load
  size_t operator_count;
  size_t state_bytes;  // of values that are kept from one run to the next
};

// Where the operators of an engine run, and why.
struct DeviceRefusal {
  DeviceType device;
  std::string reason;
};
struct OperatorPlacement {
  std::string operator_name;
  std::string type;
  std::string subgraph;  // empty if the model has one only
  DeviceType device;
  std::string kernel;  // empty if the device has no choice
  std::string output;  // types and shapes; empty before shapes are known
  std::string remark;
  // Estimated time of one run, by which the device was chosen; 0 if the model
  // leaves shapes open.
  int64_t estimated_nanos;
  // Time it took in the last run that was given RunMetadata; -1 if there was
  // none.
  int64_t measured_nanos;
  // The devices that come earlier in the caller's list, and why each of them
  // does not run the operator.
  std::vector<DeviceRefusal> refusals;
};
struct EnginePlacement {
  std::vector<OperatorPlacement> operators;  // in the order of execution
  std::vector<TensorCopy> copies;
  // Devices that the caller named and that are not available or failed.
  std::vector<DeviceRefusal> left_out;
};

// What engines on the GPU store and read: compiled kernels and tuned
// parameters. Made by GPUContextBuilder; any number of engines may use one at
// the same time. (AP-12)
class OpenclContext {
 private:
  friend class GPUContextBuilder;
  friend class MaceEngineConfig;
  friend struct OpenclContextAccess;
  OpenclContext() = default;

  std::string storage_path_;
  std::string cache_full_path_;
  OpenCLCacheReusePolicy cache_reuse_policy_ =
      OpenCLCacheReusePolicy::REUSE_SAME_GPU;
  std::vector<std::string> binary_paths_;
  std::vector<unsigned char> binary_;
  std::string parameter_path_;
  std::vector<unsigned char> parameter_;
  void *queue_ = nullptr;
  std::string problem_;  // the first wrong argument; empty if there is none
};
using GPUContext = OpenclContext;

// Makes a GPUContext. Every setting is optional, and an empty path or list
// leaves it out. A wrong argument is reported by SetGPUContext. (AP-09)
//
//   config.SetGPUContext(mace::GPUContextBuilder()
//                            .SetStoragePath("/data/data/com.example/files")
//                            .Finalize());
//
// This class is code of the application, so that a library without a GPU
// runtime need not contain it. As the containers of C++ do, it throws
// std::bad_alloc if memory runs out.
class GPUContextBuilder {
 public:
  GPUContextBuilder() = default;
  GPUContextBuilder(const GPUContextBuilder &) = delete;
  GPUContextBuilder &operator=(const GPUContextBuilder &) = delete;

  // A folder that exists and that the application may read and write. Engines
  // store compiled kernels there, which makes the next start faster. Set it
  // even if the application ships compiled kernels: a new driver needs others.
  GPUContextBuilder &SetStoragePath(const std::string &path) {
    context_.storage_path_ = path;
    return *this;
  }
  // The file itself, instead of one of a fixed name in the storage path.
  GPUContextBuilder &SetOpenCLCacheFullPath(const std::string &path) {
    context_.cache_full_path_ = path;
    return *this;
  }
  // Default: REUSE_SAME_GPU.
  GPUContextBuilder &SetOpenCLCacheReusePolicy(
      const OpenCLCacheReusePolicy &policy) {
    if (policy != OpenCLCacheReusePolicy::REUSE_NONE &&
        policy != OpenCLCacheReusePolicy::REUSE_SAME_GPU) {
      return Refuse(
          "SetOpenCLCacheReusePolicy: give REUSE_NONE or "
          "REUSE_SAME_GPU");
    }
    context_.cache_reuse_policy_ = policy;
    return *this;
  }
  // Files with kernels that were compiled before (by `converter.py run`, see
  // docs/user/gpu.md). The first file that can be read is used; it is never
  // written. The kernels are good only for the GPU and driver that compiled
  // them; others are compiled as if there were no file. (AP-10)
  GPUContextBuilder &SetOpenCLBinaryPaths(
      const std::vector<std::string> &paths) {
    context_.binary_paths_ = paths;
    return *this;
  }
  // The contents of such a file, which are copied. They are used instead of
  // SetOpenCLBinaryPaths.
  GPUContextBuilder &SetOpenCLBinary(const unsigned char *data, size_t size) {
    if (data == nullptr && size != 0) {
      return Refuse("SetOpenCLBinary: the data is null, but the size is not 0");
    }
    context_.binary_.assign(data, data + size);
    return *this;
  }
  // A file with parameters that were tuned for the GPU. (AP-11)
  GPUContextBuilder &SetOpenCLParameterPath(const std::string &path) {
    context_.parameter_path_ = path;
    return *this;
  }
  // The contents of such a file, which are copied. They are used instead of
  // SetOpenCLParameterPath.
  GPUContextBuilder &SetOpenCLParameter(const unsigned char *data,
                                        size_t size) {
    if (data == nullptr && size != 0) {
      return Refuse(
          "SetOpenCLParameter: the data is null, but the size is not 0");
    }
    context_.parameter_.assign(data, data + size);
    return *this;
  }
  // The application's cl_command_queue, on which engines with this context then
  // run, in the cl_context and on the cl_device_id of the queue. Inputs and
  // outputs can be memory of that context (MemoryType). The queue must keep the
  // order of commands, and must exist until the engines are created, which
  // retain it. Hints for the GPU have no effect then. Null: engines have queues
  // and a context of their own.
  GPUContextBuilder &SetOpenCLQueue(void *command_queue) {
    context_.queue_ = command_queue;
    return *this;
  }

  // The builder can be used again afterwards; it does not change the result.
  std::shared_ptr<GPUContext> Finalize() {
    return std::shared_ptr<GPUContext>(new GPUContext(context_));
  }

 private:
  GPUContextBuilder &Refuse(const char *problem) {
    if (context_.problem_.empty()) context_.problem_ = problem;
    return *this;
  }

  GPUContext context_;
};

class MaceEngineConfig;

// One setting of accelerators; what MaceEngineConfig hands to the library.
struct AcceleratorSetting {
  enum Kind { CACHE, APU_HINTS, QNN_PERFORMANCE } kind;
  int first;   // the policy, the boost, or the performance
  int second;  // the preference
  const std::string *binary_file;
  const std::string *storage_file;
};

namespace accelerator {

// Null in a library without accelerators.
__attribute__((weak)) MACE_API MaceStatus
Configure(MaceEngineConfig *config, const AcceleratorSetting &setting);

}  // namespace accelerator

// How an engine runs. Copyable; used only while the engine is created.
class MACE_API MaceEngineConfig {
 public:
  MaceEngineConfig();
  // Older generation. (AP-06)
  explicit MaceEngineConfig(DeviceType device_type);
  MaceEngineConfig(const MaceEngineConfig &);
  MaceEngineConfig &operator=(const MaceEngineConfig &);
  ~MaceEngineConfig();

  // The device of the whole model, or of one subgraph by name.
  MaceStatus SetRuntimeType(RuntimeType runtime_type,
                            const char *subgraph = "");

  // Several devices in order of preference: each operator runs on the first
  // device that can run it and makes the model faster. RT_CPU, which can run
  // every operator, is always the last, wherever it is named; even if it is not
  // named, the CPU runs the operators that no other device can run. If this
  // library lacks a device or the device does not start, creating the engine
  // fails, unless RT_CPU is named too: then the device is omitted with a
  // warning.
  MaceStatus SetRuntimeTypes(const std::vector<RuntimeType> &runtime_types,
                             const char *subgraph = "");

  // num_threads: -1 or 0 means as many threads as the policy selects cores; a
  // number above the number of available cores is lowered to it. Default: one
  // thread per big core, AFFINITY_NONE.
  MaceStatus SetCPUThreadPolicy(int num_threads, CPUAffinityPolicy policy);

  // What the GPU runtime stores and reads. One context may be given to several
  // engines. MACE_INVALID_ARGS if it is null, or if an argument of its builder
  // was wrong. No effect on engines that do not use the GPU. (AP-07)
  MaceStatus SetGPUContext(std::shared_ptr<GPUContext> context);

  // How fast the GPU's clock should run, and how urgent this engine's work is
  // compared with other programs' (drawing the screen, for example). Drivers
  // that know no hints ignore them; on Adreno, those of the first engine apply
  // to all engines of the process. Default: PERF_DEFAULT, PRIORITY_DEFAULT: as
  // the driver likes. MACE_INVALID_ARGS for a value outside of the
  // enumerations. (AP-08)
  MaceStatus SetGPUHints(GPUPerfHint perf_hint, GPUPriorityHint priority_hint);

  // Runs the DSP's code in a process for unsigned code; creating the engine
  // fails where the DSP has none. Without this call the DSP says whether it
  // has: if not, the code has to be signed. See docs/user/dsp.md. (AP-25)
  MaceStatus SetHexagonToUnsignedPD() { return SetHexagon(true, 0, false, 0); }

  // What the DSP's clock should do: `corner` as long as an engine uses the DSP,
  // or that at most as the DSP likes it (`dcvs_enable`), and how many
  // microseconds it may take to wake up (0: no wish). The last engine's wish
  // applies to all engines of the process. Default: as the system likes.
  // MACE_INVALID_ARGS for a value outside of the enumeration, and a latency
  // below 0. (AP-25)
  MaceStatus SetHexagonPower(HexagonNNCornerType corner,
                             bool dcvs_enable,
                             int latency) {
    if (corner < HEXAGON_NN_CORNER_RELEASE || corner > HEXAGON_NN_CORNER_SVS2 ||
        latency < 0) {
      return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                        "SetHexagonPower: the corner is one of "
                        "HexagonNNCornerType, and the latency is not below 0");
    }
    return SetHexagon(false, corner, dcvs_enable, latency);
  }

  // Run fails with MACE_RUNTIME_ERROR at the first operator that produces NaN
  // or infinity, and names the operator. Costs a pass over every tensor.
  // Default: off, or on if the environment has MACE_OUT_OF_RANGE_CHECK=1.
  MaceStatus SetOutOfRangeCheck(bool enabled);

  // Creating the engine reads all weights once and compares their checksum with
  // the one in the model. Default: off (the size is always compared).
  MaceStatus SetWeightsCheck(bool enabled);

  // The most memory that the engine may hold: intermediate tensors with scratch
  // memory, weights, read in place or prepared, and states (EngineStats).
  // Default: 0, any. Creating an engine whose weights and states need more, or
  // a run (or fake_warmup) whose plan does, returns MACE_OUT_OF_RESOURCES,
  // which tells the bytes; no intermediate memory is then allocated. A run with
  // smaller inputs may succeed afterwards. Intermediate memory that a tutor has
  // allocated already may be larger. On the GPU, small buffers that the first
  // run of a shape prepares do not count.
  MaceStatus SetMemoryLimit(size_t bytes);

  // The three functions below are for accelerators. They are code of the
  // application, and have no effect in a library without accelerators, nor on
  // engines that use none.

  // Where accelerators keep what they compiled, so that the next start is
  // faster. What was compiled for another model, other shapes, another
  // accelerator or another version of its driver is compiled again. Default:
  // ACCELERATOR_CACHE_NONE. MACE_INVALID_ARGS if the policy is none of the
  // enumeration, or needs a file that has no name. (AP-25)
  MaceStatus SetAcceleratorCache(AcceleratorCachePolicy policy,
                                 const std::string &binary_file,
                                 const std::string &storage_file);

  // `boost_hint`: how fast the APU's clock should run, from 0 to 100. Default:
  // 100, NEURON_PREFER_FAST_SINGLE_ANSWER. MACE_INVALID_ARGS for other values.
  // (AP-25)
  MaceStatus SetAPUHints(uint8_t boost_hint, APUPreferenceHint preference_hint);

  // Default: HEXAGON_BURST. MACE_INVALID_ARGS for other values than those of
  // the enumeration. (AP-25)
  MaceStatus SetQnnPerformance(HexagonPerformanceType type);

  class Impl;
  const Impl *impl() const;

 private:
  friend struct MaceEngineConfigAccess;
  MaceStatus SetHexagon(bool unsigned_pd,
                        int corner,
                        bool dcvs_enable,
                        int latency);

  std::unique_ptr<Impl> impl_;
};

inline MaceStatus MaceEngineConfig::SetAcceleratorCache(
    AcceleratorCachePolicy policy,
    const std::string &binary_file,
    const std::string &storage_file) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(this, {AcceleratorSetting::CACHE, policy, 0,
                                       &binary_file, &storage_file});
}

inline MaceStatus MaceEngineConfig::SetAPUHints(
    uint8_t boost_hint, APUPreferenceHint preference_hint) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(
      this, {AcceleratorSetting::APU_HINTS, boost_hint, preference_hint,
             nullptr, nullptr});
}

inline MaceStatus MaceEngineConfig::SetQnnPerformance(
    HexagonPerformanceType type) {
  if (accelerator::Configure == nullptr) return MaceStatus();
  return accelerator::Configure(
      this, {AcceleratorSetting::QNN_PERFORMANCE, type, 0, nullptr, nullptr});
}

// A loaded model. Not copyable. Run is thread-compatible; two engines may run
// at the same time unless one is the other's tutor.
class MACE_API MaceEngine {
 public:
  // Create engines with the CreateMaceEngine... functions.
  class Impl;
  explicit MaceEngine(std::unique_ptr<Impl> impl);
  MaceEngine(const MaceEngine &) = delete;
  MaceEngine &operator=(const MaceEngine &) = delete;
  ~MaceEngine();

  // Runs the model. `inputs` holds every input by name; shapes may differ from
  // those of the deployment file and from run to run. `outputs` holds the
  // wanted outputs by name; Run writes to their buffers. `run_metadata` may be
  // null. On x86, floats below 2^-126 that the run computes become 0; the
  // calling thread's floating-point mode is as before when Run returns.
  //
  // Outputs are complete when Run returns, those in GPU memory too. A run on
  // the application's queue starts after the commands that the queue has.
  MaceStatus Run(const std::map<std::string, MaceTensor> &inputs,
                 std::map<std::string, MaceTensor> *outputs,
                 RunMetadata *run_metadata = nullptr);

  // Says what Run takes and gives, without a run. Adds to `inputs` every input
  // that it lacks, with the shape that the model declares (the largest one
  // where it has limits; -1: open). Replaces `outputs`, which may be null, by
  // all outputs of a run with inputs of these shapes: the shape (the largest
  // one if the run determines it), the data format that the model declares, and
  // the element type that needs no conversion. Elements are not read, and the
  // added tensors have none. MACE_INVALID_ARGS if `outputs` is not null and a
  // shape is open. Everything that depends on the shapes is prepared for a
  // later run. This function is code of the application. (ZC-02, ZC-08)
  MaceStatus Describe(std::map<std::string, MaceTensor> *inputs,
                      std::map<std::string, MaceTensor> *outputs);

  // Frees the memory of intermediate tensors; the next Run allocates it again.
  // (AP-19)
  MaceStatus ReleaseIntermediateBuffer();

  // Some models keep values, called states, from one run to the next (the cache
  // of a decoder, the state of a recurrent network). States are not inputs or
  // outputs of Run. All of them are zero before the first run and after this
  // call. A run that fails does not change them.
  MaceStatus ResetStates();

  EngineStats GetStats() const;

  EnginePlacement GetPlacement() const;

  // The same as text: one line per operator with device, kernel and shapes,
  // followed by the reasons why preferred devices do not run it.
  std::string Explain() const;

  Impl *impl();

 private:
  static void AddPort(const PortVisitor &visitor, const PortDescription &port);

  std::unique_ptr<Impl> impl_;
};

inline void MaceEngine::AddPort(const PortVisitor &visitor,
                                const PortDescription &port) {
  std::map<std::string, MaceTensor> &found = *visitor.found;
  if (*port.alias != '\0' && found.count(port.alias) > 0) return;
  std::vector<int64_t> shape(port.dims, port.dims + port.rank);
  if (!visitor.of_inputs && port.rank == 4 &&
      port.data_format == DataFormat::NCHW) {
    shape = {shape[0], shape[3], shape[1], shape[2]};
  }
  constexpr IDataType kTypes[] = {
      IDataType::IDT_NOT_SET,  IDataType::IDT_FLOAT, IDataType::IDT_FLOAT16,
      IDataType::IDT_BFLOAT16, IDataType::IDT_INT32, IDataType::IDT_INT8,
      IDataType::IDT_UINT8,    IDataType::IDT_BOOL,  IDataType::IDT_INT16};
  const bool known =
      port.data_type >= 0 &&
      port.data_type < static_cast<int>(sizeof(kTypes) / sizeof(kTypes[0]));
  found.emplace(port.name, MaceTensor(shape, nullptr, port.data_format,
                                      kTypes[known ? port.data_type : 0]));
}

inline MaceStatus MaceEngine::Describe(
    std::map<std::string, MaceTensor> *inputs,
    std::map<std::string, MaceTensor> *outputs) {
  if (inputs == nullptr) {
    return MaceStatus(MaceStatus::MACE_INVALID_ARGS, "`inputs` is null");
  }
  RunMetadata question;
  PortVisitor visitor = {true, &AddPort, inputs};
  question.port_visitor = &visitor;
  const MaceStatus status = Run({}, nullptr, &question);
  if (status != MaceStatus::MACE_SUCCESS || outputs == nullptr) return status;
  // Run refuses null buffers.
  static char element = 0;
  std::map<std::string, MaceTensor> shapes;
  for (const auto &input : *inputs) {
    const MaceTensor &tensor = input.second;
    shapes.emplace(
        input.first,
        MaceTensor(tensor.shape(),
                   std::shared_ptr<void>(std::shared_ptr<void>(), &element),
                   tensor.data_format(), tensor.data_type()));
  }
  outputs->clear();
  visitor = {false, &AddPort, outputs};
  return Run(shapes, nullptr, &question);
}

// Newer form: graph and weights are in memory. (AP-14)
//
// `model_weights_data` is used in place and must outlive the engine, unless
// `*model_data_unused` is set to true. Its address should be a multiple of 64
// (a mapped file is); otherwise the constants are copied once.
// `tutor`: an initialised engine whose intermediate memory the new one shares
// (AP-20); the two must not run at the same time, and the tutor must live
// longer.
// `fake_warmup`: prepare everything that the first run would prepare, without
// running the model.
MACE_API MaceStatus
CreateMaceEngineFromProto(const unsigned char *model_graph_proto,
                          size_t model_graph_proto_size,
                          const unsigned char *model_weights_data,
                          size_t model_weights_data_size,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          const MaceEngineConfig &config,
                          std::shared_ptr<MaceEngine> *engine,
                          bool *model_data_unused = nullptr,
                          MaceEngine *tutor = nullptr,
                          bool fake_warmup = false);

// Older form: the weights are a regular file, which stays mapped as long as the
// engine lives. (AP-13)
//
// The file may be deleted or replaced by renaming another file over it, but
// must not be written to or shortened in place. If a process reads a mapped
// page beyond the end of the file, the operating system ends the process with
// SIGBUS, and no library can turn that into a status. If others may write to
// the file, read it into memory and use the function above.
MACE_API MaceStatus
CreateMaceEngineFromProto(const std::vector<unsigned char> &model_pb,
                          const std::string &model_data_file,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          const MaceEngineConfig &config,
                          std::shared_ptr<MaceEngine> *engine);
MACE_API MaceStatus
CreateMaceEngineFromProto(const std::vector<unsigned char> &model_pb,
                          const std::string &model_data_file,
                          const std::vector<std::string> &input_nodes,
                          const std::vector<std::string> &output_nodes,
                          DeviceType device_type,
                          std::shared_ptr<MaceEngine> *engine);

// The runtimes that this library has and that start on this machine, in the
// order of RuntimeType. An engine that is created with one of them uses it;
// GetPlacement says which operators run on it. (AP-25)
MACE_API MaceStatus GetRuntimeTypes(std::vector<RuntimeType> *runtime_types);

// How long a runtime takes for a benchmark that is the same for all runtimes.
struct PerformanceInfo {
  // Negative if the runtime can't run the benchmark.
  float exec_time = -1;
};
struct Capability {
  PerformanceInfo float32_performance;
  // Always negative: this release computes no network in 8-bit integers.
  PerformanceInfo quantized8_performance;
  // The library has the runtime and it starts on this machine.
  bool supported = false;
};
// Runs a block of MobileNet v2 (21 million multiply-accumulates) a few times on
// the runtime with default options, and takes the shortest time. The result is
// divided by `cpu_float32_exec_time`: if that is 1, the result is in
// milliseconds; if it is the CPU's result, the result is relative to the CPU's
// time. A library that was built for selected operators needs Conv2D and
// DepthwiseConv2d among them. (AP-25)
MACE_API Capability GetCapability(RuntimeType runtime_type,
                                  float cpu_float32_exec_time = 1.0f);

namespace port {

// Bytes that stay readable at the same address while this object lives. (AP-21)
class MACE_API ReadOnlyMemoryRegion {
 public:
  virtual ~ReadOnlyMemoryRegion();
  virtual const void *data() const = 0;
  virtual uint64_t length() const = 0;
};

// A region over memory that someone else owns.
class MACE_API ReadOnlyBufferMemoryRegion : public ReadOnlyMemoryRegion {
 public:
  ReadOnlyBufferMemoryRegion();
  ReadOnlyBufferMemoryRegion(const void *data, uint64_t length);
  ~ReadOnlyBufferMemoryRegion() override;
  const void *data() const override;
  uint64_t length() const override;

 private:
  const void *data_;
  uint64_t length_;
};

class MACE_API FileSystem {
 public:
  virtual ~FileSystem();
  // Maps a regular file read-only. The file must not be shortened while the
  // region lives (see CreateMaceEngineFromProto).
  virtual MaceStatus NewReadOnlyMemoryRegionFromFile(
      const char *path, std::unique_ptr<ReadOnlyMemoryRegion> *result) = 0;
};

}  // namespace port

MACE_API port::FileSystem *GetFileSystem();

// Sources for release 1.0 call it without std::. (AP-21)
using std::make_unique;

}  // namespace mace

#endif  // MACE_PUBLIC_MACE_H_
