// SPDX-License-Identifier: GPL-2.0-only
//
// Inputs in files; see files.h.
#include "fuzz/files.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

namespace kmirror::fuzz {
namespace {

std::string because(const std::string &path) { return path + ": " + std::strerror(errno); }

} // namespace

std::string list_files(const std::string &path, std::vector<std::string> &files)
{
    namespace fs = std::filesystem;
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        if (!fs::exists(path, error))
            return path + ": No such file or folder";
        files.push_back(path);
        return {};
    }
    const std::size_t from = files.size();
    for (const fs::directory_entry &entry : fs::directory_iterator(path, error))
        if (entry.is_regular_file(error))
            files.push_back(entry.path().string());
    std::sort(files.begin() + std::ptrdiff_t(from), files.end());
    return error ? path + ": " + error.message() : std::string{};
}

std::string read_file(const std::string &path, std::vector<std::uint8_t> &bytes)
{
    std::FILE *file = std::fopen(path.c_str(), "rb");
    if (!file)
        return because(path);
    bytes.clear();
    std::uint8_t block[4096];
    while (const std::size_t got = std::fread(block, 1, sizeof(block), file))
        bytes.insert(bytes.end(), block, block + got);
    const bool bad = std::ferror(file);
    const std::string wrong = bad ? because(path) : std::string{};
    std::fclose(file);
    return wrong;
}

std::string write_file(const std::string &path, std::span<const std::uint8_t> bytes)
{
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (!file)
        return because(path);
    const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
    const std::string wrong = written ? std::string{} : because(path);
    return std::fclose(file) == 0 || !wrong.empty() ? wrong : because(path);
}

std::string read_input(const Target &target, const std::string &path, std::vector<std::uint8_t> &bytes)
{
    if (const std::string wrong = read_file(path, bytes); !wrong.empty() || !target.grammar)
        return wrong;
    std::string_view text(reinterpret_cast<const char *>(bytes.data()), bytes.size());
    unsigned line = 0;
    const std::string_view name = target_of(text, line);
    if (name.empty())
        return {};
    Sequence sequence;
    if (const std::string wrong = from_text(*target.grammar, text, line, sequence); !wrong.empty())
        return path + ":" + wrong;
    bytes = encode(sequence);
    return {};
}

} // namespace kmirror::fuzz
