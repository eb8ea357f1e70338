// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/folder.h: writing a folder of small files that takes the place of an older one in one step.
//
//   FolderExport out;
//   int error = folder_begin(&out, "DIR");
//   if (!error) error = folder_subdir(&out, "a");
//   if (!error) error = folder_file(&out, "a", "size", "12\n", 3, 0400);
//   if (!error) error = folder_link(&out, "b", "a");
//   folder_end(&out, error);      // in place, or nothing changed
//
// All functions return 0 or -errno.
#pragma once

#include <linux/types.h>

namespace kmirror::kernel {

struct FolderExport {
    char path[4096];      // where it will be
    char fresh[4096];     // where it is built: beside it
    int fd;               // of `fresh`
};

// -EEXIST: there is a folder of that name with something in it, and it is none of ours.
int folder_begin(FolderExport *out, const char *path);
int folder_subdir(FolderExport *out, const char *name);
int folder_file(FolderExport *out, const char *subdir, const char *name, const char *text, size_t bytes,
                unsigned int mode);
// The same in pieces: what went wrong is said at the end.
struct FolderText {
    int fd;
    int error;
};
FolderText folder_text_begin(FolderExport *out, const char *subdir, const char *name, unsigned int mode);
void folder_text_add(FolderText *text, const char *piece, size_t bytes);
int folder_text_end(FolderText *text);

int folder_link(FolderExport *out, const char *name, const char *target);

// Puts the new folder in place and removes the old one; with `error` removes the new one. Returns `error`, or
// why it could not be put in place.
int folder_end(FolderExport *out, int error);

}  // namespace kmirror::kernel
