#!/usr/bin/env bash
# Undefined arithmetic that only clang's sanitizer knows: pointers outside their object, NULL plus
# something, floats that no integer holds. The programs are those that go to the ends of shapes and strides.
set -u
cd "$(dirname "$0")/.." || exit 1
. tools/clang_sanitizer.sh
export UBSAN_OPTIONS=print_stacktrace=1
clang_sanitizer $fuzz_folder $fuzz_sanitizers unit/test_{bad_input,limits,loop,tensor,pool} \
    ops/test_{empty,einsum,conv,fft,matmul,order} property/test_copy
