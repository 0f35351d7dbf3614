// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/runtimes/opencl/opencl_runtime.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <system_error>
#include <thread>
#include <utility>

#include "mace/core/base/logging.h"

namespace mace {
namespace {

// Compilers of drivers take much memory.
constexpr unsigned kMaxCompilers = 8;
constexpr char kOptions[] = "-cl-std=CL1.2 -cl-mad-enable";
// Of a compiler's messages in a status.
constexpr size_t kMaxBuildLog = 2000;

Result<std::string> DeviceText(const ClApi &api,
                               cl_device_id id,
                               cl_device_info what) {
  size_t bytes = 0;
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, 0, nullptr, &bytes));
  std::string text(bytes, '\0');
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, bytes, &text[0], nullptr));
  while (!text.empty() && (text.back() == '\0' || text.back() == ' ')) {
    text.pop_back();
  }
  return text;
}

template <typename T>
MaceStatus Query(const ClApi &api,
                 cl_device_id id,
                 cl_device_info what,
                 T *value) {
  MACE_CL_CHECK("clGetDeviceInfo", "",
                api.clGetDeviceInfo(id, what, sizeof(T), value, nullptr));
  return MaceStatus();
}

int64_t MillisSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now() - start)
      .count();
}

std::string Lower(std::string text) {
  for (char &letter : text) {
    letter =
        static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return text;
}

GpuFamily FamilyOf(const GpuDevice &device, cl_device_type type) {
  if ((type & CL_DEVICE_TYPE_CPU) != 0) return GpuFamily::kCpu;
  const std::string text =
      Lower(device.vendor + " " + device.name + " " + device.version);
  const struct {
    const char *word;
    GpuFamily family;
  } words[] = {
      {"adreno", GpuFamily::kAdreno},
      {"qualcomm", GpuFamily::kAdreno},
      {"mali", GpuFamily::kMali},
      {"powervr", GpuFamily::kPowerVr},
      {"imagination", GpuFamily::kPowerVr},
      {"nvidia", GpuFamily::kNvidia},
      {"intel", GpuFamily::kIntel},
      {"advanced micro", GpuFamily::kAmd},
      {"amd", GpuFamily::kAmd},
  };
  for (const auto &entry : words) {
    if (text.find(entry.word) != std::string::npos) return entry.family;
  }
  return GpuFamily::kOther;
}

// "OpenCL 1.2 ..." -> 102; 0 if it is not of this form.
int VersionNumber(const std::string &version) {
  int major = 0;
  int minor = 0;
  if (std::sscanf(version.c_str(), "OpenCL %d.%d", &major, &minor) != 2) {
    return 0;
  }
  return major * 100 + minor;
}

MaceStatus ReadDevice(const ClApi &api,
                      cl_device_type type,
                      GpuDevice *device) {
  const cl_device_id id = device->id;
  MACE_ASSIGN_OR_RETURN(device->name, DeviceText(api, id, CL_DEVICE_NAME));
  MACE_ASSIGN_OR_RETURN(device->vendor, DeviceText(api, id, CL_DEVICE_VENDOR));
  MACE_ASSIGN_OR_RETURN(device->version,
                        DeviceText(api, id, CL_DEVICE_VERSION));
  MACE_ASSIGN_OR_RETURN(device->driver_version,
                        DeviceText(api, id, CL_DRIVER_VERSION));
  MACE_ASSIGN_OR_RETURN(device->extensions,
                        DeviceText(api, id, CL_DEVICE_EXTENSIONS));
  GpuTraits &traits = device->traits;
  traits.family = FamilyOf(*device, type);
  cl_uint units = 1;
  MACE_RETURN_IF_ERROR(Query(api, id, CL_DEVICE_MAX_COMPUTE_UNITS, &units));
  traits.compute_units = static_cast<int>(std::max<cl_uint>(units, 1));
  cl_ulong local = 0;
  MACE_RETURN_IF_ERROR(Query(api, id, CL_DEVICE_LOCAL_MEM_SIZE, &local));
  traits.local_bytes = static_cast<size_t>(local);
  MACE_RETURN_IF_ERROR(
      Query(api, id, CL_DEVICE_MAX_WORK_GROUP_SIZE, &traits.max_work_group));
  traits.half_arithmetic = device->HasExtension("cl_khr_fp16");
  if (traits.family == GpuFamily::kNvidia &&
      device->HasExtension("cl_nv_device_attribute_query")) {
    constexpr cl_device_info kComputeCapabilityMajor = 0x4000;
    cl_uint major = 0;
    MACE_RETURN_IF_ERROR(Query(api, id, kComputeCapabilityMajor, &major));
    traits.ptx_mma = major >= 8;
  }
  MACE_CL_CHECK("clGetDeviceInfo", "CL_DEVICE_MAX_WORK_ITEM_SIZES",
                api.clGetDeviceInfo(id, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                                    sizeof(device->max_items),
                                    device->max_items, nullptr));
  cl_ulong allocation = 0;
  MACE_RETURN_IF_ERROR(
      Query(api, id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, &allocation));
  device->max_allocation = static_cast<size_t>(allocation);
  cl_bool flag = CL_FALSE;
  MACE_RETURN_IF_ERROR(Query(api, id, CL_DEVICE_HOST_UNIFIED_MEMORY, &flag));
  device->unified_memory = flag != CL_FALSE;
  MACE_RETURN_IF_ERROR(Query(api, id, CL_DEVICE_IMAGE_SUPPORT, &flag));
  device->image_support = flag != CL_FALSE;
  if (device->image_support) {
    MACE_RETURN_IF_ERROR(
        Query(api, id, CL_DEVICE_IMAGE2D_MAX_WIDTH, &device->image_width));
    MACE_RETURN_IF_ERROR(
        Query(api, id, CL_DEVICE_IMAGE2D_MAX_HEIGHT, &device->image_height));
  }
  traits.images =
      device->image_support && (traits.family == GpuFamily::kAdreno ||
                                traits.family == GpuFamily::kMali ||
                                traits.family == GpuFamily::kPowerVr);
  return MaceStatus();
}

void AppendText(const ClSource &source,
                std::vector<const ClSource *> *seen,
                std::string *text) {
  if (std::find(seen->begin(), seen->end(), &source) != seen->end()) return;
  seen->push_back(&source);
  for (size_t i = 0; i < source.include_count; ++i) {
    AppendText(*source.includes[i], seen, text);
  }
  *text += source.text;
}

// The entry of a cache that says which device and driver it is of.
constexpr char kCacheOwner[] = "device";

// FNV-1a.
uint64_t Hash(const std::string &text, uint64_t hash) {
  for (char letter : text) {
    hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  }
  return hash;
}

// "softmax 0123456789abcdef": another text or other macros have another key.
std::string StoreKey(const ProgramKey &key) {
  constexpr uint64_t kStart = 0xcbf29ce484222325u;
  const uint64_t hash = Hash(kOptions + key.options,
                             Hash(OpenclRuntime::TextOf(*key.source), kStart));
  char digits[17];
  std::snprintf(digits, sizeof(digits), "%016llx",
                static_cast<unsigned long long>(hash));  // NOLINT
  return std::string(key.source->name) + " " + digits;
}

std::mutex g_shared_mutex;
std::weak_ptr<OpenclRuntime> g_shared;

}  // namespace

