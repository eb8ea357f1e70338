// SPDX-License-Identifier: GPL-2.0-only
//
// lib/fault/config.cpp: the attributes of a point as a structure, as text and as files in debugfs' shape.
//
// Every way in reads into structures first and puts them in force only when all of it was understood.
//
// Owns     the texts, ranges and lists that points refer to; they stay, since a request may be looking.
// Locking  switch_lock of fault.cpp while attributes change.
// Fails    -EINVAL and a line that names the mistake; KMIRROR_FAULT and KMIRROR_FAULT_DIR end the process
//          with status 2.

#include <kmirror/config.h>

#if KMIRROR_FAULTS

#include "lib/fault/point.h"

#include <kmirror/topology.h>
#include <linux/errno.h>

#include "lib/kernel/stacktrace.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

namespace kmirror::fault {
namespace {

using Attr = struct kmirror_fault_attr;
namespace fs = std::filesystem;

// A mistake, as one line whatever was said.
struct Mistake {
    std::string words;

    explicit Mistake(std::string said) : words(std::move(said))
    {
        std::replace_if(words.begin(), words.end(), [](unsigned char c) { return c < ' '; }, '?');
    }
};

[[noreturn]] void refuse(const std::string &what, const std::string &value, const std::string &allowed)
{
    throw Mistake{what + "=" + value + " is not possible; " + allowed};
}

template <typename Number>
Number number(const std::string &what, const std::string &text, double lowest, double highest)
{
    char *end = nullptr;
    errno = 0;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || errno != 0 || !(value >= lowest && value <= highest) ||
        (!std::is_floating_point_v<Number> && std::trunc(value) != value)) {
        std::ostringstream allowed;
        allowed << "it is a " << (std::is_floating_point_v<Number> ? "" : "whole ") << "number from "
                << lowest << " to " << highest;
        refuse(what, text, allowed.str());
    }
    return static_cast<Number>(value);
}

bool yes_or_no(const std::string &what, const std::string &text)
{
    if (text == "1" || text == "Y" || text == "y")
        return true;
    if (text == "0" || text == "N" || text == "n")
        return false;
    refuse(what, text, "it is Y or N");
}

void copy_text(const std::string &what, const std::string &text, char *out, size_t size)
{
    if (text.size() >= size)
        refuse(what, text, "it is shorter than " + std::to_string(size) + " characters");
    std::memcpy(out, text.c_str(), text.size() + 1);
}

template <typename Number>
std::string text_of(Number value)
{
    std::ostringstream out;
    out << value;
    return out.str();
}

// One attribute: its file, what a point must have for it, how it is read and how it is shown.
struct Field {
    const char *name;
    unsigned int wants;   // of Has
    void (*read)(Attr &, const std::string &what, const std::string &text);
    std::string (*show)(const Attr &);
};

constexpr double kLots = 9e15;   // whole numbers are exact in a double up to here

#define NUMBER_FIELD(file, wants, member, lowest, highest)                                                   \
    {file, wants,                                                                                            \
     [](Attr &a, const std::string &w, const std::string &t) {                                               \
         a.member = number<decltype(a.member)>(w, t, lowest, highest);                                       \
     },                                                                                                      \
     [](const Attr &a) { return text_of(a.member); }}
#define BOOL_FIELD(file, wants, member)                                                                      \
    {file, wants, [](Attr &a, const std::string &w, const std::string &t) { a.member = yes_or_no(w, t); },    \
     [](const Attr &a) { return std::string(a.member ? "Y" : "N"); }}
#define TEXT_FIELD(file, wants, member)                                                                      \
    {file, wants,                                                                                            \
     [](Attr &a, const std::string &w, const std::string &t) {                                               \
         copy_text(w, t, a.member, sizeof(a.member));                                                        \
     },                                                                                                      \
     [](const Attr &a) { return std::string(a.member); }}

const Field fields[] = {
    NUMBER_FIELD("probability", 0, probability, 0, 100),
    NUMBER_FIELD("interval", 0, interval, 1, kLots),
    NUMBER_FIELD("times", 0, times, -1, kLots),
    NUMBER_FIELD("space", 0, space, 0, kLots),
    NUMBER_FIELD("verbose", 0, verbose, 0, 2),
    NUMBER_FIELD("verbose_ratelimit_interval_ms", 0, verbose_ratelimit_interval_ms, 0, 1e9),
    NUMBER_FIELD("verbose_ratelimit_burst", 0, verbose_ratelimit_burst, 0, 1e9),
    BOOL_FIELD("task-filter", 0, task_filter),
    NUMBER_FIELD("stacktrace-depth", 0, stacktrace_depth, 0, kernel::kStackDepth),
    TEXT_FIELD("require-func", 0, require_func),
    TEXT_FIELD("reject-func", 0, reject_func),
    BOOL_FIELD("ignore-gfp-wait", 0, ignore_gfp_wait),
    BOOL_FIELD("ignore-gfp-highmem", kHasOrder, ignore_gfp_highmem),
    NUMBER_FIELD("min-order", kHasOrder, min_order, 0, 10),
    BOOL_FIELD("cache-filter", kHasMark, cache_filter),
    TEXT_FIELD("cache", kHasCache, cache),
};

bool has(const Point &point, const Field &field)
{
    return (point.has & field.wants) == field.wants;
}

const Field &find_field(const Point &point, const std::string &name)
{
    std::string all = "at";
    for (const Field &field : fields) {
        if (!has(point, field))
            continue;
        if (name == field.name)
            return field;
        all += std::string(", ") + field.name;
    }
    throw Mistake{std::string(point.name) + " has no attribute " + name + "; it has: " + all};
}

bool settable(const Point &point)
{
    return !(point.has & kNoAttributes);
}

Point &point_called(const std::string &name)
{
    Point *const found = find_point(name.c_str());
    if (found != nullptr && settable(*found))
        return *found;
    std::string all;
    for (const Point *point : all_points())
        if (settable(*point))
            all += (all.empty() ? "" : ", ") + std::string(point->name);
    throw Mistake{"there is no failure point " + name + "; there are: " + all};
}

// ---- what points refer to: kept for good ------------------------------------------------------------------

// Context: switch_lock held.
const Range *range_of(const char *what, const char *function)
{
    static std::deque<Range> all;
    if (*function == '\0')
        return nullptr;
    Range range = {};
    if (!kernel::symbol_range(function, &range.begin, &range.end))
        refuse(what, function, "it is the name of a function of this program");
    return &all.emplace_back(range);
}

// Context: switch_lock held.
const Places *keep_places(const Places &places)
{
    static std::deque<Places> all;
    return places.empty() ? nullptr : &all.emplace_back(places);
}

// ---- one setting ------------------------------------------------------------------------------------------

struct Setting {
    Point *point;
    Attr attr;
    Places at;
};

Attr defaults()
{
    Attr attr = {};
    attr.interval = 1;
    attr.times = 1;
    attr.verbose = 2;
    attr.stacktrace_depth = kernel::kStackDepth;
    attr.ignore_gfp_wait = true;
    attr.ignore_gfp_highmem = true;
    attr.min_order = 1;
    return attr;
}

Attr attributes_of(const Point &point)
{
    Attr attr = {};
    attr.probability = static_cast<double>(point.threshold.load()) * 100 / 4294967296.0;
    attr.interval = point.interval.load();
    attr.times = point.times.load();
    attr.space = static_cast<unsigned long>(point.space.load());
    attr.verbose = point.verbose.load();
    attr.verbose_ratelimit_interval_ms = point.limit_ms.load();
    attr.verbose_ratelimit_burst = point.limit_burst.load();
    attr.task_filter = point.task_filter.load();
    attr.stacktrace_depth = point.depth.load();
    attr.ignore_gfp_wait = point.ignore_gfp_wait.load();
    attr.ignore_gfp_highmem = point.ignore_gfp_highmem.load();
    attr.min_order = point.min_order.load();
    attr.cache_filter = point.cache_filter.load();
    std::strcpy(attr.require_func, point.require_func.load());
    std::strcpy(attr.reject_func, point.reject_func.load());
    std::strcpy(attr.cache, point.cache.load());
    return attr;
}

void check(const Attr &attr)
{
    Attr scratch;
    for (const Field &field : fields)
        field.read(scratch, field.name, field.show(attr));
}

// Puts all settings in force. Context: switch_lock held; what can be wrong with them has been looked at, but
// for the functions, which are looked up before anything is stored.
void put_in_force(const std::deque<Setting> &settings)
{
    std::deque<std::pair<const Range *, const Range *>> ranges;
    for (const Setting &one : settings)
        ranges.emplace_back(range_of("require-func", one.attr.require_func),
                            range_of("reject-func", one.attr.reject_func));
    for (const Setting &one : settings) {
        Point &point = *one.point;
        point.interval.store(one.attr.interval);
        point.interval_seen.store(0);
        point.times.store(one.attr.times);
        point.space.store(static_cast<long>(one.attr.space));
        point.verbose.store(one.attr.verbose);
        point.limit_ms.store(one.attr.verbose_ratelimit_interval_ms);
        point.limit_burst.store(one.attr.verbose_ratelimit_burst);
        point.limit_began.store(0);
        point.task_filter.store(one.attr.task_filter);
        point.depth.store(one.attr.stacktrace_depth);
        point.ignore_gfp_wait.store(one.attr.ignore_gfp_wait);
        point.ignore_gfp_highmem.store(one.attr.ignore_gfp_highmem);
        point.min_order.store(one.attr.min_order);
        point.cache_filter.store(one.attr.cache_filter);
        point.cache.store(interned(one.attr.cache));
        point.require_func.store(interned(one.attr.require_func));
        point.reject_func.store(interned(one.attr.reject_func));
        point.require.store(ranges.front().first);
        point.reject.store(ranges.front().second);
        ranges.pop_front();
        point.at.store(keep_places(one.at));
        point.threshold.store(static_cast<u64>(one.attr.probability / 100 * 4294967296.0));
        point_changed(point);
    }
}

// ---- text -------------------------------------------------------------------------------------------------

std::deque<std::string> split(const std::string &text, char at)
{
    std::deque<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, at);)
        parts.push_back(part);
    return parts;
}

