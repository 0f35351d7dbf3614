// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The native functions of com.xiaomi.mace.MaceNative, whose comments describe
// the arguments. The classes of that package check what applications give them:
// here no argument is null, no engine is closed, no two calls use an engine at
// the same time, and the memory of a tensor is large enough for its shape.

#include <jni.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "mace/java/jni/jni_values.h"
#include "mace/public/mace.h"

namespace mace {
namespace java {
namespace {

// The order of MaceEngineConfig.settings(). For each list of runtimes, their
// number and the runtimes follow. An enumeration is -1 if it was not set.
enum Setting : size_t {
  kThreads,
  kAffinity,
  kPerformance,
  kPriority,
  kOutOfRangeCheck,
  kWeightsCheck,
  kFakeWarmup,
  kMemoryLimit,
  kCacheReuse,
  kHexagonUnsigned,
  kHexagonCorner,
  kHexagonDcvs,
  kHexagonLatency,
  kAcceleratorCache,
  kApuBoost,
  kApuPreference,
  kHtpPerformance,
  kBinaryPathCount,
  kRuntimes,
};

// The order of MaceEngineConfig.texts(). The names of the subgraphs that the
// lists of runtimes are for follow the paths.
enum Text : size_t {
  kStoragePath,
  kParameterPath,
  kCachePath,
  kAcceleratorBinary,
  kAcceleratorStorage,
  kBinary,
  kParameter,
  kBinaryPaths,
};

// What an application set.
struct Settings {
  std::vector<int64_t> numbers;
  std::vector<std::string> texts;

  template <typename T>
  T Get(Setting setting) const {
    return static_cast<T>(numbers[setting]);
  }
  bool IsSet(Setting setting) const { return numbers[setting] >= 0; }
};

jclass exception_class = nullptr;
jmethodID exception_init = nullptr;

// An engine and what it refers to. Members are destroyed from the last to the
// first.
struct Engine {
  std::shared_ptr<MaceEngine> tutor;
  std::unique_ptr<port::ReadOnlyMemoryRegion> weights;
  std::shared_ptr<MaceEngine> engine;
};

Engine *FromJava(jlong address) {
  return reinterpret_cast<Engine *>(static_cast<intptr_t>(address));
}

void Throw(JNIEnv *env, MaceStatus::Code code, const std::string &text) {
  const LocalRef<jbyteArray> message(env, MakeText(env, text));
  if (message.get() == nullptr) return;
  const LocalRef<jthrowable> exception(
      env, env->NewObject(exception_class, exception_init,
                          static_cast<jint>(code), message.get()));
  if (exception.get() != nullptr) env->Throw(exception.get());
}

// Whether the status is a success; if not, leaves its exception.
bool Succeeds(JNIEnv *env, const MaceStatus &status) {
  if (status == MaceStatus::MACE_SUCCESS) return true;
  Throw(env, status.code(), status.information());
  return false;
}

// Calls a function whose C++ exceptions, of containers here that find no
// memory, become those of Java.
template <typename Function>
auto Guard(JNIEnv *env, Function function) -> decltype(function()) {
  try {
    return function();
  } catch (const std::bad_alloc &) {
    // A short text is stored without an allocation.
    Throw(env, MaceStatus::MACE_OUT_OF_RESOURCES, "no memory");
  } catch (const std::exception &) {
    Throw(env, MaceStatus::MACE_RUNTIME_ERROR, "C++ exception");
  }
  return decltype(function())();
}

// The graph or the weights: a buffer's memory, or a file that is mapped.
class Part {
 public:
  bool Open(JNIEnv *env, jobjectArray model, jsize index) {
    const LocalRef<jobject> object(env,
                                   env->GetObjectArrayElement(model, index));
    const LocalRef<jclass> bytes(env, env->FindClass("[B"));
    if (env->ExceptionCheck()) return false;
    if (!env->IsInstanceOf(object.get(), bytes.get())) {
      data_ = static_cast<const unsigned char *>(
          env->GetDirectBufferAddress(object.get()));
      size_ = static_cast<size_t>(env->GetDirectBufferCapacity(object.get()));
      if (size_ == 0) data_ = nullptr;
      return true;
    }
    std::string path;
    if (!ReadText(env, static_cast<jbyteArray>(object.get()), &path) ||
        !Succeeds(env, GetFileSystem()->NewReadOnlyMemoryRegionFromFile(
                           path.c_str(), &file_))) {
      return false;
    }
    data_ = static_cast<const unsigned char *>(file_->data());
    size_ = static_cast<size_t>(file_->length());
    return true;
  }

