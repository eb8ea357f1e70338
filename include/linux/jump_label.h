/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <linux/jump_label.h>: switches that are read often and turned rarely. Nothing is
 * patched: a branch is a relaxed load that the compiler takes for the usual answer.
 * Turning a switch orders nothing; who needs order brings a lock.
 */
#ifndef _LINUX_JUMP_LABEL_H
#define _LINUX_JUMP_LABEL_H

#include <linux/kconfig.h>
#include <linux/types.h>

struct static_key {
    int enabled;
};

struct static_key_false {
    struct static_key key;
};

struct static_key_true {
    struct static_key key;
};

#define STATIC_KEY_FALSE_INIT       { { 0 } }
#define STATIC_KEY_TRUE_INIT        { { 1 } }
#define DEFINE_STATIC_KEY_FALSE(name)   struct static_key_false name = STATIC_KEY_FALSE_INIT
#define DEFINE_STATIC_KEY_TRUE(name)    struct static_key_true name = STATIC_KEY_TRUE_INIT
#define DECLARE_STATIC_KEY_FALSE(name)  extern struct static_key_false name
#define DECLARE_STATIC_KEY_TRUE(name)   extern struct static_key_true name

#define static_key_enabled(x)       (__atomic_load_n(&(x)->key.enabled, __ATOMIC_RELAXED) != 0)
#define static_branch_unlikely(x)   __builtin_expect(static_key_enabled(x), 0)
#define static_branch_likely(x)     __builtin_expect(static_key_enabled(x), 1)
#define static_branch_enable(x)     __atomic_store_n(&(x)->key.enabled, 1, __ATOMIC_RELAXED)
#define static_branch_disable(x)    __atomic_store_n(&(x)->key.enabled, 0, __ATOMIC_RELAXED)

#endif /* _LINUX_JUMP_LABEL_H */
