#!/bin/bash
# tests/accuracy.sh LAPSE FOLDER [RUNS]: how near lapse comes to a real redis-server on this machine.
# Calibrates (unless FOLDER/box.json is there) and plays each of the configurations below with `lapse
# validate`, RUNS times (default 3), and writes FOLDER/accuracy.md: a table with every miss in it.
# Takes about 25 minutes. From the environment: SERVER, the redis-server (default from PATH); ONLY,
# a pattern of configurations by their first words; CONTENDED=1, on a machine that is not alone, adds
# what the live server waited for a CPU to all prices.
set -eu
lapse=$(realpath "$1")
folder=$2
runs=${3:-3}
server=${SERVER:-redis-server}
LAPSE_DATA=${LAPSE_DATA:-$(cd "$(dirname "$0")/.." && pwd)}
export LAPSE_DATA
mkdir -p "$folder"
cd "$folder"

# hz, effort, keys, bytes of a value, replicas, INFO a second, GET a second, lazyfree-lazy-expire
configurations='
10 1 100000 32 0 10 0 no
10 1 1000000 32 0 1 0 no
10 1 1000000 32 0 200 0 no
100 1 1000000 32 0 1 0 no
10 10 1000000 32 0 1 0 no
10 1 100000 32 1 10 0 no
10 1 100000 1024 0 10 1000 no
500 1 100000 32 0 10 1000 no
10 5 100000 32 0 200 0 no
10 1 5000 65536 0 10 0 no
10 1 5000 65536 0 10 0 yes
50 5 100000 1024 0 10 0 no
100 10 100000 32 1 10 1000 no
500 10 100000 1024 0 1 0 no
50 1 1000000 32 0 10 0 no
10 1 1000000 32 1 10 0 no
100 5 1000000 32 0 200 0 no
500 5 1000000 32 0 10 1000 no
50 10 100000 32 0 200 1000 no
10 5 1000000 1024 0 10 0 no
100 1 100000 1024 1 200 0 no
50 1 5000 65536 0 10 1000 no
500 1 1000000 32 0 1 0 no
10 10 100000 1024 0 200 1000 no
'

scenario() { # NAME HZ EFFORT KEYS BYTES REPLICAS INFO GET LAZY
    duration=6s
    [ "$4" -lt 1000000 ] || duration=14s
    echo "name: $1"
    echo "duration: $duration"
    echo "costs: ./box.json"
    echo "servers:"
    echo "  master: {config: {hz: $2, active-expire-effort: $3, lazyfree-lazy-expire: '$9'}}"
    [ "$6" -eq 0 ] || echo "  replica: {replica-of: master}"
    echo "populations:"
    echo "  keys: {keys: 'key:{n:010}', count: $4, value: ${5}B, deadline: 2s}"
    [ "$8" -eq 0 ] || echo "clients: {reader: {rate: $8/s, population: keys, mix: {\"GET {key}\": 1}}}"
}

# One row: what was played, the bands, where lapse lies, and what it misses. Bounds: time to 99 %
# reclaimed 10 %, cycles ended by time 15 %, memory 0.5 %, p99 25 %, each or inside the band; the
# estimate 5 points outside the band at any whole second. Without GETs the p99 is that of a few INFOs
# in step with the cron, and so not judged.
row() { # CONFIGURATION FOLDER POINTS
    awk -F, -v configuration="$1" -v points="$3" '
        function far(i, bound) {
            if (lapse[i] >= low[i] && lapse[i] <= high[i]) return 0
            if (median[i] <= 0) return lapse[i] != median[i]
            off = lapse[i] / median[i] - 1
            return off > bound || off < -bound
        }
        function band(i, unit) {
            return sprintf("%.4g..%.4g, %.4g", low[i] / unit, high[i] / unit, lapse[i] / unit)
        }
        function miss(i, bound, what) {
            if (far(i, bound)) missed = missed (missed ? ", " : "") what \
                (median[i] > 0 ? sprintf(" %+.1f %%", (lapse[i] / median[i] - 1) * 100) : "")
        }
        NR > 1 { low[$1] = $2; median[$1] = $3; high[$1] = $4; lapse[$1] = $5 }
        END {
            split(configuration, c, " ")
            miss("reclaimed_99_ms", 0.10, "time")
            miss("time_cap_hits", 0.15, "cycles")
            miss("used_memory_peak_bytes", 0.005, "memory")
            if (c[7] > 0) miss("request_p99_us", 0.25, "p99")
            if (points > 5) missed = missed (missed ? ", " : "") "estimate " points " points"
            printf "| %s | %s | %s | %s | %s | %s | %s | %s |", c[1], c[2], c[3], c[4], c[5], c[6], c[7], c[8]
            printf " %s | %s | %s | %s | %s |", band("reclaimed_99_ms", 1000), band("time_cap_hits", 1), \
                band("used_memory_peak_bytes", 1048576), band("request_p99_us", 1000), points
            printf " %s |\n", missed ? missed : "none"
        }' "$2/validate.csv"
}

[ -f box.json ] || "$lapse" calibrate --start "$server" -o box.json >box.txt
{
    echo "Live band (least..most of $runs runs), then lapse. Calibrated $(sed -n 's/.*"date": "\(.*\)",/\1/p' box.json)."
    echo "Machine: $(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores, load average $(cut -d' ' -f1-3 /proc/loadavg) at the start."
    echo
    echo "| hz | effort | keys | bytes | replicas | INFO/s | GET/s | lazyfree | 99 % after, s | cycles ended by time | memory, MiB | request p99, ms | estimate outside, points | misses |"
    echo "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
} >accuracy.md
while read -r configuration; do
    [ -n "$configuration" ] || continue
    case $configuration in ${ONLY:-*}) ;; *) continue ;; esac
    name=c-$(echo "$configuration" | tr ' ' '-')
    read -r -a words <<<"$configuration"
    scenario "$name" "${words[@]}" >"$name.yaml"
    if "$lapse" validate "$name.yaml" --start "$server" --runs "$runs" --samples "${words[5]}" \
        ${CONTENDED:+--contended} --no-plot --out "$name" >"$name.txt" 2>&1 </dev/null; then
        points=$(sed -n 's/^stale estimate.*at most \([0-9.]*\) points.*/\1/p' "$name.txt")
        row "$configuration" "$name" "$points" | tee -a accuracy.md
    else
        echo "| $configuration: $(tail -n 1 "$name.txt") |" | tee -a accuracy.md
    fi
done <<<"$configurations"
echo "load average $(cut -d' ' -f1-3 /proc/loadavg) at the end" | tee -a accuracy.md
