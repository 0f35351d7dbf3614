// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The native functions of com.xiaomi.mace.MaceNative, whose comments describe
// the arguments. The classes of that package check what applications give them:
// here no argument is null, no engine is closed, no two calls use an engine at
// the same time, and the memory of a tensor is large enough for its shape.

#include <jni.h>

#include <exception>
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

// The order of MaceEngineConfig.settings(); the runtimes follow.
enum Setting : size_t {
  kThreads,
  kAffinity,  // -1: the library's own threads and affinity
  kPerformance,
  kPriority,
  kOutOfRangeCheck,
  kWeightsCheck,
  kFakeWarmup,
  kRuntimes,
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

bool SetGpu(JNIEnv *env,
            jobjectArray paths,
            const std::vector<int32_t> &settings,
            MaceEngineConfig *config) {
  std::vector<std::string> texts;
  if (!ReadTexts(env, paths, &texts)) return false;
  const std::shared_ptr<GPUContext> context =
      GPUContextBuilder()
          .SetStoragePath(texts[0])
          .SetOpenCLParameterPath(texts[1])
          .SetOpenCLBinaryPaths({texts.begin() + 2, texts.end()})
          .Finalize();
  return Succeeds(env, config->SetGPUContext(context)) &&
         Succeeds(env, config->SetGPUHints(
                           static_cast<GPUPerfHint>(settings[kPerformance]),
                           static_cast<GPUPriorityHint>(settings[kPriority])));
}

bool Configure(JNIEnv *env,
               const std::vector<int32_t> &settings,
               MaceEngineConfig *config) {
  if (settings[kAffinity] >= 0 &&
      !Succeeds(env, config->SetCPUThreadPolicy(settings[kThreads],
                                                static_cast<CPUAffinityPolicy>(
                                                    settings[kAffinity])))) {
    return false;
  }
  if (settings[kOutOfRangeCheck] != 0 &&
      !Succeeds(env, config->SetOutOfRangeCheck(true))) {
    return false;
  }
  std::vector<RuntimeType> runtimes;
  for (size_t i = kRuntimes; i < settings.size(); ++i) {
    runtimes.push_back(static_cast<RuntimeType>(settings[i]));
  }
  if (!runtimes.empty() && !Succeeds(env, config->SetRuntimeTypes(runtimes))) {
    return false;
  }
  return Succeeds(env, config->SetWeightsCheck(settings[kWeightsCheck] != 0));
}

jlong JNICALL Create(JNIEnv *env,
                     jclass /*type*/,
                     jobjectArray model,
                     jobjectArray inputs,
                     jobjectArray outputs,
                     jintArray settings,
                     jobjectArray gpu_paths,
                     jlong tutor) {
  return Guard(env, [&]() -> jlong {
    std::vector<int32_t> numbers;
    std::vector<std::string> input_names, output_names;
    MaceEngineConfig config;
    Part graph, weights;
    if (!ReadInts(env, settings, &numbers) ||
        !ReadTexts(env, inputs, &input_names) ||
        !ReadTexts(env, outputs, &output_names) ||
        !Configure(env, numbers, &config) ||
        !SetGpu(env, gpu_paths, numbers, &config) ||
        !graph.Open(env, model, 0) || !weights.Open(env, model, 1)) {
      return 0;
    }
    auto result = std::unique_ptr<Engine>(new Engine);
    if (tutor != 0) result->tutor = FromJava(tutor)->engine;
    if (!Succeeds(env, CreateMaceEngineFromProto(
                           graph.data(), graph.size(), weights.data(),
                           weights.size(), input_names, output_names, config,
                           &result->engine, nullptr, result->tutor.get(),
                           numbers[kFakeWarmup] != 0))) {
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
  bool Read(JNIEnv *env,
            jobjectArray names,
            jobjectArray memory,
            jobjectArray shapes) {
    if (!ReadTexts(env, names, &names_)) return false;
    for (jsize i = 0; i < static_cast<jsize>(names_.size()); ++i) {
      const LocalRef<jobject> buffer(env,
                                     env->GetObjectArrayElement(memory, i));
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
          env->GetDirectBufferAddress(buffer.get()), [](void *) {});
      (is_output ? outputs_ : inputs_)
          .emplace(names_[static_cast<size_t>(i)],
                   MaceTensor(shape, data, format, type));
    }
    return true;
  }

  MaceStatus Run(MaceEngine *engine, RunMetadata *metadata) {
    return engine->Run(inputs_, &outputs_, metadata);
  }

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
                           static_cast<int64_t>(stats.state_bytes)});
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
      Method("create", "([Ljava/lang/Object;[[B[[B[I[[BJ)J", Create),
      Method("destroy", "(J)V", Destroy),
      Method("run", "(J[[B[Ljava/nio/ByteBuffer;[[J[Ljava/lang/Object;)[[J",
             Run),
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
