// SPDX-License-Identifier: GPL-2.0-only
/*
 * Linked with a kernel's tools/mm/slabinfo.c by --wrap=chdir: where that goes to /sys/kernel/slab it
 * goes to the folder in KMIRROR_SYSFS. Everywhere else it goes where it wants.
 */
#include <stdlib.h>
#include <string.h>

int __real_chdir(const char *path);
int __wrap_chdir(const char *path);

int __wrap_chdir(const char *path)
{
    const char *const instead = getenv("KMIRROR_SYSFS");

    return __real_chdir(instead && strcmp(path, "/sys/kernel/slab") == 0 ? instead : path);
}
