// SPDX-License-Identifier: GPL-2.0-only
//
// lib/sim/machine.cpp: from the text of a machine file to a Machine.
//
// Owns     nothing. Locking: none. Fails with one line that says where and why.
#include "lib/sim/machine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <set>
#include <sstream>

namespace kmirror::sim {
namespace {

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(" \t\r");
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

bool is_factor(std::string_view name)
{
    return name == "store_share" || name == "handoff" || name == "smt_slowdown";
}

bool read_number(std::string_view text, double &value)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value) && value >= 0;
}

// "14 ns", "4 ms", "2.5": the unit is part of every time and of no factor.
bool read_cost(std::string_view text, bool factor, Ps &value)
{
    const auto blank = text.find(' ');
    const std::string_view unit = blank == std::string_view::npos ? "" : trimmed(text.substr(blank));
    double number = 0;
    if (!read_number(text.substr(0, blank), number))
        return false;
    const double scale = factor        ? (unit.empty() ? double(kOne) : 0)
                         : unit == "ns" ? double(kNs)
                         : unit == "us" ? double(kUs)
                         : unit == "ms" ? double(kMs)
                                        : 0;
    if (scale == 0 || number * scale > double(kNever))
        return false;
    value = static_cast<Ps>(std::llround(number * scale));
    return true;
}

class Parser {
public:
    Parser(Machine &machine, std::string &error) : machine_(machine), error_(error) {}

    bool line(std::string_view text);
    bool complete();
    unsigned number = 0;

private:
    bool refuse(const std::string &why)
    {
        error_ = "line " + std::to_string(number) + ": " + why;
        return false;
    }
    bool set(std::string_view key, std::string_view value);
    bool set_cost(std::string_view name, std::string_view value);
    bool set_speed(std::string_view range, std::string_view value);

    Machine &machine_;
    std::string &error_;
    std::set<std::string, std::less<>> seen_;
};

bool Parser::line(std::string_view text)
{
    number++;
    text = trimmed(text);
    if (text.empty() || text[0] == '#')
        return true;
    const auto equals = text.find('='), bar = text.find('|');
    if (equals == std::string_view::npos || equals > bar)
        return refuse("a setting is NAME = VALUE | SOURCE");
    const std::string_view key = trimmed(text.substr(0, equals));
    const std::string_view value = trimmed(text.substr(equals + 1, bar - equals - 1));
    const std::string_view source = bar == std::string_view::npos ? "" : trimmed(text.substr(bar + 1));
    if (source.empty() && key != "description")
        return refuse(std::string(key) + " has no source; it stands behind a bar: NAME = VALUE | SOURCE");
    if (!seen_.insert(std::string(key)).second)
        return refuse(std::string(key) + " is set twice");
    if (!source.empty())
        machine_.sources.push_back(std::string(key) + ": " + std::string(source));
    return set(key, value);
}

bool Parser::set(std::string_view key, std::string_view value)
{
    if (value.empty())
        return refuse(std::string(key) + " has no value");
    if (key == "topology")
        machine_.topology = value;
    else if (key == "description")
        machine_.description = value;
    else if (key.substr(0, 5) == "cost.")
        return set_cost(key.substr(5), value);
    else if (key.substr(0, 6) == "speed.")
        return set_speed(key.substr(6), value);
    else
        return refuse(std::string(key) + " is no setting; there are topology, description, cost.NAME and speed.CPUS");
    return true;
}

bool Parser::set_cost(std::string_view name, std::string_view value)
{
    for (const CostName &cost : cost_names()) {
        if (name != cost.name)
            continue;
        if (!read_cost(value, cost.factor, machine_.costs.*cost.member))
            return refuse("cost." + std::string(name) + " = " + std::string(value) + " is no " +
                          (cost.factor ? "factor, such as 0.25" : "time, such as 14 ns"));
        return true;
    }
    return refuse("cost." + std::string(name) + " is no cost");
}

bool Parser::set_speed(std::string_view range, std::string_view value)
{
    const auto dash = range.find('-');
    double first = 0, last = 0, factor = 0;
    const bool fine = read_number(range.substr(0, dash), first) &&
                      read_number(dash == std::string_view::npos ? range : range.substr(dash + 1), last) &&
                      read_number(value, factor) && first <= last && last < 4096 && factor > 0 && factor < 1000;
    if (!fine)
        return refuse("speed." + std::string(range) + " = " + std::string(value) +
                      " is no range of CPUs and a factor, such as speed.0-3 = 2.8");
    machine_.speeds.push_back({static_cast<unsigned>(first), static_cast<unsigned>(last),
                               static_cast<std::int64_t>(std::llround(factor * double(kOne)))});
    return true;
}

bool Parser::complete()
{
    number++;
    if (machine_.topology.empty())
        return refuse("topology is missing");
    for (const CostName &cost : cost_names())
        if (!seen_.count("cost." + std::string(cost.name)))
            return refuse("cost." + std::string(cost.name) + " is missing");
    return true;
}

} // namespace

const std::vector<CostName> &cost_names()
{
    static const std::vector<CostName> names = {
#define KMIRROR_SIM_NAME(name) {#name, &Costs::name, is_factor(#name)},
        KMIRROR_SIM_COSTS(KMIRROR_SIM_NAME)
#undef KMIRROR_SIM_NAME
    };
    return names;
}

std::int64_t Machine::speed_of(unsigned cpu) const
{
    for (const SpeedRange &range : speeds)
        if (cpu >= range.first && cpu <= range.last)
            return range.factor;
    return kOne;
}

bool machine_parse(std::string_view text, Machine &machine, std::string &error)
{
    Parser parser(machine, error);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        if (!parser.line(text.substr(0, end)))
            return false;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return parser.complete();
}

bool machine_load(const std::string &path, Machine &machine, std::string &error)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    if (!file) {
        error = path + " cannot be read";
        return false;
    }
    const auto slash = path.rfind('/');
    machine.name = path.substr(slash == std::string::npos ? 0 : slash + 1);
    machine.name = machine.name.substr(0, machine.name.find('.'));
    if (machine_parse(text.str(), machine, error))
        return true;
    error = path + ": " + error;
    return false;
}

bool machine_change(std::string_view setting, Machine &machine, std::string &error)
{
    const auto equals = setting.find('=');
    const bool times = equals != std::string_view::npos && equals > 0 && setting[equals - 1] == '*';
    const std::string_view name = setting.substr(0, equals - (times ? 1 : 0));
    double value = 0;
    if (equals == std::string_view::npos || !read_number(setting.substr(equals + 1), value)) {
        error = "it takes NAME=NUMBER in ns or as a factor, or NAME*=FACTOR";
        return false;
    }
    for (const CostName &cost : cost_names()) {
        if (name != cost.name)
            continue;
        Ps &member = machine.costs.*cost.member;
        const double unit = times ? double(member) : cost.factor ? double(kOne) : double(kNs);
        member = static_cast<Ps>(std::llround(value * unit));
        return true;
    }
    error = "it takes the name of a cost:";
    for (const CostName &cost : cost_names())
        error += std::string(" ") + cost.name;
    return false;
}

} // namespace kmirror::sim
