#!/usr/bin/env bash
# The recipes in packaging/ are about this version and this build: see check_recipes.py. Exit status 77: there
# is no Python.
set -u
cd "$(dirname "$0")/.." || exit 1
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
exec python3 tools/check_recipes.py
