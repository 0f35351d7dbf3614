// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/driver/opencl_runtime.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "mace/core/base/divide.h"
#include "mace/core/base/logging.h"
#include "mace/runtimes/opencl/driver/gpu_program.h"

namespace mace {
namespace {

// Compilers of drivers take much memory.
constexpr unsigned kMaxCompilers = 8;
// Of a compiler's messages in a status.
constexpr size_t kMaxBuildLog = 2000;

int64_t MillisSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

// The entry of a cache that says which device and driver it is of.
constexpr char kCacheOwner[] = "device";

std::mutex g_shared_mutex;
std::weak_ptr<OpenclRuntime> g_shared;
// Of contexts of the application; guarded by g_shared_mutex.
std::vector<std::weak_ptr<OpenclRuntime>> g_of_queues;
std::atomic<bool> g_was_opened{false};

}  // namespace

Result<std::shared_ptr<OpenclRuntime>> OpenclRuntime::Get(
    const GpuHints &hints) {
  const std::lock_guard<std::mutex> lock(g_shared_mutex);
  std::shared_ptr<OpenclRuntime> runtime = g_shared.lock();
  if (runtime != nullptr) return runtime;
  g_was_opened = true;
  runtime.reset(new OpenclRuntime());
  MACE_RETURN_IF_ERROR(runtime->Start(hints));
  g_shared = runtime;
  return runtime;
}

namespace {

// What engines ask of an application's queue.
struct QueueFacts {
  cl_context context = nullptr;
  cl_device_id device = nullptr;
};

Result<QueueFacts> ReadQueue(const ClApi &api, cl_command_queue queue) {
  const char *what = "the queue given to SetOpenCLQueue";
  QueueFacts facts;
  cl_command_queue_properties properties = 0;
  MACE_CL_CHECK(
      "clGetCommandQueueInfo", what,
      api.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context),
                                static_cast<void *>(&facts.context), nullptr));
  MACE_CL_CHECK(
      "clGetCommandQueueInfo", what,
      api.clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof(cl_device_id),
                                static_cast<void *>(&facts.device), nullptr));
  MACE_CL_CHECK(
      "clGetCommandQueueInfo", what,
      api.clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(properties),
                                &properties, nullptr));
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    return InvalidArgs(what,
                       " runs commands out of order; give one without "
                       "CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE");
  }
  return facts;
}

}  // namespace

Result<std::shared_ptr<OpenclRuntime>> OpenclRuntime::OfQueue(
    cl_command_queue queue) {
  const std::lock_guard<std::mutex> lock(g_shared_mutex);
  g_was_opened = true;
  MACE_ASSIGN_OR_RETURN(const std::shared_ptr<const ClApi> api, OpenClApi());
  MACE_ASSIGN_OR_RETURN(const QueueFacts facts, ReadQueue(*api, queue));
  g_of_queues.erase(
      std::remove_if(g_of_queues.begin(), g_of_queues.end(),
                     [](const auto &entry) { return entry.expired(); }),
      g_of_queues.end());
  for (const auto &entry : g_of_queues) {
    std::shared_ptr<OpenclRuntime> runtime = entry.lock();
    if (runtime != nullptr && runtime->context() == facts.context &&
        runtime->device().id == facts.device) {
      return runtime;
    }
  }
  std::shared_ptr<OpenclRuntime> runtime(new OpenclRuntime());
  runtime->api_ = api;
  MACE_RETURN_IF_ERROR(runtime->StartOn(facts.context, facts.device));
  g_of_queues.push_back(runtime);
  return runtime;
}

MaceStatus OpenclRuntime::StartOn(cl_context context, cl_device_id device) {
  device_.id = device;
  MACE_RETURN_IF_ERROR(
      QueryDevice(*api_, device, CL_DEVICE_PLATFORM, &device_.platform));
  cl_device_type type = 0;
  MACE_RETURN_IF_ERROR(QueryDevice(*api_, device, CL_DEVICE_TYPE, &type));
  MACE_RETURN_IF_ERROR(ReadDevice(*api_, type, &device_));
  if (device_.version_number < 102) {
    return Unsupported("the queue given to SetOpenCLQueue is of ", device_.name,
                       ", which has ", device_.version,
                       "; OpenCL 1.2 or later is needed");
  }
  MACE_CL_CHECK("clRetainContext", "", api_->clRetainContext(context));
  context_ = ClContext(context, api_->clReleaseContext);
  TryImageViews();
  VLOG(1) << "GPU: the application's queue on " << device_.name << ", "
          << device_.version << ", driver " << device_.driver_version;
  return MaceStatus();
}

