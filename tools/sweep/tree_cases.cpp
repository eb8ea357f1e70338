// SPDX-License-Identifier: GPL-2.0-only
//
// The tree's calls that allocate, on trees of several shapes. After a call the tree is sound, and holds what
// the model says: all of the change when it succeeded, none of it when it failed.

#include <cerrno>
#include <climits>
#include <cstdint>

#include <kmirror/fault.h>
#include <kmirror/maple_ops.h>
#include <kmirror/model.h>

#include "tools/sweep/cases.h"

namespace kmirror::sweeping {
namespace {

using model::RangeMap;

const maple_ops& ops() {
    static const maple_ops& table = *kmirror_maple_ops();
    return table;
}

// Entries [i * 10, i * 10 + 4] for i below entries; every tree leaves gaps of five.
struct Shape {
    const char* name;
    unsigned long entries;
    unsigned flags;
};
constexpr Shape kShapes[] = {
    {"empty", 0, MAPLE_OPS_ALLOC},          {"one entry", 1, MAPLE_OPS_ALLOC},
    {"full leaf", 7, MAPLE_OPS_PLAIN},      {"height 2, gaps", 60, MAPLE_OPS_ALLOC},
    {"height 3", 400, MAPLE_OPS_PLAIN},     {"height 3, RCU", 400, MAPLE_OPS_ALLOC | MAPLE_OPS_RCU},
    {"height 4, gaps", 1500, MAPLE_OPS_ALLOC},
};

class TreeScene : public SweepScene {
public:
    using Body = std::function<int(TreeScene&)>;

    TreeScene(const Shape& shape, Body body) : shape_(shape), body_(std::move(body)), tree_(new_tree()) {
        for (unsigned long i = 0; i < shape.entries; ++i) {
            ops().store_range(tree_, i * 10, i * 10 + 4, value(i), MAPLE_OPS_KERNEL);
            expected_.store(i * 10, i * 10 + 4, value(i));
        }
    }
    ~TreeScene() override {
        if (copy_ != nullptr) ops().tree_free(copy_);
        ops().tree_free(tree_);
    }

    int call() override { return body_(*this); }
    std::string check(int result) override {
        if (result >= 0 && change_) change_(expected_);
        std::string words = judge(tree_, expected_);
        if (copy_ != nullptr) words += judge(copy_, result >= 0 ? expected_ : RangeMap());
        return words;
    }

    // ---- for the bodies

    static void* value(unsigned long i) { return maple_ops_value(i); }
    maple_ops_tree* tree() { return tree_; }
    maple_ops_tree* copy() { return copy_; }
    void need_copy() { copy_ = new_tree(); }
    // What the model does when the call succeeds.
    void changes(std::function<void(RangeMap&)> change) { change_ = std::move(change); }
    unsigned long middle() const { return shape_.entries / 2 * 10; }
    unsigned long end() const { return shape_.entries * 10 + 100; }

private:
    maple_ops_tree* new_tree() { return ops().tree_new(shape_.flags); }

    static std::string judge(maple_ops_tree* tree, const RangeMap& expected) {
        ops().lock(tree);
        const unsigned long broken = ops().check(tree, false);
        ops().unlock(tree);
        return (broken != 0 ? std::to_string(broken) + " rules of the tree are broken; " : "") +
               expected.differences(&ops(), tree);
    }

