#!/usr/bin/env bash
# The files that calls pass through are as few as docs/architecture.md says: see check_walks.py. Exit status
# 77: there is no Python, or nothing is built, or processes cannot be traced here.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
exec python3 tools/check_walks.py "$@"