bool OpenclRuntime::WasOpened() { return g_was_opened; }

std::string OpenclRuntime::DriverId() const {
  return device_.name + "|" + device_.version + "|" + device_.driver_version;
}

OpenclRuntime::~OpenclRuntime() = default;

MaceStatus OpenclRuntime::Start(const GpuHints &hints) {
  MACE_ASSIGN_OR_RETURN(api_, OpenClApi());
  MACE_RETURN_IF_ERROR(ChooseDevice());
  hints_ = hints;
  MACE_ASSIGN_OR_RETURN(context_, CreateContext(*api_, device_, hints));
  TryImageViews();
  VLOG(1) << "GPU: " << device_.name << ", " << device_.version << ", driver "
          << device_.driver_version << ", " << device_.traits.compute_units
          << " compute unit(s)";
  return MaceStatus();
}

MaceStatus OpenclRuntime::ChooseDevice() {
  cl_uint count = 0;
  const cl_int error = api_->clGetPlatformIDs(0, nullptr, &count);
  if (error != CL_SUCCESS || count == 0) {
    // The loader of ICDs has an error of its own for "none installed".
    return Unsupported("the OpenCL library ", api_->library,
                       " has no platform: no driver is installed (",
                       ClErrorName(error), ")");
  }
  std::vector<cl_platform_id> platforms(count);
  MACE_CL_CHECK("clGetPlatformIDs", "",
                api_->clGetPlatformIDs(count, platforms.data(), nullptr));
  std::string found;
  for (const cl_device_type type : {CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_CPU}) {
    for (cl_platform_id platform : platforms) {
      cl_device_id id = nullptr;
      cl_uint devices = 0;
      if (api_->clGetDeviceIDs(platform, type, 1, &id, &devices) !=
              CL_SUCCESS ||
          devices == 0) {
        continue;
      }
      GpuDevice device;
      device.platform = platform;
      device.id = id;
      MACE_RETURN_IF_ERROR(ReadDevice(*api_, type, &device));
      if (device.version_number >= 102) {
        device_ = std::move(device);
        if (type == CL_DEVICE_TYPE_CPU) {
          LOG(WARNING) << "OpenCL has no GPU here, but the processor: "
                       << device_.name
                       << "; the command 'doctor --for gpu' of the converter "
                          "says whether a driver is missing";
        }
        return MaceStatus();
      }
      found +=
          (found.empty() ? "" : "; ") + device.name + " has " + device.version;
    }
  }
  return Unsupported(
      "no OpenCL device of version 1.2 or later: ",
      found.empty() ? "there is neither a GPU nor a CPU" : found);
}

Result<ClProgram> OpenclRuntime::Compile(const ProgramKey &key) const {
  const std::string text = TextOf(*key.source);
  const char *lines = text.c_str();
  const size_t length = text.size();
  cl_int error = CL_SUCCESS;
  ClProgram program(api_->clCreateProgramWithSource(context_.get(), 1, &lines,
                                                    &length, &error),
                    api_->clReleaseProgram);
  MACE_CL_CHECK("clCreateProgramWithSource", key.source->name, error);
  const std::string options = kProgramOptions + key.options;
  const auto start = std::chrono::steady_clock::now();
  error = api_->clBuildProgram(program.get(), 1, &device_.id, options.c_str(),
                               nullptr, nullptr);
  VLOG(2) << "compiled " << key.source->name << ".cl," << key.options << " in "
          << MillisSince(start) << " ms";
  if (error == CL_SUCCESS) return program;
  std::string log;
  size_t bytes = 0;
  if (api_->clGetProgramBuildInfo(program.get(), device_.id,
                                  CL_PROGRAM_BUILD_LOG, 0, nullptr,
                                  &bytes) == CL_SUCCESS &&
      bytes > 0) {
    log.resize(bytes);
    if (api_->clGetProgramBuildInfo(program.get(), device_.id,
                                    CL_PROGRAM_BUILD_LOG, bytes, &log[0],
                                    nullptr) != CL_SUCCESS) {
      log.clear();
    }
  }
  while (!log.empty() && (log.back() == '\0' || log.back() == '\n')) {
    log.pop_back();
  }
  if (log.size() > kMaxBuildLog) log.resize(kMaxBuildLog);
  return ClError("clBuildProgram", error,
                 MakeString(key.source->name, ".cl,", key.options,
                            log.empty() ? "" : ": ", log));
}

