// SPDX-License-Identifier: GPL-2.0-only
//
// kmirror tree: does the operations of a file and shows the tree they make, or what one of them did to it.
//
// Owns     the tree.
// Bounds   all operations are read before the first is done; a picture is taken of the shown steps only.
// Fails    with kBadInput for a file that cannot be read, a line that cannot be understood and a step that is
//          not there; with kFoundWrong when the tree breaks one of its rules or the trace could not be
//          written. An operation that the tree refuses (-EEXIST, -EBUSY) is a result like any other.

#include <kmirror/trace.h>
#include <linux/maple_tree.h>
#include <linux/slab.h>
#include <linux/xarray.h>

#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "tools/kmirror/commands.h"
#include "tools/kmirror/json.h"
#include "tools/kmirror/table.h"
#include "tools/kmirror/tree_draw.h"

namespace kmirror::command {
namespace {

using Kind = TreeStep::Kind;
using Form = TreeOptions::Form;

const char* store_name(enum store_type type) {
    switch (type) {
    case wr_new_root: return "new root";
    case wr_store_root: return "store at root";
    case wr_exact_fit: return "exact fit";
    case wr_spanning_store: return "spanning store";
    case wr_split_store: return "split";
    case wr_rebalance: return "rebalance";
    case wr_append: return "append";
    case wr_node_store: return "node store";
    case wr_slot_store: return "slot store";
    default: return "";
    }
}

unsigned long reserved(const ma_state& mas) {
    return mas.sheaf ? kmem_cache_sheaf_size(mas.sheaf) : mas.alloc != nullptr;
}

class Tree {
public:
    explicit Tree(const TreeScript& script) {
        mt_init_flags(&tree_, (script.gaps ? MT_FLAGS_ALLOC_RANGE : 0) | (script.rcu ? MT_FLAGS_USE_RCU : 0));
    }
    ~Tree() { mtree_destroy(&tree_); }
    Tree(const Tree&) = delete;
    Tree& operator=(const Tree&) = delete;

    TreeResult perform(const TreeStep& step) {
        TreeResult result;
        result.text = step.text;
        result.line = step.line;
        MA_STATE(mas, &tree_, step.first, step.last);
        mas_lock(&mas);
        result.error = aim(mas, step);
        if (result.error == 0) store(mas, step, result);
        mas_unlock(&mas);
        return result;
    }

    // False when a rule of the tree is broken; mt_validate() has said which.
    bool is_sound() {
        const int run = atomic_read(&maple_tree_tests_run), passed = atomic_read(&maple_tree_tests_passed);
        mtree_lock(&tree_);
        mt_validate(&tree_);
        mtree_unlock(&tree_);
        return atomic_read(&maple_tree_tests_run) - run == atomic_read(&maple_tree_tests_passed) - passed;
    }

    void dump() const { mt_dump(&tree_, mt_dump_hex); }
    TreeShape shape() { return tree_shape_of(&tree_); }

private:
    // Sets the range that the step stores over; 0 or -errno. An erase of nothing is -ENOENT.
    static int aim(ma_state& mas, const TreeStep& step) {
        int error = 0;
        switch (step.kind) {
        case Kind::Store:
        case Kind::Clear: return 0;
        case Kind::Insert:
            error = mas_find(&mas, step.last) ? -EEXIST : 0;
            mas_set_range(&mas, step.first, step.last);
            return error;
        case Kind::Erase:
            error = mas_walk(&mas) ? 0 : -ENOENT;
            mas_set_range(&mas, mas.index, mas.last);
            return error;
        case Kind::Alloc: error = mas_empty_area(&mas, step.first, step.last, step.size); break;
        case Kind::AllocHigh: error = mas_empty_area_rev(&mas, step.first, step.last, step.size); break;
        }
        if (error == 0) mas_set_range(&mas, mas.index, mas.last);
        return error;
    }

