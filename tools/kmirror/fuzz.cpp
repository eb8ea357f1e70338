// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror fuzz: inputs of the fuzz targets as text, bytes and code, and made smaller.
//
// Whatever runs an input runs in a process of its own (fuzz/apart.h): this one survives each finding. What only a
// sanitizer sees is seen only by a command that was built with it (make SAN=address).

#include "fuzz/apart.h"
#include "fuzz/files.h"
#include "fuzz/maple_print.h"
#include "fuzz/shrink.h"
#include "tools/kmirror/commands.h"
#include "tools/kmirror/progress.h"

#include <unistd.h>

#include <cctype>
#include <cstdio>

namespace kmirror::command {
namespace {

using fuzz::Code;
using fuzz::Sequence;
using fuzz::Target;
using Bytes = std::vector<std::uint8_t>;

// What went wrong, printed; kBadInput.
int bad(const std::string& what) {
    std::fprintf(stderr, "kmirror: %s\n", what.c_str());
    return kBadInput;
}

std::string all_targets() {
    std::string names;
    for (const Target* target : fuzz::targets()) names += (names.empty() ? "" : ", ") + std::string(target->name);
    return names;
}

int list() {
    for (const Target* target : fuzz::targets()) {
        std::printf("%-20s %s%s\n", target->name,
                    target->grammar == nullptr ? "text or bytes" : "operations, with a form as text",
                    target->must_fail ? "; has a planted bug" : "");
    }
    return kDone;
}

// The target that the text itself, or a part of the path, names: an engine's files are TARGET-crash-... in a
// findings folder, and corpora are folders TARGET/.
const Target* target_in(const std::string& path, const Bytes& bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    unsigned line = 0;
    if (const std::string_view name = fuzz::target_of(text, line); !name.empty()) return fuzz::find_target(name);
    const Target* found = nullptr;
    std::size_t where = 0;
    for (const Target* target : fuzz::targets()) {
        const std::size_t at = path.rfind(target->name);
        if (at == path.npos || (found != nullptr && at < where)) continue;
        found = target;
        where = at;
    }
    return found;
}

struct Input {
    const Target* target = nullptr;
    Bytes bytes;  // as the target takes them