Result<ClProgram> OpenclRuntime::FromBinary(
    const std::vector<unsigned char> &binary) const {
  const unsigned char *bytes = binary.data();
  const size_t length = binary.size();
  cl_int loaded = CL_SUCCESS;
  cl_int error = CL_SUCCESS;
  ClProgram program(
      api_->clCreateProgramWithBinary(context_.get(), 1, &device_.id, &length,
                                      &bytes, &loaded, &error),
      api_->clReleaseProgram);
  MACE_CL_CHECK("clCreateProgramWithBinary", "", error);
  MACE_CL_CHECK("clCreateProgramWithBinary", "", loaded);
  MACE_CL_CHECK("clBuildProgram", "of a binary",
                api_->clBuildProgram(program.get(), 1, &device_.id, "", nullptr,
                                     nullptr));
  return program;
}

std::vector<unsigned char> OpenclRuntime::BinaryOf(
    const ClProgram &program) const {
  size_t bytes = 0;
  std::vector<unsigned char> binary;
  if (api_->clGetProgramInfo(program.get(), CL_PROGRAM_BINARY_SIZES,
                             sizeof(bytes), &bytes, nullptr) != CL_SUCCESS) {
    return binary;
  }
  binary.resize(bytes);
  unsigned char *to = binary.data();
  if (bytes > 0 &&
      api_->clGetProgramInfo(program.get(), CL_PROGRAM_BINARIES, sizeof(to),
                             static_cast<void *>(&to), nullptr) != CL_SUCCESS) {
    binary.clear();
  }
  return binary;
}

Result<ClProgram> OpenclRuntime::Make(const ProgramKey &key,
                                      const ProgramStores &stores) const {
  const std::string name = ProgramId(key);
  for (KVStorage *store : {stores.shipped, stores.cache}) {
    if (store == nullptr) continue;
    const std::vector<unsigned char> *binary = store->Find(name);
    if (binary == nullptr || binary->empty()) continue;
    auto program = FromBinary(*binary);
    if (program.ok()) return program;
    VLOG(1) << "a stored program of " << key.source->name
            << ".cl is compiled again: " << StatusMessage(program.status());
    if (store == stores.cache)
      store->Insert(name, {});  // FillCache replaces it
  }
  return Compile(key);
}

void OpenclRuntime::PrepareCache(KVStorage *cache) const {
  const std::string text = DriverId();
  const std::vector<unsigned char> owner(text.begin(), text.end());
  const std::vector<unsigned char> *stored = cache->Find(kCacheOwner);
  if (stored != nullptr && *stored == owner) return;
  if (stored != nullptr) cache->Clear();
  cache->Insert(kCacheOwner, owner);
}

void OpenclRuntime::FillCache(const std::vector<ProgramKey> &keys,
                              KVStorage *cache) const {
  bool changed = false;
  for (const ProgramKey &key : keys) {
    const std::string name = ProgramId(key);
    const std::vector<unsigned char> *stored = cache->Find(name);
    if (stored != nullptr && !stored->empty()) continue;
    const std::vector<unsigned char> binary =
        BinaryOf(programs_.find(key)->second);
    if (!binary.empty()) changed = cache->Insert(name, binary) || changed;
  }
  if (changed && cache->Flush() != 0) {
    LOG(WARNING) << "compiled OpenCL programs can't be stored";
  }
}

