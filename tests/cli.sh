#!/bin/bash
# The command line as a person meets it: exit codes, wrong input, nothing half-written, a run
# repeated from its run.json. Arguments: the lapse executable, the source folder.
# shellcheck disable=SC2016 # what eval is given expands there
set -u
lapse=$(realpath "$1")
LAPSE_DATA=$(realpath "$2")
export LAPSE_DATA
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
checks=0
failures=0

check() { # DESCRIPTION COMMAND...
    checks=$((checks + 1))
    if "${@:2}"; then
        echo "ok $1"
    else
        echo "FAIL $1"
        sed 's/^/    /' stdout stderr 2>/dev/null | head -n 20
        failures=$((failures + 1))
    fi
}
ends_with() { # CODE ARGUMENT...: runs lapse, keeps what it says
    "$lapse" "${@:2}" >stdout 2>stderr
    [ $? -eq "$1" ]
}
says() { grep -qF -- "$1" stderr; }
prints() { grep -qF -- "$1" stdout; }
silent_on_stdout() { [ ! -s stdout ]; }
has_only() { [ "$(cd "$1" && echo *)" = "$2" ]; }
absent() { [ ! -e "$1" ]; }
same_bytes() { cmp -s "$1" "$2"; }

cat >small.yaml <<'YAML'
name: small
about: Two thousand keys and a replica.
duration: 3s
servers:
  master: {}
  far: {replica-of: master, link: {latency: 20ms}}
populations:
  keys: {keys: "k:{n}", count: 2_000, value: 32B, deadline: 1s}
clients:
  reader: {rate: 500/s, population: keys, mix: {"GET {key}": 1}}
events:
  - {at: 2s, server: master, command: "SET greeting hello"}
  - {at: 2500ms, server: far, command: "GET greeting"}
variants:
  few: {populations.keys.count: 100}
  quick: {servers.master.config.hz: 100}
expect:
  - last(far.keys) == 1
  - max(far.stale_keys) >= 1
YAML
sed 's/last(far.keys) == 1/last(far.keys) == 2/' small.yaml >failing.yaml
sed 's/hz: 1/hertz: 1/; s/duration: 3s/durration: 3s/' small.yaml >wrong.yaml
sed 's/max(far.stale_keys)/max(far.stale_kesy)/' small.yaml >misspelt.yaml

# ---- a run ---------------------------------------------------------------------------------------
check "a run ends with 0" ends_with 0 run small.yaml --no-plot
check "it prints its expectations with figures" prints "PASS  last(far.keys) == 1   (1)"
check "it says which cost profile was used" prints "costs default"
check "and how one gets one's own" says "\`lapse calibrate\` makes them yours"
check "it says where it wrote" says "wrote out/small"
check "it leaves these files and no partial one" \
    has_only out/small "replies.txt run.json summary.csv trace.csv"
check "replies are kept as redis-cli shows them" grep -qx '"hello"' out/small/replies.txt
check "each server has a row in the summary" [ "$(wc -l <out/small/summary.csv)" -eq 3 ]
check "an expectation that fails ends with 1" ends_with 1 run failing.yaml --no-plot --out f
check "and is printed with its figure" prints "FAIL  last(far.keys) == 2   (1)"
check "and the files are there all the same" test -f f/run.json
check "a variant goes below the scenario's folder" ends_with 0 run small.yaml --variant few --no-plot
check "there" test -f out/small/few/run.json
check "another seed ends with 0 too" ends_with 0 run small.yaml --no-plot --seed 7 --out seven
check "and is another run" eval '! same_bytes seven/trace.csv out/small/trace.csv'

sed '/^  keys:/s/deadline: 1s/deadline: 1h/; /^expect/,$d; /^events/a\
  - {at: 1s, server: master, command: "SET a b PX nonsense"}' small.yaml >noted.yaml
check "errors and runs without a deadline are noted" ends_with 0 run noted.yaml --no-plot --out noted
check "the error with its command and text" \
    says '`SET a b PX nonsense` on master, was answered with an error: ERR value is not an integer'
check "which is in the replies too" grep -q "(error) ERR value is not an integer" noted/replies.txt
check "that no deadline fell into the run" says "note: no key reached its deadline within the 3000 ms"
cat >past.yaml <<'YAML'
name: past
start: 2026-01-01T00:00:00Z
duration: 1s
servers: {master: {}}
populations: {old: {from: past.csv}}
YAML
cat >past.csv <<'CSV'
database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry
0,string,a,100,string,32,32,2025-12-25T00:00:00.000000
0,string,b,100,string,32,32,2026-01-25T00:00:00.000000
CSV
check "a dump of last week" ends_with 0 run past.yaml --no-plot --out past
check "is noted to be one" says "note: population old: 1 of 2 keys have deadlines before the start"

