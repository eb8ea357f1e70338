/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * linux/module.h: a test module becomes part of a program. Its entry is exported
 * as kmirror_module_init() and its end as kmirror_module_exit(); a file that
 * defined these macros before keeps its own.
 */
#ifndef KMIRROR_LINUX_MODULE_H
#define KMIRROR_LINUX_MODULE_H

#include <linux/export.h>
#include <linux/init.h>
#include <linux/moduleparam.h>
#include <linux/xarray.h> /* modules have it from here in the kernel too */

#ifdef __cplusplus
#define KM_MODULE_LINKAGE extern "C"
#else
#define KM_MODULE_LINKAGE
#endif

#ifndef module_init
#define module_init(function)                          \
    KM_MODULE_LINKAGE int kmirror_module_init(void);   \
    KM_MODULE_LINKAGE int kmirror_module_init(void)    \
    {                                                  \
        return function();                             \
    }
#endif
#ifndef module_exit
#define module_exit(function)                          \
    KM_MODULE_LINKAGE void kmirror_module_exit(void);  \
    KM_MODULE_LINKAGE void kmirror_module_exit(void)   \
    {                                                  \
        function();                                    \
    }
#endif
#ifndef MODULE_AUTHOR
#define MODULE_AUTHOR(text) KM_STATIC_ASSERT(1, text)
#endif
#ifndef MODULE_DESCRIPTION
#define MODULE_DESCRIPTION(text) KM_STATIC_ASSERT(1, text)
#endif
#ifndef MODULE_LICENSE
#define MODULE_LICENSE(text) KM_STATIC_ASSERT(1, text)
#endif
#ifndef MODULE_IMPORT_NS
#define MODULE_IMPORT_NS(text) KM_STATIC_ASSERT(1, "namespace")
#endif

struct module;
#define THIS_MODULE ((struct module *)0)

#endif /* KMIRROR_LINUX_MODULE_H */
#include_next <linux/module.h>
