/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/kconfig.h: the kernel configuration that is mirrored, and the question
 * whether an option is on. Every header of this folder includes this file first,
 * because CONFIG_64BIT decides struct layouts.
 */
#ifndef KMIRROR_LINUX_KCONFIG_H
#define KMIRROR_LINUX_KCONFIG_H

#include <kmirror/config.h>

#if defined(__LP64__) && !defined(CONFIG_64BIT)
#define CONFIG_64BIT 1
#endif
#ifndef CONFIG_SMP
#define CONFIG_SMP 1
#endif
#ifndef CONFIG_NUMA
#define CONFIG_NUMA 1
#endif
#ifndef CONFIG_HOTPLUG_CPU
#define CONFIG_HOTPLUG_CPU 1
#endif
#ifndef CONFIG_SLUB
#define CONFIG_SLUB 1
#endif
#ifndef CONFIG_DEBUG_MAPLE_TREE
#define CONFIG_DEBUG_MAPLE_TREE 1
#endif
#if KMIRROR_STATS && !defined(CONFIG_SLUB_STATS)
#define CONFIG_SLUB_STATS 1
#endif
#ifndef CONFIG_NR_CPUS
#define CONFIG_NR_CPUS 1024
#endif
#ifndef CONFIG_NODES_SHIFT
#define CONFIG_NODES_SHIFT 6
#endif

/*
 * An option set to 1 pastes into KM_OPT_1, which supplies one argument more, so
 * that the second argument picked below is 1; any other spelling leaves 0 there.
 */
#define KM_OPT_1 0,
#define KM_OPT_SECOND(ignored, value, ...) value
#define KM_OPT_PICK(extra_or_junk) KM_OPT_SECOND(extra_or_junk 1, 0, 0)
#define KM_OPT_PASTE(value) KM_OPT_PICK(KM_OPT_##value)
#define KM_OPT_IS_ONE(option) KM_OPT_PASTE(option)

/* IS_BUILTIN() - 1 if @option is defined to 1, else 0; also valid in #if. */
#define IS_BUILTIN(option) KM_OPT_IS_ONE(option)
/* IS_MODULE() - modules do not exist here, but a test may define CONFIG_X_MODULE. */
#define IS_MODULE(option) KM_OPT_IS_ONE(option##_MODULE)
#define IS_REACHABLE(option) IS_BUILTIN(option)
#define IS_ENABLED(option) (IS_BUILTIN(option) || IS_MODULE(option))

#endif /* KMIRROR_LINUX_KCONFIG_H */
