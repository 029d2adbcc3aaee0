#!/usr/bin/env bash
# The benchmarks run and say what they should: every family measures, the lines are JSON with the
# fields that tools read, and bench-diff finds what changed and nothing else. No time is judged.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
bin=${BUILD:-build}/bin passed=0 failed=0
here=$(mktemp -d)
trap 'rm -r "$here"' EXIT

check() {
    local what=$1
    shift
    if "$@" >"$here/out" 2>&1; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        echo "FAILED: $what"
        tail -20 "$here/out"
    fi
}

one_of_each() {
    "$bin/bench-ops" --quick --seconds 0.01 --json "$here/a.json" \
        'T.f32.100$|add.f32.64$|c.sum.ax1.f32.1000000x8|mm.f32.8$|maxpool2x2|f.add4$|concat3|h.permute' &&
        python3 - "$here/a.json" <<'P'
import json, sys
lines = [json.loads(l) for l in open(sys.argv[1])]
fields = {"lib", "workload", "threads", "seconds", "bytes", "flops"}
assert all(set(l) == fields and l["seconds"] > 0 for l in lines)
assert {l["workload"][0] for l in lines} == set("abcdefgh"), lines
assert {"tessera", "limit", "limit.copy", "limit.nt", "limit.read", "limit.peak"} == {l["lib"] for l in lines}
P
}

serves() {
    [ "$(printf 'd.mm.f32.8 1\nno.such 1\n' | "$bin/bench-ops" --serve --seconds 0.01 |
        sed -E 's/^[0-9.e-]+ [0-9.e-]+$/numbers/' | tr '\n' ' ')" = "numbers none " ]
}

line() {
    printf '{"lib": "tessera", "workload": "%s", "threads": 1, "seconds": %s, "bytes": 1, "flops": 0}\n' "$@"
}

diff_finds_changes() {
    { line slow 1.0; line slow 1.02; line fast 1.0; line fast 1.02
      line same 1.0; line same 1.1; } >"$here/b.json"
    { line slow 1.5; line slow 1.52; line fast 0.5; line fast 0.51
      line same 1.08; line same 1.12; } >"$here/c.json"
    tools/bench-diff "$here/b.json" "$here/c.json"
    [ $? = 1 ] && grep -q '1 faster, 1 slower, 1 within noise' \
        <(tools/bench-diff "$here/b.json" "$here/c.json") &&
        tools/bench-diff "$here/b.json" "$here/b.json"
}

diff_explains_bad_input() {
    echo '{"lib": 3' >"$here/bad.json"
    tools/bench-diff "$here/bad.json" "$here/bad.json" 2>&1 | grep -q 'bad.json:1: not a line of benchmarks'
}

# Beside NumPy, whose values are compared.
every_op_has_a_case() { "$python" bench/all/run.py --check; }

# Beside PyTorch, whose results are compared.
models_are_the_same() { "$torch" bench/models/run.py --check; }

check "one workload of each family is measured" one_of_each
check "--serve answers with seconds, or none" serves
check "bench-diff finds what is slower and faster beyond the noise" diff_finds_changes
check "bench-diff names the line that it cannot read" diff_explains_bad_input
skipped=0
if python=$(tools/venv.sh) && [ -e "${BUILD:-build}/python/tessera" ]; then
    check "every op has a case in bench-all" every_op_has_a_case
else
    echo "bench-all is not checked: ${python:-no Python package}"
    skipped=$((skipped + 1))
fi
torch=${BUILD:-build}/peers-venv/bin/python
if [ -e "${BUILD:-build}/python/tessera" ] && "$torch" -c 'import torch' 2>/dev/null; then
    check "tiny models give what PyTorch's do" models_are_the_same
else
    echo "bench-models is not checked: no PyTorch in $torch, or no Python package"
    skipped=$((skipped + 1))
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