printf 'hz 20\nmaxmemory 1gb\nport 1\n' >redis.conf
sed 's/master: {}/master: {config-file: redis.conf}/' small.yaml >conf.yaml
check "a redis.conf" ends_with 0 run conf.yaml --no-plot --out conf
check "with a limit of memory is noted to have none here" says "sets maxmemory, but eviction is not modelled"

# ---- repeating -----------------------------------------------------------------------------------
cp -r out/small was
rm small.yaml
check "run --from needs no scenario file" ends_with 0 run --from was/run.json --no-plot
check "it compares the bytes" prints "same     trace.csv"
check "and they are the same" same_bytes out/small-again/trace.csv was/trace.csv
check "run.json too" same_bytes out/small-again/run.json was/run.json
sed 's/"trace.csv": "..../"trace.csv": "0000/' was/run.json >other.json
check "the folder will do as well" ends_with 0 run --from was --no-plot
check "other bytes end with 1" ends_with 1 run --from other.json --no-plot --out o
check "and are named" prints "differs  trace.csv"
sed 's/"lapse": "[^"]*"/"lapse": "0.0.0"/' was/run.json >older.json
check "another version is said to be one" ends_with 0 run --from older.json --no-plot --out o
check "by its number" says "lapse 0.0.0"
sed 's/few/fex/' was/run.json >edited.json
check "an edited manifest is refused" ends_with 2 run --from edited.json --no-plot --out refused
check "so is what is no JSON" ends_with 2 run --from was/trace.csv --no-plot --out refused
check "and nothing was written" absent refused
cp failing.yaml small.yaml
sed -i 's/last(far.keys) == 2/last(far.keys) == 1/' small.yaml

# ---- prices from a file --------------------------------------------------------------------------
operations=$("$lapse" list operations | sed 's/ .*//')
prices() { # EACH
    printf '{"prices_ps": {'
    printf '"%s": '"$1"', ' $operations | sed 's/, $//'
    echo '}}'
}
mkdir priced && sed 's/^duration/costs: .\/box.json\nduration/' small.yaml >priced/small.yaml
prices 1000000 >priced/box.json
check "a file of prices beside the scenario" ends_with 0 run priced/small.yaml --no-plot --out priced/a
check "is named" prints "costs ./box.json"
check "and nobody is told to calibrate" eval '! says calibrate'
check "its hash is kept" grep -q '"costs_xxh64": "[0-9a-f]\{16\}"' priced/a/run.json
sed 's/^costs.*/costs: unit/' priced/small.yaml >priced/unit.yaml
check "1 us for everything" ends_with 0 run priced/unit.yaml --no-plot --out priced/b
check "is what unit says" same_bytes priced/a/trace.csv priced/b/trace.csv
check "it is found again" ends_with 0 run --from priced/a/run.json --no-plot --out priced/again
prices 2000000 >priced/box.json
check "another file is another run" ends_with 1 run --from priced/a/run.json --no-plot --out priced/again
check "and is named" says "./box.json has changed since"
sed 's/"lookup"/"lockup"/' priced/box.json >wrong.json && mv wrong.json priced/box.json
check "a wrong file of prices" ends_with 2 run priced/small.yaml --no-plot --out wrong
check "is named with its place" says "box.json:1:"
check "and the nearest operation" says "did you mean 'lookup'?"

# ---- the stream ----------------------------------------------------------------------------------
check "the stream can be kept" ends_with 0 run small.yaml --no-plot --out s --stream s.resp
offset=$(tail -n 1 s.resp.times | cut -d, -f2)
check "its bytes are the last offset" [ "$(wc -c <s.resp)" -eq "$offset" ]
check "its size is that of its commands" \
    [ "$(awk -F, 'NR > 1 {sum += $3} END {print sum}' s.resp.times)" -eq "$offset" ]
check "the first command is the master's ping" \
    [ "$(head -n 3 s.resp | tr -d '\r' | tr '\n' ' ')" = '*1 $4 ping ' ]

