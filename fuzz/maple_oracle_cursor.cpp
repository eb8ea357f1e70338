// SPDX-License-Identifier: GPL-2.0-only
//
// Where mas_next(), mas_prev(), mas_find() and their kin must go, by the cursor's status; see maple_oracle.h.
//
//   next    not beyond a limit that is met already; over the range under the cursor, which an underflow has
//           not handed out yet
//   find    the range under a new cursor is an answer; behind a paused one it begins
//   backwards the same, with overflow and underflow changed
#include "fuzz/maple_oracle.h"

#include <climits>

namespace kmirror::fuzz {
namespace {

using model::Range;
using model::RangeMap;

class Judge {
public:
    Judge(const RangeMap &map, const maple_ops_position &at, unsigned long limit, bool ranges)
        : map_(map), at_(at), limit_(limit), ranges_(ranges)
    {
    }

    Answer next() const
    {
        if (at_.status == MAPLE_OPS_ROOT || at_.last >= limit_)
            return {};
        return at_.status == MAPLE_OPS_UNDERFLOW ? here_or_up(at_.first) : up(at_.first);
    }

    Answer prev() const
    {
        if (at_.first <= limit_)
            return {};
        return at_.status == MAPLE_OPS_OVERFLOW ? here_or_down(at_.first) : down(at_.first);
    }

    Answer find() const
    {
        switch (at_.status) {
        case MAPLE_OPS_START:
            return at_.first > limit_ ? Answer{} : here_or_up(at_.first);
        case MAPLE_OPS_PAUSE:
            return at_.last >= limit_ ? Answer{} : here_or_up(at_.last + 1);
        case MAPLE_OPS_NONE:
            return at_.last >= limit_ ? Answer{} : here_or_up(at_.last);
        case MAPLE_OPS_OVERFLOW:
            return at_.last >= limit_ ? Answer{} : here_or_up(at_.first);
        case MAPLE_OPS_UNDERFLOW:
            return at_.first >= limit_ ? Answer{} : here_or_up(at_.first);
        case MAPLE_OPS_ROOT:
            return {};
        default:
            return at_.last >= limit_ ? Answer{} : up(at_.first);
        }
    }

    Answer find_rev() const
    {
        switch (at_.status) {
        case MAPLE_OPS_START:
            return at_.first < limit_ ? Answer{} : here_or_down(at_.first);
        case MAPLE_OPS_PAUSE:
            return at_.first <= limit_ ? Answer{} : here_or_down(at_.first - 1);
        case MAPLE_OPS_NONE:
            return at_.first <= limit_ ? Answer{} : here_or_down(at_.first);
        case MAPLE_OPS_OVERFLOW:
        case MAPLE_OPS_UNDERFLOW:
            return at_.first <= limit_ ? Answer{} : down(at_.first);
        case MAPLE_OPS_ROOT:
            return {};
        default:
            return at_.first < limit_ ? Answer{} : down(at_.first);
        }
    }

private:
    static Answer answer(const Range &range)
    {
        Answer answer;
        if (!range.entry)
            return answer;
        answer.entry = range.entry;
        answer.has_range = true;
        answer.first = range.first;
        answer.last = range.last;
        return answer;
    }

    static Answer answer(const std::optional<Range> &range) { return range ? answer(*range) : Answer{}; }

    Answer up(unsigned long index) const
    {
        const Range here = map_.at(index);
        if (here.last >= limit_)
            return {};
        return ranges_ ? answer(map_.at(here.last + 1)) : answer(map_.next(here.last, limit_));
    }

    Answer down(unsigned long index) const
    {
        const Range here = map_.at(index);
        if (here.first <= limit_)
            return {};
        return ranges_ ? answer(map_.at(here.first - 1)) : answer(map_.prev(here.first, limit_));
    }

    Answer here_or_up(unsigned long index) const
    {
        const Range here = map_.at(index);
        return here.entry ? answer(here) : up(index);
    }

    Answer here_or_down(unsigned long index) const
    {
        const Range here = map_.at(index);
        return here.entry ? answer(here) : down(index);
    }

    const RangeMap &map_;
    const maple_ops_position &at_;
    unsigned long limit_;
    bool ranges_;
};

Answer walk(const RangeMap &map, unsigned long index)
{
    const Range here = map.at(index);
    Answer answer;
    answer.entry = here.entry;
    answer.has_range = true;
    answer.first = here.first;
    answer.last = here.last;
    return answer;
}

} // namespace

Answer expect_cursor(const RangeMap &map, const Step &step, const maple_ops_position &at)
{
    if (step.op == MapleOp::CursorWalk)
        return walk(map, at.first);
    const unsigned way = unsigned(step.op) - unsigned(MapleOp::CursorNext);
    const Judge judge(map, at, step.first, way % 2 == 1);
    Answer answer;
    switch (way / 2) {
    case 0: answer = judge.next(); break;
    case 1: answer = judge.prev(); break;
    case 2: answer = judge.find(); break;
    default: answer = judge.find_rev();
    }
    // A gap search, or a move, leaves the cursor inside a range. The kernel takes the cursor's own limits for
    // the range's: the entry is right then, the range found may reach up to them.
    const Range here = map.at(at.first);
    const bool stands = at.status == MAPLE_OPS_ACTIVE || at.status == MAPLE_OPS_OVERFLOW ||
                        at.status == MAPLE_OPS_UNDERFLOW;
    if (stands && (at.first != here.first || at.last != here.last)) {
        answer.has_range = false;
        answer.first = answer.last = 0;
    }
    return answer;
}

} // namespace kmirror::fuzz
