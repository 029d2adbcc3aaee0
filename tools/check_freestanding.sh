#!/usr/bin/env bash
# The library on a microcontroller (Cortex-M4, no C library).
#
#   build   the portable sources compile freestanding, and want nothing from outside but
#           memcpy, memmove, memset, memcmp and the compiler's own helpers
#   run     tests/freestanding/main.c, linked with them, runs on an emulated board
#
# With no argument: both. Exit status 77: the tools are not here.
set -eu
cd "$(dirname "$0")/.."
what=${1:-all}
out=build/freestanding

# need TOOL: without it there is nothing to check.
need() {
    command -v "$1" >/dev/null || { echo "no $1"; exit 77; }
}

need arm-none-eabi-gcc
# The compiler's own headers and no others: a C library that is installed is not used.
flags=(-mcpu=cortex-m4 -mthumb -std=c11 -ffreestanding -DTSR_FREESTANDING -Os -Wall -Wextra -Werror
       -ffunction-sections -fdata-sections -ffp-contract=off
       -nostdinc -isystem "$(arm-none-eabi-gcc -print-file-name=include)" -Iinclude -Isrc)

build() {
    rm -rf $out
    mkdir -p $out
    # Files named for an operating system are not portable ones.
    for source in src/{core,backend,ops,cpu,cpu/gemm,cpu/tuning}/*.c; do
        case $source in *_posix.c | *_win32.c) continue ;; esac
        echo "$source"
    done | xargs -P "$(nproc)" -I{} sh -c \
        's=$1 && shift && exec arm-none-eabi-gcc "$@" -c "$s" -o "$0/$(echo "$s" | tr / _).o"' \
        $out {} "${flags[@]}"
    arm-none-eabi-ar rcs $out/libtessera.a $out/*.o

    # One object of all, so that what they want from each other is not counted.
    arm-none-eabi-ld -r -o $out/whole.o $out/src_*.o
    wanted=$(arm-none-eabi-nm -u $out/whole.o | awk '{ print $2 }' |
        grep -vE '^(mem(cpy|move|set|cmp)|__(aeabi|gnu)_.*|__[a-z]+[sd][if]([sd][if])?[23]?)$' || true)
    if [ -n "$wanted" ]; then
        printf 'wanted from outside:\n%s\n' "$wanted"
        exit 1
    fi
    arm-none-eabi-size -t $out/libtessera.a
}

run() {
    local elf=$out/main.elf
    # board.c has the memory functions: a loop in them must not become a call to them.
    arm-none-eabi-gcc "${flags[@]}" -fno-builtin -fno-tree-loop-distribute-patterns \
        -nostdlib -Wl,--gc-sections \
        -T tests/freestanding/link.ld tests/freestanding/board.c tests/freestanding/main.c \
        $out/libtessera.a -lgcc -o $elf
    arm-none-eabi-size $elf
    timeout 1200 qemu-system-arm -M mps2-an386 -display none -monitor none -serial none \
        -semihosting-config enable=on,target=native -kernel $elf
}

if [ "$what" != run ] || [ ! -f $out/libtessera.a ]; then build; fi
if [ "$what" != build ]; then need qemu-system-arm; run; fi
