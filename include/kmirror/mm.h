/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * <kmirror/mm.h>: address spaces on the maple tree, for C11 and C++20.
 *
 * An mm_struct holds its mappings in a tree with gap tracking (MT_FLAGS_ALLOC_RANGE, USE_RCU, LOCK_EXTERN)
 * under mmap_lock; a mapping is a vm_area_struct from a SLAB_TYPESAFE_BY_RCU cache with sheaves. Calls
 * place, split and merge mappings as Linux 7.3 does on x86-64 with four-level page tables. There are no
 * pages and no contents.
 *
 * Owns     mappings, their files' references, the counts of pages mapped and committed.
 * Bounds   addresses up to TASK_SIZE_MM; mappings up to mm_sysctl.max_map_count.
 * Locking  every call takes mmap_lock itself unless it says otherwise.
 * Fails    with -errno as the system call does, and then nothing has changed, with the exceptions that the
 *          kernel has as well: mprotect, madvise and mlock over several mappings keep what they did before
 *          the one that failed; a mapping may be left split (never lost) where memory ran out; an address
 *          range cleared for mremap's fixed target stays cleared. An mremap that has moved a mapping succeeds
 *          even if memory runs out before the old place is unmapped: then it is in both.
 *
 * Simplified: anon_vma. A page fault gives a private mapping its anon_vma in the kernel; here vm_fault()
 * does, and it is a number: equal numbers are one anon_vma. A forked child's mapping has one of its own
 * and the mark that its chain has more than one link. NUMA policies are numbers: equal policies are equal
 * numbers.
 */
#ifndef KMIRROR_MM_H
#define KMIRROR_MM_H

#include <linux/maple_tree.h>
#include <linux/rwsem.h>
#include <linux/types.h>
#include <sys/mman.h>

