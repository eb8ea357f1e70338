// SPDX-License-Identifier: GPL-2.0-only
//
// What every test file includes and no test changes: parsed once (tools/make/build.mk, PCH).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
