# bash completion for lapse

_lapse_scenarios() {
    "${COMP_WORDS[0]}" list scenarios 2>/dev/null
}

# The variants of the scenario on the command line: lapse names them when it is asked for one that
# cannot be.
_lapse_variants() {
    local i
    for ((i = 2; i < COMP_CWORD - 1; i++)); do
        case ${COMP_WORDS[i]} in
        -* | =) continue ;;
        esac
        "${COMP_WORDS[0]}" run "${COMP_WORDS[i]}" --variant '?' 2>&1 >/dev/null |
            sed -n "s/.*no variant '?'; expected \(one of \)\{0,1\}//; T; s/;.*//; s/, / /g; p"
        return
    done
}

_lapse_files() { # PATTERN WORD: files that match, and folders
    compgen -f -X "!$1" -- "$2"
    compgen -d -- "$2"
}

_lapse() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options="" words="" files=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run compare plot list calibrate validate --help --version" -- "$word")
        return
    fi
    case $previous in
    --out | -o | --stream | --start)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    --from)
        mapfile -t COMPREPLY < <(_lapse_files "*.json" "$word")
        return
        ;;
    --variant | -v | --variants)
        mapfile -t COMPREPLY < <(compgen -W "$(_lapse_variants)" -- "$word")
        return
        ;;
    esac
    case ${COMP_WORDS[1]} in
    run)
        options="--out --variant --seed --stream --from --no-plot --help"
        words=$(_lapse_scenarios)
        files="*.yaml"
        ;;
    compare)
        options="--out --variants --no-plot --help"
        words=$(_lapse_scenarios)
        files="*.yaml"
        ;;
    plot)
        options="--term --svg --png --help"
        files="*.csv"
        ;;
    validate)
        options="--out --variant --server --start --runs --samples --contended --no-plot --help"
        words=$(_lapse_scenarios)
        ;;
    calibrate) options="--out --server --start --db --keys --rounds --help" ;;
    list)
        options="--help"
        words="engines strategies columns scenario-keys profiles operations scenarios"
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        [ -z "$files" ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(_lapse_files "$files" "$word")
        ;;
    esac
}

complete -o filenames -F _lapse lapse
