#!/usr/bin/env bash
# Every public function has a page and a man page, and no link between pages is dead. Exit status 77: there is
# no Python, or mkdocs cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 1
tools/docs.sh
status=$?
[ $status = 0 ] || [ $status = 77 ] || exit $status
for name in tsr_add tsr_slice tsr_scope_begin tsr_file_open; do
    grep -q "^$name" "build/docs/man3/$name.3" 2>/dev/null || { echo "no man page of $name"; exit 1; }
    [ $status = 77 ] || grep -q "$name" "build/docs/html/reference/c/$name.html" ||
        { echo "no page of $name"; exit 1; }
done
[ $status = 0 ] || exit $status
for name in tsr_scope_keep TSR_MUST; do
    grep -q $name build/docs/html/search/search_index.json || { echo "search does not find $name"; exit 1; }
done
if grep -rlE '<(script|link|img)[^>]*(src|href)="https?:' build/docs/html --include=*.html | head -n 3 |
    grep .; then
    echo "^ these pages load something from elsewhere"
    exit 1
fi
exit $status