// THREAD:REQUEST+THREAD:REQUEST
Places read_places(const std::string &text)
{
    Places places;
    for (const std::string &one : split(text, '+')) {
        const size_t colon = one.find(':');
        if (colon == std::string::npos)
            refuse("at", text, "it is a list such as 1:17+1:23, thread and request");
        places.push_back({number<unsigned int>("at", one.substr(0, colon), 1, 1e9),
                          number<unsigned long>("at", one.substr(colon + 1), 1, kLots)});
    }
    return places;
}

// INTERVAL,PROBABILITY,SPACE,TIMES
void read_boot_parameter(Setting &setting, const std::string &text)
{
    const std::deque<std::string> parts = split(text, ',');
    if (parts.size() != 4)
        refuse(setting.point->name, text, "it is INTERVAL,PROBABILITY,SPACE,TIMES");
    const char *const names[] = {"interval", "probability", "space", "times"};
    for (size_t i = 0; i < 4; ++i)
        find_field(*setting.point, names[i]).read(setting.attr, names[i], parts[i]);
}

Setting read_setting(const std::string &text)
{
    const size_t end = text.find_first_of(":=");
    if (end == std::string::npos)
        throw Mistake{"'" + text + "' is no setting; it is POINT:ATTRIBUTE=VALUE,... or POINT=INTERVAL,"
                      "PROBABILITY,SPACE,TIMES"};
    Setting setting = {&point_called(text.substr(0, end)), defaults(), {}};
    const std::string rest = text.substr(end + 1);
    if (text[end] == '=') {
        read_boot_parameter(setting, rest);
        return setting;
    }
    for (const std::string &part : split(rest, ',')) {
        const size_t equals = part.find('=');
        if (equals == std::string::npos)
            throw Mistake{"'" + part + "' is no attribute of " + setting.point->name +
                          "; it is ATTRIBUTE=VALUE"};
        const std::string name = part.substr(0, equals), value = part.substr(equals + 1);
        if (name == "at")
            setting.at = read_places(value);
        else
            find_field(*setting.point, name).read(setting.attr, name, value);
    }
    return setting;
}

