#!/usr/bin/env bash
# Programs and commands in README.md and docs/ run, and print what the pages say: see check_readme.py.
#
#   tools/check_readme.sh [BUILD]
#
# Exit status 77: there is no Python, or no build.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
[ -x "${1:-build}/bin/tsr" ] || { echo "no ${1:-build}/bin/tsr"; exit 77; }
exec python3 tools/check_readme.py "$@"
