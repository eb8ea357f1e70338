// SPDX-License-Identifier: GPL-2.0-only
//
// The queues behind will_return, will_set_parameter, expect_ and expect_function_call: first in, first out,
// one for each name (of a function, or of a function and its parameter), and one for the order of calls.
//
// An entry's count says how often it is used: n times, Always (at least once, then forever) or Maybe
// (forever, also never). Functions are known by their spelling: two static ones of one name share a queue.
//
// Locking  one mutex. A check works on a copy of its entry without it: the user's function may assert.
// Fails    a name with an empty queue, and an entry left over, fail the test.

#include "lib/cmocka/queues.h"

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/cmocka/run.h"
#include "lib/cmocka/values.h"

namespace kmirror::cmocka {
namespace {

constexpr int kAlways = WILL_RETURN_ALWAYS;
constexpr int kMaybe = WILL_RETURN_ONCE;

using Check = std::function<Verdict(CMockaValueData)>;

// A check of the test's own; one of the two is null, or both.
struct UsersCheck {
    CheckParameterValue old_form;
    CheckParameterValueData form;
    CMockaValueData data;

    explicit operator bool() const { return old_form != nullptr || form != nullptr; }
    bool holds(CMockaValueData value) const {
        return (form != nullptr ? form(value, data) : old_form(value.uint_val, data.uint_val)) != 0;
    }
};

struct Entry {
    SourceLocation at;
    int count;
    const char* type = nullptr;  // of a value, when it was named
    CMockaValueData value{};
    Check check{};               // of a parameter; neither this nor the next: anything will do
    UsersCheck users{};
};

// Entries by name, in the order in which they were queued.
class Queues {
public:
    void add(const std::string& name, Entry entry) { by_name_[name].push_back(std::move(entry)); }
    bool has(const std::string& name) const { return by_name_.count(name) != 0; }

    // The entry to use now, a copy; its count is taken down.
    std::optional<Entry> use(const std::string& name) {
        const auto it = by_name_.find(name);
        if (it == by_name_.end()) return {};
        Entry used = it->second.front();
        last_ = used.at;
        int& count = it->second.front().count;
        if (count == kAlways) {
            count = kMaybe;
        } else if (count > 0 && --count == 0) {
            it->second.pop_front();
            if (it->second.empty()) by_name_.erase(it);
        }
        return used;
    }

    // One line for each entry that should have been used.
    std::vector<std::pair<SourceLocation, std::string>> leftovers(const char* what) const {
        std::vector<std::pair<SourceLocation, std::string>> all;
        for (const auto& [name, queue] : by_name_) {
            for (const Entry& entry : queue) {
                if (entry.count == kMaybe) continue;
                all.emplace_back(entry.at, name + what);
            }
        }
        return all;
    }

    std::string last_used() const {
        return last_.file == nullptr ? "nothing was queued for it in this test"
                                     : text_of("the last one was queued at %s:%d", last_.file, last_.line);
    }

