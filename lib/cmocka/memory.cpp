// SPDX-License-Identifier: GPL-2.0-only
//
// test_malloc, test_calloc, test_realloc, test_free: a guard of 16 bytes on each side (so blocks are aligned
// to 16), known contents, and a list of what is allocated.
//
// Locking  one mutex over the list. Contents belong to the caller.
// Fails    out of memory and a number of elements that overflows give NULL; a block that was overrun, or a
//          pointer that is not in the list, fails the test.

#include "lib/cmocka/memory.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "include/cmocka.h"
#include "lib/cmocka/run.h"

#undef malloc
#undef free

namespace kmirror::cmocka {
namespace {

constexpr size_t kGuard = 16;
constexpr unsigned char kGuardByte = 0xEF;
constexpr unsigned char kNewByte = 0xBA;
constexpr unsigned char kFreedByte = 0xCD;

struct Block {
    size_t size;
    const char* file;
    int line;
    unsigned long number;
};

std::mutex lock;
unsigned long last_number;

std::map<char*, Block>& blocks() {
    static std::map<char*, Block> all;
    return all;
}

void* allocate(size_t size, const char* file, int line) {
    if (size > SIZE_MAX - 2 * kGuard) return nullptr;
    auto* const raw = static_cast<char*>(std::malloc(size + 2 * kGuard));
    if (raw == nullptr) return nullptr;
    std::memset(raw, kGuardByte, size + 2 * kGuard);
    std::memset(raw + kGuard, kNewByte, size);
    const std::lock_guard guard(lock);
    blocks()[raw + kGuard] = {size, file, line, ++last_number};
    return raw + kGuard;
}

bool intact(const char* guard) {
    for (size_t i = 0; i < kGuard; ++i) {
        if (static_cast<unsigned char>(guard[i]) != kGuardByte) return false;
    }
    return true;
}

void give_back(char* data, size_t size) {
    std::memset(data - kGuard, kFreedByte, size + 2 * kGuard);
    std::free(data - kGuard);
}

// What is wrong with freeing data here; empty: nothing, and the block is gone. A damaged block stays.
std::string release(char* data) {
    const std::lock_guard guard(lock);
    const auto it = blocks().find(data);
    if (it == blocks().end()) return text_of("%p was not allocated by test_malloc, or is free already", data);
    const Block block = it->second;
    const bool before = intact(data - kGuard);
    const bool behind = intact(data + block.size);
    if (before && behind) {
        blocks().erase(it);
        give_back(data, block.size);
        return {};
    }
    return text_of("Guard block %s %p of %zu bytes was overwritten\n%s:%d: note: block allocated here",
                   before ? "behind" : "before", data, block.size, block.file, block.line);
}

// Frees data; false when the test has failed and is to be left.
bool freed(void* data, const char* file, int line) {
    if (data == nullptr) return true;
    const std::string wrong = release(static_cast<char*>(data));
    if (!wrong.empty()) record_failure(file, line, wrong);
    return wrong.empty();
}

size_t size_of(void* data) {
    const std::lock_guard guard(lock);
    const auto it = blocks().find(static_cast<char*>(data));
    return it == blocks().end() ? 0 : it->second.size;
}

}  // namespace

unsigned long block_checkpoint() {
    const std::lock_guard guard(lock);
    return last_number;
}

bool report_blocks_since(unsigned long checkpoint, const char* name) {
    std::string list;
    size_t number = 0;
    {
        const std::lock_guard guard(lock);
        for (auto it = blocks().begin(); it != blocks().end();) {
            const Block& block = it->second;
            if (block.number <= checkpoint) {
                ++it;
                continue;
            }
            ++number;
            list += text_of("%s:%d: note: block %p of %zu bytes allocated here\n", block.file, block.line,
                            it->first, block.size);
            give_back(it->first, block.size);
            it = blocks().erase(it);
        }
    }
    if (number == 0) return false;
    record_failure(name, 0, list + text_of("%s leaked %zu block(s)", name, number));
    return true;
}

}  // namespace kmirror::cmocka

using namespace kmirror::cmocka;

extern "C" {

void* _test_malloc(const size_t size, const char* file, const int line) { return allocate(size, file, line); }

void* _test_calloc(const size_t number, const size_t size, const char* file, const int line) {
    size_t bytes;
    if (__builtin_mul_overflow(number, size, &bytes)) return nullptr;
    void* const data = allocate(bytes, file, line);
    if (data != nullptr) std::memset(data, 0, bytes);
    return data;
}

void* _test_realloc(void* ptr, const size_t size, const char* file, const int line) {
    if (ptr == nullptr) return allocate(size, file, line);
    if (size == 0) {
        _test_free(ptr, file, line);
        return nullptr;
    }
    void* const data = allocate(size, file, line);
    if (data == nullptr) return nullptr;
    const size_t old = size_of(ptr);
    std::memcpy(data, ptr, old < size ? old : size);
    _test_free(ptr, file, line);
    return data;
}

void _test_free(void* const ptr, const char* file, const int line) {
    if (!freed(ptr, file, line)) leave(End::Failed);
}

}  // extern "C"
