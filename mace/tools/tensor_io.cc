// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/tools/tensor_io.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace mace {
namespace tools {
namespace {

// The size of a cache line and of the widest vector: kernels are fastest with
// such buffers, and the engine may use them in place.
constexpr size_t kAlignment = 64;

struct FileCloser {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, FileCloser>;

std::string SystemError() { return std::strerror(errno); }

MaceStatus InvalidArgs(const std::string &message) {
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS, message);
}

float HalfToFloat(uint16_t half) {
  const uint32_t sign = (half & 0x8000u) << 16;
  const uint32_t exponent = (half >> 10) & 0x1fu;
  const uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0) {
    const float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign != 0 ? -value : value;
  }
  const uint32_t bits =
      exponent == 0x1f ? sign | 0x7f800000u | (mantissa << 13)
                       : sign | ((exponent + 112) << 23) | (mantissa << 13);
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

float BfloatToFloat(uint16_t bfloat) {
  const uint32_t bits = static_cast<uint32_t>(bfloat) << 16;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

// Rounds a float in [-1, 1) towards zero; enough for random test inputs.
uint16_t FloatToHalf(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  const uint16_t sign = static_cast<uint16_t>((bits >> 16) & 0x8000u);
  const int exponent = static_cast<int>((bits >> 23) & 0xffu) - 112;
  if (exponent <= 0) return sign;
  return static_cast<uint16_t>(sign | (exponent << 10) |
                               ((bits >> 13) & 0x3ffu));
}

double ValueAt(const void *data, IDataType type, int64_t i) {
  switch (type) {
    case IDataType::IDT_FLOAT16:
      return HalfToFloat(static_cast<const uint16_t *>(data)[i]);
    case IDataType::IDT_BFLOAT16:
      return BfloatToFloat(static_cast<const uint16_t *>(data)[i]);
    case IDataType::IDT_INT32:
      return static_cast<const int32_t *>(data)[i];
    case IDataType::IDT_INT16:
      return static_cast<const int16_t *>(data)[i];
    case IDataType::IDT_INT8:
      return static_cast<const int8_t *>(data)[i];
    case IDataType::IDT_UINT8:
    case IDataType::IDT_BOOL:
      return static_cast<const uint8_t *>(data)[i];
    default:
      return static_cast<const float *>(data)[i];
  }
}

size_t TensorBytes(const MaceTensor &tensor) {
  return static_cast<size_t>(ElementCount(tensor.shape())) *
         ElementSize(tensor.data_type());
}

// Without what is no letter or digit; letters of other alphabets stay.
std::string PlainName(const std::string &name) {
  std::string result = name;
  for (char &c : result) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z') || byte >= 0x80;
    if (!plain) c = '_';
  }
  return result;
}

}  // namespace

std::string SanitizeName(const std::string &name,
                         const std::vector<std::string> &names) {
  constexpr size_t kLongest = 128;
  constexpr size_t kKept = 100;  // of a longer name
  std::string result = PlainName(name);
  const bool alone =
      result == name ||
      std::none_of(names.begin(), names.end(), [&](const std::string &other) {
        return other != name && PlainName(other) == result;
      });
  if (result.size() <= kLongest && alone) return result;
  uint32_t hash = 2166136261u;  // FNV-1a
  for (const char c : name) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  }
  size_t end = std::min(kKept, result.size());
  // Not inside a character of UTF-8.
  while (end > 0 && end < result.size() &&
         (static_cast<unsigned char>(result[end]) & 0xC0) == 0x80) {
    --end;
  }
  char digits[16];
  std::snprintf(digits, sizeof(digits), "_%08x", static_cast<unsigned>(hash));
  return result.substr(0, end) + digits;
}

size_t ElementSize(IDataType type) {
  switch (type) {
    case IDataType::IDT_UINT8:
    case IDataType::IDT_INT8:
    case IDataType::IDT_BOOL:
      return 1;
    case IDataType::IDT_FLOAT16:
    case IDataType::IDT_BFLOAT16:
    case IDataType::IDT_INT16:
      return 2;
    default:
      return 4;
  }
}

const char *DataTypeName(IDataType type) {
  switch (type) {
    case IDataType::IDT_UINT8:
      return "uint8";
    case IDataType::IDT_INT32:
      return "int32";
    case IDataType::IDT_FLOAT16:
      return "float16";
    case IDataType::IDT_BFLOAT16:
      return "bfloat16";
    case IDataType::IDT_INT8:
      return "int8";
    case IDataType::IDT_BOOL:
      return "bool";
    case IDataType::IDT_INT16:
      return "int16";
    default:
      return "float32";
  }
}

