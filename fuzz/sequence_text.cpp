// SPDX-License-Identifier: GPL-2.0-only
//
// Sequences as text; see sequence.h. Fields may stand in any order and be left out: they are zero then.
#include "fuzz/sequence.h"

#include <charconv>

namespace kmirror::fuzz {
namespace {

constexpr const char *kNearNames[] = {"", "first", "last", "low", "high"};

// ---- writing

// The ends of the index space are what matters about a large number.
std::string number_text(std::uint64_t number)
{
    if (number <= INT64_MAX)
        return std::to_string(number);
    const std::uint64_t below = ~number;
    return below ? "max-" + std::to_string(below) : "max";
}

std::string operand_text(const Operand &operand)
{
    if (operand.near == Near::Number)
        return number_text(operand.number);
    std::string text = std::string(kNearNames[std::size_t(operand.near)]) + "(" +
                       number_text(operand.number) + ")";
    if (operand.distance)
        text += (operand.distance > 0 ? "+" : "") + std::to_string(operand.distance);
    return text;
}

std::string field_text(const Field &field, const Operation &operation)
{
    switch (field.slot) {
    case Slot::Place:
        return std::to_string(operation.place);
    case Slot::Value:
        return std::to_string(operation.value);
    default:
        return operand_text(operation.operand[std::size_t(field.slot) - std::size_t(Slot::Operand0)]);
    }
}

// ---- reading

bool take(std::string_view &text, std::string_view word)
{
    if (!text.starts_with(word))
        return false;
    text.remove_prefix(word.size());
    return true;
}

template <class Number>
bool take_digits(std::string_view &text, Number &number, int base = 10)
{
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    text.remove_prefix(std::size_t(end - text.data()));
    return error == std::errc();
}

bool take_number(std::string_view &text, std::uint64_t &number)
{
    if (!take(text, "max"))
        return take(text, "0x") ? take_digits(text, number, 16) : take_digits(text, number);
    number = 0;
    const bool fine = !take(text, "-") || take_digits(text, number);
    number = ~number;
    return fine;
}

bool take_distance(std::string_view &text, std::int8_t &distance)
{
    int number = 0;
    take(text, "+");
    if (!text.empty() && !take_digits(text, number))
        return false;
    distance = std::int8_t(number);
    return number >= -16 && number <= 15;
}

bool read_operand(std::string_view text, Operand &operand)
{
    operand = {};
    for (std::size_t near = 1; near < std::size(kNearNames); near++) {
        std::string_view rest = text;
        if (!take(rest, kNearNames[near]) || !take(rest, "("))
            continue;
        operand.near = Near(near);
        return take_number(rest, operand.number) && take(rest, ")") && take_distance(rest, operand.distance) &&
               rest.empty();
    }
    return take_number(text, operand.number) && text.empty();
}

// Empty: read.
std::string read_field(const Field &field, std::string_view text, Operation &operation)
{
    Operand operand;
    const std::string name(field.name);
    if (!read_operand(text, operand))
        return name + "=" + std::string(text) +
               " is not possible; a number, max-N, or first, last, low, high(N) with a distance of -16 to 15";
    if (field.limit && (operand.near != Near::Number || operand.number >= field.limit))
        return name + "=" + std::string(text) + " is not possible; " + name + " is a number below " +
               std::to_string(field.limit);
    switch (field.slot) {
    case Slot::Place:
        operation.place = std::uint8_t(operand.number);
        break;
    case Slot::Value:
        operation.value = std::uint16_t(operand.number);
        break;
    default:
        operation.operand[std::size_t(field.slot) - std::size_t(Slot::Operand0)] = operand;
    }
    return {};
}

std::string_view take_word(std::string_view &line)
{
    constexpr std::string_view kBlank = " \t\r";
    line.remove_prefix(std::min(line.find_first_not_of(kBlank), line.size()));
    const std::string_view word = line.substr(0, line.find_first_of(kBlank));
    line.remove_prefix(word.size());
    return word;
}

// "name=text"; `name` becomes empty without a '='.
void split(std::string_view word, std::string_view &name, std::string_view &text)
{
    const std::size_t at = word.find('=');
    name = at == word.npos ? std::string_view{} : word.substr(0, at);
    text = at == word.npos ? word : word.substr(at + 1);
}

template <class Named>
std::string names_of(const std::vector<Named> &all)
{
    std::string names;
    for (const Named &each : all)
        names += (names.empty() ? "" : ", ") + std::string(each.name);
    return names;
}

template <class Named>
const Named *find_named(const std::vector<Named> &all, std::string_view name)
{
    for (const Named &each : all)
        if (name == each.name)
            return &each;
    return nullptr;
}

std::string unknown(std::string_view word, const char *what, const std::string &allowed)
{
    return std::string(word) + " is no " + what + "; known are " + allowed;
}

std::string read_operation(const Grammar &grammar, std::string_view name, std::string_view line,
                           Operation &operation)
{
    const OperationKind *kind = find_named(grammar.operations, name);
    if (!kind)
        return unknown(name, "operation", names_of(grammar.operations));
    operation = {};
    operation.kind = std::uint8_t(kind - grammar.operations.data());
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        std::string_view field_name, text;
        split(word, field_name, text);
        const Field *field = find_named(kind->fields, field_name);
        if (!field)
            return unknown(word, "field of this operation", names_of(kind->fields));
        if (std::string wrong = read_field(*field, text, operation); !wrong.empty())
            return wrong;
    }
    return {};
}

std::string read_setup(const Grammar &grammar, std::string_view line, Setup &setup)
{
    for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        std::string_view name, text;
        split(word, name, text);
        const SetupField *field = find_named(grammar.setup, name);
        if (!field)
            return unknown(word, "part of the setup", names_of(grammar.setup));
        const auto &choices = field->choices;
        std::size_t choice = 0;
        while (choice < choices.size() && text != choices[choice])
            choice++;
        if (choice == choices.size()) {
            std::string allowed;
            for (const char *each : choices)
                allowed += (allowed.empty() ? "" : ", ") + std::string(each);
            return std::string(word) + " is not possible; " + field->name + " is one of " + allowed;
        }
        setup[std::size_t(field - grammar.setup.data())] = std::uint8_t(choice);
    }
    return {};
}