    void clear() {
        by_name_.clear();
        last_ = {};
    }

private:
    std::map<std::string, std::deque<Entry>> by_name_;
    SourceLocation last_{};
};

struct Call {
    SourceLocation at;
    int count;
    std::string function;
};

struct State {
    std::mutex lock;
    Queues returned, handed_out, checked;
    std::deque<Call> calls;
};

State& state() {
    static State all;
    return all;
}

std::string name_of(const char* function, const char* parameter) {
    return std::string(function) + "." + parameter;
}

// A count of 0 or below Maybe is the test's mistake. True when it was recorded.
bool bad_count(int count, const char* file, int line) {
    if (count > 0 || count == kAlways || count == kMaybe) return false;
    record_failure(file, line,
                   text_of("a count of %d: it must be above 0, ALWAYS (-1) or MAYBE (-2)", count));
    return true;
}

// The value to hand to function; nothing when the failure is recorded.
std::optional<CMockaValueData> take(Queues& queues, const std::string& name, const char* type,
                                    const char* file, int line) {
    std::string wrong;
    {
        const std::lock_guard guard(state().lock);
        const std::optional<Entry> entry = queues.use(name);
        if (!entry) {
            wrong = text_of("no value to return for %s: %s", name.c_str(), queues.last_used().c_str());
        } else if (type != nullptr && (entry->type == nullptr || std::string(type) != entry->type)) {
            wrong = text_of("%s asks for the type %s, but %s was queued at %s:%d", name.c_str(), type,
                            entry->type != nullptr ? entry->type : "no type", entry->at.file, entry->at.line);
        } else {
            return entry->value;
        }
    }
    record_failure(file, line, wrong);
    return {};
}

bool expect(const char* function, const char* parameter, const char* file, int line, int count, Check check,
            UsersCheck users = {}) {
    if (bad_count(count, file, line)) return false;
    const std::lock_guard guard(state().lock);
    state().checked.add(name_of(function, parameter),
                        {{file, line}, count, nullptr, {}, std::move(check), users});
    return true;
}

// What the next check of a parameter says. A check of the test's own is left to the caller: it may assert,
// so nothing that owns memory may be alive around it.
struct Found {
    bool failed;  // and recorded
    UsersCheck users;
    SourceLocation at;
};

void record_check(const char* function, const char* parameter, const char* file, int line,
                  const std::string& why, SourceLocation at) {
    record_failure(file, line, text_of("%s\nCheck of parameter %s of %s() failed\n"
                                       "%s:%d: note: it was expected here",
                                       why.c_str(), parameter, function, at.file, at.line));
}

Found find_check(const char* function, const char* parameter, const char* file, int line,
                 CMockaValueData value) {
    std::optional<Entry> entry;
    std::string last;
    {
        const std::lock_guard guard(state().lock);
        entry = state().checked.use(name_of(function, parameter));
        last = state().checked.last_used();
    }
    if (!entry) {
        record_failure(file, line, text_of("no check for parameter %s of %s(): %s", parameter, function,
                                           last.c_str()));
        return {true, {}, {}};
    }
    const Verdict verdict = entry->check ? entry->check(value) : Verdict{};
    if (verdict) record_check(function, parameter, file, line, *verdict, entry->at);
    return {verdict.has_value(), entry->users, entry->at};
}

CMockaValueData as_double(int kind, CMockaValueData value) {
    return (kind & ~(CM_NOT | CM_UNSIGNED_SET)) == CM_FLOAT ? cm_value_double(value.float_val) : value;
}

// The index of the expected call that function fulfils: the first one, or one behind entries that need not
// happen any more.
std::optional<size_t> find_call(const std::deque<Call>& calls, const std::string& function) {
    for (size_t i = 0; i < calls.size(); ++i) {
        if (calls[i].function == function) return i;
        if (calls[i].count != kMaybe) return {};
    }
    return {};
}

// What is wrong with a call of function now; empty: it was expected.
std::string called(const char* function) {
    const std::lock_guard guard(state().lock);
    std::deque<Call>& calls = state().calls;
    if (calls.empty()) return text_of("No mock calls expected but %s() was called", function);
    const std::optional<size_t> index = find_call(calls, function);
    if (!index) {
        for (const Call& call : calls) {
            if (call.count == kMaybe) continue;
            return text_of("Expected call to %s() but %s() was called\n%s:%d: note: it was expected here",
                           call.function.c_str(), function, call.at.file, call.at.line);
        }
        return text_of("No call to %s() was expected", function);
    }
    Call& call = calls[*index];
    if (call.count == kAlways) {
        call.count = kMaybe;
    } else if (call.count > 0 && --call.count == 0) {
        calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(*index));
    }
    return {};
}

}  // namespace

bool report_leftovers() {
    std::vector<std::pair<SourceLocation, std::string>> all;
    {
        const std::lock_guard guard(state().lock);
        const auto add = [&all](auto more) { all.insert(all.end(), more.begin(), more.end()); };
        add(state().returned.leftovers("() has remaining non-returned values"));
        add(state().handed_out.leftovers(" has remaining values that were not handed out"));
        add(state().checked.leftovers(" still has checks that were not made"));
        for (const Call& call : state().calls) {
            if (call.count != kMaybe) all.emplace_back(call.at, call.function + "() was not called");
        }
    }
    for (const auto& [at, words] : all) record_failure(at.file, at.line, words);
    return !all.empty();
}

void forget_queues() {
    const std::lock_guard guard(state().lock);
    for (Queues* queues : {&state().returned, &state().handed_out, &state().checked}) queues->clear();
    state().calls.clear();
}

}  // namespace kmirror::cmocka

using namespace kmirror::cmocka;

