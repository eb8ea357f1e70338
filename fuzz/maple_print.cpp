// SPDX-License-Identifier: GPL-2.0-only
//
// Steps as code; see maple_print.h.
#include "fuzz/maple_print.h"

#include <cerrno>
#include <climits>
#include <cstdio>
#include <set>

namespace kmirror::fuzz {
namespace {

std::string index_text(unsigned long index)
{
    if (index == ULONG_MAX)
        return "ULONG_MAX";
    if (index > LONG_MAX)
        return "ULONG_MAX - " + std::to_string(ULONG_MAX - index);
    return std::to_string(index) + (index > INT_MAX ? "UL" : "");
}

std::string entry_text(const void *entry)
{
    const auto word = reinterpret_cast<std::uintptr_t>(entry);
    if (!entry)
        return "NULL";
    char text[40];
    if (word & 1)
        std::snprintf(text, sizeof(text), "xa_mk_value(%lu)", static_cast<unsigned long>(word >> 1));
    else
        std::snprintf(text, sizeof(text), "(void *)0x%lxUL", static_cast<unsigned long>(word));
    return text;
}

std::string error_text(int error)
{
    switch (error) {
    case -EINVAL: return "-EINVAL";
    case -EEXIST: return "-EEXIST";
    case -EBUSY: return "-EBUSY";
    case -ENOMEM: return "-ENOMEM";
    default: return std::to_string(error);
    }
}

// The function of the kernel that an operation stands for.
const char *function_of(MapleOp op)
{
    switch (op) {
    case MapleOp::Store: return "mtree_store";
    case MapleOp::StoreRange:
    case MapleOp::Clear: return "mtree_store_range";
    case MapleOp::Insert: return "mtree_insert";
    case MapleOp::InsertRange: return "mtree_insert_range";
    case MapleOp::Erase: return "mtree_erase";
    case MapleOp::Alloc: return "mtree_alloc_range";
    case MapleOp::AllocHigh: return "mtree_alloc_rrange";
    case MapleOp::AllocCyclic: return "mtree_alloc_cyclic";
    case MapleOp::Load: return "mtree_load";
    case MapleOp::Find: return "mt_find";
    case MapleOp::FindAfter: return "mt_find_after";
    case MapleOp::Next: return "mt_next";
    case MapleOp::Prev: return "mt_prev";
    case MapleOp::SetRcu: return "mt_set_in_rcu";
    case MapleOp::ClearRcu: return "mt_clear_in_rcu";
    case MapleOp::CursorBulk: return "mas_expected_entries";
    default: return maple_grammar().operations[std::size_t(op)].name;
    }
}

class Writer {
public:
    Writer(const Step &step, const Answer &expected, Code code, const std::string &indent)
        : step_(step), expected_(expected), code_(code), indent_(indent), t_("&t" + std::to_string(step.tree)),
          mas_("mas" + std::to_string(step.tree)), function_(function_of(step.op)),
          gfp_(step.gfp & MAPLE_OPS_NOWAIT ? "GFP_NOWAIT" : "GFP_KERNEL")
    {
    }

    std::string text()
    {
        if (step_.skipped)
            return {};
        if (step_.fail_nth)
            line("/* request " + std::to_string(step_.fail_nth) + " for memory fails in the next call */");
        if (step_.op <= MapleOp::AllocCyclic)
            simple();
        else if (step_.op <= MapleOp::Empty)
            read();
        else if (step_.op <= MapleOp::CacheShrink)
            whole();
        else if (step_.op <= MapleOp::ClearRun)
            run();
        else
            locked();
        return text_;
    }

private:
    void line(const std::string &statement) { text_ += indent_ + statement + "\n"; }

    void check(const std::string &what, const std::string &expected)
    {
        if (code_ == Code::Kernel)
            line("MT_BUG_ON(" + t_ + ", " + what + " != " + expected + ");");
        else
            line("EXPECT_EQ(" + what + ", " + expected + ");");
    }

    // function(tree or cursor, arguments)
    std::string call(const std::string &subject, std::initializer_list<std::string> arguments) const
    {
        std::string result = function_ + "(" + subject;
        for (const std::string &argument : arguments)
            result += ", " + argument;
        return result + ")";
    }

