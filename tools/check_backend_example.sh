#!/usr/bin/env bash
# The backend of docs/howto/add-a-backend.md builds outside this tree, against an installed library, is
# found by name, and passes the conformance program.
#
#   tools/check_backend_example.sh [BUILD]
set -eu
cd "$(dirname "$0")/.."
build=$(realpath "${1:-build}")
check=$build/bin/tsr-backend-check
[ -x "$check" ] || { echo "no $check"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

lines=$(wc -l <examples/backend/ledger.c)
[ "$lines" -lt 300 ] || { echo "ledger.c has $lines lines, and is to stay below 300"; exit 1; }
grep -q "complete in $lines lines" docs/howto/add-a-backend.md ||
    { echo "ledger.c has $lines lines; docs/howto/add-a-backend.md says another number"; exit 1; }

cmake --install "$build" --prefix "$work/prefix" >/dev/null
cmake -S examples/backend -B "$work/ledger" -DCMAKE_PREFIX_PATH="$work/prefix" >/dev/null
cmake --build "$work/ledger"

export TSR_BACKEND_PATH=$work/ledger TSR_LEDGER=$work/lines
"$build/bin/tsr" devices | grep '^ledger:0 .*host memory with a ledger'
if readelf -d "$work/ledger/libtessera-ledger.so" | grep 'NEEDED.*tessera'; then
    echo "^ the plugin links the library"
    exit 1
fi
"$check" ledger | tail -n 30
grep -q '^matmul (' "$work/lines" || { echo "no product in the ledger"; exit 1; }
