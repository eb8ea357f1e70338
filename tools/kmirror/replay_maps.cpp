// SPDX-License-Identifier: GPL-2.0-only
//
// Maps as data, see replay_maps.h.
//
// What exec made, of a maps file: [stack], [vdso], [vvar...], [vsyscall]; the lines of at most two files,
// the program and its interpreter, that no call of the image mapped and that overlap nothing a call put
// there; the nameless line that follows such a file's last one (its bss). Of [heap] only the start.
#include "tools/kmirror/replay_maps.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace kmirror::replay {
namespace {

constexpr std::uint64_t kVsyscall = 0xffffffffff600000;
constexpr std::size_t kExecFiles = 2; // program and interpreter

std::string without_deleted(std::string name)
{
    constexpr std::string_view mark = " (deleted)";
    if (name.size() > mark.size() && std::string_view(name).substr(name.size() - mark.size()) == mark)
        name.resize(name.size() - mark.size());
    return name;
}

bool valid_permissions(const std::string &text)
{
    constexpr std::string_view set[] = {"r-", "w-", "x-", "ps"};
    if (text.size() != 4)
        return false;
    for (std::size_t i = 0; i < 4; i++)
        if (set[i].find(text[i]) == std::string_view::npos)
            return false;
    return true;
}

MapLine parse(const std::string &text, std::size_t number)
{
    MapLine line;
    char permissions[8] = "";
    unsigned major = 0, minor = 0;
    std::uint64_t inode = 0;
    int name_at = 0;
    const int read =
        std::sscanf(text.c_str(), "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &line.start,
                    &line.end, permissions, &line.offset, &major, &minor, &inode, &name_at);
    line.permissions = permissions;
    if (read != 7 || line.start >= line.end || !valid_permissions(line.permissions))
        throw LogError(number, "is no line of /proc/PID/maps");
    line.name = without_deleted(unescape(std::string_view(text).substr(static_cast<std::size_t>(name_at))));
    return line;
}

bool is_special(const MapLine &line)
{
    return line.name == "[stack]" || line.name == "[vdso]" || line.name.compare(0, 5, "[vvar") == 0;
}

bool is_file(const MapLine &line)
{
    return !line.name.empty() && line.name[0] == '/';
}

bool touched(const MapLine &line, const ImageUse &use)
{
    for (const auto &[start, end] : use.ranges)
        if (start < line.end && line.start < end)
            return true;
    return false;
}

// Names of the files that can be the program and its interpreter.
std::set<std::string> exec_files(const std::vector<MapLine> &file, const ImageUse &use)
{
    std::set<std::string> names, refused;
    for (const MapLine &line : file)
        if (is_file(line) && (touched(line, use) || line.permissions[3] == 's' ||
                              (use.mapped.count(line.name) && line.name != use.program)))
            refused.insert(line.name);
    // The program was executed by that name; it may be mapped by a call as well.
    refused.erase(use.program);
    for (const MapLine &line : file)
        if (is_file(line) && !refused.count(line.name) && !touched(line, use))
            names.insert(line.name);
    if (names.size() > kExecFiles)
        throw LogError(
            0, "maps " + std::to_string(names.size()) +
                   " files that no call in the log mapped; exec can have mapped two: " + *names.begin() +
                   ", " + *std::next(names.begin()) + ", " + *std::next(names.begin(), 2));
    return names;
}

unsigned long flags_of(const MapLine &line)
{
    unsigned long flags = VM_MAYREAD | VM_MAYWRITE | VM_MAYEXEC;
    flags |= line.permissions[0] == 'r' ? VM_READ : 0;
    flags |= line.permissions[1] == 'w' ? VM_WRITE | VM_ACCOUNT : 0;
    flags |= line.permissions[2] == 'x' ? VM_EXEC : 0;
    if (line.name == "[stack]")
        flags |= VM_GROWSDOWN;
    else if (line.name == "[vdso]")
        flags |= VM_DONTEXPAND;
    else if (is_special(line))
        flags = (flags & ~(VM_MAYWRITE | VM_MAYEXEC)) | VM_IO | VM_DONTEXPAND | VM_PFNMAP | VM_DONTDUMP;
    return flags;
}

int add_line(const vm_area_struct *vma, void *arg)
{
    char text[32];
    const unsigned long flags = vma->vm_flags;
    MapLine line;
    line.start = vma->vm_start;
    line.end = vma->vm_end;
    line.permissions = {flags & VM_READ ? 'r' : '-', flags & VM_WRITE ? 'w' : '-',
                        flags & VM_EXEC ? 'x' : '-', flags & VM_MAYSHARE ? 's' : 'p'};
    line.offset = vma->vm_file ? vma->vm_pgoff << PAGE_SHIFT : 0;
    line.name = vma->anon_name && !vma->vm_file && vma->anon_name->name[0] != '['
                    ? "[anon:" + std::string(vma->anon_name->name) + "]"
                    : without_deleted(mm_vma_name(vma, text, sizeof(text)));
    static_cast<std::vector<MapLine> *>(arg)->push_back(std::move(line));
    return 0;
}

// Names agree if they are equal, or as far as the log knew them: the end of a path, or nothing (a perf
// trace without strings, a descriptor that no call in the log opened).
bool same_name(const std::string &file, const std::string &ours)
{
    if (file == ours || (ours.compare(0, kUnnamed.size(), kUnnamed) == 0 && !file.empty() && file[0] == '/'))
        return true;
    return !ours.empty() && ours[0] != '/' && ours[0] != '[' && file.size() > ours.size() &&
           file[file.size() - ours.size() - 1] == '/' &&
           file.compare(file.size() - ours.size(), ours.size(), ours) == 0;
}

bool same_line(const MapLine &file, const MapLine &ours)
{
    return file.start == ours.start && file.end == ours.end && file.permissions == ours.permissions &&
           file.offset == ours.offset && same_name(file.name, ours.name);
}

} // namespace

