#!/bin/bash
# tests/scenarios.sh LAPSE: every shipped scenario about replication runs and meets its own
# expectations; those with variants are compared. What each says it shows is asserted where an
# expectation cannot: see the checks below the loop.
set -eu
lapse=$(realpath "$1")
LAPSE_DATA=$(cd "$(dirname "$0")/.." && pwd)
export LAPSE_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

check() { # WHAT FILE PATTERN
    grep -q -- "$3" "$2" && return
    echo "FAIL $1: no '$3' in $2"
    failed=1
}

for name in chain outage-partial outage-full failover-during-storm skewed-clocks replica-lag clock-jump \
    del-storm-on-a-thin-link relative-vs-absolute orphans; do
    verb=run
    ! grep -q '^variants:' "$LAPSE_DATA/scenarios/$name.yaml" || verb=compare
    "$lapse" "$verb" "$name" --out "$name" --no-plot >"$name.txt" 2>&1 </dev/null || {
        echo "FAIL $name: exit code $?"
        tail -n 5 "$name.txt"
        failed=1
    }
done

# A relative TTL is counted from its arrival, 200 ms later; a deadline is what it is.
grep -A1 'replica  PTTL' relative-vs-absolute/relative/replies.txt | tail -n 1 >relative.txt
grep -A1 'replica  PTTL' relative-vs-absolute/absolute/replies.txt | tail -n 1 >absolute.txt
check relative-vs-absolute relative.txt '^(integer) 7200$'
check relative-vs-absolute absolute.txt '^(integer) 7000$'
# Promoted, the replica keeps the key 200 ms too long; with the deadline it does not.
grep -A1 '^11100.*GET lesson' relative-vs-absolute/relative/replies.txt >relative.txt
grep -A1 '^11100.*GET lesson' relative-vs-absolute/absolute/replies.txt >absolute.txt
check relative-vs-absolute relative.txt '^"read-me-in-time"$'
check relative-vs-absolute absolute.txt '^(nil)$'
# At 6.1 s the replica 5 s ahead alone has given the key up.
grep -A1 '^6100.*ahead  GET' skewed-clocks/replies.txt >ahead.txt
grep -A1 '^6100.*behind  GET' skewed-clocks/replies.txt >behind.txt
check skewed-clocks ahead.txt '^(nil)$'
check skewed-clocks behind.txt '^"read-me-in-time"$'
# The one snapshot leaves dead keys out, the other does not.
check orphans orphans.txt '^keys at the end  *[1-9][0-9,]*  *0$'
[ "$failed" -eq 0 ] && echo "all met"
exit "$failed"