    Sequence sequence() const { return fuzz::decode(*target->grammar, bytes); }
};

int read(const FuzzOptions& options, const std::string& path, Input& input) {
    if (!options.target.empty() && fuzz::find_target(options.target) == nullptr) {
        return bad_option("--target", options.target, "--target takes one of " + all_targets());
    }
    if (const std::string wrong = fuzz::read_file(path, input.bytes); !wrong.empty()) return bad(wrong);
    input.target = options.target.empty() ? target_in(path, input.bytes) : fuzz::find_target(options.target);
    if (input.target == nullptr) {
        return bad(path + ": neither its name nor its text says of which target it is; --target takes one of " +
                   all_targets());
    }
    const std::string wrong = fuzz::read_input(*input.target, path, input.bytes);
    return wrong.empty() ? kDone : bad(wrong);
}

// To --out, or stdout.
int deliver(const FuzzOptions& options, std::string_view text) {
    if (options.out.empty()) {
        std::fwrite(text.data(), 1, text.size(), stdout);
        return kDone;
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const std::string wrong = fuzz::write_file(options.out, {bytes, text.size()});
    return wrong.empty() ? kDone : bad(wrong);
}

// ---- forms

bool is_maple(const Target& target) {
    return target.grammar != nullptr && std::string_view(target.grammar->operations.front().name) ==
                                            fuzz::maple_grammar().operations.front().name;
}

std::string text_of(const Input& input) {
    if (input.target->grammar == nullptr) return {input.bytes.begin(), input.bytes.end()};
    return fuzz::to_text(*input.target->grammar, input.target->name, input.sequence());
}

// As C++ wants a string, a line of it on each line.
std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        char code[8];
        std::snprintf(code, sizeof(code), "\\%03o", static_cast<unsigned char>(c));
        if (c == '\n') {
            result += "\\n\"\n        \"";
        } else if (std::isprint(static_cast<unsigned char>(c)) != 0 && c != '"' && c != '\\') {
            result += c;
        } else {
            result += code;
        }
    }
    return result + "\"";
}

// A test that runs the input through its target, where it cannot be said in calls.
std::string replay_test(const Input& input, const std::string& name) {
    return "TEST(FuzzFound, " + name + ")\n{\n    const std::string_view input =\n        " +
           quoted(text_of(input)) + ";\n    " + input.target->name +
           ".run({reinterpret_cast<const std::uint8_t *>(input.data()), input.size()});\n}\n";
}

std::string function_of(const Input& input, Code code, const std::string& name) {
    const Sequence sequence = input.sequence();
    fuzz::MapleRunOptions how;
    how.grammar = input.target->grammar;
    const fuzz::Apart printed = fuzz::run_apart(
        [&](int output) {
            fuzz::maple_statements(sequence, how, code, [output](const std::string& text) {
                if (::write(output, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
            });
        },
        fuzz::Keep::Output);
    return fuzz::maple_function(sequence.setup, printed.said, code, name);
}

int as_patch(const FuzzOptions& options, const std::string& function, std::string& patch) {
    Bytes file;
    const std::string path = options.kdir + "/lib/test_maple_tree.c";
    if (options.kdir.empty()) {
        return bad_option("--form", "patch",
                          "it also takes --kdir, the kernel tree whose lib/test_maple_tree.c is patched");
    }
    if (const std::string wrong = fuzz::read_file(path, file); !wrong.empty()) return bad(wrong);
    std::string wrong;
    patch = fuzz::kernel_test_patch({file.begin(), file.end()}, function, options.name, wrong);
    return wrong.empty() ? kDone : bad(path + ": " + wrong);
}

int show(const FuzzOptions& options, const Input& input) {
    if (options.form == "text") return deliver(options, text_of(input));
    if (options.form == "test" && !is_maple(*input.target)) return deliver(options, replay_test(input, options.name));
    if (!is_maple(*input.target)) {
        return bad_option("--form", options.form, std::string(input.target->name) + " has the forms text and test");
    }
    std::string text = function_of(input, options.form == "test" ? Code::GoogleTest : Code::Kernel, options.name);
    if (options.form == "patch") {
        if (const int status = as_patch(options, std::string(text), text); status != kDone) return status;
    }
    return deliver(options, text);
}

// ---- shrinking

fuzz::Apart run(const Target& target, const Bytes& bytes) {
    return fuzz::run_apart([&](int) { target.run(bytes); }, fuzz::Keep::Stderr);
}

int shrink(const FuzzOptions& options, Input input) {
    const std::string kind = run(*input.target, input.bytes).kind;
    if (kind.empty()) return bad(options.shrink + ": " + input.target->name + " finds nothing wrong with it");
    const std::size_t before = input.bytes.size();
    Progress progress(options.quiet);
    unsigned tries = 0;
    const auto fails = [&](const Bytes& bytes) {
        progress.update(std::to_string(bytes.size()) + " bytes", ++tries);
        return run(*input.target, bytes).kind == kind;
    };
    if (input.target->grammar != nullptr) {
        input.bytes = encode(fuzz::shrink(*input.target->grammar, input.sequence(),
                                          [&](const Sequence& sequence) { return fails(encode(sequence)); }));
    } else {
        input.bytes = fuzz::shrink(input.bytes, fails);
    }
    progress.clear();
    std::fprintf(stderr, "%s: %s; %zu bytes became %zu in %u tries\n", input.target->name, kind.c_str(), before,
                 input.bytes.size(), tries);
    std::fputs(run(*input.target, input.bytes).said.c_str(), stderr);
    const int status = show(options, input);
    return status == kDone ? kFoundWrong : status;
}

bool is_name(const std::string& name) {
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0])) != 0) return false;
    for (const char c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_') return false;
    }
    return true;
}

}  // namespace

int fuzz_main(const FuzzOptions& options) {
    const int jobs = int(options.list) + int(!options.print.empty()) + int(!options.from_text.empty()) +
                     int(!options.shrink.empty());
    if (jobs != 1) return bad("fuzz takes one of --list, --print FILE, --from-text FILE, --shrink FILE");
    if (!is_name(options.name)) return bad_option("--name", options.name, "--name takes the name of a C function");
    if (options.list) return list();
    Input input;
    const std::string& path = !options.print.empty()       ? options.print
                              : !options.from_text.empty() ? options.from_text
                                                           : options.shrink;
    if (const int status = read(options, path, input); status != kDone) return status;
    if (!options.print.empty()) return show(options, input);
    if (!options.shrink.empty()) return shrink(options, input);
    return deliver(options, {reinterpret_cast<const char*>(input.bytes.data()), input.bytes.size()});
}

}  // namespace kmirror::command
