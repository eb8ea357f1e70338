/* SPDX-License-Identifier: GPL-2.0-only */
/* linux/moduleparam.h: module parameters are accepted and ignored; their defaults count. */
#ifndef KMIRROR_LINUX_MODULEPARAM_H
#define KMIRROR_LINUX_MODULEPARAM_H

#include <linux/compiler.h>

#ifndef module_param
#define module_param(name, type, permissions) KM_STATIC_ASSERT(1, #name)
#endif
#ifndef module_param_named
#define module_param_named(name, value, type, permissions) KM_STATIC_ASSERT(1, #name)
#endif
#ifndef MODULE_PARM_DESC
#define MODULE_PARM_DESC(name, text) KM_STATIC_ASSERT(1, text)
#endif

#endif /* KMIRROR_LINUX_MODULEPARAM_H */