std::string to_string(const MapLine &line)
{
    char text[120];
    const int bytes =
        std::snprintf(text, sizeof(text), "%08" PRIx64 "-%08" PRIx64 " %s %08" PRIx64 " 00:00 0", line.start,
                      line.end, line.permissions.c_str(), line.offset);
    std::string whole(text, static_cast<std::size_t>(bytes));
    whole += ' ';
    if (!line.name.empty() && whole.size() < 73)
        whole.append(73 - whole.size(), ' ');
    return whole + line.name;
}

std::string to_string(const std::vector<MapLine> &lines)
{
    std::string text;
    for (const MapLine &line : lines)
        text += to_string(line) + "\n";
    return text;
}

std::vector<MapLine> read_maps(std::istream &in)
{
    std::vector<MapLine> lines;
    std::string text;
    std::size_t number = 0;
    while (std::getline(in, text)) {
        number++;
        if (text.empty())
            continue;
        lines.push_back(parse(text, number));
        if (lines.size() > 1 && lines[lines.size() - 2].end > lines.back().start)
            throw LogError(number, "begins before the line above ends");
    }
    if (lines.empty())
        throw LogError(0, "holds no mapping");
    return lines;
}

std::vector<MapLine> lines_of(mm_struct *mm)
{
    std::vector<MapLine> lines;
    mm_for_each(mm, add_line, &lines);
    if (mm->vsyscall)
        lines.push_back({kVsyscall, kVsyscall + PAGE_SIZE, "--xp", 0, "[vsyscall]"});
    return lines;
}

std::string difference(const std::vector<MapLine> &expected, const std::vector<MapLine> &got)
{
    const std::size_t both = std::min(expected.size(), got.size());
    for (std::size_t i = 0; i < both; i++)
        if (!same_line(expected[i], got[i]))
            return "line " + std::to_string(i + 1) + ": the file has\n  " + to_string(expected[i]) +
                   "\nand the replay has\n  " + to_string(got[i]);
    if (expected.size() > both)
        return "line " + std::to_string(both + 1) + " of the file is missing in the replay:\n  " +
               to_string(expected[both]);
    if (got.size() > both)
        return "the replay has a line more than the file:\n  " + to_string(got[both]);
    return {};
}

ExecImage exec_image(const std::vector<MapLine> &file, const ImageUse &use)
{
    ExecImage image;
    const std::set<std::string> names = exec_files(file, use);
    std::uint64_t stack = kVsyscall;
    std::uint64_t file_end = 0; // end of the last line that is an exec file's or its bss
    for (const MapLine &line : file) {
        if (line.name == "[stack]")
            stack = line.start;
        if (line.name == "[vsyscall]") {
            image.vsyscall = true;
        } else if (line.name == "[heap]") {
            image.heap = image.heap ? image.heap : line.start;
        } else if (is_special(line) || (names.count(line.name) && !touched(line, use))) {
            image.lines.push_back(line);
            file_end = is_file(line) ? line.end : 0;
        } else if (line.name.empty() && line.start == file_end && !touched(line, use)) {
            image.lines.push_back(line);
            file_end = 0;
        }
    }
    for (const MapLine &line : image.lines)
        if (line.end <= stack && line.start >= TASK_SIZE_MM / 3 * 2)
            image.mmap_base = std::max(image.mmap_base, line.end);
    // Only a program without interpreter and vdso leaves nothing above it.
    const bool only_program = !image.lines.empty() && image.mmap_base == image.lines.front().end;
    if (only_program && image.lines.size() == 1)
        image.mmap_base = 0;
    return image;
}

void install(mm_struct *mm, const ExecImage &image)
{
    std::vector<mm_file *> files;
    const auto named = [&files](const std::string &name) {
        for (mm_file *file : files)
            if (name == file->name)
                return file;
        files.push_back(mm_file_open(name.c_str(), MM_FILE_READ | (name[0] == '/' ? MM_FILE_THP_ALIGN : 0)));
        return files.back();
    };
    for (const MapLine &line : image.lines) {
        const bool nameless = line.name.empty() || line.name == "[stack]";
        mm_file *name = nameless ? nullptr : named(line.name);
        mm_file *file = is_file(line) ? name : nullptr;
        if (mm_install(mm, line.start, line.end, flags_of(line), line.offset >> PAGE_SHIFT, file,
                       file ? nullptr : name))
            throw LogError(0, "a line of exec cannot be put in place: " + to_string(line));
        vm_fault_all(mm, line.start, line.end);
        if (line.name == "[stack]")
            mm->start_stack = line.end - PAGE_SIZE;
    }
    for (mm_file *file : files)
        mm_file_put(file);
    mm->vsyscall = image.vsyscall;
    if (image.mmap_base)
        mm->mmap_base = image.mmap_base;
    mm->start_brk = mm->brk = image.heap;
}

} // namespace kmirror::replay
