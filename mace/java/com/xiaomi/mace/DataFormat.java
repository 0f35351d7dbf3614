// Copyright 2026 The MACE Authors
// SPDX-License-Identifier: Apache-2.0
package com.xiaomi.mace;

/** Order of the dimensions of a tensor of rank 4. */
public enum DataFormat { NONE, NHWC, NCHW }
