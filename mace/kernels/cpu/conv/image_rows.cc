// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

#include "mace/kernels/cpu/conv/image_rows.h"

#include <algorithm>
#include <cstring>

namespace mace::conv {
namespace {

using Index = ptrdiff_t;

constexpr Index DivideUp(Index a, Index b) { return (a + b - 1) / b; }

// Outputs of a task that are in one row of one image.
struct Run {
  Index n;
  Index h;
  Index w_begin;
  Index w_end;
  Index at;  // of w_begin, counted from the task's first output
};

// Calls function(Run) for all runs of [row_begin, row_begin + rows).
template <typename Function>
void ForEachRun(const Shape &s,
                Index row_begin,
                Index rows,
                Function function) {
  Index n = row_begin / (s.out_h * s.out_w);
  Index h = row_begin / s.out_w % s.out_h;
  Index w = row_begin % s.out_w;
  for (Index at = 0; at < rows;) {
    const Index end = std::min(s.out_w, w + rows - at);
    function(Run{n, h, w, end, at});
    at += end - w;
    w = 0;
    if (++h == s.out_h) {
      h = 0;
      ++n;
    }
  }
}

// The output columns of a run for which column w * stride + offset is inside
// [0, size): the columns before and after are padding, without a test for each.
struct Inside {
  Index begin;
  Index end;
};
Inside InsideColumns(const Run &run, Index stride, Index offset, Index size) {
  const Index first = offset >= 0 ? 0 : DivideUp(-offset, stride);
  const Index last = offset >= size ? 0 : (size - 1 - offset) / stride + 1;
  const Index begin = std::clamp(first, run.w_begin, run.w_end);
  return {begin, std::clamp(last, begin, run.w_end)};
}

// A matrix has thousands of rows with few products each: this loop is
// vectorised.
void FillSteps(const void **to, Index count, const char *from, Index step) {
  for (Index i = 0; i < count; ++i) to[i] = from + i * step;
}

void FillSame(const void **to, Index count, const void *value) {
  for (Index i = 0; i < count; ++i) to[i] = value;
}

// The start of the image, and the bytes of a pixel.
struct Image {
  const char *at;
  Index pixel;
};
Image ImageOf(const DirectPlan &p, const RowsTask &task) {
  return {static_cast<const char *>(task.input),
          p.shape.in_c * static_cast<Index>(task.element_bytes)};
}

void PointAtPixels(const DirectPlan &p, const RowsTask &task) {
  const Shape &s = p.shape;
  const Image image = ImageOf(p, task);
  const Index step = s.stride_w * image.pixel;
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    const void **to = task.pointers + run.at;
    const Index count = run.w_end - run.w_begin;
    for (Index i = 0; i < s.kernel_h; ++i) {
      const Index h = run.h * s.stride_h - s.pad_top + i * s.dilation_h;
      const bool h_inside = h >= 0 && h < s.in_h;
      const Index row = (run.n * s.in_h + h) * s.in_w;
      for (Index j = 0; j < s.kernel_w; ++j, to += task.rows) {
        const Index offset = j * s.dilation_w - s.pad_left;
        const Inside in = h_inside
                              ? InsideColumns(run, s.stride_w, offset, s.in_w)
                              : Inside{run.w_end, run.w_end};
        FillSame(to, in.begin - run.w_begin, task.zeros);
        if (in.begin < in.end) {
          FillSteps(
              to + (in.begin - run.w_begin), in.end - in.begin,
              image.at + (row + in.begin * s.stride_w + offset) * image.pixel,
              step);
        }
        FillSame(to + (in.end - run.w_begin), count - (in.end - run.w_begin),
                 task.zeros);
      }
    }
  });
}

// A tap is kernel_w adjacent pixels. If some of them are outside the image on
// the left or right, a copy with zeros is made.
void PointAtPixelRows(const DirectPlan &p, const RowsTask &task) {
  const Shape &s = p.shape;
  const Image image = ImageOf(p, task);
  const Index edge_bytes = p.depth * static_cast<Index>(task.element_bytes);
  char *edge = static_cast<char *>(task.edges);
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    // Columns for which the first and the last pixel of the tap are inside.
    const Inside first = InsideColumns(run, s.stride_w, -s.pad_left, s.in_w);
    const Inside last =
        InsideColumns(run, s.stride_w, s.kernel_w - 1 - s.pad_left, s.in_w);
    const Index begin = std::min(std::max(first.begin, last.begin), run.w_end);
    const Index end = std::max(begin, std::min(first.end, last.end));
    const void **to = task.pointers + run.at - run.w_begin;
    for (Index i = 0; i < s.kernel_h; ++i, to += task.rows) {
      const Index h = run.h * s.stride_h - s.pad_top + i * s.dilation_h;
      if (h < 0 || h >= s.in_h) {
        FillSame(to + run.w_begin, run.w_end - run.w_begin, task.zeros);
        continue;
      }
      const char *row = image.at + (run.n * s.in_h + h) * s.in_w * image.pixel;
      auto copy_edge = [&](Index w) {
        const Index w0 = w * s.stride_w - s.pad_left;
        const Index left = std::clamp<Index>(-w0, 0, s.kernel_w);
        const Index right = std::clamp<Index>(s.in_w - w0, left, s.kernel_w);
        to[w] = task.zeros;
        if (left == right) return;
        FillPadding(edge, static_cast<size_t>(edge_bytes), task.padding);
        std::memcpy(edge + left * image.pixel, row + (w0 + left) * image.pixel,
                    static_cast<size_t>((right - left) * image.pixel));
        to[w] = edge;
        edge += edge_bytes;
      };
      for (Index w = run.w_begin; w < begin; ++w) copy_edge(w);
      if (begin < end) {
        FillSteps(to + begin, end - begin,
                  row + (begin * s.stride_w - s.pad_left) * image.pixel,
                  s.stride_w * image.pixel);
      }
      for (Index w = end; w < run.w_end; ++w) copy_edge(w);
    }
  });
}

// Requires out_w to be 1, and no padding.
void PointAtPatches(const DirectPlan &p, const RowsTask &task) {
  const Shape &s = p.shape;
  const Image image = ImageOf(p, task);
  ForEachRun(s, task.row_begin, task.rows, [&](const Run &run) {
    task.pointers[run.at] =
        image.at + (run.n * s.in_h + run.h * s.stride_h) * s.in_w * image.pixel;
  });
}

}  // namespace

void FillPadding(void *to, size_t bytes, uint16_t padding) {
  constexpr int kByte = 8;
  const auto low = static_cast<uint8_t>(padding);
  if (low == padding >> kByte) {
    std::memset(to, low, bytes);
    return;
  }
  auto *at = static_cast<char *>(to);
  for (size_t i = 0; i < bytes; i += sizeof(padding)) {
    std::memcpy(at + i, &padding, sizeof(padding));
  }
}

void PointAtRows(const DirectPlan &plan, const RowsTask &task) {
  switch (plan.tap_kind) {
    case DirectPlan::Taps::kPixel:
      PointAtPixels(plan, task);
      break;
    case DirectPlan::Taps::kRow:
      PointAtPixelRows(plan, task);
      break;
    case DirectPlan::Taps::kPatch:
      PointAtPatches(plan, task);
      break;
  }
}

}  // namespace mace::conv
