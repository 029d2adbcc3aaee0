#!/usr/bin/env bash
# The rows of op.def and the public headers say the same: see check_rows.py. Exit status 77: there is no
# Python.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
exec python3 tools/check_rows.py "$@"
