#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Builds every fuzz target as OSS-Fuzz, ClusterFuzzLite and any other cluster that keeps to their contract want it.
#
# usage: build.sh                 from the top of the source, with in the environment
#   CC CXX CFLAGS CXXFLAGS        compilers and all flags; instrumentation and sanitizers are among them
#   LIB_FUZZING_ENGINE            what links the engine's main()
#   SANITIZER                     address, undefined or coverage
#   OUT                           where the targets go: NAME, NAME_seed_corpus.zip, NAME.options, lib/
#   WORK                          scratch; a fresh folder when unset
#
# Libraries that a runner may not have go to $OUT/lib, and the targets look there. The canary, whose bug is
# planted, is left out: CANARY=1 builds it, for trying a cluster. maple_diff_fuzz needs a kernel's source, which
# no cluster has.
set -euo pipefail
: "${OUT:?}" "${CC:?}" "${CXX:?}" "${LIB_FUZZING_ENGINE:?}"
cd "$(dirname "$0")/../.."
work=${WORK:-$(mktemp -d)}/kmirror
targets=$(for source in fuzz/*_fuzz.cpp; do basename "$source" .cpp; done | grep -v '^maple_diff_fuzz$')
[ "${CANARY:-0}" = 1 ] || targets=$(grep -v '^canary_fuzz$' <<<"$targets")

# The flags go around those of the makefiles, and nothing is installed.
build() {
    EXTERN_CXXFLAGS="${CXXFLAGS:-}" EXTERN_ENGINE="$LIB_FUZZING_ENGINE" \
        EXTERN_ASAN="$([ "${SANITIZER:-address}" != address ] || echo 1)" CXXFLAGS='' CFLAGS='' \
        make -j"$(nproc)" SAN=extern O="$work" CC="$CC" CXX="$CXX" DEPS=0 "$@"
}

# The libraries of a program that are not the C library's own, and not in $OUT already.
libraries_of() {
    ldd "$1" | awk -v out="$OUT/" '$3 ~ /^\// && index($3, out) != 1 { print $3 }' |
        { grep -vE '/(libc|libm|libdl|librt|libpthread|libgcc_s|ld-linux[^/]*)\.so' || true; }
}

# shellcheck disable=SC2086
build $(printf "$work/extern/fuzz/%s " $targets)

mkdir -p "$OUT/lib"
for target in $targets; do
    cp "$work/extern/fuzz/$target" "$OUT/"
    libraries_of "$OUT/$target" | xargs -r cp -t "$OUT/lib"
    if [ -d "fuzz/corpus/$target" ]; then
        rm -f "$OUT/${target}_seed_corpus.zip"
        zip -q -j "$OUT/${target}_seed_corpus.zip" "fuzz/corpus/$target"/*
    fi
    cp fuzz/oss-fuzz/options "$OUT/$target.options"
done
