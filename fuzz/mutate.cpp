// SPDX-License-Identifier: GPL-2.0-only
//
// The mutator; see mutate.h. Indices are drawn so that boundaries, neighbours and the ends of the index space
// are common: half of them repeat a number that the sequence has already, give or take a little.
#include "fuzz/mutate.h"

#include <algorithm>

namespace kmirror::fuzz {
namespace {

std::size_t room_for(std::size_t most_bytes)
{
    return most_bytes < kSetupBytes + kOperationBytes
               ? 0
               : std::min((most_bytes - kSetupBytes) / kOperationBytes, kMostOperations);
}

class Mutator {
public:
    Mutator(const Grammar &grammar, Sequence &sequence, std::size_t most, std::uint64_t seed)
        : grammar_(grammar), sequence_(sequence), all_(sequence.operations), most_(most), random_(seed)
    {
        for (const OperationKind &kind : grammar.operations)
            weights_ += kind.weight;
    }

    void change()
    {
        if (all_.empty())
            return insert();
        switch (random_.below(12)) {
        case 0: case 1: return insert();
        case 2: return remove();
        case 3: return swap();
        case 4: return duplicate();
        case 5: return other_kind();
        case 6: return other_setup();
        case 7: return remove_many();
        default: return other_field();
        }
    }

    void insert()
    {
        if (all_.size() >= most_)
            return other_field();
        all_.insert(all_.begin() + std::ptrdiff_t(random_.below(all_.size() + 1)), drawn());
    }

    void other_setup()
    {
        if (grammar_.setup.empty())
            return other_field();
        const std::size_t i = random_.below(grammar_.setup.size());
        sequence_.setup[i] = std::uint8_t(random_.below(grammar_.setup[i].choices.size()));
    }

private:
    Operation drawn()
    {
        Operation operation;
        std::uint64_t left = random_.below(weights_);
        for (const OperationKind &kind : grammar_.operations) {
            if (left < kind.weight)
                break;
            left -= kind.weight;
            operation.kind++;
        }
        for (const Field &field : grammar_.operations[operation.kind].fields)
            set(operation, field);
        order(operation);
        return operation;
    }

    // Where a first and a last index stand side by side, mostly in their order.
    void order(Operation &operation)
    {
        auto &[a, b, c, d] = operation.operand;
        if (a.near == Near::Number && b.near == Near::Number && a.number > b.number && !random_.one_in(8))
            std::swap(a.number, b.number);
    }

    void set(Operation &operation, const Field &field)
    {
        switch (field.slot) {
        case Slot::Place:
            operation.place = std::uint8_t(random_.one_in(2) ? 0 : random_.below(field.limit));
            break;
        case Slot::Value:
            operation.value = std::uint16_t(random_.below(random_.one_in(4) ? field.limit : 64) % field.limit);
            break;
        default:
            operand_of(operation, field) = field.limit ? Operand{small(field.limit)} : index();
        }
    }

    static Operand &operand_of(Operation &operation, const Field &field)
    {
        return operation.operand[std::size_t(field.slot) - std::size_t(Slot::Operand0)];
    }

    // Below `limit`; small ones are likelier.
    std::uint64_t small(std::uint64_t limit) { return random_.below(limit) >> random_.below(8); }

    Operand index()
    {
        Operand operand{place()};
        if (random_.one_in(4)) {
            operand.near = Near(1 + random_.below(4));
            operand.distance = std::int8_t(int(random_.below(5)) - 2);
        }
        return operand;
    }

    std::uint64_t place()
    {
        const std::uint64_t nudge = random_.one_in(2) ? 0 : random_.below(5) - 2;
        if (!all_.empty() && random_.one_in(2)) {
            const Operation &model = all_[random_.below(all_.size())];
            return model.operand[random_.below(2)].number + nudge * grammar_.unit;
        }
        switch (random_.below(6)) {
        case 0: return random_.below(64) * grammar_.unit;
        case 1: return random_.below(4096) * grammar_.unit + nudge;
        case 2: return (std::uint64_t{1} << random_.below(64)) + nudge;
        case 3: return grammar_.top - random_.below(64) * grammar_.unit;
        case 4: return random_.word() & grammar_.top;
        default: return random_.below(512) * grammar_.unit;
        }
    }

