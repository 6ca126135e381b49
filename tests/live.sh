#!/bin/bash
# calibrate and validate beside a real server: one round of everything, and what is left behind when
# they are refused, done or interrupted. Skipped (77) without a redis-server. Arguments: the lapse executable,
# the source folder.
set -u
lapse=$(realpath "$1")
LAPSE_DATA=$(realpath "$2")
export LAPSE_DATA
command -v redis-server >/dev/null && command -v redis-cli >/dev/null || exit 77
work=$(mktemp -d)
server=0
trap '[ "$server" -eq 0 ] || kill "$server" 2>/dev/null; rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0
failures=0

check() { # DESCRIPTION COMMAND...
    checks=$((checks + 1))
    if "${@:2}"; then
        echo "ok $1"
    else
        echo "FAIL $1"
        sed 's/^/    /' stdout stderr 2>/dev/null | tail -n 20
        failures=$((failures + 1))
    fi
}
ends_with() { # CODE ARGUMENT...: runs lapse, keeps what it says
    "$lapse" "${@:2}" >stdout 2>stderr
    [ $? -eq "$1" ]
}
says() { grep -qF -- "$1" stderr; }
ask() { redis-cli -p "$port" "$@" 2>/dev/null; }
absent() { [ ! -e "$1" ]; }

# Another run of this test may be under way: the server that answers has to be the one started here.
is_ours() { [ "$(ask info server | tr -d '\r' | sed -n 's/^process_id://p')" = "$server" ]; }

for _ in 1 2 3 4; do
    port=$((20000 + RANDOM % 12000))
    redis-server --port $port --bind 127.0.0.1 --save '' --dir "$work" >/dev/null 2>&1 &
    server=$!
    for _ in $(seq 50); do
        is_ours && break 2
        kill -0 $server 2>/dev/null || break
        sleep 0.1
    done
    kill $server 2>/dev/null
done
check "a server of ours answers" [ "$(ask ping)" = PONG ]

# ---- refused -------------------------------------------------------------------------------------
ask set mine 1 >/dev/null
check "a server with data is refused" ends_with 2 calibrate --server 127.0.0.1:$port -o no.json
check "which database to use is asked for" says "--db"
check "database 0 is not empty" ends_with 2 calibrate --server 127.0.0.1:$port --db 0 -o no.json
ask replicaof 127.0.0.1 1 >/dev/null
check "a replica is refused" ends_with 2 calibrate --server 127.0.0.1:$port -o no.json
ask replicaof no one >/dev/null
ask config set requirepass secret >/dev/null
check "a server with a password is refused" ends_with 2 calibrate --server 127.0.0.1:$port -o no.json
check "and that is said" says "needs a password"
redis-cli -p $port -a secret config set requirepass '' >/dev/null 2>&1
check "nothing was written" absent no.json

# ---- measured ------------------------------------------------------------------------------------
ask config set hz 17 >/dev/null
check "an empty database of a server with data is measured" \
    ends_with 0 calibrate --server 127.0.0.1:$port --db 5 -o box.json --rounds 1 --keys 65536
check "its keys are the others' alone" [ "$(ask info keyspace | grep -c '^db')" -eq 1 ]
check "which are there" [ "$(ask get mine)" = 1 ]
check "hz is what it was" [ "$(ask config get hz | tail -n 1)" = 17 ]
cat >small.yaml <<'YAML'
name: small
duration: 3s
costs: ./box.json
servers: {master: {}}
populations: {keys: {keys: "k:{n}", count: 20_000, deadline: 1s}}
expect: ["last(master.keys) == 0"]
YAML
check "the prices are those of a run" ends_with 0 run small.yaml --no-plot

# ---- interrupted ---------------------------------------------------------------------------------
for seconds in 2 6; do
    "$lapse" calibrate --server 127.0.0.1:$port --db 5 -o no.json --rounds 31 >stdout 2>stderr &
    pid=$!
    sleep $seconds
    kill -INT $pid
    wait $pid
    check "interrupted after $seconds s it ends with 130" [ $? -eq 130 ]
    check "its keys are gone" [ "$(ask info keyspace | grep -c '^db')" -eq 1 ]
    check "hz is what it was" [ "$(ask config get hz | tail -n 1)" = 17 ]
    check "dynamic-hz too" [ "$(ask config get dynamic-hz | tail -n 1)" = yes ]
done
check "nothing was written" absent no.json

# ---- a scenario, played --------------------------------------------------------------------------
cat >play.yaml <<'YAML'
name: play
duration: 4s
servers: {master: {config: {hz: 50, lazyfree-lazy-expire: "yes"}}}
populations: {keys: {keys: "k:{n}", count: 20_000, deadline: 1s}}
clients:
  reader: {rate: 200/s, mix: {"GET {key}": 9, "SET other {value}": 1}}
  closed: {connections: 3, think: 20ms, mix: {"GET {key}": 1}}
events: [{at: 2s, command: "SET greeting hello"}]
YAML
check "a server with data is not played to" ends_with 2 validate play.yaml --server 127.0.0.1:$port --out no
check "nothing was written" absent no
ask del mine >/dev/null
check "an empty one is" ends_with 0 validate play.yaml --server 127.0.0.1:$port --runs 1 --no-plot --out v
check "it says how often the cycle ended by time" grep -q "^cycles ended by time" stdout
check "both traces are there" test -s v/live-1.csv -a -s v/trace.csv -a -s v/validate.csv
check "all keys died in both" \
    [ "$(awk -F, '$1 == "reclaimed_100_ms" {print ($2 > 0) + ($5 > 0)}' v/validate.csv)" = 2 ]
check "no key of ours is left" [ "$(ask info keyspace | grep -c '^db')" -eq 0 ]
check "hz is what it was" [ "$(ask config get hz | tail -n 1)" = 17 ]
check "lazyfree too" [ "$(ask config get lazyfree-lazy-expire | tail -n 1)" = no ]
"$lapse" validate play.yaml --server 127.0.0.1:$port --runs 9 --out no >stdout 2>stderr &
pid=$!
sleep 3
kill -INT $pid
wait $pid
check "interrupted it ends with 130" [ $? -eq 130 ]
check "no key of ours is left" [ "$(ask info keyspace | grep -c '^db')" -eq 0 ]
check "hz is what it was" [ "$(ask config get hz | tail -n 1)" = 17 ]
check "nothing was written" absent no
sed 's/master: {config/master: {engine: redis-5.0, config/' play.yaml >old.yaml
check "a scenario of another generation is refused" ends_with 2 validate old.yaml --server 127.0.0.1:$port --out no
check "by name" says "the scenario runs redis-5.0"
sed 's/^servers.*/servers: {master: {}, far: {replica-of: master}}/' play.yaml >two.yaml
check "a replica needs --start" ends_with 2 validate two.yaml --server 127.0.0.1:$port --out no
kill $server
wait $server 2>/dev/null
server=0

# ---- started -------------------------------------------------------------------------------------
check "a server is started for it" ends_with 0 calibrate --start redis-server -o own.json --rounds 1 --keys 65536
check "with a replica" grep -q "with a replica" stdout
check "and for a scenario with a replica" \
    ends_with 0 validate two.yaml --start redis-server --runs 1 --out two
if command -v gnuplot >/dev/null; then check "it is drawn" test -s two/validate.svg; fi
check "the file names the server" grep -q '"server": "redis-server 7' own.json

echo "$((checks - failures)) of $checks checks hold"
[ "$failures" -eq 0 ]
