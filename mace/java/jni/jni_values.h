// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// Values of Java as values of C++, and back.
//
// A function of JNI that fails leaves an exception, with which nearly no other
// may be called. The functions here that can fail return false or null then,
// and their callers return to Java at once.
//
// Text crosses as UTF-8 in byte arrays: JNI's functions for strings have an
// encoding of their own, and Android ends the process where text is not in it.

#ifndef MACE_JAVA_JNI_JNI_VALUES_H_
#define MACE_JAVA_JNI_JNI_VALUES_H_

#include <jni.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mace {
namespace java {

// A local reference, of which Android allows 512 at a time.
template <typename T>
class LocalRef {
 public:
  LocalRef(JNIEnv *env, jobject object)
      : env_(env), object_(static_cast<T>(object)) {}
  LocalRef(const LocalRef &) = delete;
  LocalRef &operator=(const LocalRef &) = delete;
  ~LocalRef() {
    if (object_ != nullptr) env_->DeleteLocalRef(object_);
  }
  T get() const { return object_; }

 private:
  JNIEnv *env_;
  T object_;
};

inline bool ReadText(JNIEnv *env, jbyteArray array, std::string *text) {
  const jsize size = env->GetArrayLength(array);
  text->resize(static_cast<size_t>(size));
  // data() of an empty string may be written to by no bytes.
  env->GetByteArrayRegion(array, 0, size,
                          reinterpret_cast<jbyte *>(&(*text)[0]));
  return !env->ExceptionCheck();
}

inline bool ReadTexts(JNIEnv *env,
                      jobjectArray array,
                      std::vector<std::string> *texts) {
  const jsize size = env->GetArrayLength(array);
  texts->resize(static_cast<size_t>(size));
  for (jsize i = 0; i < size; ++i) {
    const LocalRef<jbyteArray> text(env, env->GetObjectArrayElement(array, i));
    if (env->ExceptionCheck() ||
        !ReadText(env, text.get(), &(*texts)[static_cast<size_t>(i)])) {
      return false;
    }
  }
  return true;
}

inline bool ReadLongs(JNIEnv *env,
                      jlongArray array,
                      std::vector<int64_t> *numbers) {
  static_assert(sizeof(jlong) == sizeof(int64_t), "the same numbers");
  const jsize size = env->GetArrayLength(array);
  numbers->resize(static_cast<size_t>(size));
  env->GetLongArrayRegion(array, 0, size,
                          reinterpret_cast<jlong *>(numbers->data()));
  return !env->ExceptionCheck();
}

inline jbyteArray MakeText(JNIEnv *env, const std::string &text) {
  const auto size = static_cast<jsize>(text.size());
  jbyteArray array = env->NewByteArray(size);
  if (array != nullptr) {
    env->SetByteArrayRegion(array, 0, size,
                            reinterpret_cast<const jbyte *>(text.data()));
  }
  return array;
}

inline jlongArray MakeLongs(JNIEnv *env, const std::vector<int64_t> &numbers) {
  const auto size = static_cast<jsize>(numbers.size());
  jlongArray array = env->NewLongArray(size);
  if (array != nullptr) {
    env->SetLongArrayRegion(array, 0, size,
                            reinterpret_cast<const jlong *>(numbers.data()));
  }
  return array;
}

// An array of `size` nulls, of the class of this JNI name.
inline jobjectArray MakeArray(JNIEnv *env, const char *element, size_t size) {
  const LocalRef<jclass> type(env, env->FindClass(element));
  if (type.get() == nullptr) return nullptr;
  return env->NewObjectArray(static_cast<jsize>(size), type.get(), nullptr);
}

}  // namespace java
}  // namespace mace

#endif  // MACE_JAVA_JNI_JNI_VALUES_H_
