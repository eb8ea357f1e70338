// SPDX-License-Identifier: GPL-2.0-only
//
// From lines to calls, see strace_log.h.
//
//   read_log      a line: pid, time, then one of
//     a note      "+++ exited", "--- SIGCHLD", "strace: Process 12 attached"
//     a call      name(arguments) = result
//     its halves  name(arguments <unfinished ...>      <... name resumed>arguments) = result
//   interpret     the arguments of the calls that matter
#include "tools/kmirror/strace_log.h"

#include <kmirror/mm.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace kmirror::replay {
namespace {

constexpr std::string_view kUnfinished = "<unfinished ...>";
constexpr std::size_t kProgressEvery = 4096; // lines

struct Half {
    std::size_t line;
    std::string text; // from the name on, without the mark
};

struct Shape {
    Sys sys;
    // What each argument is: a address or number, p PROT_, m MAP_, r MREMAP_, v MADV_, c CLONE_, o O_, l
    // MCL_, k MLOCK_, h SHM_, f descriptor with path, d directory descriptor, s string, - nothing that
    // matters
    std::string_view arguments;
    // perf trace's names of the same, by position, separated by blanks
    std::string_view names;
};

const std::unordered_map<std::string_view, Shape> &shapes()
{
    static const std::unordered_map<std::string_view, Shape> all = {
        {"execve", {Sys::Execve, "s", "filename"}},
        {"execveat", {Sys::Execve, "ds", "fd filename"}},
        {"brk", {Sys::Brk, "a", "brk"}},
        {"mmap", {Sys::Mmap, "aapmfa", "addr len prot flags fd off"}},
        {"mmap2", {Sys::Mmap, "aapmfa", "addr len prot flags fd off"}},
        {"munmap", {Sys::Munmap, "aa", "addr len"}},
        {"mprotect", {Sys::Mprotect, "aap", "start len prot"}},
        {"pkey_mprotect", {Sys::Mprotect, "aapa", "start len prot pkey"}},
        {"mremap", {Sys::Mremap, "aaara", "addr old_len new_len flags new_addr"}},
        {"madvise", {Sys::Madvise, "aav", "start len_in behavior"}},
        {"mlock", {Sys::Mlock, "aa", "start len"}},
        {"mlock2", {Sys::Mlock, "aak", "start len flags"}},
        {"munlock", {Sys::Munlock, "aa", "start len"}},
        {"mlockall", {Sys::Mlockall, "l", "flags"}},
        {"munlockall", {Sys::Munlockall, "", ""}},
        {"mbind", {Sys::Mbind, "aas", "start len mode"}},
        {"mseal", {Sys::Mseal, "aa", "start len"}},
        {"shmget", {Sys::Shmget, "sa", "key size"}},
        {"shmat", {Sys::Shmat, "aah", "shmid shmaddr shmflg"}},
        {"shmdt", {Sys::Shmdt, "a", "shmaddr"}},
        {"fork", {Sys::Fork, "", ""}},
        {"vfork", {Sys::Fork, "", ""}},
        {"clone", {Sys::Fork, "--", "clone_flags newsp"}},
        {"clone3", {Sys::Fork, "-", "uargs"}},
        {"openat", {Sys::Open, "dso", "dfd filename flags"}},
        {"openat2", {Sys::Open, "ds-", "dfd filename how"}},
        {"open", {Sys::Open, "so", "filename flags"}},
        {"creat", {Sys::Open, "s", "filename"}},
        {"memfd_create", {Sys::Memfd, "s", "uname"}},
        {"dup", {Sys::Dup, "f", "fildes"}},
        {"dup2", {Sys::Dup, "f", "oldfd"}},
        {"dup3", {Sys::Dup, "f", "oldfd"}},
        {"close", {Sys::Close, "a", "fd"}},
        {"chdir", {Sys::Chdir, "s", "filename"}},
        {"prctl", {Sys::SetName, "", ""}},
        {"exit", {Sys::Exit, "", ""}},
        {"exit_group", {Sys::ExitGroup, "", ""}},
    };
    return all;
}

class Reader {
public:
    explicit Reader(Log &log) : log_(log) {}

    void line(std::string_view text)
    {
        number_++;
        text = trim(text);
        if (text.empty() || text.substr(0, 7) == "strace:" || text.substr(0, 1) == "#")
            return;
        const int pid = take_pid(text);
        take_time(text);
        if (text.substr(0, 3) == "+++")
            return note(pid, text);
        if (text.substr(0, 3) == "---")
            return;
        if (text.substr(0, 5) == "<... ")
            return resumed(pid, text);
        if (const std::size_t mark = text.rfind(kUnfinished);
            mark != std::string_view::npos && ends_with_mark(text))
            return unfinished(pid, text.substr(0, mark));
        if (log_.perf && ends_with_dots(text))
            return unfinished(pid, text.substr(0, text.rfind(')')));
        whole(pid, number_, text);
    }

