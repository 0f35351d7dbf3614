// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// The tensors of mace_run: buffers, raw files, random values, and the search
// for NaN and Inf.
//
// A raw file holds the elements of one tensor, row-major, little-endian,
// without header: float32 unless the flags say another type.

#ifndef MACE_TOOLS_TENSOR_IO_H_
#define MACE_TOOLS_TENSOR_IO_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "mace/tools/options.h"

namespace mace {
namespace tools {

using TensorMap = std::map<std::string, MaceTensor>;

// A name as part of a file name: ASCII characters other than letters and digits
// become '_', those of other alphabets stay as they are. File systems take 255
// bytes at most, so a name of more than 128 is cut, and the hash of the whole
// name is appended. So is that of a name that had to be changed if another one
// of `names`, those of the tensors beside it, becomes the same.
// `tensor_file_name` of mace/python/tools/run is the same.
std::string SanitizeName(const std::string &name,
                         const std::vector<std::string> &names = {});

size_t ElementSize(IDataType type);
const char *DataTypeName(IDataType type);
int64_t ElementCount(const std::vector<int64_t> &shape);

// A zeroed tensor of the spec's shape. MACE_OUT_OF_RESOURCES if memory is
// short.
MaceStatus MakeTensor(const TensorSpec &spec, MaceTensor *tensor);

// Fills floats with uniform values in [-1, 1), and integers with 0 or 1, which
// are valid indices into tables of at least two entries.
void FillRandom(uint64_t seed, MaceTensor *tensor);

// The file must hold exactly the tensor's bytes.
MaceStatus ReadTensorFile(const std::string &path, MaceTensor *tensor);

// Writes a file in the same folder and renames it to `path`, so that no reader
// sees half a file.
MaceStatus WriteFile(const std::string &path, const void *data, size_t size);
MaceStatus WriteTensorFile(const std::string &path, const MaceTensor &tensor);

// Statistics of the values of an output; min, max and mean are over finite
// values.
struct ValueSummary {
  int64_t elements = 0;
  int64_t nan = 0;
  int64_t inf = 0;
  double min = 0;
  double max = 0;
  double mean = 0;
};
ValueSummary Summarize(const MaceTensor &tensor);

// Suffixes of the samples in `dir`: files named `<first input><suffix>`,
// sorted. A file whose name starts with several inputs' names belongs to the
// input with the longest name. MACE_INVALID_ARGS if the folder cannot be read
// or has no samples.
MaceStatus ListSamples(const std::string &dir,
                       const std::vector<std::string> &inputs,
                       std::vector<std::string> *suffixes);

}  // namespace tools
}  // namespace mace

#endif  // MACE_TOOLS_TENSOR_IO_H_