    void check_at(unsigned long first, unsigned long last)
    {
        check(mas_ + ".index", index_text(first));
        check(mas_ + ".last", index_text(last));
    }

    void simple()
    {
        const std::string first = index_text(step_.first), last = index_text(step_.last);
        const std::string entry = entry_text(step_.entry()), error = error_text(expected_.error);
        switch (step_.op) {
        case MapleOp::Store:
        case MapleOp::Insert:
            return check(call(t_, {first, entry, gfp_}), error);
        case MapleOp::StoreRange:
        case MapleOp::Clear:
        case MapleOp::InsertRange:
            return check(call(t_, {first, last, entry, gfp_}), error);
        case MapleOp::Erase:
            return check(call(t_, {first}), entry_text(expected_.entry));
        case MapleOp::AllocCyclic:
            check(call(t_, {"&index", entry, first, last, "&next" + std::to_string(step_.tree), gfp_}), error);
            break;
        default:
            check(call(t_, {"&index", entry, index_text(step_.size), first, last, gfp_}), error);
        }
        if (expected_.has_range)
            check("index", index_text(expected_.first));
    }

    void read()
    {
        const std::string first = index_text(step_.first), last = index_text(step_.last);
        switch (step_.op) {
        case MapleOp::Load:
            return check(call(t_, {first}), entry_text(expected_.entry));
        case MapleOp::Find:
        case MapleOp::FindAfter:
            line("index = " + first + ";");
            check(call(t_, {"&index", last}), entry_text(expected_.entry));
            return check("index", index_text(expected_.first));
        case MapleOp::Next:
        case MapleOp::Prev:
            return check(call(t_, {first, last}), entry_text(expected_.entry));
        case MapleOp::Each:
            line("index = " + first + ";");
            line("count = 0;");
            line("mt_for_each(" + t_ + ", entry, index, " + last + ")");
            line("\tcount++;");
            return check("count", index_text(expected_.count));
        default:
            return check("mtree_empty(" + t_ + ")", expected_.count ? "true" : "false");
        }
    }

    void whole()
    {
        switch (step_.op) {
        case MapleOp::Destroy:
            return line("mtree_destroy(" + t_ + ");");
        case MapleOp::Dup:
            return check("mtree_dup(" + t_ + ", &t" + std::to_string(step_.other) + ", " + gfp_ + ")",
                         error_text(expected_.error));
        case MapleOp::CacheShrink:
            return line("mt_cache_shrink();");
        default:
            return line(call(t_, {}) + ";");
        }
    }

    std::string at_of_run(unsigned long from) const
    {
        return index_text(from) + " + i * " + index_text(step_.stride);
    }

    void run()
    {
        line("for (i = 0; i < " + std::to_string(step_.count) + "; i++)");
        indent_ += "\t";
        if (step_.op == MapleOp::EraseRun)
            return line("mtree_erase(" + t_ + ", " + at_of_run(step_.first) + ");");
        const std::string entry =
            step_.clears ? "NULL" : "xa_mk_value(" + std::to_string(step_.value) + " + i)";
        check("mtree_store_range(" + t_ + ", " + at_of_run(step_.first) + ", " +
                  at_of_run(step_.last_of_run(0)) + ", " + entry + ", GFP_KERNEL)",
              "0");
    }

    // What needs the lock.
    void locked()
    {
        line("mas_lock(&" + mas_ + ");");
        if (step_.op <= MapleOp::CursorReset)
            place();
        else if (step_.op <= MapleOp::CursorFindRangeRev)
            move();
        else if (step_.op <= MapleOp::CursorGapHigh)
            search();
        else if (step_.op == MapleOp::CursorBulk)
            bulk();
        else
            write();
        line("mas_unlock(&" + mas_ + ");");
    }

    void place()
    {
        const std::string range = index_text(step_.first) + ", " + index_text(step_.last);
        if (step_.op == MapleOp::CursorSet)
            line("mas_set_range(&" + mas_ + ", " + range + ");");
        else if (step_.op == MapleOp::CursorMove)
            line("__mas_set_range(&" + mas_ + ", " + range + ");");
        else
            line(call("&" + mas_, {}) + ";");
    }

