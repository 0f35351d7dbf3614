// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0

// Usage: other_release SKEL FILE
//
// Starts as an emulated DSP of a later release would.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mace/kernels/hexagon/program/mailbox.h"

int main(int count, char **arguments) {
  if (count != 3) return 2;
  const int file = open(arguments[2], O_RDWR | O_CLOEXEC);
  void *data = mmap(nullptr, mace::hexagon::kMailboxBytes,
                    PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) return 3;
  auto *box = static_cast<mace::hexagon::Mailbox *>(data);
  box->skel_version = 1000;
  __atomic_store_n(&box->reply, 1, __ATOMIC_RELEASE);
  // Until it is ended.
  for (;;) pause();
}
