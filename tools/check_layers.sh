#!/usr/bin/env bash
# Folders of src call in one direction: see check_layers.py. Exit status 77: there is no Python, or nothing is
# built.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
command -v nm >/dev/null || { echo "no nm"; exit 77; }
exec python3 tools/check_layers.py "$@"
