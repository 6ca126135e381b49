#!/bin/bash
# scenarios/run.sh [SCENARIO [ARGUMENT...]]: installs what is missing, builds lapse, runs the scenario
# (a file, or a name in scenarios/; default storm) and says where its picture is: in out/ of the
# folder it is called from. Further arguments go to `lapse run`.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../tests/packages.sh
. "$root/tests/packages.sh"

scenario=${1:-storm}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2086 # one word a package
packages_need $BUILD_PACKAGES

build="$root/build"
[ -f "$build/build.ninja" ] || meson setup "$build" "$root" >&2
ninja -C "$build" sim/lapse >&2

status=0
said=$(mktemp)
trap 'rm -f "$said"' EXIT
# What lapse says stays on the terminal; afterwards the time of this file tells a new picture.
"$build/sim/lapse" run "$scenario" "$@" || status=$?

# out/NAME, where NAME is what the file says; a variant goes below it.
file=$scenario
for place in "scenarios/$scenario.yaml" "$root/scenarios/$scenario.yaml"; do
    [ -f "$file" ] || file=$place
done
folder="out/$(sed -n 's/^name: *\([a-z0-9_-]*\).*/\1/p' "$file" 2>/dev/null | head -n 1)"
previous=""
for argument in "$@"; do
    case $previous in --out | -o) folder=$argument ;; --variant | -v) folder="$folder/$argument" ;; esac
    case $argument in --out=*) folder=${argument#*=} ;; --variant=*) folder="$folder/${argument#*=}" ;; esac
    previous=$argument
done
picture=$(realpath -q "$folder/run.png") || picture=""
[ -z "$picture" ] || [ ! "$picture" -nt "$said" ] || echo "the picture: $picture"
exit "$status"