    void move()
    {
        const bool walks = step_.op == MapleOp::CursorWalk;
        check(walks ? call("&" + mas_, {}) : call("&" + mas_, {index_text(step_.first)}),
              entry_text(expected_.entry));
        if (expected_.has_range)
            check_at(expected_.first, expected_.last);
    }

    void search()
    {
        const std::string first = index_text(step_.first), last = index_text(step_.last);
        line("mas_set(&" + mas_ + ", " + first + ");");
        if (step_.op == MapleOp::CursorEach || step_.op == MapleOp::CursorEachRev) {
            line("count = 0;");
            line(function_ + "(&" + mas_ + ", entry, " + last + ")");
            line("\tcount++;");
            return check("count", index_text(expected_.count));
        }
        check(call("&" + mas_, {first, last, index_text(step_.size)}), error_text(expected_.error));
        if (expected_.has_range)
            check_at(expected_.first, expected_.last);
        else
            line("mas_set(&" + mas_ + ", " + first + ");");
    }

    void write()
    {
        const std::string entry = entry_text(step_.entry()), mas = "&" + mas_;
        switch (step_.op) {
        case MapleOp::CursorStore:
            return line("mas_store(" + mas + ", " + entry + ");");
        case MapleOp::CursorStoreGfp:
            return check(call(mas, {entry, gfp_}), "0");
        case MapleOp::CursorPrealloc:
            check("mas_preallocate(" + mas + ", " + entry + ", " + gfp_ + ")", "0");
            return line("mas_store_prealloc(" + mas + ", " + entry + ");");
        case MapleOp::CursorPreallocDrop:
            check("mas_preallocate(" + mas + ", " + entry + ", " + gfp_ + ")", "0");
            line("mas_destroy(" + mas + ");");
            return line("mas_set_range(" + mas + ", " + index_text(step_.first) + ", " +
                        index_text(step_.last) + ");");
        case MapleOp::CursorErase:
            return check(call(mas, {}), entry_text(expected_.entry));
        default:
            break;
        }
        line("mas_reset(" + mas + ");");
        check(call(mas, {"&index", entry, index_text(step_.first), index_text(step_.last),
                         "&next" + std::to_string(step_.tree), gfp_}),
              error_text(expected_.error));
        if (expected_.has_range)
            check("index", index_text(expected_.first));
        else
            line("mas_set(" + mas + ", " + index_text(step_.first) + ");");
    }

    void bulk()
    {
        const std::string mas = "&" + mas_;
        line("mas_set(" + mas + ", " + index_text(step_.first) + ");");
        check(call(mas, {std::to_string(step_.count)}), "0");
        line("for (i = 0; i < " + std::to_string(step_.count) + "; i++) {");
        line("\tmas_set_range(" + mas + ", " + at_of_run(step_.first) + ", " +
             at_of_run(step_.last_of_run(0)) + ");");
        line("\tmas_store(" + mas + ", xa_mk_value(" + std::to_string(step_.value) + " + i));");
        line("}");
        line("mas_destroy(" + mas + ");");
    }

