#!/bin/bash
# The same bytes whatever built lapse and wherever it runs: gcc -O2, clang -O0, clang -O3 and a
# sanitizer build, each in a process with another environment, locale and working folder.
# Argument: the source folder. A compiler that is missing is left out and named.
set -u
source=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

# One of everything that draws or waits: jitter, Poisson and Zipf, a closed loop, an outage, a cut, a
# clock step, an older engine, replies.
cat >"$work/mixed.yaml" <<'YAML'
name: mixed
about: A little of everything.
seed: 42
duration: 6s
servers:
  master: {config: {hz: 50}}
  near: {replica-of: master, link: {latency: 1ms, jitter: 300us}}
  far: {replica-of: master, allocator: debian, link: {latency: 40ms, bandwidth: 5mbit/s, outages: [{at: 2s, for: 1s}]}}
  classic: {engine: redis-5.0, costs: unit}
populations:
  a: {keys: "a:{n:06}", count: 20_000, value: {uniform: [10B, 300B]}, ttl: 2s, jitter: {strategy: gaussian, span: 2s}}
  b: {keys: "b:{n}", server: classic, count: 5_000, value: 32B, deadline: 2s}
clients:
  writer: {server: master, rate: 2k/s, arrivals: poisson, population: a, popularity: {zipf: 1.1}, mix: {"SET {key} {value} PX {ttl}": 1, "GET {key}": 3}}
  reader: {server: near, connections: 3, think: 5ms, population: a, mix: {"GET {key}": 1}}
events:
  - {at: 3s, server: master, command: INFO}
  - {at: 4s, server: far, command: "PTTL a:000001"}
YAML

# build NAME COMPILER OPTIMIZATION [MESON ARGUMENT...]
build() {
    if ! command -v "$2" >/dev/null; then
        echo "left out: no $2 here"
        return
    fi
    if ! { CC=$2 meson setup "$work/$1" "$source" -Doptimization="$3" -Ddebug=false "${@:4}" &&
        ninja -C "$work/$1" sim/lapse; } >"$work/log" 2>&1; then
        cat "$work/log"
        exit 1
    fi
    builds="$builds $1"
}

# run BUILD SCENARIO LOCALE TZ: in a folder of its own, with an environment of another size.
run() {
    folder="$work/$1-out"
    mkdir -p "$folder/in/$3"
    padding=$(printf '%*s' "${#3}000" '' | tr ' ' x)
    (cd "$folder/in/$3" && env -i PATH="$PATH" HOME="$folder" LC_ALL="$3" TZ="$4" PADDING="$padding" \
        UBSAN_OPTIONS=halt_on_error=1:exitcode=99 \
        LAPSE_DATA="$source" "$work/$1/sim/lapse" run "$2" --out "$folder/$3" --no-plot \
        --stream "$folder/$3.resp") >"$work/log" 2>&1
    status=$?
    if [ $status -gt 1 ]; then
        cat "$work/log"
        echo "FAIL $1 ends with $status on $2"
        failed=1
    fi
    if command -v gnuplot >/dev/null; then
        (cd / && env -i PATH="$PATH" LC_ALL="$3" LAPSE_DATA="$source" \
            "$work/$1/sim/lapse" plot --svg "$folder/$3") >"$work/log" 2>&1 || {
            cat "$work/log"
            failed=1
        }
    fi
}

# same SCENARIO: every build writes what the first one wrote, twice.
same() {
    first=""
    for name in $builds; do
        rm -rf "$work/$name-out"
        run "$name" "$1" C UTC
        run "$name" "$1" de_DE.UTF-8 Asia/Tokyo
        for locale in C de_DE.UTF-8; do
            (cd "$work/$name-out/$locale" && cat ../$locale.resp ../$locale.resp.times | cksum &&
                cksum -- *) >"$work/sums"
            [ -n "$first" ] || first=$(cat "$work/sums")
            if [ "$(cat "$work/sums")" = "$first" ]; then
                echo "same $1 $name $locale"
            else
                echo "FAIL $1 $name $locale: other bytes"
                printf '%s\n--- first\n%s\n' "$(cat "$work/sums")" "$first"
                failed=1
            fi
        done
    done
}

builds=""
build gcc-O2 gcc 2
build clang-O0 clang 0
build clang-O3 clang 3
build sanitizers gcc 1 -Db_sanitize=address,undefined
same "$work/mixed.yaml"
same "$source/scenarios/replica-lag.yaml"
exit $failed