int answer(const Mistake &mistake, char *error, size_t size)
{
    if (error != nullptr)
        std::snprintf(error, size, "%s", mistake.words.c_str());
    return -EINVAL;
}

// ---- files ------------------------------------------------------------------------------------------------

std::string first_line(const fs::path &file)
{
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

// A missing file leaves its attribute as it is, a missing folder its point.
std::optional<Setting> read_folder(Point &point, const fs::path &folder)
{
    if (!fs::is_directory(folder))
        return {};
    Setting setting = {&point, attributes_of(point), {}};
    for (const fs::directory_entry &entry : fs::directory_iterator(folder)) {
        const std::string name = entry.path().filename().string();
        find_field(point, name).read(setting.attr, entry.path().string(), first_line(entry.path()));
    }
    return setting;
}

// The environment is read before main, when the settings of a program are.
[[gnu::constructor]] void read_environment()
{
    char error[512];   // it may list all points
    const char *const text = std::getenv("KMIRROR_FAULT");
    if (text != nullptr && *text != '\0') {
        if (kmirror_fault_configure(text, error, sizeof(error)) != 0)
            kmirror_bad_setting("KMIRROR_FAULT", text, error);
        asked_from_outside();
    }
    const char *const dir = std::getenv("KMIRROR_FAULT_DIR");
    if (dir == nullptr || *dir == '\0')
        return;
    asked_from_outside();
    const int status = kmirror_fault_import(dir, error, sizeof(error));
    if (status != 0)
        kmirror_bad_setting("KMIRROR_FAULT_DIR", dir, status == -EINVAL ? error : std::strerror(-status));
}

}  // namespace