bool OpenclRuntime::HasAll(const std::vector<ProgramKey> &keys) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::all_of(keys.begin(), keys.end(), [this](const ProgramKey &key) {
    return programs_.count(key) != 0;
  });
}

MaceStatus OpenclRuntime::Build(const std::vector<ProgramKey> &keys,
                                const ProgramStores &stores) {
  // Engines that are created at the same time wait here for each other, and
  // find what the first one compiled.
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<ProgramKey> missing;
  for (const ProgramKey &key : keys) {
    if (programs_.count(key) == 0) missing.push_back(key);
  }
  std::sort(missing.begin(), missing.end());
  missing.erase(std::unique(missing.begin(), missing.end(),
                            [](const ProgramKey &a, const ProgramKey &b) {
                              return !(a < b) && !(b < a);
                            }),
                missing.end());
  if (stores.cache != nullptr) PrepareCache(stores.cache);
  if (!missing.empty()) MACE_RETURN_IF_ERROR(MakeAll(missing, stores));
  if (stores.cache != nullptr) FillCache(keys, stores.cache);
  return MaceStatus();
}

MaceStatus OpenclRuntime::MakeAll(const std::vector<ProgramKey> &missing,
                                  const ProgramStores &stores) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<ClProgram> built(missing.size());
  std::vector<MaceStatus> statuses(missing.size());
  std::atomic<size_t> next{0};
  const auto compile = [&] {
    for (size_t i = next++; i < missing.size(); i = next++) {
      try {
        auto program = Make(missing[i], stores);
        statuses[i] = program.status();
        if (program.ok()) built[i] = std::move(program.value());
      } catch (...) {
        statuses[i] = CurrentExceptionStatus();
      }
    }
  };
  const unsigned wanted = std::min(
      {kMaxCompilers, std::max(1u, std::thread::hardware_concurrency()),
       static_cast<unsigned>(missing.size())});
  std::vector<std::thread> threads;
  threads.reserve(wanted);
  try {
    for (unsigned i = 1; i < wanted; ++i) threads.emplace_back(compile);
  } catch (const std::system_error &error) {
    VLOG(1) << "fewer threads compile: " << error.what();
  }
  compile();
  for (std::thread &thread : threads) thread.join();
  for (const MaceStatus &status : statuses) MACE_RETURN_IF_ERROR(status);
  for (size_t i = 0; i < missing.size(); ++i) {
    programs_.emplace(missing[i], std::move(built[i]));
  }
  VLOG(1) << "made " << missing.size() << " OpenCL programs in "
          << MillisSince(start) << " ms";
  return MaceStatus();
}

Result<ClMemory> OpenclRuntime::MakeBuffer(cl_mem_flags flags,
                                           size_t bytes,
                                           const std::string &what,
                                           const void *values) const {
  cl_int error = CL_SUCCESS;
  // The driver only reads the values despite the type.
  ClMemory buffer(api_->clCreateBuffer(context(), flags, bytes,
                                       const_cast<void *>(values), &error),
                  api_->clReleaseMemObject);
  MACE_CL_CHECK("clCreateBuffer", MakeString(what, ", ", bytes, " bytes"),
                error);
  return buffer;
}

namespace {

cl_image_format FormatOf(DataType element) {
  cl_image_format format = {};
  format.image_channel_order = CL_RGBA;
  format.image_channel_data_type =
      element == DataType::kFloat16 ? CL_HALF_FLOAT : CL_FLOAT;
  return format;
}

cl_image_desc ImageOf(size_t width, size_t height) {
  cl_image_desc description = {};
  description.image_type = CL_MEM_OBJECT_IMAGE2D;
  description.image_width = width;
  description.image_height = height;
  return description;
}

}  // namespace

Result<ClMemory> OpenclRuntime::MakeImage(cl_mem_flags flags,
                                          DataType element,
                                          size_t width,
                                          size_t height,
                                          const std::string &what,
                                          const void *values) const {
  const cl_image_format format = FormatOf(element);
  const cl_image_desc description = ImageOf(width, height);
  cl_int error = CL_SUCCESS;
  ClMemory image(api_->clCreateImage(context(), flags, &format, &description,
                                     const_cast<void *>(values), &error),
                 api_->clReleaseMemObject);
  MACE_CL_CHECK("clCreateImage",
                MakeString(what, ", ", width, "x", height, " pixels"), error);
  return image;
}

