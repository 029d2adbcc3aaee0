# Completion of the command tsr for bash.

_tsr_ops() { "$1" ops --names 2>/dev/null; }
_tsr_families() { "$1" ops --families 2>/dev/null; }

_tsr() {
    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} words=
    if [ "$COMP_CWORD" = 1 ]; then
        words="ops selftest help --help --version"
    elif [ "$last" = --family ]; then
        words=$(_tsr_families "$1")
        [ "${COMP_WORDS[1]}" = selftest ] && words+=" errors threads"
    else
        case ${COMP_WORDS[1]} in
            ops)
                case $word in
                    -*) words="--family --json --markdown --names --families --help" ;;
                    *)  words=$(_tsr_ops "$1") ;;
                esac ;;
            selftest)
                case $last in
                    --seed | --seconds) ;;
                    *) words="--seed --seconds --family --json --verbose --help" ;;
                esac ;;
            help) [ "$COMP_CWORD" = 2 ] && words="ops selftest" ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -F _tsr tsr