    std::size_t lines() const { return number_; }

private:
    [[noreturn]] void bad(const std::string &what) const { throw LogError(number_, what); }

    static bool ends_with_mark(std::string_view text)
    {
        return text.size() >= kUnfinished.size() &&
               text.substr(text.size() - kUnfinished.size()) == kUnfinished;
    }

    static bool ends_with_dots(std::string_view text)
    {
        return text.size() > 4 && text.substr(text.size() - 4) == " ...";
    }

    // "[pid 12] ", "12 " in front of a call; or perf's "0.010 ( 0.002 ms): name/12 ".
    int take_pid(std::string_view &text)
    {
        if (text.substr(0, 4) == "[pid") {
            const std::size_t close = text.find(']');
            const auto pid =
                close == std::string_view::npos ? std::nullopt : number(trim(text.substr(4, close - 4)));
            if (!pid)
                bad("no number behind [pid");
            text = trim(text.substr(close + 1));
            return static_cast<int>(*pid);
        }
        if (const std::size_t colon = text.find("): "); colon != std::string_view::npos && is_perf(text))
            return take_perf(text, colon);
        const std::size_t digits = text.find_first_not_of("0123456789");
        if (digits == 0 || digits == std::string_view::npos || (text[digits] != ' ' && text[digits] != '\t'))
            return 0;
        const int pid = static_cast<int>(*number(text.substr(0, digits)));
        text = trim(text.substr(digits));
        return pid;
    }

    // A time, then the duration in brackets: "12.345 ( 0.010 ms): " or "12.345 (         ): ".
    static bool is_perf(std::string_view text)
    {
        const std::size_t rest = text.find_first_not_of("0123456789.?");
        return rest != 0 && rest != std::string_view::npos && trim(text.substr(rest)).substr(0, 1) == "(";
    }

    int take_perf(std::string_view &text, std::size_t colon)
    {
        log_.perf = true;
        text = trim(text.substr(colon + 3));
        const std::size_t paren = text.find('(');
        const std::size_t blank = text.rfind(' ', paren);
        const std::size_t slash = text.rfind('/', blank);
        if (slash != std::string_view::npos && blank != std::string_view::npos) {
            const auto pid = number(text.substr(slash + 1, blank - slash - 1));
            if (pid) {
                text = trim(text.substr(blank + 1));
                return static_cast<int>(*pid);
            }
        }
        return 0; // a trace of one thread names none
    }

    // "12:30:01.123456 ", "1700000000.123456 ", "[00007f0012345678] " in any order in front of the call.
    static void take_time(std::string_view &text)
    {
        while (!text.empty()) {
            const std::size_t blank = text.find(' ');
            const std::string_view word = text.substr(0, blank);
            const bool time = word.find_first_not_of("0123456789.:") == std::string_view::npos;
            const bool address = word.front() == '[' && word.back() == ']';
            if (blank == std::string_view::npos || (!time && !address))
                return;
            text = trim(text.substr(blank));
        }
    }

    void note(int pid, std::string_view text)
    {
        if (const std::size_t by = text.find("superseded by execve in pid "); by != std::string_view::npos) {
            const auto thread = number(text.substr(by + 28));
            const auto half = thread ? halves_.find(static_cast<int>(*thread)) : halves_.end();
            if (half == halves_.end())
                bad("superseded by an execve that did not begin");
            halves_[pid] = half->second;
            halves_.erase(static_cast<int>(*thread));
            return;
        }
        if (text.find("exited with") == std::string_view::npos &&
            text.find("killed by") == std::string_view::npos)
            bad("unknown note");
        halves_.erase(pid);
        add(pid, number_, Sys::Exit);
    }

    void unfinished(int pid, std::string_view text)
    {
        if (text.find('(') == std::string_view::npos)
            bad("an unfinished line without a call");
        halves_[pid] = Half{number_, std::string(trim(text))};
        // What ends the thread has no second half.
        if (text.substr(0, 11) == "exit_group(")
            add(pid, number_, Sys::ExitGroup);
    }

    void resumed(int pid, std::string_view text)
    {
        const std::size_t end = text.find(" resumed>");
        const auto half = halves_.find(pid);
        if (end == std::string_view::npos)
            bad("'<...' without 'resumed>'");
        const std::string_view name = text.substr(5, end - 5);
        if (half == halves_.end() ||
            half->second.text.compare(0, name.size() + 1, std::string(name) + "(") != 0)
            bad("'" + std::string(name) + " resumed' of a call that did not begin");
        const std::string joined = half->second.text + std::string(text.substr(end + 9));
        const std::size_t first = half->second.line;
        halves_.erase(half);
        whole(pid, first, joined);
    }

