#!/usr/bin/env bash
# A binding that is made of `tsr ops --json` calls every op: see check_binding.py.
#
#   tools/check_binding.sh [BUILD]
#
# Exit status 77: there is no Python, or nothing was built.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
[ -x "$build/bin/tsr" ] && [ -e "$build/lib/libtessera.so" ] ||
    { echo "nothing is built in $build"; exit 77; }
exec python3 tools/check_binding.py "$build"
