// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/folder.cpp: see folder.h.
//
// Owns     the folder that is being built, named PATH.new.PID. A hidden file in it says that we made it, so
//          that the next export may replace it.
// Locking  none; two exports to one place at once are the caller's affair.
// Fails    with -errno; what was there before is then as it was.

#include "lib/kernel/folder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

namespace kmirror::kernel {
namespace {

constexpr const char *kMark = ".kmirror";

int result(int value)
{
    return value < 0 ? -errno : 0;
}

bool is_empty(const char *path)
{
    DIR *const folder = opendir(path);
    if (folder == nullptr)
        return false;
    unsigned entries = 0;
    while (readdir(folder) != nullptr)
        ++entries;
    closedir(folder);
    return entries <= 2;
}

// 0: nothing is there, or what may be replaced.
int may_replace(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    char mark[sizeof(FolderExport::path) + 16];
    std::snprintf(mark, sizeof(mark), "%s/%s", path, kMark);
    return access(mark, F_OK) == 0 || is_empty(path) ? 0 : -EEXIST;
}

int remove_one(const char *path, const struct stat *, int, FTW *)
{
    return ::remove(path);
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

int write_all(int fd, const char *text, size_t bytes)
{
    while (bytes != 0) {
        const ssize_t written = write(fd, text, bytes);
        if (written < 0)
            return -errno;
        text += written;
        bytes -= static_cast<size_t>(written);
    }
    return 0;
}

int put_in_place(FolderExport *out)
{
    if (renameat2(AT_FDCWD, out->fresh, AT_FDCWD, out->path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EEXIST)
        return -errno;
    // The old one is now where the new one was built.
    const int error =
        result(renameat2(AT_FDCWD, out->fresh, AT_FDCWD, out->path, RENAME_EXCHANGE));
    remove_tree(out->fresh);
    return error;
}

}  // namespace

int folder_begin(FolderExport *out, const char *path)
{
    size_t length = strlen(path);
    while (length > 1 && path[length - 1] == '/')
        --length;
    if (length == 0 || length + 32 > sizeof(out->path))
        return length == 0 ? -ENOENT : -ENAMETOOLONG;
    std::snprintf(out->path, sizeof(out->path), "%.*s", static_cast<int>(length), path);
    if (const int error = may_replace(out->path))
        return error;
    std::snprintf(out->fresh, sizeof(out->fresh), "%.4000s.new.%d", out->path, static_cast<int>(getpid()));
    remove_tree(out->fresh);
    if (mkdir(out->fresh, 0755) != 0)
        return -errno;
    out->fd = open(out->fresh, O_DIRECTORY | O_CLOEXEC);
    const int error = out->fd < 0 ? -errno : folder_file(out, ".", kMark, "", 0, 0444);
    return error == 0 ? 0 : folder_end(out, error);
}

int folder_subdir(FolderExport *out, const char *name)
{
    return result(mkdirat(out->fd, name, 0755));
}

FolderText folder_text_begin(FolderExport *out, const char *subdir, const char *name, unsigned int mode)
{
    char path[512];
    std::snprintf(path, sizeof(path), "%.250s/%.250s", subdir, name);
    const int fd = openat(out->fd, path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    return {fd, fd < 0 ? -errno : 0};
}

void folder_text_add(FolderText *text, const char *piece, size_t bytes)
{
    if (text->error == 0)
        text->error = write_all(text->fd, piece, bytes);
}

int folder_text_end(FolderText *text)
{
    const int closed = text->fd < 0 ? 0 : result(close(text->fd));
    return text->error != 0 ? text->error : closed;
}

int folder_file(FolderExport *out, const char *subdir, const char *name, const char *text, size_t bytes,
                unsigned int mode)
{
    FolderText file = folder_text_begin(out, subdir, name, mode);
    folder_text_add(&file, text, bytes);
    return folder_text_end(&file);
}

int folder_link(FolderExport *out, const char *name, const char *target)
{
    return result(symlinkat(target, out->fd, name));
}

int folder_end(FolderExport *out, int error)
{
    if (out->fd >= 0)
        close(out->fd);
    if (error == 0)
        error = put_in_place(out);
    if (error != 0)
        remove_tree(out->fresh);
    return error;
}

}  // namespace kmirror::kernel
