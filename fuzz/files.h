// SPDX-License-Identifier: GPL-2.0-only
//
// Inputs in files: bytes as an engine writes them, or text that begins with `target NAME`.
//
// Fails    with one line that names the file and says what is wrong.
#ifndef KMIRROR_FUZZ_FILES_H
#define KMIRROR_FUZZ_FILES_H

#include "fuzz/target.h"

#include <string>
#include <vector>

namespace kmirror::fuzz {

// Adds `path`, or all files of the folder `path` in the order of their names. Empty: done.
std::string list_files(const std::string &path, std::vector<std::string> &files);

std::string read_file(const std::string &path, std::vector<std::uint8_t> &bytes);
std::string write_file(const std::string &path, std::span<const std::uint8_t> bytes);

// The bytes that `target` runs.
std::string read_input(const Target &target, const std::string &path, std::vector<std::uint8_t> &bytes);

} // namespace kmirror::fuzz

#endif