    const Shape& shape_;
    Body body_;
    maple_ops_tree* tree_;
    maple_ops_tree* copy_ = nullptr;
    RangeMap expected_;
    std::function<void(RangeMap&)> change_;
};

int store(TreeScene& scene, unsigned long first, unsigned long last, void* entry) {
    scene.changes([=](RangeMap& map) { map.store(first, last, entry); });
    return ops().store_range(scene.tree(), first, last, entry, MAPLE_OPS_KERNEL);
}

// A cursor on [first, last] with the tree's lock held around the body.
template <typename Body>
int locked(TreeScene& scene, unsigned long first, unsigned long last, Body body) {
    maple_ops_cursor cursor;
    ops().cursor_range(&cursor, scene.tree(), first, last);
    ops().lock(scene.tree());
    const int status = body(cursor);
    ops().unlock(scene.tree());
    return status;
}

int error_of(maple_ops_cursor& cursor) {
    maple_ops_position at;
    ops().cursor_get(&cursor, &at);
    return at.status == MAPLE_OPS_ERROR ? at.error : 0;
}

struct Call {
    const char* name;
    bool gaps;   // only on trees that track them
    TreeScene::Body body;
};

std::vector<Call> stores() {
    return {
        {"mtree_store_range, into a range", false,
         [](TreeScene& s) { return store(s, s.middle() + 1, s.middle() + 2, TreeScene::value(9000)); }},
        {"mtree_store_range, over many", false,
         [](TreeScene& s) { return store(s, s.middle() / 2 + 2, s.middle() + 7, TreeScene::value(9001)); }},
        {"mtree_store_range, at the end", false,
         [](TreeScene& s) { return store(s, s.end(), s.end() + 9, TreeScene::value(9002)); }},
        {"mtree_store_range, everything", false,
         [](TreeScene& s) { return store(s, 0, ULONG_MAX, TreeScene::value(9003)); }},
        {"mtree_store_range, nothing over many", false,
         [](TreeScene& s) { return store(s, s.middle() / 2 + 2, s.middle() + 7, nullptr); }},
        {"mtree_store", false,
         [](TreeScene& s) { return store(s, s.middle() + 7, s.middle() + 7, TreeScene::value(1)); }},
        {"mtree_insert_range", false,
         [](TreeScene& s) {
             const unsigned long at = s.end() + 20;
             s.changes([=](RangeMap& map) { map.store(at, at + 5, TreeScene::value(9004)); });
             return ops().insert_range(s.tree(), at, at + 5, TreeScene::value(9004), MAPLE_OPS_KERNEL);
         }},
        {"mtree_insert", false,
         [](TreeScene& s) {
             const unsigned long at = s.middle() + 8;
             s.changes([=](RangeMap& map) { map.store(at, at, TreeScene::value(9005)); });
             return ops().insert(s.tree(), at, TreeScene::value(9005), MAPLE_OPS_KERNEL);
         }},
        {"mtree_erase", false,
         [](TreeScene& s) {
             const unsigned long at = s.middle() + 3;
             const bool there = ops().load(s.tree(), at) != nullptr;
             s.changes([=](RangeMap& map) { map.erase(at); });
             return ops().erase(s.tree(), at) != nullptr || !there ? 0 : -ENOMEM;
         }},
    };
}

std::vector<Call> searches() {
    return {
        {"mtree_alloc_range", true,
         [](TreeScene& s) {
             unsigned long start = 0;
             const int status = ops().alloc_range(s.tree(), &start, TreeScene::value(9010), 5, 0,
                                                  ULONG_MAX / 2, MAPLE_OPS_KERNEL);
             s.changes([=](RangeMap& map) { map.store(start, start + 4, TreeScene::value(9010)); });
             return status;
         }},
        {"mtree_alloc_rrange", true,
         [](TreeScene& s) {
             unsigned long start = 0;
             const int status = ops().alloc_rrange(s.tree(), &start, TreeScene::value(9011), 5, 0,
                                                   s.middle() + 100, MAPLE_OPS_KERNEL);
             s.changes([=](RangeMap& map) { map.store(start, start + 4, TreeScene::value(9011)); });
             return status;
         }},
        {"mtree_alloc_cyclic", true,
         [](TreeScene& s) {
             unsigned long start = 0, next = s.middle();
             const int status = ops().alloc_cyclic(s.tree(), &start, TreeScene::value(9012), 0, ULONG_MAX / 2,
                                                   &next, MAPLE_OPS_KERNEL);
             s.changes([=](RangeMap& map) { map.store(start, start, TreeScene::value(9012)); });
             return status;
         }},
    };
}

std::vector<Call> cursors() {
    return {
        {"mas_store_gfp", false,
         [](TreeScene& s) {
             const unsigned long first = s.middle() + 2, last = s.middle() + 33;
             s.changes([=](RangeMap& map) { map.store(first, last, TreeScene::value(9020)); });
             return locked(s, first, last, [](maple_ops_cursor& cursor) {
                 return ops().mas_store_gfp(&cursor, TreeScene::value(9020), MAPLE_OPS_NOWAIT);
             });
         }},
        {"mas_preallocate, mas_store_prealloc", false,
         [](TreeScene& s) {
             const unsigned long first = s.middle() + 1, last = s.middle() + 18;
             s.changes([=](RangeMap& map) { map.store(first, last, TreeScene::value(9021)); });
             return locked(s, first, last, [](maple_ops_cursor& cursor) {
                 const int status = ops().mas_preallocate(&cursor, TreeScene::value(9021), MAPLE_OPS_NOWAIT);
                 if (status == 0) ops().mas_store_prealloc(&cursor, TreeScene::value(9021));
                 return status;
             });
         }},
        {"mas_preallocate, given up", false,
         [](TreeScene& s) {
             return locked(s, s.middle(), s.middle() + 18, [](maple_ops_cursor& cursor) {
                 const int status = ops().mas_preallocate(&cursor, TreeScene::value(9022), MAPLE_OPS_NOWAIT);
                 ops().mas_destroy(&cursor);
                 return status;
             });
         }},
        {"mas_store, mas_nomem", false,
         [](TreeScene& s) {
             const unsigned long first = s.middle() + 1, last = s.middle() + 3;
             s.changes([=](RangeMap& map) { map.store(first, last, TreeScene::value(9023)); });
             return locked(s, first, last, [](maple_ops_cursor& cursor) {
                 do {
                     ops().mas_store(&cursor, TreeScene::value(9023));
                 } while (ops().mas_nomem(&cursor, MAPLE_OPS_NOWAIT));
                 const int status = error_of(cursor);
                 ops().mas_destroy(&cursor);
                 return status;
             });
         }},
        {"mas_alloc_cyclic", true,
         [](TreeScene& s) {
             unsigned long start = 0, next = s.middle();
             const int status = locked(s, 0, 0, [&](maple_ops_cursor& cursor) {
                 return ops().mas_alloc_cyclic(&cursor, &start, TreeScene::value(9024), 0, ULONG_MAX / 2, &next,
                                               MAPLE_OPS_NOWAIT);
             });
             s.changes([=](RangeMap& map) { map.store(start, start, TreeScene::value(9024)); });
             return status;
         }},
        {"mas_erase", false,
         [](TreeScene& s) {
             const unsigned long at = s.middle() + 1;
             const bool there = ops().load(s.tree(), at) != nullptr;
             s.changes([=](RangeMap& map) { map.erase(at); });
             return locked(s, at, at, [there](maple_ops_cursor& cursor) {
                 return ops().mas_erase(&cursor) != nullptr || !there ? 0 : -ENOMEM;
             });
         }},
    };
}

std::vector<Call> duplications() {
    return {
        {"mtree_dup", false,
         [](TreeScene& s) {
             kmirror_fault_pause();
             s.need_copy();
             kmirror_fault_resume();
             return ops().dup(s.tree(), s.copy(), MAPLE_OPS_KERNEL);
         }},
        {"__mt_dup", false,
         [](TreeScene& s) {
             kmirror_fault_pause();
             s.need_copy();
             kmirror_fault_resume();
             ops().lock(s.tree());
             ops().lock_nested(s.copy());
             const int status = ops().dup_locked(s.tree(), s.copy(), MAPLE_OPS_NOWAIT);
             ops().unlock(s.copy());
             ops().unlock(s.tree());
             return status;
         }},
        {"mtree_destroy", false,
         [](TreeScene& s) {
             s.changes([](RangeMap& map) { map.clear(); });
             ops().destroy(s.tree());
             return 0;
         }},
    };
}

}  // namespace

std::vector<Case> tree_cases() {
    std::vector<Case> cases;
    for (const std::vector<Call>& group : {stores(), searches(), cursors(), duplications()}) {
        for (const Call& call : group) {
            for (const Shape& shape : kShapes) {
                if (call.gaps && !(shape.flags & MAPLE_OPS_ALLOC)) continue;
                cases.push_back({call.name, shape.name,
                                 [call, &shape] { return std::make_unique<TreeScene>(shape, call.body); }});
            }
        }
    }
    return cases;
}

}  // namespace kmirror::sweeping