mkfifo pipe
cat pipe >from-pipe &
check "a FIFO takes the stream" ends_with 0 run small.yaml --no-plot --out s --stream pipe
wait $!
check "byte for byte" same_bytes from-pipe s.resp
check "and stays a FIFO, alone" eval '[ -p pipe ] && absent pipe.times && absent pipe.partial'
mkdir linked && ln -s linked/target link
check "a link leads the stream to its target" ends_with 0 run small.yaml --no-plot --out s --stream link
check "and stays a link" eval '[ -L link ] && [ ! -L linked/target ] && same_bytes linked/target s.resp'
# A node of our own: the machine's /dev/full is not to be put at risk.
if mknod own-full c 1 7 2>/dev/null && (echo >own-full) 2>&1 | grep -q space; then
    check "a full device ends with 4" ends_with 4 run small.yaml --no-plot --out q --stream own-full
    check "is named" says "own-full: No space left on device"
    check "stays a device" eval '[ -c own-full ] && absent own-full.times && absent own-full.partial'
    check "and leaves nothing in the folder" has_only q "*"
fi

# ---- wrong input ---------------------------------------------------------------------------------
check "no command" ends_with 2
check "an unknown command" ends_with 2 rnu
check "names the nearest" says "did you mean 'run'?"
check "an unknown option" ends_with 2 run small.yaml --varient few
check "names the nearest" says "did you mean '--variant'?"
check "an unknown scenario" ends_with 2 run strom --out wrong
check "names the nearest" says "did you mean 'storm'?"
check "an unknown variant" ends_with 2 run small.yaml --variant fwe --out wrong
check "names the nearest" says "did you mean 'few'?"
check "a file that is not there" ends_with 2 run ./nowhere.yaml --out wrong
check "a folder for a file" ends_with 2 run ./was --out wrong
check "is said to be one" says "./was is a folder"
check "an option like no other" ends_with 2 run small.yaml --bogus
check "suggests none" eval '! says "did you mean"'
check "no scenario" ends_with 2 run
check "two scenarios" ends_with 2 run small.yaml failing.yaml --out wrong
check "a seed that is no number" ends_with 2 run small.yaml --seed -4 --out wrong
check "a wrong scenario" ends_with 2 run wrong.yaml --out wrong
check "is named with its place" says "wrong.yaml:3:1:"
check "a wrong expectation" ends_with 2 run misspelt.yaml --out wrong
check "is named with its place" says "misspelt.yaml:19:5:"
check "and the nearest column" says "did you mean 'stale_keys'?"
sed 's/config.hz: 100/config.hertz: 100/' small.yaml >variant.yaml
check "a wrong path in a variant that is not run" ends_with 2 run variant.yaml --out wrong
check "is named with its place" says "variant.yaml:16:"
check "and the nearest key" says "did you mean 'hz'?"
sed 's/count: 100}/expect: ["max(far.kesy) < 1"]}/; s/populations.keys.expect/expect/' small.yaml >variant.yaml
check "a wrong expectation in one, too" ends_with 2 run variant.yaml --variant quick --out wrong
check "is named with its place" says "variant.yaml:15:"
head -c 4096 /dev/urandom >noise.yaml
check "binary noise" ends_with 2 run noise.yaml --out wrong
: >empty.yaml
check "an empty file" ends_with 2 run empty.yaml --out wrong
iconv -f UTF-8 -t UTF-16 small.yaml >wide.yaml
check "a file in UTF-16" ends_with 2 run wide.yaml --out wrong
check "nothing went to stdout" silent_on_stdout
check "an unknown list" ends_with 2 list engins
check "names the nearest" says "did you mean 'engines'?"
check "a variant to compare that is not there" ends_with 2 compare small.yaml --variants few,qiuck --out wrong
check "names the nearest" says "did you mean 'quick'?"
check "variants of a scenario without any" ends_with 2 compare storm --out wrong
check "a folder to plot that is empty" eval 'mkdir -p hollow; ends_with 2 plot hollow'
check "a scenario to plot" ends_with 2 plot small.yaml
check "is told what is expected" says "small.yaml: expected a folder of results, or its trace.csv"
check "a trace that is none" ends_with 2 plot --term past.csv
check "after all that nothing was written" absent wrong

check "a server that is not there" ends_with 2 calibrate --server 127.0.0.1:1 -o wrong
check "is said to be none" says "127.0.0.1:1: cannot connect"
check "nor one to play to" ends_with 2 validate small.yaml --server 127.0.0.1:1 --out wrong
check "a link that is cut cannot be played" ends_with 2 validate replica-lag --out wrong
check "keys that are written during the run neither" ends_with 2 validate lazy-vs-active --samples 7 --out wrong
check "no file for the prices" ends_with 2 calibrate
check "both a server and a program" ends_with 2 calibrate --server a --start b -o wrong
check "a number of keys that fills no table" ends_with 2 calibrate --keys 100000 -o wrong
check "a program that cannot be started" ends_with 2 calibrate --start /nowhere/redis-server -o wrong
check "is named" says "/nowhere/redis-server: cannot be started"
check "nothing was written then either" absent wrong