int64_t ElementCount(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

MaceStatus MakeTensor(const TensorSpec &spec, MaceTensor *tensor) {
  // 64 bits, because size_t of an armhf program would wrap around.
  const uint64_t wanted = static_cast<uint64_t>(ElementCount(spec.shape)) *
                          ElementSize(spec.data_type);
  const bool fits = wanted < SIZE_MAX - kAlignment;
  const size_t bytes = static_cast<size_t>(wanted);
  void *buffer = nullptr;
  // One additional block, so that an empty tensor has a buffer, too.
  if (!fits || posix_memalign(&buffer, kAlignment, bytes + kAlignment) != 0) {
    return MaceStatus(MaceStatus::MACE_OUT_OF_RESOURCES,
                      "no memory for the " + std::to_string(wanted) +
                          " bytes of tensor " + spec.name);
  }
  std::memset(buffer, 0, bytes);
  *tensor = MaceTensor(spec.shape, std::shared_ptr<void>(buffer, std::free),
                       spec.data_format, spec.data_type);
  return MaceStatus::MACE_SUCCESS;
}

void FillRandom(uint64_t seed, MaceTensor *tensor) {
  // mt19937_64 and this mapping give the same values with every library;
  // std::uniform_real_distribution may not.
  std::mt19937_64 generator(seed);
  const int64_t count = ElementCount(tensor->shape());
  void *data = tensor->raw_data().get();
  for (int64_t i = 0; i < count; ++i) {
    const uint64_t bits = generator();
    const float unit = static_cast<float>(bits >> 40) * 0x1p-23f - 1.0f;
    switch (tensor->data_type()) {
      case IDataType::IDT_FLOAT:
        static_cast<float *>(data)[i] = unit;
        break;
      case IDataType::IDT_FLOAT16:
        static_cast<uint16_t *>(data)[i] = FloatToHalf(unit);
        break;
      case IDataType::IDT_BFLOAT16: {
        uint32_t word;
        std::memcpy(&word, &unit, sizeof(word));
        static_cast<uint16_t *>(data)[i] = static_cast<uint16_t>(word >> 16);
        break;
      }
      case IDataType::IDT_INT32:
        static_cast<int32_t *>(data)[i] = static_cast<int32_t>(bits >> 63);
        break;
      case IDataType::IDT_INT16:
        static_cast<int16_t *>(data)[i] = static_cast<int16_t>(bits >> 63);
        break;
      default:
        static_cast<uint8_t *>(data)[i] = static_cast<uint8_t>(bits >> 63);
    }
  }
}

MaceStatus ReadTensorFile(const std::string &path, MaceTensor *tensor) {
  File file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    return InvalidArgs("cannot open input file " + path + ": " + SystemError());
  }
  const size_t bytes = TensorBytes(*tensor);
  const size_t got = std::fread(tensor->raw_data().get(), 1, bytes, file.get());
  const bool more = got == bytes && std::fgetc(file.get()) != EOF;
  if (got == bytes && !more) return MaceStatus::MACE_SUCCESS;
  return InvalidArgs(
      "input file " + path + " holds " +
      (more ? "more than the " : std::to_string(got) + " of the ") +
      std::to_string(bytes) + " bytes that its shape and " +
      DataTypeName(tensor->data_type()) + " need");
}

MaceStatus WriteFile(const std::string &path, const void *data, size_t size) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  File file(std::fopen(temporary.c_str(), "wb"));
  if (file == nullptr) {
    return InvalidArgs("cannot write " + path + ": " + SystemError());
  }
  const bool written = std::fwrite(data, 1, size, file.get()) == size;
  const bool closed = std::fclose(file.release()) == 0;
  if (written && closed && std::rename(temporary.c_str(), path.c_str()) == 0) {
    return MaceStatus::MACE_SUCCESS;
  }
  const std::string reason = SystemError();
  std::remove(temporary.c_str());
  return InvalidArgs("cannot write " + path + ": " + reason);
}

MaceStatus WriteTensorFile(const std::string &path, const MaceTensor &tensor) {
  return WriteFile(path, tensor.raw_data().get(), TensorBytes(tensor));
}

ValueSummary Summarize(const MaceTensor &tensor) {
  ValueSummary summary;
  summary.elements = ElementCount(tensor.shape());
  const void *data = tensor.raw_data().get();
  double sum = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  for (int64_t i = 0; i < summary.elements; ++i) {
    const double value = ValueAt(data, tensor.data_type(), i);
    if (std::isnan(value)) {
      ++summary.nan;
    } else if (std::isinf(value)) {
      ++summary.inf;
    } else {
      low = std::min(low, value);
      high = std::max(high, value);
      sum += value;
    }
  }
  const int64_t finite = summary.elements - summary.nan - summary.inf;
  if (finite > 0) {
    summary.min = low;
    summary.max = high;
    summary.mean = sum / static_cast<double>(finite);
  }
  return summary;
}

namespace {

bool StartsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

}  // namespace

MaceStatus ListSamples(const std::string &dir,
                       const std::vector<std::string> &inputs,
                       std::vector<std::string> *suffixes) {
  DIR *folder = opendir(dir.c_str());
  if (folder == nullptr) {
    return InvalidArgs("cannot read --input_dir " + dir + ": " + SystemError());
  }
  suffixes->clear();
  const std::string prefix = SanitizeName(inputs.front(), inputs);
  std::vector<std::string> longer;  // names that start like the first input's
  for (const std::string &input : inputs) {
    const std::string name = SanitizeName(input, inputs);
    if (name.size() > prefix.size() && StartsWith(name, prefix)) {
      longer.push_back(name);
    }
  }
  while (const dirent *entry = readdir(folder)) {
    const std::string name = entry->d_name;
    const bool of_another = std::any_of(
        longer.begin(), longer.end(),
        [&](const std::string &other) { return StartsWith(name, other); });
    if (StartsWith(name, prefix) && !of_another) {
      suffixes->push_back(name.substr(prefix.size()));
    }
  }
  closedir(folder);
  if (suffixes->empty()) {
    return InvalidArgs("--input_dir " + dir + " holds no file " + prefix +
                       "<suffix>");
  }
  std::sort(suffixes->begin(), suffixes->end());
  return MaceStatus::MACE_SUCCESS;
}

}  // namespace tools
}  // namespace mace