extern "C" {

CMockaValueData _mock(const char* function, const char* file, int line, const char* type) {
    CMockaValueData result = cm_value_uint(0);
    bool have = false;
    if (const auto value = take(state().returned, function, type, file, line)) {
        result = *value;
        have = true;
    }
    if (!have) leave(End::Failed);
    return result;
}

CMockaValueData _mock_parameter(const char* function, const char* name, const char* file, int line,
                                const char* type) {
    CMockaValueData result = cm_value_uint(0);
    bool have = false;
    if (const auto value = take(state().handed_out, name_of(function, name), type, file, line)) {
        result = *value;
        have = true;
    }
    if (!have) leave(End::Failed);
    return result;
}

int _has_mock(const char* function) {
    const std::lock_guard guard(state().lock);
    return state().returned.has(function);
}

void _will_return(const char* function, const char* file, int line, const char* type, CMockaValueData value,
                  int count) {
    if (bad_count(count, file, line)) return leave(End::Failed);
    const std::lock_guard guard(state().lock);
    state().returned.add(function, {{file, line}, count, type, value});
}

void _will_set_parameter(const char* function, const char* name, const char* file, int line,
                         const char* type, CMockaValueData value, int count) {
    if (bad_count(count, file, line)) return leave(End::Failed);
    const std::lock_guard guard(state().lock);
    state().handed_out.add(name_of(function, name), {{file, line}, count, type, value});
}

void _expect_check(const char* function, const char* parameter, const char* file, int line,
                   CheckParameterValue check_function, uintmax_t check_data, CheckParameterEvent*,
                   int count) {
    const UsersCheck check{check_function, nullptr, cm_value_uint(check_data)};
    if (!expect(function, parameter, file, line, count, {}, check)) leave(End::Failed);
}

void _expect_check_data(const char* function, const char* parameter, const char* file, int line,
                        CheckParameterValueData check_function, CMockaValueData check_data,
                        CheckParameterEventData*, int count) {
    const UsersCheck check{nullptr, check_function, check_data};
    if (!expect(function, parameter, file, line, count, {}, check)) leave(End::Failed);
}

void _expect_any(const char* function, const char* parameter, const char* file, int line, int count) {
    if (!expect(function, parameter, file, line, count, {})) leave(End::Failed);
}

void cm_expect_value(const char* function, const char* parameter, const char* file, int line, int kind,
                     CMockaValueData wanted, double epsilon, int count) {
    const auto check = [=](CMockaValueData value) {
        return judge_value(kind, as_double(kind, value), wanted, epsilon);
    };
    if (!expect(function, parameter, file, line, count, check)) leave(End::Failed);
}

void cm_expect_range(const char* function, const char* parameter, const char* file, int line, int kind,
                     CMockaValueData minimum, CMockaValueData maximum, double epsilon, int count) {
    const auto check = [=](CMockaValueData value) {
        return judge_range(kind, as_double(kind, value), minimum, maximum, epsilon);
    };
    if (!expect(function, parameter, file, line, count, check)) leave(End::Failed);
}

void cm_expect_set(const char* function, const char* parameter, const char* file, int line, int kind,
                   const void* values, size_t value_size, size_t number, double epsilon, int count) {
    const auto queue = [&] {
        const auto* const bytes = static_cast<const char*>(values);
        return expect(function, parameter, file, line, count,
                      [=, copy = std::string(bytes, bytes + value_size * number)](CMockaValueData value) {
                          return judge_set(kind, as_double(kind, value), copy.data(), value_size, number,
                                           epsilon);
                      });
    };
    if (!queue()) leave(End::Failed);
}

void cm_expect_memory(const char* function, const char* parameter, const char* file, int line, int kind,
                      const void* memory, size_t size, int count) {
    const auto queue = [&] {
        const auto* const bytes = static_cast<const char*>(memory);
        return expect(function, parameter, file, line, count,
                      [=, copy = std::string(bytes, bytes + size)](CMockaValueData value) {
                          return judge_memory(kind, value.const_ptr, copy.data(), size);
                      });
    };
    if (!queue()) leave(End::Failed);
}

void cm_expect_string(const char* function, const char* parameter, const char* file, int line, int kind,
                      const char* string, int count) {
    const auto queue = [&] {
        return expect(function, parameter, file, line, count,
                      [kind, copy = std::string(string)](CMockaValueData value) {
                          return judge_string(kind, static_cast<const char*>(value.const_ptr), copy.c_str());
                      });
    };
    if (!queue()) leave(End::Failed);
}

void _check_expected(const char* function, const char* parameter, const char* file, int line,
                     CMockaValueData value) {
    Found found = find_check(function, parameter, file, line, value);
    if (!found.failed && found.users && !found.users.holds(value)) {
        record_check(function, parameter, file, line, "the test's own check says no", found.at);
        found.failed = true;
    }
    if (found.failed) leave(End::Failed);
}

void _expect_function_call(const char* function, const char* file, int line, int count) {
    if (count == 0) return;
    if (bad_count(count, file, line)) return leave(End::Failed);
    const std::lock_guard guard(state().lock);
    state().calls.push_back({{file, line}, count, function});
}

void _function_called(const char* function, const char* file, int line) {
    const auto wrong = [&] {
        const std::string words = called(function);
        if (!words.empty()) record_failure(file, line, words);
        return !words.empty();
    };
    if (wrong()) leave(End::Failed);
}

}  // extern "C"