    // perf's second half: "... [continued]: mmap()) = 0x7f..."
    bool continued(int pid, std::string_view text)
    {
        constexpr std::string_view mark = "[continued]: ";
        const std::size_t at = text.find(mark);
        if (at == std::string_view::npos)
            return false;
        const auto half = halves_.find(pid);
        const std::size_t result = text.find(") = ", at);
        if (result == std::string_view::npos)
            bad("'continued' without a result");
        // The first half of what began before the trace is missing.
        const bool known = half != halves_.end();
        std::string joined = known
                                 ? half->second.text
                                 : std::string(text.substr(at + mark.size(), result - at - mark.size() - 1));
        joined += text.substr(result);
        const std::size_t first = known ? half->second.line : number_;
        if (known)
            halves_.erase(half);
        whole(pid, first, joined);
        return true;
    }

    Call &add(int pid, std::size_t first, Sys sys)
    {
        log_.calls.push_back(Call{first, number_, pid, sys, 0, {}, {}, {}, {}});
        return log_.calls.back();
    }

    void whole(int pid, std::size_t first, std::string_view text)
    {
        if (log_.perf && continued(pid, text))
            return;
        const std::size_t open = text.find('(');
        const std::size_t close = end_of_arguments(text);
        if (open == std::string_view::npos || close == std::string_view::npos || close < open)
            bad("neither a call with its result nor a note of strace");
        const std::string_view name = text.substr(0, open);
        if (name.empty() ||
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") != std::string_view::npos)
            bad("'" + std::string(name.substr(0, 40)) + "' is no system call");
        const auto shape = shapes().find(name);
        if (shape == shapes().end())
            return;
        const std::string_view arguments = text.substr(open + 1, close - open - 1);
        Call &call = add(pid, first, shape->second.sys);
        take_result(call, trim(text.substr(text.find('=', close) + 1)));
        interpret(call, name, shape->second, arguments);
    }

    // The ')' before the '=' that is not inside quotes; strace pads with blanks between the two.
    static std::size_t end_of_arguments(std::string_view text)
    {
        for (std::size_t at = text.rfind(" = "); at != std::string_view::npos && at > 0;
             at = text.rfind(" = ", at - 1)) {
            const std::size_t close = text.find_last_not_of(' ', at);
            if (close != std::string_view::npos && text[close] == ')')
                return close;
        }
        return std::string_view::npos;
    }

    void take_result(Call &call, std::string_view text)
    {
        const std::size_t blank = text.find(' ');
        const std::string_view first = text.substr(0, blank);
        if (first == "?") {
            call.error = call.sys == Sys::Exit || call.sys == Sys::ExitGroup ? "" : "?";
            return;
        }
        const auto value = number(text);
        if (!value) {
            // perf's form: "= -1 ENOMEM" like strace's, or "= -12"
            bad("result '" + std::string(text.substr(0, 40)) + "' is no number");
        }
        call.result = *value;
        if (first == "-1" && blank != std::string_view::npos) {
            const std::string_view name = trim(text.substr(blank));
            call.error = std::string(name.substr(0, name.find(' ')));
        } else if (log_.perf && *value < 0 && *value > -4096) {
            call.error = "E";
        }
        if (call.sys == Sys::Open || call.sys == Sys::Memfd || call.sys == Sys::Dup)
            call.text = path_of_descriptor(text);
    }

    void interpret(Call &call, std::string_view name, const Shape &shape, std::string_view arguments)
    {
        if (name == "clone" || name == "clone3" || name == "fork" || name == "vfork")
            return take_clone(call, name, arguments);
        if (name == "prctl")
            return take_prctl(call, arguments);
        std::vector<std::string_view> parts = split_arguments(arguments);
        if (log_.perf)
            parts = by_name(parts, shape.names);
        if (name == "pkey_mprotect")
            call.arg[3] = static_cast<std::uint64_t>(-1);
        const bool needed = call.error.empty();
        for (std::size_t i = 0; i < shape.arguments.size(); i++) {
            if (i >= parts.size() || (log_.perf && parts[i].empty())) {
                if (needed && !log_.perf && optional_from(name) > i)
                    bad(std::string(name) + "() lacks its argument " + std::to_string(i + 1));
                continue;
            }
            take_argument(call, shape.arguments[i], i, parts[i], needed);
        }
        if (call.sys == Sys::Mprotect && name == "mprotect")
            call.arg[3] = static_cast<std::uint64_t>(-1);
    }

    // How many arguments a call must have.
    static std::size_t optional_from(std::string_view name)
    {
        return name == "mremap" ? 4 : name == "openat2" ? 2 : 99;
    }

    static std::vector<std::string_view> by_name(const std::vector<std::string_view> &parts,
                                                 std::string_view names)
    {
        std::vector<std::string_view> ordered;
        while (!names.empty()) {
            const std::string_view name = names.substr(0, names.find(' '));
            std::string_view value;
            for (const std::string_view part : parts)
                if (part.substr(0, name.size()) == name && part.substr(name.size(), 1) == ":")
                    value = trim(part.substr(name.size() + 1));
            ordered.push_back(value);
            names = name.size() == names.size() ? std::string_view() : names.substr(name.size() + 1);
        }
        return ordered;
    }

    void take_argument(Call &call, char kind, std::size_t index, std::string_view text, bool needed)
    {
        std::optional<std::uint64_t> value;
        switch (kind) {
        case 's': take_path(call, text); return;
        case 'd': call.base = path_of_descriptor(text); return;
        case '-': return;
        case 'f':
            if (std::string path = path_of_descriptor(text); !path.empty())
                call.text = path;
            [[fallthrough]];
        case 'a':
            if (const auto signed_value = number(text))
                value = static_cast<std::uint64_t>(*signed_value);
            break;
        case 'p': value = flags(text, "PROT_"); break;
        case 'm': value = flags(text, "MAP_"); break;
        case 'r': value = flags(text, "MREMAP_"); break;
        case 'v': value = flags(text, "MADV_"); break;
        case 'l': value = flags(text, "MCL_"); break;
        case 'k': value = flags(text, "MLOCK_"); break;
        case 'h': value = flags(text, "SHM_"); break;
        default: value = flags(text, "O_"); break;
        }
        if (!value && needed)
            bad("'" + std::string(text.substr(0, 60)) + "' is no argument " + std::to_string(index + 1));
        call.arg[index] = value.value_or(0);
    }

    static void take_path(Call &call, std::string_view text)
    {
        if (call.sys == Sys::Mbind || call.sys == Sys::Shmget) {
            call.text = std::string(text);
            return;
        }
        std::string path = quoted(text);
        if (call.sys == Sys::Open &&
            !call.text.empty()) // -y has said which file it is; keep what was asked for as well
            call.base = path;
        else if (call.sys != Sys::Memfd || call.text.empty())
            call.text = call.sys == Sys::Memfd ? "/memfd:" + path + " (deleted)" : path;
    }

    void take_clone(Call &call, std::string_view name, std::string_view arguments)
    {
        constexpr std::uint64_t vm = 0x100, files = 0x400, thread = 0x10000;
        if (name == "vfork")
            call.arg[0] = vm;
        for (const auto &[word, bit] :
             {std::pair<std::string_view, std::uint64_t>{"VM", vm}, {"FILES", files}, {"THREAD", thread}}) {
            const std::string clone = "CLONE_" + std::string(word);
            if (has_word(arguments, clone) || (log_.perf && has_word(arguments, word)))
                call.arg[0] |= bit;
        }
    }

    // `word` in `text`, not as a part of a longer one.
    static bool has_word(std::string_view text, std::string_view word)
    {
        for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
            const auto is_letter = [](char c) { return (c >= 'A' && c <= 'Z') || c == '_'; };
            const bool begins = at == 0 || !is_letter(text[at - 1]);
            const bool ends = at + word.size() == text.size() || !is_letter(text[at + word.size()]);
            if (begins && ends)
                return true;
        }
        return false;
    }

    // Only PR_SET_VMA, PR_SET_VMA_ANON_NAME names memory.
    void take_prctl(Call &call, std::string_view arguments)
    {
        const std::vector<std::string_view> parts = split_arguments(arguments);
        if (parts.size() < 5 || parts[0] != "PR_SET_VMA") {
            log_.calls.pop_back();
            return;
        }
        for (std::size_t i = 0; i < 2; i++)
            call.arg[i] = static_cast<std::uint64_t>(number(parts[2 + i]).value_or(0));
        call.text = quoted(parts[4]);
    }

    Log &log_;
    std::size_t number_ = 0;
    std::map<int, Half> halves_;
};

} // namespace

Log read_log(std::istream &in, const std::function<void(std::size_t)> &progress)
{
    Log log;
    Reader reader(log);
    std::string line;
    std::size_t bytes = 0;
    while (std::getline(in, line)) {
        bytes += line.size() + 1;
        reader.line(line);
        if (reader.lines() % kProgressEvery == 0)
            progress(bytes);
    }
    log.lines = reader.lines();
    if (log.calls.empty())
        throw LogError(0, "holds no system call that changes an address space");
    return log;
}

} // namespace kmirror::replay