    static void store(ma_state& mas, const TreeStep& step, TreeResult& result) {
        const bool clears = step.kind == Kind::Clear || step.kind == Kind::Erase;
        void* entry = clears ? nullptr : xa_mk_value(step.value);
        result.first = mas.index;
        result.last = mas.last;
        result.error = mas_preallocate(&mas, entry, GFP_NOWAIT);
        if (result.error != 0) return;
        result.store = store_name(mas.store_type);
        result.nodes = reserved(mas);
        mas_store_prealloc(&mas, entry);
    }

    maple_tree tree_;
};

// What is shown: the results so far, and pictures of the last step.
struct Run {
    std::vector<TreeResult> results;
    TreeShape before, after;
    bool sound = true;
};

Run perform(Tree& tree, const TreeScript& script, std::size_t steps) {
    Run run;
    for (std::size_t i = 0; i < steps; ++i) {
        if (i + 1 == steps) run.before = tree.shape();
        run.results.push_back(tree.perform(script.steps[i]));
    }
    run.after = tree.shape();
    run.sound = tree.is_sound();
    return run;
}

std::string result_text(const TreeResult& result) {
    if (result.error == -ENOENT) return result.text + ": nothing was there";
    if (result.error != 0) return fmt::format("{}: {}", result.text, std::strerror(-result.error));
    const std::string done = result.text + ": " + result.store;
    if (result.nodes == 0) return done;
    return done + fmt::format(", {} {} reserved", result.nodes, result.nodes == 1 ? "node" : "nodes");
}

void print_figures(const TreeShape& shape) {
    Table table({"type", "nodes", "bytes", "slots used", "of", "fill"});
    const auto row = [&](const char* name, const TreeShape::Fill& fill) {
        table.row({name, count(fill.nodes), count(fill.nodes * sizeof(maple_node)), count(fill.used),
                   count(fill.slots), percent(fill.slots ? double(fill.used) / double(fill.slots) : 0)});
    };
    TreeShape::Fill all;
    for (std::size_t type = 0; type < shape.fill.size(); ++type) {
        const TreeShape::Fill& fill = shape.fill[type];
        all = {all.nodes + fill.nodes, all.used + fill.used, all.slots + fill.slots};
        if (fill.nodes != 0) row(kTreeTypes[type], fill);
    }
    row("all", all);
    table.print(stdout);
    std::printf("\nheight %u, %s entries, %s bytes of nodes per entry\n", shape.height,
                count(shape.entries).c_str(), fixed(shape.bytes_per_entry(), 1).c_str());
}

void print_text(const Run& run, const TreePicture& picture) {
    for (const TreeResult& result : run.results)
        if (result.error != 0) std::printf("line %u: %s\n", result.line, result_text(result).c_str());
    if (!picture.title.empty()) std::printf("%s\n\n", picture.title.c_str());
    std::printf("%s\n", tree_text(picture).c_str());
    print_figures(run.after);
}

void set_shape(Json& json, const std::string& at, const TreeShape& shape) {
    json.set(at + "/height", shape.height);
    json.set(at + "/entries", shape.entries);
    json.set(at + "/bytes", shape.bytes());
    json.set(at + "/bytes_per_entry", shape.bytes_per_entry());
    json.set(at + "/fill", shape.fill_share());
    for (std::size_t type = 0; type < shape.fill.size(); ++type)
        json.set(at + "/nodes_by_type/" + kTreeTypes[type], shape.fill[type].nodes);
    if (shape.nodes.empty()) json.set(at + "/root_entry", shape.lone);
    for (std::size_t i = 0; i < shape.nodes.size(); ++i) {
        const TreeNode& node = shape.nodes[i];
        const std::string here = at + "/nodes/" + std::to_string(i);
        json.set(here + "/id", node.id);
        json.set(here + "/type", kTreeTypes[node.type]);
        json.set(here + "/depth", node.depth);
        json.set(here + "/slots", node.capacity);
        json.set(here + "/changed", node.changed);
        for (std::size_t k = 0; k < node.slots.size(); ++k) {
            const TreeSlot& slot = node.slots[k];
            const std::string there = here + "/content/" + std::to_string(k);
            json.set(there + "/first", slot.first);
            json.set(there + "/last", slot.last);
            if (node.type == TreeNode::Arange) json.set(there + "/gap", slot.gap);
            if (slot.child >= 0) json.set(there + "/node", shape.nodes[slot.child].id);
            if (node.type == TreeNode::Leaf && !slot.entry.empty()) json.set(there + "/entry", slot.entry);
        }
    }
}

Json json_of(const Run& run, const TreePicture& picture) {
    Json json("kmirror-tree", 1);
    for (std::size_t i = 0; i < run.results.size(); ++i) {
        const TreeResult& result = run.results[i];
        const std::string at = "/steps/" + std::to_string(i);
        json.set(at + "/line", result.line);
        json.set(at + "/operation", result.text);
        json.set(at + "/error", result.error);
        if (result.error != 0) continue;
        json.set(at + "/store", result.store);
        json.set(at + "/nodes", result.nodes);
        json.set(at + "/first", result.first);
        json.set(at + "/last", result.last);
    }
    json.set("/sound", run.sound);
    if (picture.before != nullptr) set_shape(json, "/before", *picture.before);
    set_shape(json, "/tree", *picture.after);
    return json;
}

void show(const TreeOptions& options, Tree& tree, const Run& run, const TreePicture& picture) {
    switch (options.form) {
    case Form::Text: print_text(run, picture); break;
    case Form::Dot: std::fputs(tree_dot(picture).c_str(), stdout); break;
    case Form::Svg: std::fputs(tree_svg(picture).c_str(), stdout); break;
    case Form::Json: std::fputs(json_of(run, picture).text().c_str(), stdout); break;
    case Form::Dump: tree.dump(); break;
    }
}

// The number of steps to do; 0 and one line when they are not there.
std::size_t steps_of(const TreeOptions& options, const TreeScript& script) {
    const std::size_t there = script.steps.size();
    if (options.step <= there && there != 0) return options.step != 0 ? options.step : there;
    if (options.step == 0)
        std::fprintf(stderr, "kmirror: %s holds no operation; it takes at least one\n",
                     options.file == "-" ? "stdin" : options.file.c_str());
    else
        bad_option("--step", std::to_string(options.step),
                   fmt::format("{} holds {} operations", options.file, there));
    return 0;
}

}  // namespace

int open_trace(const std::string& file) {
    const int error = file.empty() ? 0 : kmirror_trace_open(file.c_str());
    if (error == 0) return kDone;
    return bad_option("--trace", file, error == -EOPNOTSUPP ? "a release build has no trace points"
                      : error == -EBUSY ? "KMIRROR_TRACE has opened a trace already"
                                        : fmt::format("it takes a file that can be written: {}",
                                                      std::strerror(-error)));
}

int tree_main(const TreeOptions& options) {
    TreeScript script;
    std::string error;
    if (!read_tree_script(options.file, script, error)) {
        std::fprintf(stderr, "kmirror: %s\n", error.c_str());
        return kBadInput;
    }
    const std::size_t steps = steps_of(options, script);
    if (steps == 0 || open_trace(options.trace) != kDone) return kBadInput;
    Tree tree(script);
    Run run = perform(tree, script, steps);
    const bool traced = kmirror_trace_close() == 0;
    TreePicture picture;
    picture.after = &run.after;
    if (options.step != 0 || options.before_after) {
        mark_changes(run.before, run.after);
        picture.before = &run.before;
        picture.title = fmt::format("line {}: {}", run.results.back().line, result_text(run.results.back()));
    }
    show(options, tree, run, picture);
    if (!traced) std::fprintf(stderr, "kmirror: the trace could not be written whole\n");
    return run.sound && traced ? kDone : kFoundWrong;
}

}  // namespace kmirror::command
