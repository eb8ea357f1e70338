// SPDX-License-Identifier: GPL-2.0-only
//
// Smaller inputs that fail; see shrink.h.
#include "fuzz/shrink.h"

#include <algorithm>

namespace kmirror::fuzz {
namespace {

// Takes parts of `all` out, large ones first, as long as `fails` says so. `all` is what `fails` judges.
template <class T, class Fails>
bool remove_parts(std::vector<T> &all, const Fails &fails)
{
    bool smaller = false;
    for (std::size_t part = std::max<std::size_t>(all.size() / 2, 1); part && !all.empty(); part /= 2) {
        for (std::size_t at = 0; at < all.size();) {
            const std::vector<T> before = all;
            const auto from = all.begin() + std::ptrdiff_t(at);
            all.erase(from, from + std::ptrdiff_t(std::min(part, all.size() - at)));
            if (fails()) {
                smaller = true;
                continue;
            }
            all = before;
            at += part;
        }
    }
    return smaller;
}

class Shrinker {
public:
    Shrinker(const Grammar &grammar, Sequence sequence, const SequenceJudge &judge)
        : grammar_(grammar), sequence_(std::move(sequence)), judge_(judge)
    {
    }

    Sequence go()
    {
        const auto still = [this] { return fails(); };
        for (bool smaller = true; smaller;) {
            smaller = remove_parts(sequence_.operations, still);
            smaller |= smaller_fields();
        }
        return sequence_;
    }

private:
    bool fails() { return tries_++ < kMostTries && judge_(sequence_); }

    template <class T>
    bool try_value(T &field, T value)
    {
        if (field == value)
            return false;
        const T before = field;
        field = value;
        if (fails())
            return true;
        field = before;
        return false;
    }

    bool smaller_fields()
    {
        bool smaller = false;
        for (std::uint8_t &setup : sequence_.setup)
            smaller |= try_value(setup, std::uint8_t{0});
        for (Operation &operation : sequence_.operations)
            for (const Field &field : grammar_.operations[operation.kind].fields)
                smaller |= smaller_field(operation, field);
        return smaller;
    }

    bool smaller_field(Operation &operation, const Field &field)
    {
        switch (field.slot) {
        case Slot::Place:
            return try_value(operation.place, std::uint8_t{0});
        case Slot::Value:
            return try_value(operation.value, std::uint16_t{0}) ||
                   (operation.value > 1 && try_value(operation.value, std::uint16_t{1}));
        default:
            return smaller_operand(
                operation.operand[std::size_t(field.slot) - std::size_t(Slot::Operand0)]);
        }
    }

    // Zero, else fewer and fewer bits taken away. A place near something becomes a number.
    bool smaller_operand(Operand &operand)
    {
        bool smaller = try_value(operand, Operand{}) || try_value(operand, Operand{operand.number});
        for (unsigned bits = 63; bits; bits--) {
            const std::uint64_t less = std::uint64_t{1} << (bits - 1);
            while (operand.number >= less && try_value(operand, with_number(operand, operand.number - less)))
                smaller = true;
        }
        return smaller;
    }

    static Operand with_number(Operand operand, std::uint64_t number)
    {
        operand.number = number;
        return operand;
    }

    const Grammar &grammar_;
    Sequence sequence_;
    const SequenceJudge &judge_;
    unsigned tries_ = 0;
};

} // namespace

Sequence shrink(const Grammar &grammar, Sequence sequence, const SequenceJudge &fails)
{
    return Shrinker(grammar, std::move(sequence), fails).go();
}

std::vector<std::uint8_t> shrink(std::vector<std::uint8_t> bytes, const BytesJudge &fails)
{
    unsigned tries = 0;
    while (remove_parts(bytes, [&] { return tries++ < kMostTries && fails(bytes); })) {
    }
    return bytes;
}

} // namespace kmirror::fuzz
