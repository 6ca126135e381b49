# bash completion for lapse

_lapse_scenarios() {
    "${COMP_WORDS[0]}" list scenarios 2>/dev/null
}

_lapse() {
    local word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options="" words=""
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "run compare plot list --help --version" -- "$word")
        return
    fi
    case $previous in
    --out | -o | --stream | --from)
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
        return
        ;;
    esac
    case ${COMP_WORDS[1]} in
    run)
        options="--out --variant --seed --stream --from --no-plot --help"
        words=$(_lapse_scenarios)
        ;;
    compare)
        options="--out --variants --no-plot --help"
        words=$(_lapse_scenarios)
        ;;
    plot) options="--term --svg --png --help" ;;
    list)
        options="--help"
        words="engines strategies columns scenario-keys profiles operations scenarios"
        ;;
    esac
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$options" -- "$word") ;;
    *)
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
        [ "${COMP_WORDS[1]}" = list ] || mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        ;;
    esac
}

complete -o filenames -F _lapse lapse
