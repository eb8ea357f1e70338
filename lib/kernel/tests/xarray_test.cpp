// SPDX-License-Identifier: GPL-2.0-only
//
// The promise: the low bits of an entry tell pointers, values and internal entries apart, as in Linux 7.3.

#include <linux/errno.h>
#include <linux/xarray.h>

#include <gtest/gtest.h>

#include "tools/testing/harness.h"

namespace {

TEST(XarrayEntry, ValuesComeBackAndAreNothingElse)
{
    for (const unsigned long value : {0UL, 1UL, 4095UL, 1UL << 30, static_cast<unsigned long>(LONG_MAX)}) {
        void *const entry = xa_mk_value(value);
        EXPECT_TRUE(xa_is_value(entry));
        EXPECT_EQ(xa_to_value(entry), value);
        EXPECT_FALSE(xa_is_internal(entry) || xa_is_node(entry) || xa_is_zero(entry) || xa_is_err(entry));
        EXPECT_EQ(xa_err(entry), 0);
    }
    EXPECT_EQ(xa_mk_value(1), reinterpret_cast<void *>(3));
}

TEST(XarrayEntry, PointersAreNeitherValuesNorInternal)
{
    int object = 0;
    for (const void *const pointer : {static_cast<const void *>(nullptr), static_cast<const void *>(&object)})
        EXPECT_FALSE(xa_is_value(pointer) || xa_is_internal(pointer) || xa_is_err(pointer));
}

TEST(XarrayEntry, InternalEntriesAreReservedNumbersOrNodes)
{
    EXPECT_EQ(XA_ZERO_ENTRY, reinterpret_cast<void *>(257UL * 4 + 2));
    EXPECT_TRUE(xa_is_zero(XA_ZERO_ENTRY));
    EXPECT_EQ(xa_to_internal(XA_ZERO_ENTRY), 257u);
    EXPECT_FALSE(xa_is_node(XA_ZERO_ENTRY));
    EXPECT_FALSE(xa_is_node(xa_mk_internal(1023)));
    EXPECT_TRUE(xa_is_node(xa_mk_internal(1024)));
}

TEST(XarrayEntry, AdvancedEntriesEndAtTheRetryEntry)
{
    EXPECT_TRUE(xa_is_advanced(xa_mk_internal(0)));
    EXPECT_TRUE(xa_is_advanced(XA_RETRY_ENTRY));
    EXPECT_FALSE(xa_is_advanced(XA_ZERO_ENTRY));
    EXPECT_FALSE(xa_is_advanced(xa_mk_value(3)));
}

TEST(XarrayEntry, ErrorsAreSmallNegativeNumbers)
{
    for (const int error : {1, ENOMEM, EINVAL, MAX_ERRNO}) {
        void *const entry = xa_mk_internal(static_cast<unsigned long>(-static_cast<long>(error)));
        EXPECT_TRUE(xa_is_err(entry));
        EXPECT_EQ(xa_err(entry), -error);
    }
    EXPECT_FALSE(xa_is_err(xa_mk_internal(static_cast<unsigned long>(-4096L))));
    EXPECT_EQ(xa_err(XA_ZERO_ENTRY), 0);
}

TEST(XarrayEntry, AValueWithTheTopBitIsReported)
{
    kmirror::testing::ExpectWarnings warnings(1);
    EXPECT_EQ(xa_to_value(xa_mk_value(1UL << (BITS_PER_LONG - 1) | 5)), 5u);
}

}  // namespace
