/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/export.h: every function with C linkage is exported by the library; the marks are empty. */
#ifndef KMIRROR_LINUX_EXPORT_H
#define KMIRROR_LINUX_EXPORT_H

#include <linux/compiler.h>

#define EXPORT_SYMBOL(symbol) KM_STATIC_ASSERT(1, #symbol)
#define EXPORT_SYMBOL_GPL(symbol) KM_STATIC_ASSERT(1, #symbol)
#define EXPORT_SYMBOL_FOR_MODULES(symbol, modules) KM_STATIC_ASSERT(1, #symbol)
#define EXPORT_SYMBOL_IF_KUNIT(symbol) KM_STATIC_ASSERT(1, #symbol)

#endif /* KMIRROR_LINUX_EXPORT_H */
