# SPDX-License-Identifier: GPL-2.0-only
#
# The lists of mutations, tools/mutate/AREA.mut; README.md has their form.
#
# Fails    a list that cannot be read ends the program: one line, status 2.

import re
import sys
from pathlib import Path

HERE = Path("tools/mutate")
# Scenarios of lib/sim/scenario in place of tests.
EXPLORE = "explore"
SANITIZERS = ("address", "thread", "none", EXPLORE)
EXPECTATIONS = ("killed", "equivalent", "ordering")


def end(message):
    print(f"mutate: {message}", file=sys.stderr)
    sys.exit(2)


class Mutation:
    """One entry of a list: what is changed, who must notice, and the argument when nobody can."""

    def __init__(self, area, ident, title):
        self.area, self.ident, self.title = area, ident, title
        self.hunks = []  # (file, old lines, new lines)
        self.tests, self.env, self.san, self.expect, self.why = "", [], "address", "killed", []

    def text(self):
        return repr((self.ident, self.hunks, self.tests, self.env, self.san, self.expect))

    def environment(self):
        return dict(word.split("=", 1) for word in self.env)

    def wrong(self):
        """What is missing or impossible, or None."""
        if not self.hunks or not self.tests:
            return "an entry has a file, changed lines and a test"
        if " " in self.tests:
            return "the patterns of a GoogleTest filter are joined by colons"
        if self.san not in SANITIZERS:
            return f"san {self.san} is not possible; it is one of: {' '.join(SANITIZERS)}"
        if self.expect not in EXPECTATIONS:
            return f"expect {self.expect} is not possible; it is one of: {' '.join(EXPECTATIONS)}"
        if self.expect != "killed" and not self.why:
            return f"expect {self.expect} needs an argument: a why line"
        if any(old == new for _, old, new in self.hunks):
            return "the old text is the new text"
        return None


class List:
    """tools/mutate/AREA.mut, read line by line."""

    def __init__(self, area):
        self.area, self.path = area, HERE / f"{area}.mut"
        self.build, self.entries = "", []
        self.file, self.in_hunk = None, False
        if not self.path.is_file():
            known = " ".join(sorted(p.stem for p in HERE.glob("*.mut")))
            end(f"AREA={area} is not possible; AREA is one of: {known}")
        for number, line in enumerate(self.path.read_text().splitlines(), 1):
            self.where = f"{self.path}:{number}"
            self.take(line)
        seen = set()
        for entry in self.entries:
            if entry.ident in seen or entry.wrong():
                end(f"{self.path}: {entry.ident}: {entry.wrong() or 'is there twice'}")
            seen.add(entry.ident)

    def take(self, line):
        if line[:1] in ("-", "+", " "):
            return self.changed_line(line)
        self.in_hunk = False
        heading = re.fullmatch(r"\[(\S+)\] (.+)", line)
        if heading:
            self.file = None
            return self.entries.append(Mutation(self.area, *heading.groups()))
        word, _, rest = line.partition(" ")
        if line == "" or line.startswith("#"):
            return None
        if word == "build" and not self.entries:
            self.build = rest
        elif not self.entries:
            end(f"{self.where}: before the first [ID] title only a build line is possible")
        elif word == "file":
            self.file = rest
        elif word == "test":
            self.entries[-1].tests = rest
        elif word == "env":
            self.entries[-1].env.append(rest)
        elif word == "san":
            self.entries[-1].san = rest
        elif word == "expect":
            self.entries[-1].expect = rest
        elif word == "why":
            self.entries[-1].why.append(rest)
        else:
            end(f"{self.where}: {word} is not possible; a line begins with [ID] file - + test env san expect why #")
        return None

    def changed_line(self, line):
        if self.file is None:
            end(f"{self.where}: a changed line before the file it is in")
        hunks = self.entries[-1].hunks
        if not self.in_hunk:
            hunks.append((self.file, [], []))
            self.in_hunk = True
        _, old, new = hunks[-1]
        if line[0] != "+":
            old.append(line[1:])
        if line[0] != "-":
            new.append(line[1:])
