// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// A program for a device: prints for which ABI it was built, or executes a
// command.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
  const char *word = argc > 1 ? argv[1] : "say";
  if (strcmp(word, "say") == 0) {
    printf("%d-bit, %ld processors\n", (int)(8 * sizeof(void *)),
           sysconf(_SC_NPROCESSORS_CONF));
  } else if (strcmp(word, "crash") == 0) {
    abort();
  } else if (strcmp(word, "hold") == 0) {
    // So many MiB, for so many seconds.
    size_t size = (size_t)atoi(argv[2]) << 20;
    char *data = malloc(size);
    if (data == NULL) return 1;
    memset(data, 1, size);
    printf("held %d\n", data[size - 1]);
    fflush(stdout);
    sleep((unsigned)atoi(argv[3]));
  } else {
    return 2;
  }
  return 0;
}
