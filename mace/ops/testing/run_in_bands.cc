// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/ops/testing/run_in_bands.h"

#include <algorithm>
#include <cstring>
#include <random>

#include "mace/ops/cpu_op/row_bands.h"

namespace mace::op_test {
namespace {

struct Band {
  int64_t image;
  RowRange rows;
};

std::vector<Band> RandomBands(const Shape &output, std::mt19937 *engine) {
  std::vector<Band> bands;
  for (int64_t image = 0; image < output[0]; ++image) {
    for (int64_t row = 0; row < output[1];) {
      const int64_t most = std::min<int64_t>(output[1] - row, 6);
      const int64_t rows = 1 + static_cast<int64_t>((*engine)()) % most;
      bands.push_back({image, {row, row + rows}});
      row += rows;
    }
  }
  std::shuffle(bands.begin(), bands.end(), *engine);
  return bands;
}

size_t RowBytes(const Tensor &tensor) {
  return static_cast<size_t>(tensor.bytes() /
                             (tensor.shape[0] * tensor.shape[1]));
}

std::string CheckRows(const RowBands &bands, int64_t outputs, int64_t inputs) {
  RowRange before;
  for (int64_t row = 0; row < outputs; ++row) {
    const RowRange rows = bands.InputRows({row, row + 1});
    if (rows.empty() || rows.begin < 0 || rows.end > inputs) {
      return MakeString("output row ", row, " needs rows ", rows.begin, " to ",
                        rows.end, " of ", inputs);
    }
    if (rows.begin < before.begin || rows.end < before.end) {
      return MakeString("output row ", row, " needs rows before those of ",
                        row - 1);
    }
    before = rows;
  }
  return std::string();
}

// The rows, with the same distance between pixels as in the tensor.
struct Rows {
  Rows(const Tensor &tensor, const uint8_t *data, const RowRange &rows)
      : size(DataTypeSize(tensor.data_type)),
        pixel(static_cast<size_t>(tensor.shape[3]) * size),
        step(static_cast<size_t>(tensor.RowStride()) * size),
        count(static_cast<size_t>(rows.count() * tensor.shape[2])),
        buffer((count - 1) * step + pixel) {
    const size_t before =
        static_cast<size_t>(rows.begin * tensor.shape[2]) * step;
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(static_cast<uint8_t *>(buffer.data()) + i * step,
                  data + before + i * step, pixel);
    }
  }

  size_t size;
  size_t pixel;
  size_t step;
  size_t count;
  GuardedBuffer buffer;
};

}  // namespace

std::string RunInBands(const RowBands &bands,
                       const RunContext &context,
                       Tensor *input,
                       Tensor *output,
                       bool in_place) {
  std::mt19937 engine(23);
  const Shape &shape = output->shape;
  std::string wrong = CheckRows(bands, shape[1], input->shape[1]);
  if (!wrong.empty()) return wrong;
  const auto *image_data = static_cast<const uint8_t *>(input->data);
  auto *place = static_cast<uint8_t *>(output->data);
  const bool direct = in_place || output->row_stride != 0;
  const int64_t stride = output->RowStride();
  const size_t output_row = RowBytes(*output);
  const size_t place_row =
      static_cast<size_t>(shape[2] * stride) * DataTypeSize(output->data_type);
  // Must not be read or written.
  uint8_t nowhere = 0;
  input->data = &nowhere;
  output->data = &nowhere;
  std::string violation;
  for (const Band &band : RandomBands(shape, &engine)) {
    const RowRange needed = bands.InputRows(band.rows);
    const int64_t first = band.image * input->shape[1];
    Rows rows(*input, image_data, {first + needed.begin, first + needed.end});
    GuardedBuffer result(static_cast<size_t>(band.rows.count()) * output_row);
    GuardedBuffer scratch(bands.BandScratchBytes(band.rows.count()));
    uint8_t *to =
        place + static_cast<size_t>(band.image * shape[1] + band.rows.begin) *
                    place_row;
    BandRun run;
    run.image = band.image;
    run.rows = band.rows;
    run.input = rows.buffer.data();
    run.input_stride = input->RowStride();
    run.output = direct ? to : result.data();
    run.output_stride = stride;
    run.scratch = scratch.data();
    bands.RunBand(context, run);
    if (!rows.buffer.Intact() || !result.Intact() || !scratch.Intact()) {
      violation = "memory beside a band, its input or its scratch was written";
    }
    if (!direct) std::memcpy(to, result.data(), result.size());
  }
  input->data = const_cast<uint8_t *>(image_data);
  output->data = place;
  return violation;
}

size_t SpreadBytes(const Tensor &tensor) {
  const int64_t rows = tensor.elements() / tensor.row_length();
  return static_cast<size_t>((rows - 1) * tensor.RowStride() +
                             tensor.row_length()) *
         DataTypeSize(tensor.data_type);
}

void ScatterRows(const Tensor &tensor, const uint8_t *dense) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
  const int64_t row_bytes = tensor.row_length() * size;
  auto *to = static_cast<uint8_t *>(tensor.data);
  for (int64_t row = 0; row * row_bytes < tensor.bytes(); ++row) {
    std::copy(dense + row * row_bytes, dense + (row + 1) * row_bytes,
              to + row * tensor.RowStride() * size);
  }
}

bool GatherRows(const Tensor &tensor, uint8_t *dense) {
  const auto size = static_cast<int64_t>(DataTypeSize(tensor.data_type));
  const int64_t row_bytes = tensor.row_length() * size;
  const int64_t stride = tensor.RowStride() * size;
  bool clean = true;
  const auto *from = static_cast<const uint8_t *>(tensor.data);
  for (int64_t row = 0; row * row_bytes < tensor.bytes(); ++row) {
    const uint8_t *begin = from + row * stride;
    std::copy(begin, begin + row_bytes, dense + row * row_bytes);
    if ((row + 1) * row_bytes < tensor.bytes()) {
      clean = clean && std::all_of(begin + row_bytes, begin + stride,
                                   [](uint8_t byte) { return byte == 0xff; });
    }
  }
  return clean;
}

}  // namespace mace::op_test