    Operation &any() { return all_[random_.below(all_.size())]; }

    void other_field()
    {
        if (all_.empty())
            return;
        Operation &operation = any();
        const auto &fields = grammar_.operations[operation.kind].fields;
        if (fields.empty())
            return other_kind();
        const Field &field = fields[random_.below(fields.size())];
        const bool is_index = field.slot >= Slot::Operand0 && field.limit == 0;
        if (is_index && random_.one_in(2))
            shift(operand_of(operation, field));
        else
            set(operation, field);
    }

    void shift(Operand &operand)
    {
        const std::uint64_t by = random_.one_in(4) ? std::uint64_t{1} << random_.below(12) : grammar_.unit;
        operand.number += random_.one_in(2) ? by : 0 - by;
    }

    void other_kind()
    {
        Operation &operation = any();
        const Operation fresh = drawn();
        operation.kind = fresh.kind;
        // Indices keep their meaning from one kind to another; the rest is new.
        operation.operand[2] = fresh.operand[2];
        operation.operand[3] = fresh.operand[3];
    }

    void remove() { all_.erase(all_.begin() + std::ptrdiff_t(random_.below(all_.size()))); }

    void remove_many()
    {
        const std::size_t from = random_.below(all_.size());
        const std::size_t count = std::min<std::size_t>(1 + random_.below(8), all_.size() - from);
        const auto first = all_.begin() + std::ptrdiff_t(from);
        all_.erase(first, first + std::ptrdiff_t(count));
    }

    void swap() { std::swap(any(), any()); }

    // Some operations once more, somewhere, perhaps moved.
    void duplicate()
    {
        const std::size_t from = random_.below(all_.size());
        const std::size_t room = most_ > all_.size() ? most_ - all_.size() : 0;
        const std::size_t count = std::min({1 + std::size_t(random_.below(8)), all_.size() - from, room});
        const auto first = all_.begin() + std::ptrdiff_t(from);
        std::vector<Operation> copy(first, first + std::ptrdiff_t(count));
        const std::uint64_t by = random_.one_in(2) ? 0 : place();
        for (Operation &operation : copy)
            for (unsigned i = 0; i < 2; i++)
                operation.operand[i].number += by;
        const auto at = all_.begin() + std::ptrdiff_t(random_.below(all_.size() + 1));
        all_.insert(at, copy.begin(), copy.end());
    }

    const Grammar &grammar_;
    Sequence &sequence_;
    std::vector<Operation> &all_;
    std::size_t most_;
    Random random_;
    std::uint64_t weights_ = 0;
};

} // namespace

void mutate(const Grammar &grammar, Sequence &sequence, std::size_t most_bytes, std::uint64_t seed)
{
    const std::size_t most = room_for(most_bytes);
    if (sequence.operations.size() > most)
        sequence.operations.resize(most);
    Mutator mutator(grammar, sequence, most, seed);
    Random random(~seed);
    for (std::uint64_t changes = 1 + (random.one_in(2) ? 0 : random.below(8)); changes; changes--)
        mutator.change();
    if (sequence.operations.empty() && most)
        mutator.insert();
    normalise(grammar, sequence);
}

Sequence cross(const Sequence &one, const Sequence &other, std::size_t most_bytes, std::uint64_t seed)
{
    Random random(seed);
    const std::size_t most = room_for(most_bytes);
    const auto *from = &one.operations, *to = &other.operations;
    Sequence result;
    result.setup = random.one_in(2) ? one.setup : other.setup;
    for (std::size_t i = 0, j = 0; (i < from->size() || j < to->size()) && result.operations.size() < most;) {
        const std::size_t end = std::min(from->size(), i + 1 + random.below(16));
        for (; i < end && result.operations.size() < most; i++)
            result.operations.push_back((*from)[i]);
        std::swap(from, to);
        std::swap(i, j);
    }
    return result;
}

Sequence draw(const Grammar &grammar, std::size_t count, std::uint64_t seed)
{
    Sequence sequence;
    Mutator mutator(grammar, sequence, count, seed);
    for (std::size_t i = 0; i < grammar.setup.size() * 4; i++)
        mutator.other_setup();
    while (sequence.operations.size() < count)
        mutator.insert();
    normalise(grammar, sequence);
    return sequence;
}

} // namespace kmirror::fuzz
