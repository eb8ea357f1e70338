// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/memory_hotplug.cpp: taking a node's memory out of use and back.
//
// The node leaves the fallback lists, so that no request reaches its zone; the zone itself stays as it is,
// for what is still in use. Whether a node has memory is then what kmirror_node_set_memory() was told.
//
// Owns     the list of callbacks.
// Locking  `changing` over each change and registration, then the CPU set for the callbacks.
// Fails    with a callback's error, and then everything is as it was.

#include <linux/cpu.h>
#include <linux/errno.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/topology.h>

#include <kmirror/pages.h>
#include <kmirror/topology.h>

namespace kmirror::kernel {
namespace {

constexpr int kRoom = 4;

DEFINE_MUTEX(changing);
node_memory_callback_t callbacks[kRoom];
nodemask_t offline;

// The first error, if there is one.
int tell(unsigned long action, int nid)
{
    cpus_read_lock();
    int error = 0;
    for (node_memory_callback_t callback : callbacks)
        if (callback && error == 0)
            error = callback(action, nid);
    cpus_read_unlock();
    return error;
}

bool has_memory(int nid)
{
    return nid >= 0 && nid < static_cast<int>(nr_node_ids) && node_state(nid, N_MEMORY);
}

long pages_in_use(int nid)
{
    struct kmirror_page_counts counts;
    kmirror_drain_pages();
    return kmirror_node_pages(nid, &counts) ? 0 : static_cast<long>(counts.managed - counts.free);
}

long take_offline(int nid)
{
    kmirror_node_set_memory(nid, false);
    if (const int error = tell(NODE_REMOVING_LAST_MEMORY, nid)) {
        kmirror_node_set_memory(nid, true);
        tell(NODE_CANCEL_REMOVING_LAST_MEMORY, nid);
        return error;
    }
    node_set(nid, offline);
    tell(NODE_REMOVED_LAST_MEMORY, nid);
    return pages_in_use(nid);
}

int take_online(int nid)
{
    if (const int error = tell(NODE_ADDING_FIRST_MEMORY, nid)) {
        tell(NODE_CANCEL_ADDING_FIRST_MEMORY, nid);
        return error;
    }
    node_clear(nid, offline);
    kmirror_node_set_memory(nid, true);
    return tell(NODE_ADDED_FIRST_MEMORY, nid);
}

}  // namespace
}  // namespace kmirror::kernel

using namespace kmirror::kernel;

extern "C" {

int hotplug_node_callback(node_memory_callback_t callback)
{
    int result = -ENOSPC;
    mutex_lock(&changing);
    for (node_memory_callback_t &place : callbacks) {
        if (!place) {
            place = callback;
            result = 0;
            break;
        }
    }
    mutex_unlock(&changing);
    return result;
}

long kmirror_node_offline_memory(int nid)
{
    totalram_pages(); // which nodes have memory is known once the page allocator has started
    mutex_lock(&changing);
    const long result = !has_memory(nid)                 ? -EINVAL
                        : num_node_state(N_MEMORY) == 1 ? -EBUSY
                                                         : take_offline(nid);
    mutex_unlock(&changing);
    return result;
}

int kmirror_node_online_memory(int nid)
{
    mutex_lock(&changing);
    const bool known = nid >= 0 && nid < static_cast<int>(nr_node_ids) && node_isset(nid, offline);
    const int result = known ? take_online(nid) : -EINVAL;
    mutex_unlock(&changing);
    return result;
}

}  // extern "C"
