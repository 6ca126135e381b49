#!/bin/bash
# tests/run.sh [ARGUMENT...]: installs what is missing, builds lapse and runs every test. Arguments go
# to `meson test` (a test's name, --suite core, -v). From the environment: BUILD, the build folder
# (default build); CC, when that folder is made; SETUP, further arguments of `meson setup`.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
# shellcheck source=packages.sh
. "$root/tests/packages.sh"

# shellcheck disable=SC2086 # one word a package
packages_need $TEST_PACKAGES

cd "$root"
build=${BUILD:-build}
# shellcheck disable=SC2086 # one word an argument
[ -f "$build/build.ninja" ] || meson setup "$build" ${SETUP:-}
ninja -C "$build"
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-halt_on_error=1:exitcode=99:print_stacktrace=1}
exec meson test -C "$build" --no-rebuild --print-errorlogs "$@"