# ---- output that cannot be written ---------------------------------------------------------------
: >file
check "a file where a folder should be ends with 4" ends_with 4 run small.yaml --no-plot --out file/below
check "a stream that cannot be opened ends with 4" \
    ends_with 4 run small.yaml --no-plot --out p --stream nowhere/s.resp
check "and leaves nothing in the folder" has_only p "*"
if [ -e /dev/full ]; then
    mkdir full && ln -s /dev/full full/trace.csv.partial
    check "a full disk ends with 4" ends_with 4 run small.yaml --no-plot --out full
    check "and leaves nothing in the folder" has_only full "*"
    check "and the file is named" says "full/trace.csv"
    check "a full stdout ends with 4" eval '"$lapse" list columns >/dev/full 2>stderr; [ $? -eq 4 ]'
fi

# ---- Ctrl-C --------------------------------------------------------------------------------------
sed 's/duration: 3s/duration: 100000s/; /^expect/,$d' small.yaml >long.yaml
"$lapse" run long.yaml --no-plot --out long >stdout 2>stderr &
pid=$!
for _ in $(seq 100); do
    [ -s long/trace.csv.partial ] && break
    sleep 0.1
done
kill -TERM $pid
wait $pid
check "an interrupted run ends with 130" [ $? -eq 130 ]
check "and keeps the finished rows" has_only long "trace.csv.partial"
check "which are whole" [ -z "$(tail -c 1 long/trace.csv.partial)" ]
check "and says so" says "long/trace.csv.partial"

# ---- keys of a file and of a pattern -------------------------------------------------------------
cat >both.csv <<'EOF'
database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry
0,string,page:5,100,string,10,10,
0,string,other,100,string,10,10,
EOF
cat >both.yaml <<'EOF'
name: both
duration: 200ms
servers: {master: {}}
populations:
  file: {from: both.csv}
  pages: {keys: "page:{n}", count: 10, ttl: 1min}
events: [{at: 100ms, command: DBSIZE}]
EOF
check "a file before a pattern that writes its names" ends_with 0 run both.yaml --no-plot --out both
check "gives a name once" grep -qx "(integer) 11" both/replies.txt

sed 's/count: 2_000/count: 20_000_000/' small.yaml >huge.yaml
"$lapse" run huge.yaml --no-plot --out huge >stdout 2>stderr &
pid=$!
sleep 1
kill -TERM $pid
wait $pid
check "Ctrl-C while keys are loaded ends with 130" [ $? -eq 130 ]
check "and says so" says "while keys were loaded"
check "with nothing written" absent huge

# ---- replies and streams -------------------------------------------------------------------------
cat >talk.yaml <<'EOT'
name: talk
duration: 200ms
servers: {master: {}}
events:
  - {at: 50ms, command: 'SET k "a\nb\x01"'}
  - {at: 60ms, command: GET k}
EOT
check "an event with odd bytes" ends_with 0 run talk.yaml --no-plot --out talk --stream talk.resp
check "is answered in one line" grep -qxF '"a\nb\x01"' talk/replies.txt
check "an empty stream is said to be" says "'master' has no replica"

# ---- a file's databases --------------------------------------------------------------------------
printf 'database,type,key,size_in_bytes,encoding,num_elements,len_largest_element,expiry\n' >two.csv
printf '1,string,a,100,string,10,10,\n2,string,b,100,string,10,10,\n' >>two.csv
cat >two.yaml <<'EOT'
name: two
duration: 1s
servers: {master: {}}
populations: {rows: {from: two.csv}}
clients: {reader: {rate: 100/s, population: rows, mix: {"GET {key}": 1}}}
expect: ["sum(master.nil_replies) == 0", "sum(master.requests) > 50"]
EOT
check "a client reads each row in its database" ends_with 0 run two.yaml --no-plot --out two

# ---- comparing -----------------------------------------------------------------------------------
check "variants are compared" ends_with 0 compare small.yaml --no-plot --out c
check "in one CSV" [ "$(cut -d, -f1,2 c/compare.csv | tr '\n' ' ')" = \
    "variant,server base,master base,far few,master few,far quick,master quick,far " ]
check "with a folder each" has_only c "base compare.csv few quick"
check "whose bytes are those of a run alone" same_bytes c/few/trace.csv out/small/few/trace.csv
check "some variants, with the base" ends_with 0 compare small.yaml --no-plot --out d --variants quick,base
check "in the order asked for" [ "$(cut -d, -f1 d/compare.csv | uniq | tr '\n' ' ')" = "variant quick base " ]
sed 's/^  few: .*/  few: {}/' small.yaml >full.yaml
check "variants of which one changes nothing" ends_with 0 compare full.yaml --no-plot --out d2
check "need no base beside them" has_only d2 "compare.csv few quick"
check "a failing variant ends with 1" ends_with 1 compare failing.yaml --no-plot --out e

