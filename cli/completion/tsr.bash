# Completion of the command tsr for bash.

_tsr_ops() { "$1" ops --names 2>/dev/null; }
_tsr_families() { "$1" ops --families 2>/dev/null; }

# Options of a command.
_tsr_options() {
    local reading="--format --dtype --shape --offset --columns --separator --header" listing="--select --sort"
    case $1 in
        info)     echo "--all --table --tree --names --brief --json $listing $reading --help" ;;
        show)     echo "--full --precision --edge --json $listing $reading --help" ;;
        view)     echo "$listing $reading --help" ;;
        stats)    echo "--quantiles --bins --exact --json $listing $reading --help" ;;
        diff)     echo "--rtol --atol --ulp --nan-differs --any-dtype --verbose --quiet --json $listing $reading" \
                       "--help" ;;
        convert)  echo "--from --to --dtype --select --sort --rename --prefix --transpose --shard --encoding --compress" \
                       "--force --from-dtype --shape --offset --columns --separator --header --quality --quiet --json --help" ;;
        plot)     echo "-o --out --to --kind --min --max --bins --title --force --json $reading --help" ;;
        eval)     echo "-o --out --to --force --full --precision --functions --json $reading --help" ;;
        bench)    echo "--all --threads --seconds --picture --json --list --tune --help" ;;
        devices)  echo "--json --help" ;;
        ops)      echo "--family --json --markdown --names --families --help" ;;
        selftest) echo "--seed --seconds --family --json --verbose --help" ;;
    esac
}

# What may stand behind an option; "files" for files, "any" for what cannot be guessed.
_tsr_values() {
    case $2 in
        --format | --from | --to) echo "npy npz pt safetensors onnx gguf hdf5 png jpeg pnm csv tsv raw" ;;
        --dtype | --from-dtype)
            echo "bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c32 c64 c128" ;;
        --sort)     echo "file name size dtype shape worst min max mean std zero nan inf" ;;
        --select)   echo tensors ;;
        --kind)     echo "auto heat image hist line grid" ;;
        --encoding) echo "f32 f16 bf16 q8_0 q4_0" ;;
        --family)   _tsr_families "$1" ;;
        -o | --out | --picture) echo files ;;
        --header) echo "yes no" ;;
        --quality | --shape | --offset | --columns | --separator | --precision | --edge | --quantiles | --bins | --rtol | --atol | --ulp | --rename | \
            --prefix | --transpose | --shard | --min | --max | --title | --seed | --seconds | --threads) echo any ;;
    esac
}

# Answers with the tensors of a file whose names begin with a word. Names are anyone's: none is taken for
# something to expand.
_tsr_tensors() {
    local name
    COMPREPLY=()
    while IFS= read -r name; do
        [[ $name == "$3"* ]] && COMPREPLY+=("$4$name")
    done < <("$1" info --names -- "$2" 2>/dev/null)
    compopt -o nospace 2>/dev/null
}

# The first word of the command line that is a file.
_tsr_file() {
    local i
    for ((i = 2; i < COMP_CWORD; i++)); do
        [ -e "${COMP_WORDS[i]}" ] && { printf '%s\n' "${COMP_WORDS[i]}"; return; }
    done
}

# FILE:NAME, which bash cuts at the colon unless COMP_WORDBREAKS was changed; files before it.
_tsr_source() {
    local word=$2 at=$((COMP_CWORD - 1))
    if [ "$word" = : ]; then
        _tsr_tensors "$1" "${COMP_WORDS[at]}" ""
    elif [ "${COMP_WORDS[at]}" = : ]; then
        _tsr_tensors "$1" "${COMP_WORDS[at - 1]}" "$word"
    elif [[ $word == *:* && -e ${word%%:*} ]]; then
        _tsr_tensors "$1" "${word%%:*}" "${word#*:}" "${word%%:*}:"
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}

_tsr() {
    local word=${COMP_WORDS[COMP_CWORD]} last=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]} words='' values
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        words="info show view stats diff convert plot eval bench devices ops selftest help --help --version"
    elif values=$(_tsr_values "$1" "$last") && [ -n "$values" ]; then
        case $values in
            files) mapfile -t COMPREPLY < <(compgen -f -- "$word") ; return ;;
            tensors) _tsr_tensors "$1" "$(_tsr_file)" "$word"; return ;;
            any)   return ;;
        esac
        words=$values
        [ "$last" = --family ] && [ "$command" = selftest ] && words+=" errors threads"
    elif [ "$command" = help ]; then
        [ "$COMP_CWORD" = 2 ] && words="info show view stats diff convert plot eval bench devices ops selftest"
    elif [[ $word == -* ]]; then
        words=$(_tsr_options "$command")
    else
        case $command in
            ops) words=$(_tsr_ops "$1") ;;
            info | show | view | stats | diff | convert | plot) _tsr_source "$1" "$word"; return ;;
            eval) _tsr_source "$1" "${word#*=}"; return ;;
            selftest | devices) words=$(_tsr_options "$command") ;;
            bench) words=$("$1" bench --list 2>/dev/null) ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}

complete -o filenames -F _tsr tsr
