#!/bin/bash
# tests/bench/instructions.sh LAPSE COMPILER [--update]: counts the instructions that lapse executes
# on instructions.yaml (valgrind's callgrind) and compares them with the kept figure: 5 % more or less
# fails, and by how much is said. Unlike seconds they are the same on a busy machine. COMPILER names
# the build ("gcc 12 -O2"); a figure is kept for one build only, any other is skipped (77), and so is
# all of it where there is no valgrind. --update keeps the new figure: on purpose only.
set -u
here=$(cd "$(dirname "$0")" && pwd)
lapse=$1
compiler=$2
kept_file=$here/instructions.kept
PERCENT_MAX=5

skip() {
    echo "skipped: $1"
    exit 77
}

command -v valgrind >/dev/null || skip "no valgrind here (apt-get install valgrind)"
read -r kept kept_compiler <"$kept_file" || skip "no kept figure"
if [ "${3:-}" != --update ] && [ "$compiler" != "$kept_compiler" ]; then
    skip "this build is $compiler, the kept figure is of $kept_compiler"
fi

unset MALLOC_PERTURB_ # meson sets it, and each allocation is then filled
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! valgrind --tool=callgrind --callgrind-out-file="$work/callgrind" "$lapse" run \
    "$here/instructions.yaml" --no-plot --out "$work/out" >"$work/log" 2>&1; then
    cat "$work/log"
    exit 1
fi
counted=$(sed -n 's/^totals: *\([0-9]*\).*/\1/p' "$work/callgrind")
[ -n "$counted" ] || {
    cat "$work/log"
    exit 1
}
if [ "${3:-}" = --update ]; then
    echo "$counted $compiler" >"$kept_file"
    echo "kept: $counted instructions by $compiler"
    exit 0
fi
tenths=$(((counted - kept) * 1000 / kept)) # of a percent
magnitude=${tenths#-}
sign=+
[ "$tenths" -ge 0 ] || sign=-
echo "$counted instructions, kept $kept: $sign$((magnitude / 10)).$((magnitude % 10)) %"
[ "$magnitude" -le $((PERCENT_MAX * 10)) ] && exit 0
echo "beyond $PERCENT_MAX %: find out why, or keep it: $0 LAPSE '$compiler' --update"
exit 1