std::string_view take_line(std::string_view &text)
{
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return line.substr(0, line.find('#'));
}

} // namespace

std::string to_text(const Grammar &grammar, const Operation &operation)
{
    const OperationKind &kind = grammar.operations[operation.kind];
    std::string text = kind.name;
    for (const Field &field : kind.fields)
        text += std::string(" ") + field.name + "=" + field_text(field, operation);
    return text;
}

std::string to_text(const Grammar &grammar, std::string_view target, const Sequence &sequence)
{
    std::string text = "target " + std::string(target) + "\n";
    if (!grammar.setup.empty()) {
        text += "setup";
        for (std::size_t i = 0; i < grammar.setup.size(); i++)
            text += std::string(" ") + grammar.setup[i].name + "=" +
                    grammar.setup[i].choices[sequence.setup[i]];
        text += "\n";
    }
    for (const Operation &operation : sequence.operations)
        text += to_text(grammar, operation) + "\n";
    return text;
}

std::string_view target_of(std::string_view &text, unsigned &line)
{
    for (line = 1; !text.empty(); line++) {
        std::string_view words = take_line(text);
        const std::string_view first = take_word(words);
        if (first.empty())
            continue;
        line++;
        return first == "target" ? take_word(words) : std::string_view{};
    }
    return {};
}

std::string from_text(const Grammar &grammar, std::string_view text, unsigned line, Sequence &sequence)
{
    sequence = {};
    for (; !text.empty(); line++) {
        std::string_view words = take_line(text);
        const std::string_view first = take_word(words);
        if (first.empty())
            continue;
        Operation operation;
        const std::string wrong = first == "setup" ? read_setup(grammar, words, sequence.setup)
                                                   : read_operation(grammar, first, words, operation);
        if (!wrong.empty())
            return std::to_string(line) + ": " + wrong;
        if (first != "setup")
            sequence.operations.push_back(operation);
        if (sequence.operations.size() > kMostOperations)
            return std::to_string(line) + ": a sequence has at most " + std::to_string(kMostOperations) +
                   " operations";
    }
    return {};
}

} // namespace kmirror::fuzz