bool GpuDevice::HasExtension(const char *wanted) const {
  const std::string list = " " + extensions + " ";
  return list.find(" " + std::string(wanted) + " ") != std::string::npos;
}

Result<std::shared_ptr<OpenclRuntime>> OpenclRuntime::Get() {
  const std::lock_guard<std::mutex> lock(g_shared_mutex);
  std::shared_ptr<OpenclRuntime> runtime = g_shared.lock();
  if (runtime != nullptr) return runtime;
  runtime.reset(new OpenclRuntime());
  MACE_RETURN_IF_ERROR(runtime->Start());
  g_shared = runtime;
  return runtime;
}

OpenclRuntime::~OpenclRuntime() = default;

MaceStatus OpenclRuntime::Start() {
  MACE_ASSIGN_OR_RETURN(api_, OpenClApi());
  MACE_RETURN_IF_ERROR(ChooseDevice());
  cl_int error = CL_SUCCESS;
  context_ = ClContext(
      api_->clCreateContext(nullptr, 1, &device_.id, nullptr, nullptr, &error),
      api_->clReleaseContext);
  MACE_CL_CHECK("clCreateContext", device_.name, error);
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
      if (VersionNumber(device.version) >= 102) {
        device_ = std::move(device);
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

std::string OpenclRuntime::TextOf(const ClSource &source) {
  std::string text;
  std::vector<const ClSource *> seen;
  AppendText(source, &seen, &text);
  return text;
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
  const std::string options = kOptions + key.options;
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
  const std::string name = StoreKey(key);
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
  const std::string text =
      device_.name + "|" + device_.version + "|" + device_.driver_version;
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
    const std::string name = StoreKey(key);
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

}  // namespace mace
