// SPDX-License-Identifier: GPL-2.0-only
//
// lib/kernel/hexdump.cpp: memory as hex and text, one message a line. Owns nothing, takes no lock, cannot fail.
//
// It may read what the address sanitizer keeps from everybody else: a report shows exactly that.

#include <linux/printk.h>

#include <linux/compiler.h>
#include <linux/types.h>

#include <cstdio>

namespace {

constexpr size_t kRowMax = 32;

// Copies without a call, which the sanitizer would look at.
__no_sanitize_address void peek(unsigned char *to, const void *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; ++i)
        to[i] = static_cast<const volatile unsigned char *>(from)[i];
}

bool printable(unsigned char byte) { return byte >= 0x20 && byte < 0x7f; }

// "6b 6b 6b 6b", and, in its own column, "kkkk". Returns nothing: `line` has the room.
void row_text(char *line, size_t room, const unsigned char *row, size_t bytes, size_t per_row, bool ascii)
{
    size_t used = 0;
    for (size_t i = 0; i < bytes; ++i)
        used += static_cast<size_t>(std::snprintf(line + used, room - used, i ? " %02x" : "%02x", row[i]));
    if (!ascii)
        return;
    const size_t column = per_row * 3 + 1;
    while (used < column)
        line[used++] = ' ';
    for (size_t i = 0; i < bytes; ++i)
        line[used++] = printable(row[i]) ? static_cast<char>(row[i]) : '.';
    line[used] = '\0';
}

}  // namespace

extern "C" void print_hex_dump(const char *level, const char *prefix_str, int prefix_type, int rowsize, int,
                               const void *buf, size_t len, bool ascii)
{
    const size_t per_row = rowsize == 32 ? 32 : 16;
    char line[kRowMax * 4 + 8];
    unsigned char row[kRowMax];

    for (size_t at = 0; at < len; at += per_row) {
        const auto *const place = static_cast<const unsigned char *>(buf) + at;
        const size_t bytes = len - at < per_row ? len - at : per_row;
        peek(row, place, bytes);
        row_text(line, sizeof(line), row, bytes, per_row, ascii);
        // The level is data here, so it goes in front by hand.
        char format[8 + 16];
        std::snprintf(format, sizeof(format), "%s%s", level, "%s%s%s\n");
        char where[24] = "";
        if (prefix_type == DUMP_PREFIX_ADDRESS)
            std::snprintf(where, sizeof(where), "%016lx: ", reinterpret_cast<unsigned long>(place));
        else if (prefix_type == DUMP_PREFIX_OFFSET)
            std::snprintf(where, sizeof(where), "%.8zx: ", at);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wformat-security"
        printk(format, prefix_str, where, line);
#pragma GCC diagnostic pop
    }
}