    const Step &step_;
    const Answer &expected_;
    Code code_;
    std::string indent_, text_;
    const std::string t_, mas_, function_, gfp_;
};

// ---- a whole function

std::string flags_text(unsigned kind)
{
    std::string text;
    if (kind & MAPLE_OPS_ALLOC)
        text = "MT_FLAGS_ALLOC_RANGE";
    if (kind & MAPLE_OPS_RCU)
        text += std::string(text.empty() ? "" : " | ") + "MT_FLAGS_USE_RCU";
    return text.empty() ? "0" : text;
}

// Steps that put the cursor of their tree aside, as MapleTable::forget_place() does.
bool forgets_place(const Step &step)
{
    return step.op <= MapleOp::AllocCyclic || step.op == MapleOp::Destroy ||
           (step.op >= MapleOp::StoreRun && step.op <= MapleOp::ClearRun) || step.op == MapleOp::CursorBulk;
}

bool has_word(const std::string &text, const std::string &word)
{
    for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
        const auto is_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        if ((at == 0 || !is_name(text[at - 1])) && !is_name(text[at + word.size()]))
            return true;
    }
    return false;
}

const char *indent_of(Code code) { return code == Code::Kernel ? "\t" : "    "; }

// Declarations of what `body` uses, then the trees' beginnings.
std::string head_of(const std::string &body, const std::set<unsigned> &trees, const Setup &setup,
                    const std::string &indent)
{
    std::string text, begin;
    for (const unsigned tree : trees) {
        const std::string n = std::to_string(tree);
        text += indent + "struct maple_tree t" + n + ";\n";
        if (has_word(body, "next" + n))
            text += indent + "unsigned long next" + n + " = 0;\n";
        begin += indent + "mt_init_flags(&t" + n + ", " + flags_text(maple_kinds(setup)[tree]) + ");\n";
    }
    for (const unsigned tree : trees) {
        const std::string n = std::to_string(tree);
        if (has_word(body, "mas" + n))
            text += indent + "MA_STATE(mas" + n + ", &t" + n + ", 0, 0);\n";
    }
    for (const char *name : {"i", "index", "count"})
        if (has_word(body, name))
            text += indent + "unsigned long " + name + (name[1] == 'n' ? " = 0" : "") + ";\n";
    if (has_word(body, "entry"))
        text += indent + "void *entry;\n";
    return text + "\n" + begin + "\n";
}

} // namespace

std::string step_code(const Step &step, const Answer &expected, Code code, const std::string &indent)
{
    std::string text = Writer(step, expected, code, indent).text();
    return text;
}

void maple_statements(const Sequence &sequence, const MapleRunOptions &how, Code code, const StatementSink &sink)
{
    const std::string indent = indent_of(code);
    std::set<unsigned> cursors;
    MapleRunOptions options = how;
    options.listener = [&](const Step &step, const Answer &expected, const MapleTable &) {
        std::string text = step_code(step, expected, code, indent);
        const unsigned moved = step.op == MapleOp::Dup ? step.other : step.tree;
        if (step.op >= MapleOp::CursorSet)
            cursors.insert(moved);
        if ((forgets_place(step) || step.op == MapleOp::Dup) && cursors.count(moved))
            text += indent + "mas_reset(&mas" + std::to_string(moved) + ");\n";
        sink(text);
    };
    run_maple(sequence, options);
}

std::string maple_function(const Setup &setup, const std::string &statements, Code code, const std::string &name)
{
    const std::string indent = indent_of(code);
    std::set<unsigned> trees;
    for (unsigned tree = 0; tree < kMapleTrees; tree++)
        if (has_word(statements, "t" + std::to_string(tree)) || has_word(statements, "mas" + std::to_string(tree)))
            trees.insert(tree);
    std::string text = code == Code::Kernel ? "static noinline void __init " + name + "(void)\n{\n"
                                            : "TEST(MapleFuzz, " + name + ")\n{\n";
    text += head_of(statements, trees, setup, indent) + statements;
    for (const unsigned tree : trees)
        text += indent + "mt_validate(&t" + std::to_string(tree) + ");\n";
    for (const unsigned tree : trees)
        text += indent + "mtree_destroy(&t" + std::to_string(tree) + ");\n";
    return text + "}\n";
}

std::string maple_code(const Sequence &sequence, Code code, const std::string &name, const maple_ops *ops)
{
    std::string statements;
    MapleRunOptions options;
    options.ops = ops;
    maple_statements(sequence, options, code, [&](const std::string &text) { statements += text; });
    return maple_function(sequence.setup, statements, code, name);
}

StepListener maple_narrator(unsigned verbosity)
{
    return [verbosity](const Step &step, const Answer &expected, const MapleTable &table) {
        std::fputs(step_code(step, expected, Code::Kernel, "\t").c_str(), stderr);
        if (verbosity < 2)
            return;
        table.ops()->lock(table.tree(step.tree));
        table.ops()->dump(table.tree(step.tree), false);
        table.ops()->unlock(table.tree(step.tree));
    };
}

} // namespace kmirror::fuzz