  const unsigned char *data() const { return data_; }
  size_t size() const { return size_; }
  std::unique_ptr<port::ReadOnlyMemoryRegion> TakeFile() {
    return std::move(file_);
  }

 private:
  std::unique_ptr<port::ReadOnlyMemoryRegion> file_;
  const unsigned char *data_ = nullptr;
  size_t size_ = 0;
};

// The bytes of a text that is a file's contents.
const unsigned char *BytesOf(const std::string &text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

bool SetGpu(JNIEnv *env, const Settings &settings, MaceEngineConfig *config) {
  const std::vector<std::string> &texts = settings.texts;
  const auto paths = texts.begin() + kBinaryPaths;
  GPUContextBuilder builder;
  builder.SetStoragePath(texts[kStoragePath])
      .SetOpenCLCacheFullPath(texts[kCachePath])
      .SetOpenCLCacheReusePolicy(settings.Get<bool>(kCacheReuse)
                                     ? OpenCLCacheReusePolicy::REUSE_SAME_GPU
                                     : OpenCLCacheReusePolicy::REUSE_NONE)
      .SetOpenCLBinaryPaths(
          {paths, paths + settings.Get<ptrdiff_t>(kBinaryPathCount)})
      .SetOpenCLBinary(BytesOf(texts[kBinary]), texts[kBinary].size())
      .SetOpenCLParameterPath(texts[kParameterPath])
      .SetOpenCLParameter(BytesOf(texts[kParameter]), texts[kParameter].size());
  return Succeeds(env, config->SetGPUContext(builder.Finalize())) &&
         Succeeds(env, config->SetGPUHints(
                           settings.Get<GPUPerfHint>(kPerformance),
                           settings.Get<GPUPriorityHint>(kPriority)));
}

bool SetAccelerators(JNIEnv *env,
                     const Settings &settings,
                     MaceEngineConfig *config) {
  if (settings.Get<bool>(kHexagonUnsigned) &&
      !Succeeds(env, config->SetHexagonToUnsignedPD())) {
    return false;
  }
  if (settings.IsSet(kHexagonCorner) &&
      !Succeeds(env, config->SetHexagonPower(
                         settings.Get<HexagonNNCornerType>(kHexagonCorner),
                         settings.Get<bool>(kHexagonDcvs),
                         settings.Get<int>(kHexagonLatency)))) {
    return false;
  }
  if (settings.IsSet(kAcceleratorCache) &&
      !Succeeds(env,
                config->SetAcceleratorCache(
                    settings.Get<AcceleratorCachePolicy>(kAcceleratorCache),
                    settings.texts[kAcceleratorBinary],
                    settings.texts[kAcceleratorStorage]))) {
    return false;
  }
  if (settings.IsSet(kApuPreference) &&
      !Succeeds(env, config->SetAPUHints(
                         settings.Get<uint8_t>(kApuBoost),
                         settings.Get<APUPreferenceHint>(kApuPreference)))) {
    return false;
  }
  return !settings.IsSet(kHtpPerformance) ||
         Succeeds(env,
                  config->SetQnnPerformance(
                      settings.Get<HexagonPerformanceType>(kHtpPerformance)));
}

// For the whole model, and for subgraphs.
bool SetRuntimes(JNIEnv *env,
                 const Settings &settings,
                 MaceEngineConfig *config) {
  const std::vector<int64_t> &numbers = settings.numbers;
  size_t text = kBinaryPaths + settings.Get<size_t>(kBinaryPathCount);
  size_t next = kRuntimes;
  while (next < numbers.size()) {
    std::vector<RuntimeType> runtimes;
    for (int64_t left = numbers[next++]; left > 0; --left) {
      runtimes.push_back(static_cast<RuntimeType>(numbers[next++]));
    }
    if (!Succeeds(env, config->SetRuntimeTypes(
                           runtimes, settings.texts[text++].c_str()))) {
      return false;
    }
  }
  return true;
}

bool Configure(JNIEnv *env,
               const Settings &settings,
               MaceEngineConfig *config) {
  if (settings.IsSet(kAffinity) &&
      !Succeeds(env, config->SetCPUThreadPolicy(
                         settings.Get<int>(kThreads),
                         settings.Get<CPUAffinityPolicy>(kAffinity)))) {
    return false;
  }
  if (settings.Get<bool>(kOutOfRangeCheck) &&
      !Succeeds(env, config->SetOutOfRangeCheck(true))) {
    return false;
  }
  // No process of 32 bits holds more than size_t counts.
  const uint64_t limit = std::min<uint64_t>(
      settings.Get<uint64_t>(kMemoryLimit), std::numeric_limits<size_t>::max());
  return SetRuntimes(env, settings, config) && SetGpu(env, settings, config) &&
         SetAccelerators(env, settings, config) &&
         Succeeds(env, config->SetMemoryLimit(static_cast<size_t>(limit))) &&
         Succeeds(env,
                  config->SetWeightsCheck(settings.Get<bool>(kWeightsCheck)));
}

jlong JNICALL Create(JNIEnv *env,
                     jclass /*type*/,
                     jobjectArray model,
                     jobjectArray inputs,
                     jobjectArray outputs,
                     jlongArray numbers,
                     jobjectArray texts,
                     jlong tutor) {
  return Guard(env, [&]() -> jlong {
    Settings settings;
    std::vector<std::string> input_names, output_names;
    MaceEngineConfig config;
    Part graph, weights;
    if (!ReadLongs(env, numbers, &settings.numbers) ||
        !ReadTexts(env, texts, &settings.texts) ||
        !ReadTexts(env, inputs, &input_names) ||
        !ReadTexts(env, outputs, &output_names) ||
        !Configure(env, settings, &config) || !graph.Open(env, model, 0) ||
        !weights.Open(env, model, 1)) {
      return 0;
    }
    auto result = std::unique_ptr<Engine>(new Engine);
    if (tutor != 0) result->tutor = FromJava(tutor)->engine;
    if (!Succeeds(env, CreateMaceEngineFromProto(
                           graph.data(), graph.size(), weights.data(),
                           weights.size(), input_names, output_names, config,
                           &result->engine, nullptr, result->tutor.get(),
                           settings.Get<bool>(kFakeWarmup)))) {
      return 0;
    }
    result->weights = weights.TakeFile();
    return static_cast<jlong>(reinterpret_cast<intptr_t>(result.release()));
  });
}

void JNICALL Destroy(JNIEnv * /*env*/, jclass /*type*/, jlong engine) {
  delete FromJava(engine);
}

// The tensors of a run.
class Ports {
 public:
  // Inputs without memory, if `memory` is null.
  bool Read(JNIEnv *env,
            jobjectArray names,
            jobjectArray memory,
            jobjectArray shapes) {
    if (!ReadTexts(env, names, &names_)) return false;
    for (jsize i = 0; i < static_cast<jsize>(names_.size()); ++i) {
      const LocalRef<jobject> buffer(
          env,
          memory == nullptr ? nullptr : env->GetObjectArrayElement(memory, i));
      const LocalRef<jlongArray> numbers(env,
                                         env->GetObjectArrayElement(shapes, i));
      std::vector<int64_t> shape;
      if (env->ExceptionCheck() || !ReadLongs(env, numbers.get(), &shape)) {
        return false;
      }
      const bool is_output = Pop(&shape) != 0;
      const auto format = static_cast<DataFormat>(Pop(&shape));
      const auto type = static_cast<IDataType>(Pop(&shape));
      // Java's buffer owns the memory, and the caller has the buffer.
      const std::shared_ptr<void> data(
          memory == nullptr ? nullptr
                            : env->GetDirectBufferAddress(buffer.get()),
          [](void *) {});
      (is_output ? outputs_ : inputs_)
          .emplace(names_[static_cast<size_t>(i)],
                   MaceTensor(shape, data, format, type));
    }
    return true;
  }

  MaceStatus Run(MaceEngine *engine, RunMetadata *metadata) {
    return engine->Run(inputs_, &outputs_, metadata);
  }

  std::map<std::string, MaceTensor> &inputs() { return inputs_; }

  jobjectArray OutputShapes(JNIEnv *env) const {
    const jobjectArray result = MakeArray(env, "[J", names_.size());
    if (result == nullptr) return nullptr;
    for (size_t i = 0; i < names_.size(); ++i) {
      const auto output = outputs_.find(names_[i]);
      // An output may have the name of an input, and inputs come first.
      if (output == outputs_.end() || i < inputs_.size()) continue;
      const LocalRef<jlongArray> shape(env,
                                       MakeLongs(env, output->second.shape()));
      if (shape.get() == nullptr) return nullptr;
      env->SetObjectArrayElement(result, static_cast<jsize>(i), shape.get());
    }
    return result;
  }

 private:
  static int64_t Pop(std::vector<int64_t> *numbers) {
    const int64_t last = numbers->back();
    numbers->pop_back();
    return last;
  }

  std::vector<std::string> names_;
  std::map<std::string, MaceTensor> inputs_;
  std::map<std::string, MaceTensor> outputs_;
};

// As RunMetadata.Operator reads them.
std::vector<int64_t> NumbersOf(const OperatorStats &op) {
  std::vector<int64_t> numbers = {op.stats.start_micros,
                                  op.stats.duration_nanos,
                                  op.macs,
                                  op.bytes,
                                  op.device,
                                  op.quantized ? 1 : 0,
                                  static_cast<int64_t>(op.output_shape.size())};
  for (const std::vector<int64_t> &shape : op.output_shape) {
    numbers.push_back(static_cast<int64_t>(shape.size()));
    numbers.insert(numbers.end(), shape.begin(), shape.end());
  }
  return numbers;
}

bool WriteMetadata(JNIEnv *env,
                   const RunMetadata &metadata,
                   jobjectArray result) {
  const size_t count = metadata.op_stats.size();
  const LocalRef<jobjectArray> texts(env, MakeArray(env, "[B", 2 * count));
  if (texts.get() == nullptr) return false;
  const LocalRef<jobjectArray> numbers(env, MakeArray(env, "[J", count));
  if (numbers.get() == nullptr) return false;
  jsize index = 0;
  for (const OperatorStats &op : metadata.op_stats) {
    const LocalRef<jbyteArray> name(env, MakeText(env, op.operator_name));
    if (name.get() == nullptr) return false;
    const LocalRef<jbyteArray> type(env, MakeText(env, op.type));
    if (type.get() == nullptr) return false;
    const LocalRef<jlongArray> values(env, MakeLongs(env, NumbersOf(op)));
    if (values.get() == nullptr) return false;
    env->SetObjectArrayElement(texts.get(), 2 * index, name.get());
    env->SetObjectArrayElement(texts.get(), 2 * index + 1, type.get());
    env->SetObjectArrayElement(numbers.get(), index, values.get());
    ++index;
  }
  env->SetObjectArrayElement(result, 0, texts.get());
  env->SetObjectArrayElement(result, 1, numbers.get());
  return !env->ExceptionCheck();
}

jobjectArray JNICALL Run(JNIEnv *env,
                         jclass /*type*/,
                         jlong engine,
                         jobjectArray names,
                         jobjectArray memory,
                         jobjectArray shapes,
                         jobjectArray metadata) {
  return Guard(env, [&]() -> jobjectArray {
    Ports ports;
    if (!ports.Read(env, names, memory, shapes)) return nullptr;
    RunMetadata measured;
    if (!Succeeds(env, ports.Run(FromJava(engine)->engine.get(),
                                 metadata == nullptr ? nullptr : &measured))) {
      return nullptr;
    }
    if (metadata != nullptr && !WriteMetadata(env, measured, metadata)) {
      return nullptr;
    }
    return ports.OutputShapes(env);
  });
}

// A port as TensorInfo reads it.
std::vector<int64_t> NumbersOf(const MaceTensor &tensor) {
  std::vector<int64_t> numbers = tensor.shape();
  numbers.push_back(static_cast<int64_t>(tensor.data_type()));
  numbers.push_back(static_cast<int64_t>(tensor.data_format()));
  return numbers;
}

jobjectArray MakePorts(JNIEnv *env,
                       const std::map<std::string, MaceTensor> &ports) {
  const LocalRef<jobjectArray> names(env, MakeArray(env, "[B", ports.size()));
  if (names.get() == nullptr) return nullptr;
  const LocalRef<jobjectArray> numbers(env, MakeArray(env, "[J", ports.size()));
  if (numbers.get() == nullptr) return nullptr;
  jsize index = 0;
  for (const auto &port : ports) {
    const LocalRef<jbyteArray> name(env, MakeText(env, port.first));
    if (name.get() == nullptr) return nullptr;
    const LocalRef<jlongArray> values(env,
                                      MakeLongs(env, NumbersOf(port.second)));
    if (values.get() == nullptr) return nullptr;
    env->SetObjectArrayElement(names.get(), index, name.get());
    env->SetObjectArrayElement(numbers.get(), index++, values.get());
  }
  const jobjectArray result = MakeArray(env, "java/lang/Object", 2);
  if (result == nullptr) return nullptr;
  env->SetObjectArrayElement(result, 0, names.get());
  env->SetObjectArrayElement(result, 1, numbers.get());
  return result;
}

jobjectArray JNICALL Describe(JNIEnv *env,
                              jclass /*type*/,
                              jlong engine,
                              jobjectArray names,
                              jobjectArray shapes) {
  return Guard(env, [&]() -> jobjectArray {
    Ports ports;
    if (names != nullptr && !ports.Read(env, names, nullptr, shapes)) {
      return nullptr;
    }
    std::map<std::string, MaceTensor> outputs;
    if (!Succeeds(
            env, FromJava(engine)->engine->Describe(
                     &ports.inputs(), names == nullptr ? nullptr : &outputs))) {
      return nullptr;
    }
    return MakePorts(env, names == nullptr ? ports.inputs() : outputs);
  });
}

void JNICALL ReleaseIntermediateBuffer(JNIEnv *env,
                                       jclass /*type*/,
                                       jlong engine) {
  Succeeds(env, FromJava(engine)->engine->ReleaseIntermediateBuffer());
}

void JNICALL ResetStates(JNIEnv *env, jclass /*type*/, jlong engine) {
  Succeeds(env, FromJava(engine)->engine->ResetStates());
}

jbyteArray JNICALL Explain(JNIEnv *env, jclass /*type*/, jlong engine) {
  return Guard(
      env, [&] { return MakeText(env, FromJava(engine)->engine->Explain()); });
}

jlongArray JNICALL Stats(JNIEnv *env, jclass /*type*/, jlong engine) {
  return Guard(env, [&] {
    const EngineStats stats = FromJava(engine)->engine->GetStats();
    return MakeLongs(env, {static_cast<int64_t>(stats.arena_bytes),
                           static_cast<int64_t>(stats.constant_bytes),
                           static_cast<int64_t>(stats.prepared_bytes),
                           static_cast<int64_t>(stats.operator_count),
                           static_cast<int64_t>(stats.state_bytes),
                           static_cast<int64_t>(stats.tensor_bytes)});
  });
}

jbyteArray JNICALL Version(JNIEnv *env, jclass /*type*/) {
  return Guard(env, [&] { return MakeText(env, MaceVersion()); });
}

jintArray JNICALL Runtimes(JNIEnv *env, jclass /*type*/) {
  return Guard(env, [&]() -> jintArray {
    std::vector<RuntimeType> types;
    if (!Succeeds(env, GetRuntimeTypes(&types))) return nullptr;
    const std::vector<jint> numbers(types.begin(), types.end());
    const auto size = static_cast<jsize>(numbers.size());
    jintArray result = env->NewIntArray(size);
    if (result != nullptr) {
      env->SetIntArrayRegion(result, 0, size, numbers.data());
    }
    return result;
  });
}

template <typename Function>
JNINativeMethod Method(const char *name,
                       const char *signature,
                       Function *function) {
  // jni.h takes names that it does not change as char *.
  return {const_cast<char *>(name), const_cast<char *>(signature),
          reinterpret_cast<void *>(function)};
}

bool Register(JNIEnv *env) {
  const LocalRef<jclass> exception(
      env, env->FindClass("com/xiaomi/mace/MaceException"));
  if (exception.get() == nullptr) return false;
  exception_init = env->GetMethodID(exception.get(), "<init>", "(I[B)V");
  if (exception_init == nullptr) return false;
  exception_class = static_cast<jclass>(env->NewGlobalRef(exception.get()));
  if (exception_class == nullptr) return false;
  const LocalRef<jclass> natives(env,
                                 env->FindClass("com/xiaomi/mace/MaceNative"));
  if (natives.get() == nullptr) return false;
  const JNINativeMethod methods[] = {
      Method("version", "()[B", Version),
      Method("runtimes", "()[I", Runtimes),
      Method("create", "([Ljava/lang/Object;[[B[[B[J[[BJ)J", Create),
      Method("destroy", "(J)V", Destroy),
      Method("run", "(J[[B[Ljava/nio/ByteBuffer;[[J[Ljava/lang/Object;)[[J",
             Run),
      Method("describe", "(J[[B[[J)[Ljava/lang/Object;", Describe),
      Method("releaseIntermediateBuffer", "(J)V", ReleaseIntermediateBuffer),
      Method("resetStates", "(J)V", ResetStates),
      Method("explain", "(J)[B", Explain),
      Method("stats", "(J)[J", Stats),
  };
  return env->RegisterNatives(natives.get(), methods,
                              sizeof(methods) / sizeof(methods[0])) == JNI_OK;
}

}  // namespace
}  // namespace java
}  // namespace mace

// If this fails, System.loadLibrary throws.
extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM *vm, void * /*reserved*/) {
  void *env = nullptr;
  if (vm->GetEnv(&env, JNI_VERSION_1_6) != JNI_OK ||
      !mace::java::Register(static_cast<JNIEnv *>(env))) {
    return JNI_ERR;
  }
  return JNI_VERSION_1_6;
}
