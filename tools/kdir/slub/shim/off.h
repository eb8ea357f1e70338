/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is not there: each a call that does nothing, as in a kernel built without the option.
 */
#ifndef KDIR_SHIM_OFF_H
#define KDIR_SHIM_OFF_H

/* ---- sanitizers of the kernel ------------------------------------------------------------------------------ */

#define kasan_reset_tag(pointer) ((void *)(pointer))
#define kasan_cache_create(...) ((void)0)
#define kasan_poison_slab(slab) ((void)0)
#define kasan_init_slab_obj(cache, object) ((void *)(object))
#define kasan_slab_alloc(cache, object, ...) ((void *)(object))
#define kasan_slab_free(...) false
#define kasan_slab_pre_free(...) false
#define kasan_kmalloc(cache, object, ...) ((void *)(object))
#define kasan_kmalloc_large(object, ...) ((void *)(object))
#define kasan_krealloc(object, ...) ((void *)(object))
#define kasan_kfree_large(...) ((void)0)
#define kasan_unpoison_range(...) ((void)0)
#define kasan_unpoison_new_object(...) ((void)0)
#define kasan_poison_new_object(...) ((void)0)
#define kasan_metadata_size(...) 0
#define kasan_has_integrated_init() false
#define kasan_check_byte(object) true
#define kasan_cache_shrink(cache) ((void)0)
#define kasan_cache_shutdown(cache) ((void)0)
#define kasan_disable_current() ((void)0)
#define kasan_enable_current() ((void)0)
#define kasan_record_aux_stack(...) ((void)0)
#define kasan_enabled() false
#define kmsan_disable_current() ((void)0)
#define kmsan_enable_current() ((void)0)
#define kmsan_slab_alloc(...) ((void)0)
#define kmsan_slab_free(...) ((void)0)
#define kmsan_kmalloc_large(...) ((void)0)
#define kmsan_kfree_large(...) ((void)0)
#define kmsan_unpoison_memory(...) ((void)0)
#define is_kfence_address(pointer) ((void)(pointer), false)
#define kfence_alloc(...) NULL
#define kfence_free(...) false
#define __kfence_free(...) ((void)0)
#define kfence_ksize(...) 0
#define kfence_object_start(object) ((void *)(object))
#define kfence_shutdown_cache(...) ((void)0)
#define __kfence_obj_info(...) false
#define kmemleak_alloc_recursive(...) ((void)0)
#define kmemleak_free_recursive(...) ((void)0)
#define kmemleak_alloc(...) ((void)0)
#define kmemleak_free(...) ((void)0)
#define kmemleak_not_leak(...) ((void)0)
#define kmemleak_ignore(...) ((void)0)
#define debug_check_no_locks_freed(...) ((void)0)
#define debug_check_no_obj_freed(...) ((void)0)
#define __kcsan_check_access(...) ((void)0)
#define KCSAN_ACCESS_WRITE 0
#define KCSAN_ACCESS_ASSERT 0
#define debug_guardpage_minorder() 0
#define hash_pointers_finalize(...) ((void)0)
#define no_hash_pointers_enable(...) 0
#define debug_pagealloc_enabled_static() false
#define copy_from_kernel_nofault(...) 0

/* ---- failures: a point of this library's, asked by the cache's name ------------------------------------------ */

#define should_failslab(s, gfp) kdir_should_failslab((s)->name, (s)->object_size, (gfp))
int kdir_should_failslab(const char *cache, unsigned int size, gfp_t gfp);

/* ---- groups, profiles, trace points ------------------------------------------------------------------------ */

struct obj_cgroup;
struct mem_cgroup;
struct list_lru;
#define memcg_kmem_online() false
#define mem_cgroup_kmem_disabled() true
#define mem_alloc_profiling_enabled() false
#define mem_alloc_profiling_permanently_disabled() true
#define alloc_hooks(call) (call)
#define trace_kmem_cache_alloc(...) ((void)0)
#define trace_kmem_cache_free(...) ((void)0)
#define trace_kmalloc(...) ((void)0)
#define trace_kfree(...) ((void)0)
#define trace_rcu_invoke_kfree_bulk_callback(...) ((void)0)
#define trace_rcu_invoke_kvfree_callback(...) ((void)0)
#define mod_node_page_state(...) ((void)0)
#define mod_lruvec_page_state(...) ((void)0)
#define lruvec_stat_mod_folio(...) ((void)0)
#define mm_account_reclaimed_pages(pages) ((void)(pages))
#define page_pgdat(page) NULL
#define folio_pgdat(folio) NULL
#define NODE_DATA(node) NULL
#define NR_SLAB_RECLAIMABLE_B 0
#define NR_SLAB_UNRECLAIMABLE_B 1
enum node_stat_item { KDIR_NO_STATISTICS };
#define EXPORT_TRACEPOINT_SYMBOL(name) _Static_assert(1, "")

/* ---- stacks: a track keeps the caller's address alone -------------------------------------------------------- */

typedef u32 depot_stack_handle_t;
#define stack_trace_save(...) 0
#define stack_depot_save(...) 0
#define stack_depot_fetch(...) 0
#define stack_depot_print(...) ((void)0)
#define stack_depot_init() 0
#define stack_depot_request_early_init() ((void)0)

/* ---- the rest of a kernel ---------------------------------------------------------------------------------- */

#define late_initcall(function) int kdir_late_init(void) { return (function)(); }
#ifndef KDIR_USER /* whose module_init() is a test's */
#undef module_init
#define module_init(function) static inline int kdir_initcall_##function(void) { return (function)(); }
#endif
#define add_taint(...) ((void)0)
#define TAINT_BAD_PAGE 0
#define LOCKDEP_NOW_UNRELIABLE 0
#define is_swiotlb_allocated() false
#define num_present_cpus() num_possible_cpus()
#define dma_get_cache_alignment() 1
#define prefetchw(address) __builtin_prefetch((address), 1)
#define prefetch(address) __builtin_prefetch(address)

#endif /* KDIR_SHIM_OFF_H */