#ifdef __cplusplus
extern "C" {
#endif

/* First address that is no longer the program's. */
#define TASK_SIZE_MM 0x7ffffffff000UL
/* Size and alignment of a transparent huge page. */
#define MM_PMD_SIZE 0x200000UL

/* vm_flags of a mapping, with the kernel's numbers. */
#define VM_READ         0x00000001UL
#define VM_WRITE        0x00000002UL
#define VM_EXEC         0x00000004UL
#define VM_SHARED       0x00000008UL
#define VM_MAYREAD      0x00000010UL
#define VM_MAYWRITE     0x00000020UL
#define VM_MAYEXEC      0x00000040UL
#define VM_MAYSHARE     0x00000080UL
#define VM_GROWSDOWN    0x00000100UL
#define VM_PFNMAP       0x00000400UL
#define VM_LOCKED       0x00002000UL
#define VM_IO           0x00004000UL
#define VM_SEQ_READ     0x00008000UL
#define VM_RAND_READ    0x00010000UL
#define VM_DONTCOPY     0x00020000UL
#define VM_DONTEXPAND   0x00040000UL
#define VM_LOCKONFAULT  0x00080000UL
#define VM_ACCOUNT      0x00100000UL
#define VM_NORESERVE    0x00200000UL
#define VM_HUGETLB      0x00400000UL
#define VM_SYNC         0x00800000UL
#define VM_WIPEONFORK   0x02000000UL
#define VM_DONTDUMP     0x04000000UL
#define VM_MIXEDMAP     0x10000000UL
#define VM_HUGEPAGE     0x20000000UL
#define VM_NOHUGEPAGE   0x40000000UL
#define VM_MERGEABLE    0x80000000UL
#define VM_PKEY_SHIFT   32
#define VM_PKEY_MASK    (0xfUL << VM_PKEY_SHIFT)
#define VM_DROPPABLE    (1UL << 40)
#define VM_SEALED       (1UL << 42)

#define VM_ACCESS_FLAGS (VM_READ | VM_WRITE | VM_EXEC)
#define VM_LOCKED_MASK  (VM_LOCKED | VM_LOCKONFAULT)
/* Never merged with a neighbour. */
#define VM_SPECIAL      (VM_IO | VM_DONTEXPAND | VM_PFNMAP | VM_MIXEDMAP)

/* What older C libraries do not name. */
#ifndef MAP_ABOVE4G
#define MAP_ABOVE4G 0x80
#endif
#ifndef MAP_DROPPABLE
#define MAP_DROPPABLE 0x08
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#define MADV_GUARD_REMOVE  103
#endif

/* Properties of a mapped file. */
#define MM_FILE_READ        0x01U   /* open for reading */
#define MM_FILE_WRITE       0x02U   /* open for writing */
#define MM_FILE_NOEXEC      0x04U   /* on a file system mounted noexec */
#define MM_FILE_HUGETLB     0x08U   /* pages of 2 MiB */
#define MM_FILE_THP_ALIGN   0x10U   /* on ext4, xfs, btrfs: big mappings are aligned to MM_PMD_SIZE */
#define MM_FILE_SHMEM       0x20U   /* memory with a name: tmpfs, memfd */
#define MM_FILE_DEVICE      0x40U   /* device memory: VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP */

/*
 * One open file, or a name of a mapping without file. Two mappings are of the same file only if they hold
 * the same struct, as two descriptions of one inode do not merge in the kernel.
 */
struct mm_file {
    unsigned long refs;
    unsigned int flags; /* MM_FILE_* */
    char name[];
};

/*
 * mm_file_open() - a file by its name, with one reference. NULL: no memory.
 * mm_file_get(), mm_file_put() - one reference more (returns @file), one less; NULL is ignored. Context:
 * any thread.
 */
struct mm_file *mm_file_open(const char *name, unsigned int flags);
struct mm_file *mm_file_get(struct mm_file *file);
void mm_file_put(struct mm_file *file);

struct mm_struct;

/* One mapping. vm_start and vm_end (exclusive) are page-aligned. */
struct vm_area_struct {
    union {
        struct {
            unsigned long vm_start;
            unsigned long vm_end;
        };
        void *vm_freeptr;       /* while free, with SLAB_TYPESAFE_BY_RCU */
    };
    struct mm_struct *vm_mm;
    unsigned long vm_flags;
    unsigned long vm_pgoff;         /* pages: into the file, or of the address when first mapped */
    unsigned long vm_anon_pgoff;    /* pages: where the private pages of a file mapping count from */
    struct mm_file *vm_file;        /* NULL: private anonymous memory */
    struct mm_file *anon_name;      /* shown in maps if there is no file */
    unsigned long anon_vma;         /* 0: not yet faulted */
    unsigned int policy;            /* 0: the task's */
    bool anon_forked;               /* anon_vma's chain has more than one link */
    bool attached;                  /* in its mm's tree */
};

/* Called for each write to a tree while it happens, under mmap_lock; @vma is NULL where a range is erased. */
typedef void (*mm_store_hook)(void *arg, unsigned long first, unsigned long last,
                              const struct vm_area_struct *vma);

/* Limits of one address space, as set by setrlimit(2); bytes. */
struct mm_limits {
    unsigned long as;
    unsigned long data;
    unsigned long stack;
};

struct mm_struct {
    struct maple_tree mm_mt;        /* [vm_start, vm_end - 1] -> vm_area_struct; under mmap_lock */
    struct rw_semaphore mmap_lock;
    unsigned long mm_users;         /* threads and vfork children; atomic */
    unsigned long mmap_base;        /* top of the search for a place; the search goes down from it */
    unsigned long mmap_legacy_base; /* where the search upwards begins if there is no place below */
    bool topdown;
    bool vsyscall;                  /* the maps end with [vsyscall] */
    int map_count;
    unsigned long total_vm;         /* pages */
    unsigned long data_vm;          /* pages, private, writable, no stack */
    unsigned long exec_vm;
    unsigned long stack_vm;
    unsigned long locked_vm;
    unsigned long def_flags;        /* of new mappings: VM_LOCKED after mlockall(MCL_FUTURE) */
    unsigned long start_brk, brk;   /* bytes; the heap */
    unsigned long end_data, start_data;
    unsigned long start_stack;      /* an address inside [stack]; 0: none */
    struct mm_limits limits;
    mm_store_hook store_hook;       /* NULL: none */
    void *store_arg;
};

/* Settings of the machine; to be changed only while nobody uses an mm. */
struct mm_sysctl {
    int max_map_count;              /* 65530 */
    int overcommit_memory;          /* 0: refuse what exceeds total_pages, 1: nothing, 2: commit_limit */
    unsigned long commit_limit;     /* pages */
    unsigned long total_pages;      /* for overcommit_memory 0 */
    unsigned long stack_guard_gap;  /* bytes, 1 MiB */
    unsigned long mmap_min_addr;    /* bytes, 64 KiB */
    bool thp;                       /* transparent huge pages are configured */
    bool ksm;                       /* madvise MERGEABLE is configured */
    bool anon_name;                 /* prctl PR_SET_VMA_ANON_NAME is configured */
};
extern struct mm_sysctl mm_sysctl;

/* Pages that all address spaces together may write to and that no file backs. */
unsigned long mm_committed(void);

/*
 * mm_alloc() - An empty address space with one user: no limits, mmap_base 128 MiB below TASK_SIZE_MM.
 * NULL: no memory.
 * mmget() - One user more, as clone(CLONE_VM) makes.
 * mmput() - One user less; the last one unmaps everything and frees it (exit_mmap). May sleep.
 */
struct mm_struct *mm_alloc(void);
void mmget(struct mm_struct *mm);
void mmput(struct mm_struct *mm);

/*
 * dup_mm() - What fork does: duplicates the tree, then gives the copy mappings of its own. Leaves out
 * VM_DONTCOPY, forgets locks, the store hook and the anon_vma of VM_WIPEONFORK mappings. Takes both mmap_locks.
 * Return: the copy with one user; NULL: no memory or over the commit limit.
 */
struct mm_struct *dup_mm(struct mm_struct *oldmm);

/*
 * mm_install() - Puts a mapping where exec wants it, without merging: a segment, a stack, the vdso.
 * @name: shown as it is when there is no @file; NULL: none. Both may be put afterwards.
 * Return: 0; -EINVAL: empty or not aligned; -EEXIST: something is there; -ENOMEM.
 */
int mm_install(struct mm_struct *mm, unsigned long start, unsigned long end, unsigned long vm_flags,
               unsigned long pgoff, struct mm_file *file, struct mm_file *name);

/*
 * vm_mmap() - mmap(2). @offset in bytes. @file is referenced; NULL with MAP_ANONYMOUS.
 * Return: the address; or -EINVAL, -ENOMEM, -EEXIST (MAP_FIXED_NOREPLACE), -EACCES, -EPERM, -EOVERFLOW,
 * -EOPNOTSUPP.
 */
unsigned long vm_mmap(struct mm_struct *mm, struct mm_file *file, unsigned long addr, unsigned long len,
                      unsigned long prot, unsigned long flags, unsigned long offset);

/*
 * vm_predict() - Where vm_mmap() with these arguments would put the mapping, or its error; nothing changes.
 */
unsigned long vm_predict(struct mm_struct *mm, struct mm_file *file, unsigned long addr, unsigned long len,
                         unsigned long prot, unsigned long flags, unsigned long offset);

/* vm_munmap() - munmap(2). Return: 0, -EINVAL, -ENOMEM (map count, memory), -EPERM (sealed). */
int vm_munmap(struct mm_struct *mm, unsigned long start, unsigned long len);

/* vm_brk() - brk(2). Return: the new end of the heap; the old one if it cannot be @brk. */
unsigned long vm_brk(struct mm_struct *mm, unsigned long brk);

/*
 * vm_mprotect() - mprotect(2), pkey_mprotect(2) with @pkey >= 0.
 * Return: 0, -EINVAL, -ENOMEM, -EACCES, -EPERM.
 */
int vm_mprotect(struct mm_struct *mm, unsigned long start, unsigned long len, unsigned long prot, int pkey);

/*
 * vm_mremap() - mremap(2): MREMAP_MAYMOVE, _FIXED, _DONTUNMAP.
 * Return: the address; or -EINVAL, -EFAULT, -ENOMEM, -EPERM.
 */
unsigned long vm_mremap(struct mm_struct *mm, unsigned long addr, unsigned long old_len,
                        unsigned long new_len, unsigned long flags, unsigned long new_addr);

/*
 * vm_madvise() - madvise(2) as far as mappings change.
 * Return: 0, -EINVAL, -ENOMEM (a hole), -EAGAIN (no memory), -EPERM.
 */
int vm_madvise(struct mm_struct *mm, unsigned long start, unsigned long len, int behavior);

/*
 * vm_mlock() - mlock2(2); @vm_flags: VM_LOCKED, perhaps with VM_LOCKONFAULT; 0: munlock. Return: 0 or
 * -ENOMEM.
 * vm_mlockall() - mlockall(2) with MCL_*; 0: munlockall. Return: 0 or -EINVAL.
 */
int vm_mlock(struct mm_struct *mm, unsigned long start, unsigned long len, unsigned long vm_flags);
int vm_mlockall(struct mm_struct *mm, unsigned int flags);

/*
 * vm_mbind() - Gives a range a policy, 0 for the task's. vm_set_name() - a name, NULL for none (anonymous
 * memory only).
 * vm_mseal() - mseal(2). Return: 0, -EINVAL, -EFAULT or -ENOMEM (a hole), -EBADF (a file), -EPERM.
 */
int vm_mbind(struct mm_struct *mm, unsigned long start, unsigned long len, unsigned int policy);
int vm_set_name(struct mm_struct *mm, unsigned long start, unsigned long len, struct mm_file *name);
int vm_mseal(struct mm_struct *mm, unsigned long start, unsigned long len);

/*
 * vm_fault() - A write to @addr: gives a private mapping its anon_vma (a compatible neighbour's if there
 * is one) and grows a VM_GROWSDOWN mapping that begins above @addr. Return: 0; -EFAULT: nothing there;
 * -ENOMEM: may not grow.
 */
int vm_fault(struct mm_struct *mm, unsigned long addr);

/* vm_fault_all() - vm_fault() of every private writable mapping that overlaps [@start, @end). */
void vm_fault_all(struct mm_struct *mm, unsigned long start, unsigned long end);

/* find_vma() - The first mapping that ends above @addr, NULL if none. Context: mmap_lock. */
struct vm_area_struct *find_vma(struct mm_struct *mm, unsigned long addr);

/* mmap_read_lock() and so on: for find_vma() and mm_for_each(). */
static inline void mmap_read_lock(struct mm_struct *mm) { down_read(&mm->mmap_lock); }
static inline void mmap_read_unlock(struct mm_struct *mm) { up_read(&mm->mmap_lock); }
static inline void mmap_write_lock(struct mm_struct *mm) { down_write(&mm->mmap_lock); }
static inline void mmap_write_unlock(struct mm_struct *mm) { up_write(&mm->mmap_lock); }

/* mm_for_each() - @visit each mapping, lowest first, until it returns non-zero; return it. Takes mmap_lock. */
int mm_for_each(struct mm_struct *mm, int (*visit)(const struct vm_area_struct *vma, void *arg), void *arg);

/* mm_vma_name() - The name that /proc/PID/maps shows, "" for none; @room bytes at @text. Under mmap_lock. */
const char *mm_vma_name(const struct vm_area_struct *vma, char *text, size_t room);

/*
 * mm_maps() - The text of /proc/PID/maps with device and inode 00:00 0, into @text.
 * Return: bytes of the whole text without its final 0, of which at most @room - 1 are there. Takes mmap_lock.
 */
size_t mm_maps(struct mm_struct *mm, char *text, size_t room);

/*
 * mm_validate() - Checks the tree and the numbered rules of lib/mm/validate.cpp. Takes mmap_lock.
 * Return: violations; the first one is said in the log.
 */
unsigned int mm_validate(struct mm_struct *mm);

/* mm_vma_cache() - The cache of vm_area_structs, for statistics. */
struct kmem_cache *mm_vma_cache(void);

/*
 * mm_vma_cache_renew() - Ends that cache; the next use makes it anew, by the allocator's settings of then.
 * Nobody may use any mm meanwhile. May sleep. Return: 0; -EBUSY: mappings are in use.
 */
int mm_vma_cache_renew(void);

#ifdef __cplusplus
}
#endif

#endif /* KMIRROR_MM_H */
