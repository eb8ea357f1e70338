// SPDX-License-Identifier: GPL-2.0-only
//
// Promise: the shipped logs of real programs replay to the real maps, every altered line of a maps file is
// noticed, and a bad log is refused with its line.
#include "tools/testing/harness.h"
#include "tools/kmirror/replay.h"

#include <fstream>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

namespace kmirror::mm_tests {
namespace {

using replay::LogError;
using replay::MapLine;
using replay::Outcome;

const char *const kPrograms[] = {"shell", "python3", "gcc"};

std::string shipped(const std::string &name)
{
    return "tools/replay/logs/" + name;
}

// A file of this test's own, gone at its end.
class TempFile {
public:
    explicit TempFile(const std::string &text = "")
    {
        char path[] = "/tmp/kmirror-replay.XXXXXX";
        const int fd = mkstemp(path);
        name = path;
        close(fd);
        write(text);
    }
    ~TempFile() { unlink(name.c_str()); }
    TempFile(const TempFile &) = delete;
    TempFile &operator=(const TempFile &) = delete;

    void write(const std::string &text) const { std::ofstream(name) << text; }
    std::string read() const
    {
        std::stringstream text;
        text << std::ifstream(name).rdbuf();
        return text.str();
    }

    std::string name;
};

Outcome run(const std::string &log, const std::string &maps, bool validate = false)
{
    command::ReplayOptions options;
    options.log = log;
    options.maps = maps;
    options.quiet = true;
    options.validate = validate;
    std::string list;
    bool maps_is_wrong = false;
    return replay::replay_log(options, list, maps_is_wrong);
}

// True when the altered maps are not taken for the program's.
bool noticed(const std::string &log, const TempFile &maps)
{
    try {
        return !run(log, maps.name).equal;
    } catch (const LogError &) {
        return true;
    }
}

std::vector<MapLine> maps_of(const std::string &program)
{
    std::ifstream in(shipped(program + ".maps"));
    return replay::read_maps(in);
}

TEST(MmReplay, of_the_shipped_logs_ends_in_the_real_maps)
{
    for (const std::string program : kPrograms) {
        const Outcome outcome = run(shipped(program + ".log"), shipped(program + ".maps"), true);
        EXPECT_TRUE(outcome.equal) << program << ": " << outcome.difference;
        EXPECT_EQ(outcome.violations, 0u) << program;
        EXPECT_EQ(outcome.tally.diverged, 0u) << program;
        EXPECT_GE(outcome.tally.hits * 100, outcome.tally.placed * 95) << program;
        for (const replay::Miss &miss : outcome.tally.misses)
            EXPECT_EQ(miss.predicted, 0u)
                << program << ", line " << miss.line << ": every miss is an image's first";
    }
}

// ---- altered maps

// What exec made: those lines are taken from the file and cannot be wrong.
bool made_by_exec(const std::vector<MapLine> &lines, std::size_t at, const std::string &program)
{
    const std::string &name = lines[at].name;
    const bool bss =
        at > 0 && name.empty() && lines[at].start == lines[at - 1].end && lines[at - 1].name == program;
    return bss || name == program || name.find("/ld-linux") != std::string::npos || name == "[stack]" ||
           name == "[vdso]" || name == "[vsyscall]" || name.compare(0, 5, "[vvar") == 0;
}

void alter(MapLine &line, int how)
{
    switch (how) {
    case 0: line.start -= 0x1000; break;
    case 1: line.end += 0x1000; break;
    case 2: line.permissions[0] = line.permissions[0] == 'r' ? '-' : 'r'; break;
    case 3: line.permissions[3] = line.permissions[3] == 'p' ? 's' : 'p'; break;
    case 4: line.offset += 0x1000; break;
    default: line.name = line.name.empty() ? "/other" : line.name + ".1"; break;
    }
}

TEST(MmReplay, notices_any_altered_line_that_exec_did_not_make)
{
    for (const std::string program : kPrograms) {
        const std::vector<MapLine> lines = maps_of(program);
        const std::string executed = lines.front().name;
        std::size_t altered = 0;
        for (std::size_t i = 0; i < lines.size(); i++) {
            if (made_by_exec(lines, i, executed))
                continue;
            // All alterations of the smallest log, one of each line of the others.
            for (int how = 0; how < 6; how++) {
                if (program != "shell" && how != static_cast<int>(i % 6))
                    continue;
                std::vector<MapLine> wrong = lines;
                if (how == 0 && wrong[i].name == "[heap]")
                    continue; // the start of the heap is exec's
                alter(wrong[i], how);
                const TempFile maps(replay::to_string(wrong));
                EXPECT_TRUE(noticed(shipped(program + ".log"), maps))
                    << program << ": alteration " << how << " of " << replay::to_string(lines[i]);
                altered++;
            }
        }
        EXPECT_GT(altered, 5u) << program;
    }
}

TEST(MmReplay, notices_a_line_too_many_and_one_missing)
{
    const std::vector<MapLine> lines = maps_of("python3");
    std::vector<MapLine> more = lines;
    more.insert(more.begin(), MapLine{0x10000, 0x11000, "rw-p", 0, ""});
    EXPECT_TRUE(noticed(shipped("python3.log"), TempFile(replay::to_string(more))));
    std::vector<MapLine> fewer = lines;
    for (std::size_t i = 0; i < fewer.size(); i++)
        if (fewer[i].name.find("libc.so") != std::string::npos) {
            fewer.erase(fewer.begin() + static_cast<long>(i));
            break;
        }
    EXPECT_TRUE(noticed(shipped("python3.log"), TempFile(replay::to_string(fewer))));
}

// ---- how lines are read

Outcome of_text(const std::string &log, const std::string &maps = "")
{
    const TempFile log_file(log), maps_file(maps);
    return run(log_file.name, maps.empty() ? "" : maps_file.name);
}

TEST(MmReplay, joins_interrupted_calls_and_knows_a_child_before_its_clone_returns)
{
    const Outcome outcome =
        of_text("10 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000010000\n"
                "10 clone(child_stack=NULL, flags=CLONE_CHILD_SETTID|SIGCHLD <unfinished ...>\n"
                "11 munmap(0x7f0000010000, 4096) = 0\n"
                "11 openat(AT_FDCWD, \"/proc/self/maps\", O_RDONLY <unfinished ...>\n"
                "10 <... clone resumed>, child_tidptr=0x7f1) = 11\n"
                "11 <... openat resumed>) = 3\n");
    EXPECT_EQ(outcome.pid, 11);
    EXPECT_EQ(replay::to_string(outcome.maps), "7f0000011000-7f0000012000 r--p 00000000 00:00 0 \n");
}

TEST(MmReplay, applies_an_unfinished_munmap_when_its_place_is_taken)
{
    const Outcome outcome = of_text(
        "10 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000010000\n"
        "10 clone3({flags=CLONE_VM|CLONE_FILES|CLONE_THREAD, stack_size=8} => {parent_tid=[11]}, 88) = 11\n"
        "11 munmap(0x7f0000010000, 8192 <unfinished ...>\n"
        "10 mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000011000\n"
        "11 <... munmap resumed>) = 0\n");
    EXPECT_EQ(outcome.tally.reordered, 1u);
    EXPECT_EQ(outcome.tally.hits, 1u);
    EXPECT_EQ(replay::to_string(outcome.maps), "7f0000011000-7f0000012000 ---p 00000000 00:00 0 \n");
}

TEST(MmReplay, a_vfork_child_shares_until_it_executes)
{
    const Outcome outcome =
        of_text("10 vfork( <unfinished ...>\n"
                "11 mmap(0x10000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x10000\n"
                "11 execve(\"/bin/x\", [\"x\"], 0x7ffe /* 3 vars */ <unfinished ...>\n"
                "10 <... vfork resumed>) = 11\n"
                "11 <... execve resumed>) = 0\n"
                "11 mmap(0x20000, 4096, PROT_READ, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x20000\n");
    EXPECT_EQ(outcome.pid, 10);
    EXPECT_EQ(replay::to_string(outcome.maps), "00010000-00011000 r--p 00000000 00:00 0 \n");
}

TEST(MmReplay, reads_times_pids_in_brackets_and_perf_trace)
{
    const std::string expected = "00010000-00012000 rw-p 00000000 00:00 0 \n";
    for (const char *log : {
             "[pid 7] 12:00:01.5 mmap(0x10000, 8192, PROT_READ|PROT_WRITE, "
             "MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = 0x10000 <0.000012>\n",
             "mmap(0x10000, 8192, PROT_READ|PROT_WRITE, MAP_PRIVATE|MAP_FIXED|MAP_ANONYMOUS, -1, 0) = "
             "0x10000\n",
             "     0.057 ( 0.019 ms): cat/27 mmap(addr: 0x10000, len: 8192, prot: READ|WRITE, flags: "
             "PRIVATE|FIXED|ANONYMOUS) = 0x10000\n",
         })
        EXPECT_EQ(replay::to_string(of_text(log).maps), expected) << log;
}

// ---- bad input

TEST(MmReplay, refuses_a_bad_log_with_its_line)
{
    const std::string good = "10 brk(NULL) = 0x5000\n";
    const struct {
        std::string log;
        std::size_t line;
        const char *says;
    } cases[] = {
        {"", 0, "no system call"},
        {"hello\n", 1, "neither a call"},
        {good + "10 mmap(NULL, 4096, PROT_READ, MAP_PRIV", 2, "neither a call"},
        {good + "10 mmap(NULL, 4096, PROT_FLY, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x1000\n", 2, "PROT_FLY"},
        {good + "10 mmap(NULL, 4096, PROT_READ, MAP_PRIVATE|MAP_CHEESE, -1, 0) = 0x1000\n", 2, "MAP_CHEESE"},
        {good + "10 mmap(NULL, 4096) = 0x1000\n", 2, "argument 3"},
        {good + good + "10 munmap(0x10g0, 4096) = 0\n", 3, "0x10g0"},
        {good + "10 munmap(0x1000, 4096) = zero\n", 2, "zero"},
        {good + "10 <... munmap resumed>) = 0\n", 2, "did not begin"},
        {good + "10 brk(0x6000 <unfinished ...>\n10 <... mmap resumed>) = 0\n", 3, "did not begin"},
        {good + "10 +++ exploded +++\n", 2, "unknown note"},
        {good + "10 MMAP(NULL) = 0\n", 2, "no system call"},
        {good + "[pid x] brk(NULL) = 0\n", 2, "[pid"},
    };
    for (const auto &each : cases) {
        try {
            of_text(each.log);
            ADD_FAILURE() << "taken: " << each.log;
        } catch (const LogError &error) {
            EXPECT_EQ(error.line, each.line) << each.log;
            EXPECT_NE(std::string(error.what()).find(each.says), std::string::npos) << error.what();
        }
    }
}

TEST(MmReplay, refuses_bad_maps_with_their_line)
{
    const std::string good = "00010000-00011000 r--p 00000000 00:00 0 \n";
    for (const std::string wrong :
         {"junk\n", "00020000-00010000 r--p 00000000 00:00 0\n", "00020000-00021000 rq-p 00000000 00:00 0\n",
          "00010800-00012000 r--p 00000000 00:00 0\n"}) {
        try {
            of_text("10 brk(NULL) = 0x5000\n", good + wrong);
            ADD_FAILURE() << "taken: " << wrong;
        } catch (const LogError &error) {
            EXPECT_EQ(error.line, 2u) << wrong;
        }
    }
}

TEST(MmReplay, exit_statuses_and_files_that_stay_as_they_were)
{
    const TempFile output("old"), list("old"), bad("junk\n"),
        other("00010000-00011000 r--p 00000000 00:00 0 \n");
    command::ReplayOptions options;
    options.quiet = true;
    options.json = output.name;
    options.store_list = list.name;
    options.log = bad.name;
    ::testing::internal::CaptureStdout();
    EXPECT_EQ(command::replay_main(options), command::kBadInput);
    EXPECT_EQ(output.read(), "old");
    EXPECT_EQ(list.read(), "old");
    options.log = shipped("shell.log");
    options.maps = shipped("shell.maps");
    EXPECT_EQ(command::replay_main(options), command::kDone);
    EXPECT_NE(output.read().find("\"equal\": true"), std::string::npos);
    EXPECT_NE(list.read().find("\nstore "), std::string::npos);
    options.maps = other.name;
    EXPECT_EQ(command::replay_main(options), command::kFoundWrong);
    options.pid = 1;
    EXPECT_EQ(command::replay_main(options), command::kBadInput);
    ::testing::internal::GetCapturedStdout();
}

} // namespace
} // namespace kmirror::mm_tests