# ---- pictures ------------------------------------------------------------------------------------
check "a trace is drawn in the terminal" env LC_ALL=C COLUMNS=60 "$lapse" plot --term was/trace.csv >stdout
cp stdout drawn
check "a comparison is not" ends_with 2 plot --term c
check "but its variants are" says '`lapse plot --term c/VARIANT`'
cp drawn stdout
check "within its width" [ "$(awk '{if (length($0) > m) m = length($0)} END {print m}' stdout)" -le 60 ]
if command -v gnuplot >/dev/null; then
    check "a run is drawn" ends_with 0 plot --svg was
    check "gnuplot has nothing to complain of" eval '[ "$(cat stderr)" = "lapse: wrote was/run.svg" ]'
    check "few requests a row have no p99 of their own" grep -qF "under 100 a row" was/run.svg
    cp was/run.svg first.svg
    check "and drawn again" eval '(cd was && LC_ALL=C "$lapse" plot --svg . 2>/dev/null)'
    check "with the same bytes" same_bytes first.svg was/run.svg
    check "a comparison is drawn" ends_with 0 plot --svg c
    check "there" test -s c/compare.svg
    check "gnuplot has nothing to complain of" eval '[ "$(cat stderr)" = "lapse: wrote c/compare.svg" ]'
    cp -r c mixed
    check "a run into the folder of a comparison" ends_with 0 run small.yaml --out mixed
    check "draws the run" test -s mixed/run.svg
    check "and leaves the comparison's picture as it is" eval 'same_bytes mixed/compare.svg c/compare.svg && ! says compare'
    check "a comparison into the folder of a run" ends_with 0 compare small.yaml --out mixed
    check "draws the comparison alone" eval 'says mixed/compare.svg && ! says mixed/run.svg'
    mkdir half bin && cp was/*.csv half
    printf '#!/bin/sh\necho "<svg>"\n' >bin/gnuplot
    chmod +x bin/gnuplot
    check "half a picture ends with 4" eval 'PATH=$PWD/bin:$PATH ends_with 4 plot --svg half'
    check "and is named" says "half/run.svg: gnuplot could not draw"
    check "and is not there" has_only half "summary.csv trace.csv"
    if [ -c own-full ]; then
        mv own-full half/run.png
        check "a full disk ends with 4" ends_with 4 plot half
        check "and the picture is named" says "half/run.png: No space left on device"
        check "the others are there" eval '[ -s half/run.svg ] && absent half/run.svg.partial'
    fi
    mkdir "it's here" && cp was/*.csv was/run.json "it's here"
    check "a folder with a quote in its name" ends_with 0 plot --svg "it's here"
fi
check "without gnuplot a run says so and ends with 0" \
    eval 'PATH=/nowhere "$lapse" run small.yaml --out g >stdout 2>stderr && says "no pictures"'

# ---- lists and help ------------------------------------------------------------------------------
for list in engines strategies columns scenario-keys profiles operations scenarios; do
    check "list $list" ends_with 0 list "$list"
    check "says something" [ -s stdout ]
done
check "the reference is a scenario" eval \
    '"$lapse" list scenario-keys >reference.yaml; ends_with 0 run reference.yaml --no-plot --seed 1 || [ $? -eq 1 ]'
for command in "" run compare plot list calibrate validate; do
    # shellcheck disable=SC2086 # none or one word
    check "lapse $command --help" ends_with 0 $command --help
    check "starts with examples" [ "$(sed -n 2p stdout)" = "Examples:" ]
done

# ---- completion, and the script that runs a scenario ---------------------------------------------
complete_for() { # WORD...: what completes the last one, sorted, on one line
    COMP_WORDS=("$lapse" "$@")
    COMP_CWORD=$#
    _lapse
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}
# shellcheck source=../sim/lapse.bash
. "$LAPSE_DATA/sim/lapse.bash"
check "variants are completed" [ "$(complete_for run small.yaml --variant "")" = "few quick " ]
check "by their start" [ "$(complete_for compare small.yaml --variants q)" = "quick " ]
check "files that are scenarios are, others are not" [ "$(complete_for run sm)" = "small.yaml " ]
check "neither are pictures" [ "$(complete_for compare firs)" = " " ]
check "scenarios by name are" [ "$(complete_for run storm-)" = "storm-jitter " ]

echo "$((checks - failures)) of $checks checks hold"
[ "$failures" -eq 0 ]
