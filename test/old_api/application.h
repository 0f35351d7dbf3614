// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
//
// What the documentation of older releases leaves to the application: reading
// files, and saying what came out.

#ifndef TEST_OLD_API_APPLICATION_H_
#define TEST_OLD_API_APPLICATION_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "mace/public/mace.h"

// The command line: DEVICE GRAPH WEIGHTS INPUT.
struct Application {
  explicit Application(char **arguments)
      : device_type(std::strcmp(arguments[1], "GPU") == 0 ? mace::GPU
                                                          : mace::CPU),
        model_file(arguments[2]),
        model_data_file(arguments[3]),
        model_pb_data(ReadFile(arguments[2])),
        input(ReadFile(arguments[4])) {}

  static std::vector<unsigned char> ReadFile(const char *path) {
    std::ifstream stream(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream),
            std::istreambuf_iterator<char>()};
  }

  void LoadInput(const std::shared_ptr<float> &buffer) const {
    std::memcpy(buffer.get(), input.data(), input.size());
  }

  mace::DeviceType device_type;
  std::string model_file;
  std::string model_data_file;
  std::vector<unsigned char> model_pb_data;
  std::vector<unsigned char> input;
};

// "fall back to other strategy"
inline void Fail(const mace::MaceStatus &status) {
  std::printf("code %d: %s\n", static_cast<int>(status.code()),
              status.information().c_str());
  std::exit(3);
}

inline void Report(const mace::MaceStatus &status,
                   const mace::MaceTensor &output) {
  if (status != mace::MaceStatus::MACE_SUCCESS) Fail(status);
  const float *data = output.data().get();
  for (int64_t i = 0; i < output.shape()[1]; ++i) std::printf("%a ", data[i]);
  std::printf("\n");
}

#endif  // TEST_OLD_API_APPLICATION_H_
