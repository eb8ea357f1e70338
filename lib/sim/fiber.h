// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/fiber.h: a stack of its own and a place to go on, on Boost's context switch.
//
// All fibers of a simulation run on one host thread; each switch is announced to the address sanitizer.
#pragma once

#include <boost/context/detail/fcontext.hpp>

#include <cstddef>

namespace kmirror::sim {

class Fiber {
public:
    using Body = void (*)(void *argument);

    // The calling thread's own stack: where the others return to.
    Fiber() = default;
    // A fiber that will run body(argument), which never returns. Ends the process when there is no memory.
    Fiber(Body body, void *argument, std::size_t stack_bytes);
    ~Fiber();
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;

    // Leaves `from`, which is running, for `to`; returns when somebody switches back.
    static void switch_to(Fiber &from, Fiber &to);

    // Does the address lie on this fiber's stack?
    bool holds(const void *address) const
    {
        return stack_ && address >= stack_ && address < static_cast<const char *>(stack_) + bytes_;
    }

private:
    static void entry(boost::context::detail::transfer_t transfer);
    static void arrived(Fiber &self, boost::context::detail::transfer_t transfer);

    boost::context::detail::fcontext_t context_ = nullptr;
    void *stack_ = nullptr;       // lowest byte; null for the thread's own
    std::size_t bytes_ = 0;
    Body body_ = nullptr;
    void *argument_ = nullptr;
    [[maybe_unused]] void *fake_stack_ = nullptr;  // the address sanitizer's
    const void *bottom_ = nullptr;
    std::size_t size_ = 0;
};

} // namespace kmirror::sim
