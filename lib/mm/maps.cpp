// SPDX-License-Identifier: GPL-2.0-only
//
// /proc/PID/maps: a line for each mapping, and the names that have no file.
//
// Locking  mmap_lock for reading.
// Fails    never; text that does not fit is cut and counted.
#include "lib/mm/vma.h"

#include <linux/printk.h>

#include <cstdio>

namespace kmirror::mm {

namespace {

// The kernel's name column begins here.
constexpr size_t kNameColumn = 73;

// Text into room that may end.
struct Text {
    char *at;
    size_t room;
    size_t used = 0;

    void put(const char *text, size_t bytes)
    {
        for (size_t i = 0; i < bytes; i++, used++)
            if (used + 1 < room)
                at[used] = text[i];
    }
};

bool is_heap(const vm_area_struct *vma)
{
    return vma->vm_start < vma->vm_mm->brk && vma->vm_end > vma->vm_mm->start_brk;
}

bool is_stack(const vm_area_struct *vma)
{
    const unsigned long stack = vma->vm_mm->start_stack;
    return stack && vma->vm_start <= stack && vma->vm_end >= stack;
}

void put_line(Text &text, const vm_area_struct *vma)
{
    char name[512];
    char line[160];
    const unsigned long flags = vma->vm_flags;
    const unsigned long long offset = vma->vm_file ? vma->vm_pgoff << PAGE_SHIFT : 0;
    const char *shown = mm_vma_name(vma, name, sizeof(name));
    int bytes = std::snprintf(line, sizeof(line), "%08lx-%08lx %c%c%c%c %08llx 00:00 0 ", vma->vm_start,
                              vma->vm_end, flags & VM_READ ? 'r' : '-', flags & VM_WRITE ? 'w' : '-',
                              flags & VM_EXEC ? 'x' : '-', flags & VM_MAYSHARE ? 's' : 'p', offset);
    text.put(line, static_cast<size_t>(bytes));
    for (size_t column = static_cast<size_t>(bytes); *shown && column < kNameColumn; column++)
        text.put(" ", 1);
    text.put(shown, strlen(shown));
    text.put("\n", 1);
}

} // namespace

} // namespace kmirror::mm

using namespace kmirror::mm;

const char *mm_vma_name(const vm_area_struct *vma, char *text, size_t room)
{
    if (vma->vm_file)
        return vma->vm_file->name;
    if (vma->anon_name && vma->anon_name->name[0] == '[')
        return vma->anon_name->name;
    if (is_heap(vma))
        return "[heap]";
    if (is_stack(vma))
        return "[stack]";
    if (!vma->anon_name)
        return "";
    std::snprintf(text, room, "[anon:%s]", vma->anon_name->name);
    return text;
}

size_t mm_maps(mm_struct *mm, char *at, size_t room)
{
    Text text = {at, room};
    mmap_read_lock(mm);
    VmaIterator it(mm, 0);
    while (const vm_area_struct *vma = it.next())
        put_line(text, vma);
    mmap_read_unlock(mm);
    static const char vsyscall[] =
        "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]\n";
    if (mm->vsyscall)
        text.put(vsyscall, sizeof(vsyscall) - 1);
    if (room)
        at[text.used < room ? text.used : room - 1] = 0;
    return text.used;
}

int mm_for_each(mm_struct *mm, int (*visit)(const vm_area_struct *vma, void *arg), void *arg)
{
    int stop = 0;
    mmap_read_lock(mm);
    VmaIterator it(mm, 0);
    while (const vm_area_struct *vma = it.next()) {
        stop = visit(vma, arg);
        if (stop)
            break;
    }
    mmap_read_unlock(mm);
    return stop;
}
