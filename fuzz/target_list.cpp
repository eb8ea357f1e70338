// SPDX-License-Identifier: GPL-2.0-only
//
// Every target, for programs that hold them all.
#include "fuzz/target.h"

namespace kmirror::fuzz {

std::span<const Target *const> targets()
{
    static const Target *const all[] = {
        &maple_store_fuzz, &maple_fault_fuzz, &mm_fuzz,         &slub_fuzz,  &slub_debug_fuzz,
        &fault_config_fuzz, &replay_log_fuzz, &machine_string_fuzz, &canary_fuzz};
    return all;
}

const Target *find_target(std::string_view name)
{
    for (const Target *target : targets())
        if (name == target->name)
            return target;
    return nullptr;
}

} // namespace kmirror::fuzz
