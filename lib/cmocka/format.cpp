// SPDX-License-Identifier: GPL-2.0-only
//
// The lines of each format, as cmocka 1.1.5 prints them; TAP's skip is `ok N - name # SKIP`, as TAP has it
// and later releases print it. XML has one root over all groups of a file.

#include "lib/cmocka/format.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>

#include "include/cmocka.h"
#include "lib/cmocka/output.h"
#include "lib/cmocka/run.h"

namespace kmirror::cmocka {
namespace {

class Standard : public Format {
    void group_starts(size_t cases) override {
        message(text_of("[==========] Running %zu test(s).\n", cases));
    }
    void case_starts(const char* name) override { message(text_of("[ RUN      ] %s\n", name)); }
    void case_ends(size_t, const Case& one) override {
        const char* const name = one.name.c_str();
        switch (one.status) {
        case Status::Passed:
            return message(text_of("[       OK ] %s\n", name));
        case Status::Skipped:
            return message(text_of("[  SKIPPED ] %s\n", name));
        case Status::Failed:
            error(text_of("[  ERROR   ] --- %s\n", one.message.c_str()));
            return message(text_of("[  FAILED  ] %s\n", name));
        default:
            error(text_of("Could not run test: %s\n", one.message.c_str()));
            error(text_of("[  ERROR   ] %s\n", name));
        }
    }
    void group_ends(const Group& group) override {
        if (!group.setup_message.empty()) fixture("SETUP", group, group.setup_message);
        if (!group.teardown_message.empty()) fixture("TEARDOWN", group, group.teardown_message);
        message(text_of("[==========] %zu test(s) run.\n", group.executed()));
        error(text_of("[  PASSED  ] %zu test(s).\n", group.number(Status::Passed)));
        list(group, Status::Skipped, "SKIPPED ", "SKIPPED");
        list(group, Status::Failed, "FAILED  ", "FAILED");
        list(group, Status::Error, "ERROR   ", "ERRONEOUS");
    }
    static void fixture(const char* which, const Group& group, const std::string& why) {
        error(text_of("[  ERROR   ] --- %s\n[  FAILED  ] GROUP %s\n[  ERROR   ] %s\n", why.c_str(), which,
                      group.title.c_str()));
    }
    static void list(const Group& group, Status status, const char* tag, const char* word) {
        const size_t number = group.number(status);
        if (number == 0) return;
        error(text_of("[  %s] %zu test(s), listed below:\n", tag, number));
        for (const Case& one : group.cases) {
            if (one.status == status) error(text_of("[  %s] %s\n", tag, one.name.c_str()));
        }
        error(text_of("\n %zu %s TEST(S)\n", number, word));
    }
};

class Subunit : public Format {
    void case_starts(const char* name) override { message(text_of("test: %s\n", name)); }
    void case_ends(size_t, const Case& one) override {
        static const std::map<Status, const char*> words = {{Status::Passed, "success"},
                                                            {Status::Skipped, "skip"},
                                                            {Status::Failed, "failure"},
                                                            {Status::Error, "error"}};
        message(text_of("%s: %s", words.at(one.status), one.name.c_str()));
        const bool wrong = one.status == Status::Failed || one.status == Status::Error;
        message(wrong ? " [\n" + one.message + "\n]\n" : "\n");
    }
};

class Tap : public Format {
    void group_starts(size_t cases) override { message(text_of("1..%zu\n", cases)); }
    void case_ends(size_t number, const Case& one) override {
        const bool ok = one.status == Status::Passed || one.status == Status::Skipped;
        message(text_of("%s %zu - %s%s\n", ok ? "ok" : "not ok", number, one.name.c_str(),
                        one.status == Status::Skipped ? " # SKIP" : ""));
        if (!ok) comment(one.message);
    }
    void group_ends(const Group& group) override {
        if (!group.setup_message.empty()) {
            message(text_of("not ok 0 - %s [  FAILED  ] GROUP SETUP\n", group.title.c_str()));
        }
        comment(group.setup_message);
        comment(group.teardown_message);
        message(text_of("# %s - %s\n", group.failures() == 0 ? "ok" : "not ok", group.title.c_str()));
    }
    static void comment(const std::string& text) {
        if (text.empty()) return;
        std::string lines = "# ";
        for (const char c : text) lines += c == '\n' ? std::string("\n# ") : std::string(1, c);
        message(lines + "\n");
    }
};

// Every group of the process that goes into one file, written anew after each of them.
class Xml : public Format {
    void group_ends(const Group& group) override {
        const char* const variable = std::getenv("CMOCKA_XML_FILE");
        if (variable == nullptr) {
            to_stdout(suite(group));
            return;
        }
        std::string name = variable;
        if (const size_t at = name.find("%g"); at != std::string::npos) name.replace(at, 2, group.title);
        to_file(name, suite(group));
    }

