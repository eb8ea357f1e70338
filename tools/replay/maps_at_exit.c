// SPDX-License-Identifier: GPL-2.0-only
//
// Preloaded by tools/replay/record: copies the process's maps to $KMIRROR_MAPS.PID as the last thing
// before exit.
//
// Maps nothing while it does so: system calls and a static buffer only. A failure leaves no file and says
// nothing, so that the program is not disturbed.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char buffer[1 << 20];
static char target[4096];

// In the order in which it is asked for, after the program's own destructors.
__attribute__((destructor(101))) static void copy_maps(void)
{
    const char *name = getenv("KMIRROR_MAPS");
    if (!name || snprintf(target, sizeof(target), "%s.%d", name, (int)getpid()) >= (int)sizeof(target))
        return;
    const int to = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    const int from = open("/proc/self/maps", O_RDONLY);
    size_t used = 0;
    ssize_t got;
    while (from >= 0 && used < sizeof(buffer) && (got = read(from, buffer + used, sizeof(buffer) - used)) > 0)
        used += (size_t)got;
    if (to < 0 || write(to, buffer, used) != (ssize_t)used)
        unlink(target);
}
