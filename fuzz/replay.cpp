// SPDX-License-Identifier: GPL-2.0-only
//
// main of a target where no fuzzing engine is: runs files and folders, text or bytes.
//
//   maple_store_fuzz FILE|FOLDER...            runs each input once
//   maple_store_fuzz --random N [--seed S]     N drawn inputs of 64 operations, and how long they took
//
// Fails    a finding ends the process as the target says; bad input: one line, exit status 2.
#include "fuzz/files.h"
#include "fuzz/mutate.h"
#include "fuzz/target.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace kmirror::fuzz;

namespace {

const Target &target = KMIRROR_TARGET;

int bad(const std::string &what)
{
    std::fprintf(stderr, "%s: %s\n", target.name, what.c_str());
    return 2;
}

bool number(const char *text, std::uint64_t &value)
{
    char *end = nullptr;
    value = std::strtoull(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == '\0';
}

constexpr std::size_t kDrawnOperations = 64;

int run_drawn(std::uint64_t count, std::uint64_t seed)
{
    if (!target.grammar)
        return bad("--random is for targets with operations");
    using Clock = std::chrono::steady_clock;
    std::vector<std::vector<std::uint8_t>> inputs;
    for (std::uint64_t i = 0; i < std::min<std::uint64_t>(count, 4096); i++)
        inputs.push_back(encode(draw(*target.grammar, kDrawnOperations, seed + i)));
    const auto begin = Clock::now();
    for (std::uint64_t i = 0; i < count; i++)
        target.run(inputs[i % inputs.size()]);
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    std::printf("%s: %llu inputs of %zu operations in %.2f s, %.0f a second\n", target.name,
                static_cast<unsigned long long>(count), kDrawnOperations, seconds, double(count) / seconds);
    return 0;
}

int run_files(int count, char **names)
{
    std::vector<std::string> files;
    for (int i = 0; i < count; i++)
        if (const std::string wrong = list_files(names[i], files); !wrong.empty())
            return bad(wrong);
    for (const std::string &file : files) {
        std::vector<std::uint8_t> bytes;
        if (const std::string wrong = read_input(target, file, bytes); !wrong.empty())
            return bad(wrong);
        std::fprintf(stderr, "%s: running %s\n", target.name, file.c_str());
        target.run(bytes);
    }
    std::printf("%s: %zu files, nothing found\n", target.name, files.size());
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    std::uint64_t count = 0, seed = 1;
    if (argc >= 3 && std::strcmp(argv[1], "--random") == 0) {
        const bool seeded = argc == 5 && std::strcmp(argv[3], "--seed") == 0 && number(argv[4], seed);
        if (!number(argv[2], count) || count == 0 || (argc != 3 && !seeded))
            return bad("--random takes a whole number from 1, and perhaps --seed N");
        return run_drawn(count, seed);
    }
    if (argc < 2 || argv[1][0] == '-')
        return bad("takes files and folders with inputs, or --random N [--seed S]");
    return run_files(argc - 1, argv + 1);
}