    static std::string suite(const Group& group) {
        double seconds = 0;
        std::string cases;
        for (const Case& one : group.cases) {
            if (one.status == Status::NotRun) continue;
            seconds += one.seconds;
            cases += text_of("    <testcase name=\"%s\" time=\"%.3f\" >\n", escaped(one.name).c_str(),
                             one.seconds);
            if (one.status == Status::Skipped) cases += "      <skipped/>\n";
            if (one.status == Status::Failed || one.status == Status::Error) {
                cases += "      <failure>" + escaped(one.message) + "</failure>\n";
            }
            cases += "    </testcase>\n";
        }
        return text_of("  <testsuite name=\"%s\" time=\"%.3f\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
                       "skipped=\"%zu\" >\n",
                       escaped(group.title).c_str(), seconds, group.executed(), group.number(Status::Failed),
                       group.number(Status::Error), group.number(Status::Skipped)) +
               cases + "  </testsuite>\n";
    }

    static std::string escaped(const std::string& text) {
        std::string out;
        for (const char c : text) {
            switch (c) {
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '&': out += "&amp;"; break;
            case '"': out += "&quot;"; break;
            default: out += static_cast<unsigned char>(c) < ' ' && c != '\n' && c != '\t' ? '?' : c;
            }
        }
        return out;
    }

    static constexpr const char* kHead = "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<testsuites>\n";
    static constexpr const char* kTail = "</testsuites>\n";

    // The root is closed at the end of the process.
    static void to_stdout(const std::string& suite) {
        static bool open = false;
        if (!open) {
            open = true;
            std::fputs(kHead, stdout);
            std::atexit([] { std::fputs(kTail, stdout); });
        }
        std::fputs(suite.c_str(), stdout);
    }

    static void to_file(const std::string& name, const std::string& suite) {
        static std::map<std::string, std::string> written;  // by this process
        static std::set<std::string> foreign;
        if (written.count(name) == 0 && foreign.count(name) == 0) {
            std::FILE* const fresh = std::fopen(name.c_str(), "wx");
            if (fresh != nullptr) std::fclose(fresh);
            (fresh != nullptr ? (void)written[name] : (void)foreign.insert(name));
        }
        if (foreign.count(name) != 0) {
            std::fprintf(stderr, "%s%s%s", kHead, suite.c_str(), kTail);
            return;
        }
        written[name] += suite;
        std::FILE* const file = std::fopen(name.c_str(), "w");
        if (file == nullptr) return;
        std::fprintf(file, "%s%s%s", kHead, written[name].c_str(), kTail);
        std::fclose(file);
    }
};

}  // namespace

std::vector<std::unique_ptr<Format>> make_formats(uint32_t output) {
    std::vector<std::unique_ptr<Format>> all;
    if (output & CM_OUTPUT_STANDARD) all.push_back(std::make_unique<Standard>());
    if (output & CM_OUTPUT_SUBUNIT) all.push_back(std::make_unique<Subunit>());
    if (output & CM_OUTPUT_TAP) all.push_back(std::make_unique<Tap>());
    if (output & CM_OUTPUT_XML) all.push_back(std::make_unique<Xml>());
    return all;
}

}  // namespace kmirror::cmocka
