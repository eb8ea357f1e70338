// SPDX-License-Identifier: GPL-2.0-only
//
// Results as JSON, over nlohmann-json. The only file that includes it.

#include "tools/kmirror/json.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

namespace kmirror::command {
namespace {

using Value = nlohmann::ordered_json;

std::string folder_of(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : file.substr(0, slash);
}

bool is_special(const std::string& file) {
    struct stat status;
    return stat(file.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

bool fails(std::string& error) {
    error = std::strerror(errno);
    return false;
}

}  // namespace

struct Json::Tree {
    Value root;

    Value& at(const std::string& path) { return root[Value::json_pointer(path)]; }
    // NULL: there is nothing.
    const Value* find(const std::string& path) const {
        const Value::json_pointer pointer(path);
        return root.contains(pointer) ? &root[pointer] : nullptr;
    }
};

Json::Json(std::string_view schema, int version) : tree_(std::make_unique<Tree>()) {
    tree_->root["schema"] = schema;
    tree_->root["version"] = version;
}

Json::Json(std::unique_ptr<Tree> tree) : tree_(std::move(tree)) {}

std::optional<Json> Json::read(const std::string& file, std::string& error) {
    std::ifstream in(file);
    auto tree = std::make_unique<Tree>();
    tree->root = Value::parse(in, nullptr, false);
    if (!in.is_open()) {
        fails(error);
        return std::nullopt;
    }
    if (!tree->root.is_object()) {
        error = "it holds no JSON object";
        return std::nullopt;
    }
    return Json(std::move(tree));
}

std::size_t Json::size(const std::string& path) const {
    const Value* value = tree_->find(path);
    return value && value->is_structured() ? value->size() : 0;
}

std::vector<std::string> Json::names(const std::string& path) const {
    std::vector<std::string> names;
    const Value* value = tree_->find(path);
    if (value && value->is_object())
        for (const auto& member : value->items()) names.push_back(member.key());
    return names;
}

std::optional<double> Json::number(const std::string& path) const {
    const Value* value = tree_->find(path);
    return value && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::optional<std::string> Json::string(const std::string& path) const {
    const Value* value = tree_->find(path);
    return value && value->is_string() ? std::optional(value->get<std::string>()) : std::nullopt;
}

Json::~Json() = default;
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json&&) noexcept = default;

void Json::set(const std::string& path, double value) { tree_->at(path) = value; }
void Json::set(const std::string& path, std::string_view value) { tree_->at(path) = value; }
void Json::set_bool(const std::string& path, bool value) { tree_->at(path) = value; }
void Json::set_signed(const std::string& path, std::int64_t value) { tree_->at(path) = value; }
void Json::set_unsigned(const std::string& path, std::uint64_t value) { tree_->at(path) = value; }

std::string Json::text() const { return tree_->root.dump(2) + "\n"; }

bool Json::write(const std::string& file, std::string& error) const {
    // A terminal or a pipe is written as it is; a file is replaced in one step.
    const std::string fresh = is_special(file) ? file : file + ".new";
    std::ofstream out(fresh, std::ios::trunc);
    out << text();
    out.close();
    if (!out) {
        fails(error);
        if (fresh != file) std::remove(fresh.c_str());
        return false;
    }
    return fresh == file || std::rename(fresh.c_str(), file.c_str()) == 0 || fails(error);
}

bool can_write(const std::string& file, std::string& error) {
    if (access(file.c_str(), F_OK) == 0 && access(file.c_str(), W_OK) != 0) return fails(error);
    const int folder = open(folder_of(file).c_str(), O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return fails(error);
    const bool writable = faccessat(folder, ".", W_OK, 0) == 0 || fails(error);
    close(folder);
    const int itself = open(file.c_str(), O_DIRECTORY | O_CLOEXEC);
    if (itself < 0) return writable;
    close(itself);
    error = "it is a folder";
    return false;
}

}  // namespace kmirror::command
