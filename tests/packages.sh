# shellcheck shell=bash disable=SC2034
# packages: sourced by the scripts that set things up. Installs what is missing of a list of Debian
# packages, and nothing when nothing is missing.

BUILD_PACKAGES="meson ninja-build gcc libc6-dev pkg-config libcsv-dev libyaml-dev libjansson-dev
  libxxhash-dev libhiredis-dev check gnuplot-nox fonts-dejavu-core"
TEST_PACKAGES="$BUILD_PACKAGES clang libclang-rt-14-dev redis-server redis-tools valgrind"

packages_missing() {
    for package in "$@"; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || echo "$package"
    done
}

# A package that brings a server would start it; lapse needs none running. A policy-rc.d that says no
# stands there while packages are installed, unless the machine has one of its own.
packages_install() {
    as_root=""
    [ "$(id -u)" -eq 0 ] || as_root="sudo"
    policy=/usr/sbin/policy-rc.d
    own_policy=""
    if [ ! -e "$policy" ]; then
        printf '#!/bin/sh\nexit 101\n' | $as_root tee "$policy" >/dev/null
        $as_root chmod 755 "$policy"
        own_policy=yes
    fi
    status=0
    { $as_root apt-get update -q &&
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends "$@"; } >&2 || status=$?
    [ -z "$own_policy" ] || $as_root rm -f "$policy"
    return "$status"
}

# packages_need PACKAGE...: says what it will install, and installs it.
packages_need() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "no apt-get here; these Debian packages, or their like, are needed: $*" >&2
        return 0
    fi
    missing=$(packages_missing "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] && ! command -v sudo >/dev/null; then
        echo "missing, and neither root nor sudo to install them: $missing" >&2
        return 1
    fi
    echo "installing with apt-get: $missing" >&2
    # shellcheck disable=SC2086 # one word a package
    packages_install $missing
}
