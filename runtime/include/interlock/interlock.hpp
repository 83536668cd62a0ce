// Copyright the Interlock authors. SPDX-License-Identifier: Apache-2.0
//
// The C++ API in one include.
#pragma once

#include "interlock/device.hpp"
#include "interlock/operation.hpp"
#include "interlock/spec.hpp"
#include "interlock/status.hpp"
