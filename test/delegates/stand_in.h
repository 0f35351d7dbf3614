// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// How tests and the stand-ins for vendors' libraries talk to each other.

#ifndef TEST_DELEGATES_STAND_IN_H_
#define TEST_DELEGATES_STAND_IN_H_

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "test/delegates/reference.h"

namespace mace::stand_in {

// Whether the environment wants this to fail: MACE_STAND_IN_FAILS is its name.
inline bool Fails(const std::string &what) {
  const char *wish = std::getenv("MACE_STAND_IN_FAILS");
  return wish != nullptr && what == wish;
}

// What stand-ins count, by StandInCount("compiled") of the library.
struct Counts {
  int64_t compiled = 0;
  int64_t restored = 0;
  int64_t executed = 0;
  int64_t alive = 0;  // objects that were made and not freed
  int64_t hint = -1;  // the boost, or the power configuration
  int64_t preference = -1;

  int64_t Named(const char *name) const {
    if (std::strcmp(name, "compiled") == 0) return compiled;
    if (std::strcmp(name, "restored") == 0) return restored;
    if (std::strcmp(name, "executed") == 0) return executed;
    if (std::strcmp(name, "alive") == 0) return alive;
    if (std::strcmp(name, "hint") == 0) return hint;
    if (std::strcmp(name, "preference") == 0) return preference;
    return -2;
  }
};

// What integers stand for.
struct Scaling {
  std::vector<double> scales;  // none: floats, or plain integers
  int64_t zero_point = 0;
  int64_t axis = 0;
};

enum class Element : int32_t { kFloat, kInt32, kInt8, kUint8 };

inline size_t ElementBytes(Element element) {
  return element == Element::kInt8 || element == Element::kUint8 ? 1 : 4;
}

// The real numbers that elements stand for.
Array FromElements(const std::vector<int64_t> &dims,
                   Element element,
                   const Scaling &scaling,
                   const void *data);
// Rounded to nearest, ties away from zero, and clamped.
void ToElements(const Array &array,
                Element element,
                const Scaling &scaling,
                void *data);

// A compiled network in bytes; damage is found.
class Writer {
 public:
  template <typename T>
  void Number(T number) {
    bytes_.append(reinterpret_cast<const char *>(&number), sizeof(number));
  }
  template <typename T>
  void Numbers(const std::vector<T> &numbers) {
    Number<uint64_t>(numbers.size());
    for (const T &number : numbers) Number(number);
  }
  void Text(const std::string &text) {
    Numbers(std::vector<char>(text.begin(), text.end()));
  }
  // With a checksum.
  std::string Finish() const;

 private:
  std::string bytes_;
};

class Reader {
 public:
  // Check ok() before the first read.
  Reader(const void *data, size_t size);
  bool ok() const { return ok_; }
  template <typename T>
  T Number() {
    T number = {};
    std::memcpy(&number, bytes_.data() + at_, sizeof(number));
    at_ += sizeof(number);
    return number;
  }
  template <typename T>
  std::vector<T> Numbers() {
    std::vector<T> numbers(Number<uint64_t>());
    for (T &number : numbers) number = Number<T>();
    return numbers;
  }
  std::string Text() {
    const std::vector<char> text = Numbers<char>();
    return std::string(text.begin(), text.end());
  }

 private:
  std::string bytes_;
  size_t at_ = 0;
  bool ok_ = false;
};

}  // namespace mace::stand_in

#endif  // TEST_DELEGATES_STAND_IN_H_
