// SPDX-License-Identifier: GPL-2.0-only
//
// main of kmirror-bench (make bench): the tree's table (tree_table.h), then the allocator's (slab_table.h).
//
// Exit status: 0; 1 when something could not be measured or written; 2 for an option that nobody knows.

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tools/bench/slab_table.h"
#include "tools/bench/slab_worker.h"
#include "tools/bench/tree_table.h"
#include "tools/kmirror/json.h"

namespace kmirror::bench {
namespace {

struct Options {
    bool tree = true, slab = true, columns = false;
    std::string rows, json, against, once, column;
    unsigned rounds = 0;        // 0: as each table likes it
};

[[noreturn]] void refuse(const std::string& what) {
    std::fprintf(stderr,
                 "kmirror-bench: %s; known are --only tree|slab, --rows TEXT, --rounds N, --json FILE (with --only), "
                 "--against PROGRAM, --once ROW --column NAME, --columns names\n",
                 what.c_str());
    std::exit(2);
}

unsigned rounds_of(const std::string& text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (text.empty() || text[0] == '-' || *end != '\0' || value < 1 || value > 1000)
        refuse("--rounds " + text + " is not possible, it is 1 to 1000");
    return static_cast<unsigned>(value);
}

void set_option(Options& options, const std::string& name, const std::string& value) {
    std::string error;
    if (name == "--only" && (value == "tree" || value == "slab")) {
        (value == "tree" ? options.slab : options.tree) = false;
    } else if (name == "--rows") {
        options.rows = value;
    } else if (name == "--rounds") {
        options.rounds = rounds_of(value);
    } else if (name == "--json") {
        if (!command::can_write(value, error)) refuse("--json " + value + ": " + error);
        options.json = value;
    } else if (name == "--against") {
        options.against = value;
    } else if (name == "--once") {
        options.once = value;
    } else if (name == "--columns" && value == "names") {
        options.columns = true;
    } else if (name == "--column") {
        options.column = value;
    } else {
        refuse("unknown option " + name + (name == "--only" ? " " + value : ""));
    }
}

Options options_of(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc) refuse(std::string("unknown option, or nothing behind ") + argv[i]);
        set_option(options, argv[i], argv[i + 1]);
    }
    if (options.tree && options.slab && !options.json.empty())
        refuse("--json is one table's: say --only tree or --only slab");
    return options;
}

// The process that measures one cell, see slab_worker.h.
bool is_worker(int argc, char** argv, int& status) {
    if (argc != 5 || std::strstr(argv[1], "worker") == nullptr) return false;
    const bool ours = std::strcmp(argv[3], "ours") == 0;
    if (std::strcmp(argv[1], "--worker") == 0)
        status = run_worker(argv[2], ours, argv[4]);
    else
        status = run_memory_worker(argv[2], ours, argv[4]);
    return true;
}

TreeOptions tree_options(const Options& options) {
    TreeOptions tree;
    tree.rows = options.rows;
    if (options.rounds != 0) tree.rounds = options.rounds;
    tree.json = options.json;
    return tree;
}

SlabOptions slab_options(const Options& options) {
    SlabOptions slab;
    slab.rows = options.rows;
    if (options.rounds != 0) slab.rounds = options.rounds;
    slab.json = options.json;
    slab.against = options.against;
    return slab;
}

}  // namespace
}  // namespace kmirror::bench

int main(int argc, char** argv) {
    using namespace kmirror::bench;
    int status = 0;
    if (is_worker(argc, argv, status)) return status;
    const Options options = options_of(argc, argv);
    if (options.columns) return print_tree_columns();
    if (!options.once.empty()) return run_tree_once(options.once, options.column);
    if (!options.against.empty()) return run_slab_against(slab_options(options));
    if (options.tree) status = run_tree_table(tree_options(options));
    if (options.slab && status == 0) status = run_slab_table(slab_options(options));
    return status;
}
