// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/fiber.cpp: see fiber.h.
//
// Owns     the stacks; the lowest page of each is not accessible, so an overflow is a fault.
// Locking  none: one thread. Fails by ending the process when the host has no memory.
#include "lib/sim/fiber.h"

#include <kmirror/config.h>

#include <cstdio>
#include <cstdlib>

#include <sys/mman.h>

#if KMIRROR_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

// Where the program leads mmap() to the simulated memory, this is the host's own.
extern "C" void *kmirror_sim_host_mmap(size_t bytes);

namespace kmirror::sim {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

namespace {
constexpr std::size_t kGuard = 4096;
}

Fiber::Fiber(Body body, void *argument, std::size_t stack_bytes)
    : bytes_((stack_bytes + kGuard - 1) / kGuard * kGuard + kGuard), body_(body), argument_(argument)
{
    stack_ = kmirror_sim_host_mmap(bytes_);
    if (!stack_ || mprotect(stack_, kGuard, PROT_NONE) != 0) {
        std::perror("kmirror: no memory for a simulated task's stack");
        std::exit(2);
    }
    bottom_ = static_cast<char *>(stack_) + kGuard;
    size_ = bytes_ - kGuard;
    context_ = make_fcontext(static_cast<char *>(stack_) + bytes_, size_, entry);
}

Fiber::~Fiber()
{
    if (stack_)
        munmap(stack_, bytes_);
}

// Runs in the fiber that was switched to: the one that was left can be gone on with from here.
void Fiber::arrived([[maybe_unused]] Fiber &self, transfer_t transfer)
{
    Fiber &left = *static_cast<Fiber *>(transfer.data);
    left.context_ = transfer.fctx;
#if KMIRROR_ASAN
    const void *bottom = nullptr;
    std::size_t size = 0;
    __sanitizer_finish_switch_fiber(self.fake_stack_, &bottom, &size);
    left.bottom_ = bottom;
    left.size_ = size;
#endif
}

namespace {
Fiber *entering;
}

void Fiber::entry(transfer_t transfer)
{
    Fiber &self = *entering;
    arrived(self, transfer);
    self.body_(self.argument_);
    std::abort(); // a body never returns
}

void Fiber::switch_to(Fiber &from, Fiber &to)
{
    entering = &to;
#if KMIRROR_ASAN
    __sanitizer_start_switch_fiber(&from.fake_stack_, to.bottom_, to.size_);
#endif
    const transfer_t back = jump_fcontext(to.context_, &from);
    arrived(from, back);
}

} // namespace kmirror::sim