const char *interned(const char *text)
{
    static std::mutex lock;
    static std::set<std::string> all;
    const std::lock_guard guard(lock);
    return all.insert(text).first->c_str();
}

}  // namespace kmirror::fault

using namespace kmirror::fault;

extern "C" const char *kmirror_fault_point(unsigned int index)
{
    return index < all_points().size() ? all_points()[index]->name : nullptr;
}

extern "C" const char *kmirror_fault_attribute(unsigned int index)
{
    return index < std::size(fields) ? fields[index].name : nullptr;
}

extern "C" bool kmirror_fault_has(const char *name, const char *attribute)
{
    const Point *const point = find_point(name);
    return point != nullptr && settable(*point) &&
           std::any_of(std::begin(fields), std::end(fields), [&](const Field &field) {
               return std::strcmp(field.name, attribute) == 0 && has(*point, field);
           });
}

extern "C" int kmirror_fault_get(const char *name, struct kmirror_fault_attr *attr)
{
    const Point *const point = find_point(name);
    if (point == nullptr)
        return -EINVAL;
    const std::lock_guard guard(switch_lock());
    *attr = attributes_of(*point);
    return 0;
}

extern "C" int kmirror_fault_set(const char *name, const struct kmirror_fault_attr *attr)
try {
    Point &point = point_called(name);
    check(*attr);
    const std::lock_guard guard(switch_lock());
    put_in_force({{&point, *attr, {}}});
    return 0;
} catch (const Mistake &) {
    return -EINVAL;
}

extern "C" int kmirror_fault_configure(const char *text, char *error, size_t size)
try {
    std::deque<Setting> settings;
    for (const std::string &part : split(text, ';'))
        settings.push_back(read_setting(part));
    const std::lock_guard guard(switch_lock());
    put_in_force(settings);
    return 0;
} catch (const Mistake &mistake) {
    return answer(mistake, error, size);
}

extern "C" int kmirror_fault_export(const char *dir)
try {
    for (const Point *point : all_points()) {
        if (!settable(*point))
            continue;
        const fs::path folder = fs::path(dir) / point->name;
        fs::create_directories(folder);
        struct kmirror_fault_attr attr;
        kmirror_fault_get(point->name, &attr);
        for (const Field &field : fields) {
            if (!has(*point, field))
                continue;
            std::ofstream out(folder / field.name);
            out << field.show(attr) << '\n';
            if (!out.flush())
                return -EIO;
        }
    }
    return 0;
} catch (const fs::filesystem_error &problem) {
    return -problem.code().value();
}

extern "C" int kmirror_fault_import(const char *dir, char *error, size_t size)
try {
    if (!fs::is_directory(dir))
        return -ENOENT;
    std::deque<Setting> settings;
    for (Point *point : all_points())
        if (const auto setting = settable(*point) ? read_folder(*point, fs::path(dir) / point->name)
                                                  : std::nullopt)
            settings.push_back(*setting);
    if (settings.empty())
        throw Mistake{std::string(dir) + " has no folder of a failure point"};
    const std::lock_guard guard(switch_lock());
    put_in_force(settings);
    return 0;
} catch (const Mistake &mistake) {
    return answer(mistake, error, size);
} catch (const fs::filesystem_error &problem) {
    return -problem.code().value();
}

#endif
