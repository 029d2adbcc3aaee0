#!/usr/bin/env bash
# docs/reference/ops.md is what `tsr ops --markdown` prints.
#
#   tools/check_reference.sh [BUILD]            compare
#   tools/check_reference.sh --update [BUILD]   write the page
#
# Exit status 77: there is no command to ask.
set -u
cd "$(dirname "$0")/.." || exit 1
update=no
if [ "${1:-}" = --update ]; then
    update=yes
    shift
fi
tsr=${1:-build}/bin/tsr
page=docs/reference/ops.md
[ -x "$tsr" ] || { echo "no $tsr"; exit 77; }

if [ $update = yes ]; then
    new=$(mktemp) && trap 'rm -f "$new"' EXIT
    "$tsr" ops --markdown >"$new" && mkdir -p "$(dirname $page)" && cat "$new" >$page || exit 1
    echo "wrote $page"
    exit 0
fi
if ! diff -u --label $page --label "tsr ops --markdown" $page <("$tsr" ops --markdown); then
    echo "$page is stale: tools/check_reference.sh --update"
    exit 1
fi
echo "$page is fresh"
