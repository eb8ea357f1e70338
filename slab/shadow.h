// SPDX-License-Identifier: GPL-2.0-only
//
// A model of the objects that an allocator has handed out: who is live, and what every byte of it must be.
//
// Owns     a map from address to object, nothing of the objects themselves.
// Bounds   objects of up to 2^32 bytes; each is filled once and compared once, so large ones cost time.
// Locking  none: one Shadow per thread, or a lock around it.
// Fails    by its return value: an empty string is "all well", else one sentence on what is wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>

namespace kmirror::slab_test {

class Shadow {
public:
    // Objects of `bytes` bytes, each `step` bytes or more from the next and aligned to `align`.
    Shadow(std::size_t bytes, std::size_t step, std::size_t align) : bytes_(bytes), step_(step), align_(align)
    {
    }

    // Takes a new object into the model and fills it. Wrong: unaligned, live already, or over a live one.
    std::string add(void *object)
    {
        const auto at = reinterpret_cast<std::uintptr_t>(object);
        if (at % align_ != 0)
            return describe(at) + " is not aligned to " + std::to_string(align_);
        const auto above = live_.lower_bound(at);
        if (above != live_.end() && above->first - at < step_)
            return describe(at) + " overlaps the live " + describe(above->first);
        if (above != live_.begin() && at - std::prev(above)->first < step_)
            return describe(at) + " overlaps the live " + describe(std::prev(above)->first);
        const std::uint8_t tag = static_cast<std::uint8_t>(++serial_ * 37 + 11);
        live_.emplace(at, tag);
        fill(static_cast<std::uint8_t *>(object), tag);
        return {};
    }

    // Takes an object out of the model. Wrong: not live, or not what add() wrote.
    std::string remove(void *object)
    {
        const auto at = reinterpret_cast<std::uintptr_t>(object);
        const auto found = live_.find(at);
        if (found == live_.end())
            return describe(at) + " is not live";
        const std::string wrong = compare(static_cast<const std::uint8_t *>(object), found->second);
        live_.erase(found);
        return wrong;
    }

    // Compares every live object.
    std::string check() const
    {
        for (const auto &[at, tag] : live_)
            if (std::string wrong = compare(reinterpret_cast<const std::uint8_t *>(at), tag); !wrong.empty())
                return wrong;
        return {};
    }

    std::size_t size() const { return live_.size(); }

private:
    static std::uint8_t expected(std::uint8_t tag, std::size_t i)
    {
        return static_cast<std::uint8_t>(tag + i * 7);
    }
    static std::string describe(std::uintptr_t at)
    {
        char text[32];
        std::snprintf(text, sizeof text, "object %#zx", std::size_t{at});
        return text;
    }

    void fill(std::uint8_t *object, std::uint8_t tag) const
    {
        for (std::size_t i = 0; i < bytes_; i++)
            object[i] = expected(tag, i);
    }
    std::string compare(const std::uint8_t *object, std::uint8_t tag) const
    {
        for (std::size_t i = 0; i < bytes_; i++)
            if (object[i] != expected(tag, i))
                return describe(reinterpret_cast<std::uintptr_t>(object)) + " changed at byte " +
                       std::to_string(i) + " from " + std::to_string(expected(tag, i)) + " to " +
                       std::to_string(object[i]);
        return {};
    }

    std::size_t bytes_, step_, align_;
    std::uint64_t serial_ = 0;
    std::map<std::uintptr_t, std::uint8_t> live_;
};

} // namespace kmirror::slab_test
