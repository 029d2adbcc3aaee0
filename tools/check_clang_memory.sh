#!/usr/bin/env bash
# Memory that is read before it was written, as clang's memory sanitizer sees it.
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/clang_sanitizer.sh
clang_sanitizer build/clang-msan memory unit/test_{pool,tensor,desc,print,files,memory,random,match,interop} \
    ops/test_empty
