// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// How the host calls an emulated DSP: both map one file, which begins with a
// mailbox. A futex on `request` wakes the DSP, one on `reply` the host.

#ifndef MACE_KERNELS_HEXAGON_PROGRAM_MAILBOX_H_
#define MACE_KERNELS_HEXAGON_PROGRAM_MAILBOX_H_

#include "mace/kernels/hexagon/program/program.h"

namespace mace::hexagon {

// Bytes of the file, which begins with the mailbox.
struct FileRange {
  uint32_t offset;
  uint32_t bytes;
};

struct Mailbox {
  // Written by the host before it starts the DSP.
  uint32_t magic;       // kProgramMagic
  uint32_t version;     // kProgramVersion
  uint32_t file_bytes;  // of the mapping
  uint32_t threads;     // of the DSP; 0: as many as there are vector contexts
  // That stands for VTCM. The DSP writes 0 if it has not so much memory.
  uint32_t fast_bytes;

  uint32_t skel_version;  // kProgramVersion of the DSP's part

  // The number of the last call. The DSP answers 0 when it has started.
  uint32_t request;
  // The number of the last call that is done, plus 1.
  uint32_t reply;

  FileRange program;
  FileRange areas[kAreas];
  ProgramReply result;
};
constexpr uint32_t kMailboxBytes = 4096;
static_assert(sizeof(Mailbox) <= kMailboxBytes);

}  // namespace mace::hexagon

#endif  // MACE_KERNELS_HEXAGON_PROGRAM_MAILBOX_H_
