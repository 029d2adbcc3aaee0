#!/usr/bin/env bash
# What docs/howto/add-*.md tell to write is enough: see check_howto.py. Exit status 77: there is no Python.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
exec python3 tools/check_howto.py "$@"
