// SPDX-License-Identifier: GPL-2.0-only
//
// Results as JSON. Hides nlohmann-json, which only json.cpp includes.
//
//   Json result("kmirror-stress", 1);              // {"schema": "kmirror-stress", "version": 1, ...}
//   result.set("/machine/cpus", 8);
//   result.set("/runs/0/ops_per_second", 1.5e6);   // arrays grow as they are set, from 0 upwards
//   std::string error;
//   if (!result.write(file, error)) ...
//
//   std::optional<Json> read = Json::read(file, error);
//   for (std::size_t i = 0; i < read->size("/runs"); ++i) read->number(...);
//
// Paths are JSON pointers. Setting through a value that is no object or array is a bug and ends the process;
// asking for what is not there, or is of another kind, is answered as each function says.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kmirror::command {

class Json {
public:
    // Every document says what it is: the name and the version of its schema.
    Json(std::string_view schema, int version);
    ~Json();
    // The document of a file; nothing, and `error`, when it cannot be read or is no JSON object.
    static std::optional<Json> read(const std::string& file, std::string& error);
    Json(Json&&) noexcept;
    Json& operator=(Json&&) noexcept;

    void set(const std::string& path, double value);
    void set(const std::string& path, std::string_view value);
    void set(const std::string& path, const char* value) { set(path, std::string_view(value)); }
    template <std::integral Number>
    void set(const std::string& path, Number value) {
        if constexpr (std::same_as<Number, bool>) {
            set_bool(path, value);
        } else if constexpr (std::signed_integral<Number>) {
            set_signed(path, value);
        } else {
            set_unsigned(path, value);
        }
    }

    // Of a document that was read: elements of an array or members of an object, 0 of anything else.
    std::size_t size(const std::string& path) const;
    // Names of an object's members in their order; none of anything else.
    std::vector<std::string> names(const std::string& path) const;
    std::optional<double> number(const std::string& path) const;
    std::optional<std::string> string(const std::string& path) const;

    // Indented by two, with a newline at its end.
    std::string text() const;

    // Writes text() so that `file` is either the whole new document or as it was; false and `error` on
    // failure.
    bool write(const std::string& file, std::string& error) const;

private:
    void set_bool(const std::string& path, bool value);
    void set_signed(const std::string& path, std::int64_t value);
    void set_unsigned(const std::string& path, std::uint64_t value);

    struct Tree;
    explicit Json(std::unique_ptr<Tree> tree);
    std::unique_ptr<Tree> tree_;
};

// True when `file` can be written later; else false and `error`. Leaves an existing file as it is and creates
// none.
bool can_write(const std::string& file, std::string& error);

}  // namespace kmirror::command