Result<ClMemory> OpenclRuntime::MakeSubBuffer(cl_mem buffer,
                                              size_t offset,
                                              size_t bytes,
                                              const std::string &what) const {
  const cl_buffer_region region = {offset, bytes};
  cl_int error = CL_SUCCESS;
  ClMemory part(
      api_->clCreateSubBuffer(buffer, CL_MEM_READ_WRITE,
                              CL_BUFFER_CREATE_TYPE_REGION, &region, &error),
      api_->clReleaseMemObject);
  MACE_CL_CHECK("clCreateSubBuffer", MakeString(what, ", ", bytes, " bytes"),
                error);
  return part;
}

Result<ClMemory> OpenclRuntime::MakeImageView(cl_mem buffer,
                                              DataType element,
                                              size_t width,
                                              size_t height,
                                              size_t row_bytes,
                                              const std::string &what) const {
  cl_image_desc description = ImageOf(width, height);
  description.image_row_pitch = row_bytes;
  description.buffer = buffer;
  const cl_image_format format = FormatOf(element);
  cl_int error = CL_SUCCESS;
  ClMemory image(api_->clCreateImage(context(), CL_MEM_READ_WRITE, &format,
                                     &description, nullptr, &error),
                 api_->clReleaseMemObject);
  MACE_CL_CHECK(
      "clCreateImage",
      MakeString(what, ", ", width, "x", height, " pixels of a buffer"), error);
  return image;
}

void OpenclRuntime::TryImageViews() {
  ImageViews &views = device_.image_views;
  if (views.pitch_pixels == 0) return;
  // The second of two images, of two rows.
  const size_t row = views.pitch_pixels * 4 * DataTypeSize(DataType::kFloat16);
  const size_t bytes = RoundUp(2 * row, views.offset_bytes);
  const auto make = [&]() -> MaceStatus {
    MACE_ASSIGN_OR_RETURN(const ClMemory buffer,
                          MakeBuffer(CL_MEM_READ_WRITE, 2 * bytes, "views"));
    MACE_ASSIGN_OR_RETURN(const ClMemory part,
                          MakeSubBuffer(buffer.get(), bytes, bytes, "views"));
    return MakeImageView(part.get(), DataType::kFloat16, 1, 2, row, "views")
        .status();
  };
  const MaceStatus status = make();
  if (status == MaceStatus::MACE_SUCCESS) return;
  VLOG(1) << "GPU: no images of buffers: " << StatusMessage(status);
  views = ImageViews();
}

Result<ClKernel> OpenclRuntime::MakeKernel(const ProgramKey &key,
                                           const char *name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = programs_.find(key);
  if (found == programs_.end()) {
    return RuntimeError("program ", key.source->name, " was not built");
  }
  cl_int error = CL_SUCCESS;
  ClKernel kernel(api_->clCreateKernel(found->second.get(), name, &error),
                  api_->clReleaseKernel);
  MACE_CL_CHECK("clCreateKernel", name, error);
  return kernel;
}

BackgroundBuild::BackgroundBuild(OpenclRuntime *runtime,
                                 const std::vector<ProgramKey> &programs,
                                 const ProgramStores &stores)
    : runtime_(runtime), programs_(programs), stores_(stores) {
  if (runtime->HasAll(programs)) return;
  try {
    thread_ = std::thread([this] { Build(); });
  } catch (const std::system_error &error) {
    VLOG(1) << "programs are compiled later: " << error.what();
  }
}

BackgroundBuild::~BackgroundBuild() {
  if (thread_.joinable()) thread_.join();
}

MaceStatus BackgroundBuild::Wait() {
  if (thread_.joinable()) {
    thread_.join();
  } else {
    Build();
  }
  return status_;
}

void BackgroundBuild::Build() {
  try {
    status_ = runtime_->Build(programs_, stores_);
  } catch (...) {
    status_ = CurrentExceptionStatus();
  }
}

}  // namespace mace
