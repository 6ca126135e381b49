#!/bin/bash
# scenarios/run.sh [NAME]: installs what is missing, builds lapse, runs scenarios/NAME.yaml (default
# storm) and says where its picture is. Further arguments go to `lapse run`.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=../tests/packages.sh
. "$root/tests/packages.sh"

name=${1:-storm}
[ $# -eq 0 ] || shift
# shellcheck disable=SC2086 # one word a package
packages_need $BUILD_PACKAGES

cd "$root"
[ -f build/build.ninja ] || meson setup build >&2
ninja -C build sim/lapse >&2

folder="out/$name"
for argument in "$@"; do
    case $argument in --out | --out=* | -o* | --variant | --variant=* | -v*) folder="" ;; esac
done
status=0
build/sim/lapse run "$name" "$@" || status=$?
[ -z "$folder" ] || [ ! -f "$folder/run.png" ] || echo "the picture: $root/$folder/run.png"
exit "$status"
