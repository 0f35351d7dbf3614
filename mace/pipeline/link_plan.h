// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How MacePipeline plans the links between engines. An application includes
// mace_pipeline.h instead.

#ifndef MACE_PIPELINE_LINK_PLAN_H_
#define MACE_PIPELINE_LINK_PLAN_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "mace/public/mace.h"
#include "mace/public/mace_buffers.h"

namespace mace {
namespace internal {

// An output or input that a link joins, as MaceEngine::Describe tells it.
struct LinkEnd {
  std::string name;  // "stage/tensor"
  MaceTensor declared;
};

// A link for a set of shapes.
struct PlannedLink {
  MaceTensor written;            // as the writer gets it; without data
  std::vector<DataFormat> read;  // as each reader gets it
  int64_t bytes = 0;
  int64_t offset = 0;
  std::string written_copy;              // why the writer copies; empty if not
  std::vector<std::string> read_copies;  // the same of each reader
};

// "'a', 'b'"
inline std::string NameList(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names) {
    text += (text.empty() ? "'" : ", '") + name + "'";
  }
  return text.empty() ? "none" : text;
}

// Whether the border of an engine converts one to the other.
inline MaceStatus CheckLinkTypes(const LinkEnd &writer, const LinkEnd &reader) {
  const auto is_float = [](IDataType type) {
    return type == IDataType::IDT_FLOAT || type == IDataType::IDT_FLOAT16 ||
           type == IDataType::IDT_BFLOAT16;
  };
  const IDataType from = writer.declared.data_type();
  const IDataType to = reader.declared.data_type();
  if (ElementBytes(from) > 0 &&
      (from == to || (is_float(from) && is_float(to)))) {
    return MaceStatus();
  }
  return MaceStatus(
      MaceStatus::MACE_INVALID_ARGS,
      "'" + writer.name + "' is " + ElementName(from) + ", but '" +
          reader.name + "' is " + ElementName(to) +
          "; convert one of the models with a Cast, or with other types of "
          "inputs and outputs");
}

// Chooses order and type of a link such that nothing is copied; otherwise, such
// that one side copies and converts all at once. (ZC-05, ZC-09)
//
// Engines compute in NHWC. Two ends that say which dimension is which (NHWC or
// NCHW) agree on NHWC. An end with data format NONE takes the dimensions as the
// application would see them, so that the other one has to be NCHW there if it
// says so.
//
// `memory`: of the application; null if the pipeline has the link.
inline MaceStatus PlanLink(const LinkEnd &writer,
                           const std::vector<LinkEnd> &readers,
                           const MaceTensor *memory,
                           PlannedLink *planned) {
  const MaceTensor &output = writer.declared;
  const bool rank4 = output.shape().size() == 4;
  const bool from_nchw = IsNchw(output);
  const bool from_none = output.data_format() == DataFormat::NONE;
  IDataType type = output.data_type();
  IDataType none_type = type;
  bool has_none = false;  // a reader that takes dimensions as they are
  for (const LinkEnd &reader : readers) {
    const MaceStatus status = CheckLinkTypes(writer, reader);
    if (status != MaceStatus::MACE_SUCCESS) return status;
    if (reader.declared.data_format() != DataFormat::NONE) continue;
    has_none = true;
    none_type = reader.declared.data_type();
  }
  const bool given_nchw =
      memory != nullptr && memory->data_format() == DataFormat::NCHW;
  const bool nchw = rank4 && !from_none && (has_none ? from_nchw : given_nchw);
  if (nchw && has_none) type = none_type;
  if (memory != nullptr && memory->data_type() != IDataType::IDT_NOT_SET) {
    type = memory->data_type();
  }
  // Kernels of the GPU convert as they write and read.
  const bool in_gpu = memory != nullptr && memory->memory_type() != CPU_BUFFER;
  if (nchw && !in_gpu) {
    planned->written_copy = CopyReasonText(CopyReason::FORMAT);
  } else if (type != output.data_type() && !in_gpu) {
    planned->written_copy = CopyReasonText(CopyReason::TYPE);
  }
  std::vector<int64_t> shape = output.shape();
  if (from_nchw && !nchw) shape = ToNhwc(shape);
  if (nchw && !from_nchw) shape = {shape[0], shape[3], shape[1], shape[2]};
  const DataFormat format = nchw        ? DataFormat::NCHW
                            : from_none ? DataFormat::NONE
                                        : DataFormat::NHWC;
  planned->written = MaceTensor(shape, nullptr, format, type);
  planned->bytes = DenseBytes(shape, type);
  for (const LinkEnd &reader : readers) {
    const DataFormat wanted = reader.declared.data_format();
    const bool read_nchw = rank4 && wanted != DataFormat::NONE &&
                           (nchw || (from_none && wanted == DataFormat::NCHW));
    const char *why = in_gpu      ? ""
                      : read_nchw ? CopyReasonText(CopyReason::FORMAT)
                      : reader.declared.data_type() != type
                          ? CopyReasonText(CopyReason::TYPE)
                          : "";
    planned->read.push_back(read_nchw ? DataFormat::NCHW : DataFormat::NHWC);
    planned->read_copies.emplace_back(why);
  }
  if (memory == nullptr) return MaceStatus();
  const int64_t room = DenseBytes(memory->shape(), type);
  if (room >= planned->bytes) return MaceStatus();
  return MaceStatus(MaceStatus::MACE_INVALID_ARGS,
                    "the memory for the link from '" + writer.name +
                        "' has room for " + std::to_string(room) +
                        " bytes; it takes " + std::to_string(planned->bytes));
}

// A link is needed from the stage that writes it to the last one that reads it.
struct LinkSpan {
  size_t first;
  size_t last;
  int64_t bytes;
  int64_t offset;
};

// Places the largest first, each at the lowest offset that is free while it is
// needed. Returns the bytes of all.
inline int64_t PlaceLinks(std::vector<LinkSpan> *spans) {
  constexpr int64_t kLine = 64;
  const auto padded = [](int64_t bytes) {
    return (bytes + kLine - 1) / kLine * kLine;
  };
  std::vector<LinkSpan *> order;
  for (LinkSpan &span : *spans) order.push_back(&span);
  std::sort(order.begin(), order.end(), [](LinkSpan *a, LinkSpan *b) {
    return a->bytes != b->bytes ? a->bytes > b->bytes : a < b;
  });
  int64_t total = 0;
  for (size_t n = 0; n < order.size(); ++n) {
    LinkSpan &span = *order[n];
    span.offset = 0;
    for (bool moved = true; moved;) {
      moved = false;
      for (size_t m = 0; m < n; ++m) {
        const LinkSpan &other = *order[m];
        const int64_t end = other.offset + padded(other.bytes);
        const bool meet = span.first <= other.last && other.first <= span.last;
        if (!meet || span.offset >= end ||
            other.offset >= span.offset + padded(span.bytes)) {
          continue;
        }
        span.offset = end;
        moved = true;
      }
    }
    total = std::max(total, span.offset + padded(span.bytes));
  }
  return total;
}

}  // namespace internal
}  // namespace mace

#endif  // MACE_PIPELINE_LINK_PLAN_H_
