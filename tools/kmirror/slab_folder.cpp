// SPDX-License-Identifier: GPL-2.0-only
//
// Reading a folder as /sys/kernel/slab.
//
// Owns     nothing.
// Bounds   a file is read to 64 KiB; what is no number there (ctor, validate) is kept as no figure.
// Fails    with an error when the folder is none or holds no cache. A file that goes meanwhile counts as
//          absent: caches come and go in a running system.

#include "tools/kmirror/slab_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace kmirror::command {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileBytes = 64 << 10;

std::string contents(const fs::path &file)
{
    std::ifstream in(file, std::ios::binary);
    std::string text(kFileBytes, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

bool parse_number(std::string_view text, std::uint64_t &value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size();
}

// False: the text is no figure.
bool parse_figure(const std::string &text, Figure &figure)
{
    std::istringstream words(text);
    std::string word;
    if (!(words >> word) || !parse_number(word, figure.total))
        return false;
    while (words >> word) {
        const std::size_t equals = word.find('=');
        std::uint64_t share = 0;
        if (equals != std::string::npos && parse_number(std::string_view(word).substr(equals + 1), share))
            figure.shares[word.substr(0, equals)] = share;
    }
    return true;
}

SlabFigures read_cache(const fs::path &folder)
{
    SlabFigures cache;
    std::error_code ignored;
    cache.name = cache.folder = folder.filename();
    for (const fs::directory_entry &file : fs::directory_iterator(folder, ignored)) {
        Figure figure;
        const std::string text = contents(file.path());
        if (file.path().filename().string().ends_with("_traces"))
            cache.traces[file.path().filename()] = text;
        else if (parse_figure(text, figure))
            cache.figures[file.path().filename()] = std::move(figure);
        else if (file.path().filename() == "ctor")
            cache.ctor = text.substr(0, text.find('\n'));
    }
    return cache;
}

// The links of a folder by what they lead to.
using Links = std::multimap<std::string, std::string>;

void name_by_links(SlabFigures &cache, const Links &links)
{
    const auto [first, last] = links.equal_range(cache.folder);
    for (auto link = first; link != last; ++link)
        cache.aliases.push_back(link->second);
    std::sort(cache.aliases.begin(), cache.aliases.end());
    if (cache.aliases.empty() || cache.folder[0] != ':')
        return;
    cache.name = cache.aliases.front();
    cache.aliases.erase(cache.aliases.begin());
}

} // namespace

const Figure *SlabFigures::figure(const std::string &file) const
{
    const auto found = figures.find(file);
    return found == figures.end() ? nullptr : &found->second;
}

std::uint64_t SlabFigures::operator[](const std::string &file) const
{
    const Figure *found = figure(file);
    return found ? found->total : 0;
}

std::uint64_t SlabFigures::slab_bytes() const
{
    const SlabFigures &cache = *this;
    // The order is one of 4 KiB pages unless the objects do not fit it.
    std::uint64_t page = 4096;
    while (cache["objs_per_slab"] * cache["slab_size"] > page << cache["order"])
        page <<= 1;
    return page << cache["order"];
}

std::uint64_t SlabFigures::bytes() const { return (*this)["slabs"] * slab_bytes(); }

std::uint64_t SlabFigures::used_bytes() const { return (*this)["objects"] * (*this)["object_size"]; }

std::uint64_t SlabFigures::allocations() const
{
    return (*this)["alloc_fastpath"] + (*this)["alloc_slowpath"];
}

std::uint64_t SlabFigures::frees() const { return (*this)["free_fastpath"] + (*this)["free_slowpath"]; }

bool read_slab_folder(const std::string &path, std::vector<SlabFigures> &caches, std::string &error)
{
    Links links;
    std::error_code wrong;
    for (fs::directory_iterator entry(path, wrong), end; !wrong && entry != end; entry.increment(wrong)) {
        const std::string name = entry->path().filename();
        if (entry->is_symlink())
            links.emplace(fs::read_symlink(entry->path(), wrong).filename(), name);
        else if (entry->is_directory() && fs::exists(entry->path() / "object_size"))
            caches.push_back(read_cache(entry->path()));
    }
    if (!wrong && caches.empty())
        error = "there is no cache in it";
    else if (wrong)
        error = wrong.message();
    if (!error.empty())
        return false;
    for (SlabFigures &cache : caches)
        name_by_links(cache, links);
    std::sort(caches.begin(), caches.end(),
              [](const SlabFigures &a, const SlabFigures &b) { return a.name < b.name; });
    return true;
}

} // namespace kmirror::command
