# SPDX-License-Identifier: GPL-2.0-only
#
# Judges what kmirror-tests prints of a kernel's implementation by the list of what is known of it.
#
#   awk -v known=FILE -v traits="copy sheaves debug" -v name="linux 7.3" -f judge.awk LOG
#
# Prints each test that passed, each that failed as known in one line, and each other one with all that it
# printed; at the end what is known, with the number of tests that showed it, and what is listed but was not
# seen. Status: 0, 1 when a test failed that is not known to.

function trim(text) { gsub(/^[ \t]+|[ \t]+$/, "", text); return text }

# A shell pattern of stars as a regular expression.
function pattern(text) { gsub(/[.+()\[\]]/, "\\\\&", text); gsub(/\*/, ".*", text); return "^" text "$" }

function applies(trait) { return trait == "any" || index(" " traits " ", " " trait " ") > 0 }

BEGIN {
    while ((getline line < known) > 0) {
        if (line ~ /^[ \t]*(#|$)/) continue
        # The expression may hold a bar: the first two fields and the last one are told by " | ".
        count = split(line, field, / +\| +/)
        sub(/ +alone$/, "", field[1])
        if (count < 4 || !applies(trim(field[1]))) continue
        expression = field[3]
        tests[++entries] = pattern(trim(field[2])); prints[entries] = trim(expression)
        reason[entries] = trim(field[4]); order[reason[entries]] = entries
    }
    passed = failed = skipped = known_ones = 0
}

function result(word,    name_, i) {
    name_ = $0; sub(/^(not )?ok [0-9]+ - /, "", name_); sub(/ .*/, "", name_)
    if (word == "ok") {
        if ($0 ~ / # SKIP/) skipped++; else passed++
        sub(/^ok [0-9]+/, "ok " number()); print; return
    }
    for (i = 1; i <= entries; i++)
        if (prints[i] != "skip" && name_ ~ tests[i] && (text $0) ~ prints[i]) {
            known_ones++; seen[reason[i]]++
            print "ok " number() " - " name_ " # KNOWN on " name ": " reason[i]; return
        }
    failed++
    printf "%s", text; print
}
function number() { return passed + failed + skipped + known_ones }

/^ok [0-9]+ - / { result("ok"); text = ""; next }
/^not ok [0-9]+ - / { result("not ok"); text = ""; next }
/^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ { ended = 1; next }
{ text = text $0 "\n" }

END {
    if (!ended) { printf "%s", text; print "not ok - the tests came to their end"; failed++ }
    for (i = 1; i <= entries; i++) {
        if (order[reason[i]] != i || prints[i] == "skip") continue
        if (seen[reason[i]]) printf "# known on %s, shown by %d tests: %s\n", name, seen[reason[i]], reason[i]
        else if (whole) printf "# not seen on %s: %s\n", name, reason[i]
    }
    printf "%d passed, %d failed, %d skipped, %d failed as known, on %s\n", passed, failed, skipped, known_ones, name
    exit failed > 0
}
