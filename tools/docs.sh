#!/usr/bin/env bash
# Pages with search from docs/ and the headers' words, and man pages of section 3: build/docs.
#
#   tools/docs.sh [FOLDER]
#
# The pages are made by mkdocs with the theme Material, in a virtual environment below build/. Exit status 77,
# with one line that says why: it cannot be had, and there are only man pages.
set -u
cd "$(dirname "$0")/.." || exit 1
out=${1:-build/docs}
venv=build/venv-docs
command -v python3 >/dev/null || { echo "no python3"; exit 77; }
mkdir -p "$out"
rm -rf "$out/man3" "$out/index.html"
tools/make_docs.py man "$out" || exit 1

if ! "$venv/bin/mkdocs" --version >/dev/null 2>&1; then
    [ "${TSR_SETUP:-on}" != off ] || { echo "mkdocs is not installed: no pages"; exit 77; }
    echo "installing mkdocs-material with pip in $venv, once (TSR_SETUP=off: man pages only)"
    python3 -m venv "$venv" >/dev/null 2>&1 &&
        timeout 300 "$venv/bin/pip" -q --disable-pip-version-check install --retries 0 --timeout 15 \
            'mkdocs-material>=9.5,<10' >/dev/null 2>&1
    "$venv/bin/mkdocs" --version >/dev/null 2>&1 || { echo "mkdocs cannot be installed: no pages"; exit 77; }
fi
tools/make_docs.py pages "$out/source" &&
    NO_MKDOCS_2_WARNING=1 "$venv/bin/mkdocs" build -q --strict -f "$out/source/mkdocs.yml" \
        -d "$(realpath "$out")/html" &&
    tools/make_docs.py links "$out/html" &&
    echo "pages in $out/html/index.html"
