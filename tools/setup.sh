#!/bin/sh
# Install what the build and the tests need and this machine lacks.
#
#   tools/setup.sh build    only what the library needs: C compiler, make, CMake
#   tools/setup.sh          that, and what the optional tests use
#
# Prints what is missing and what for. Then installs it with apt-get, if it may (root, a package
# source that answers, not TSR_SETUP=off): on a terminal after asking, unless TSR_SETUP=yes. What
# is not installed is skipped. Fails only when the library cannot be built.
set -u
what=${1:-all}

# command : package : needed for
required="cc:gcc libc6-dev:building
make:make:building
cmake:cmake:building"
optional="c++:g++:the C++ halves of the header and install checks
clang:clang:the build with a second compiler
clang-runtime:libclang-rt-dev:fuzzing and the sanitizers of clang
pkg-config:pkg-config:the pkg-config half of the install check
python3-venv:python3 python3-venv:comparing files and expressions with NumPy, safetensors and gguf
tmux:tmux:tsr view in a terminal
arm-none-eabi-gcc:gcc-arm-none-eabi:the microcontroller build
qemu-system-arm:qemu-system-arm:running the microcontroller build"

# header, OpenCL driver or shared library : package : needed for
libraries="CL/cl.h:opencl-c-headers:the OpenCL backend
pocl.icd:pocl-opencl-icd ocl-icd-libopencl1:running the OpenCL backend
libopenblas.so.0:libopenblas0:the linear algebra tests
libfftw3.so.3:libfftw3-double3:the tests of FFTW in f64
libfftw3f.so.3:libfftw3-single3:the tests of FFTW in f32
libturbojpeg.so.0:libturbojpeg0:files of JPEG"

parts=$required
[ "$what" = build ] || parts="$required
$optional
$libraries"

# Is this command, shared library, header, OpenCL driver, or part of Python, there?
is_there() {
    case $1 in
    *.h) [ -f "/usr/include/$1" ] ;;
    clang-runtime) ls "$(clang -print-runtime-dir 2>/dev/null)"/libclang_rt.fuzzer* >/dev/null 2>&1 ;;
    *.icd) [ -f "/etc/OpenCL/vendors/$1" ] ;;
    python3-venv) python3 -c 'import ensurepip, venv' >/dev/null 2>&1 ;;
    lib*) PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null | grep -q "^[[:space:]]*$1 " ;;
    *)    command -v "$1" >/dev/null 2>&1 ;;
    esac
}

# Lines of `parts` that are not there.
missing() {
    printf '%s\n' "$parts" | while IFS= read -r line; do
        is_there "${line%%:*}" || printf '%s\n' "$line"
    done
}

may_install() {
    [ "${TSR_SETUP:-on}" != off ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1
}

apt() {
    DEBIAN_FRONTEND=noninteractive timeout 600 apt-get -qq -y \
        -o Acquire::Retries=0 -o Acquire::http::Timeout=15 -o Acquire::https::Timeout=15 "$@" >/dev/null 2>&1
}

# What would be installed, and on a terminal: shall it?
announce() {
    echo "setup: these packages are not installed:"
    missing | while IFS=: read -r tool package use; do printf '    %-34s %s\n' "$package" "$use"; done
    echo "setup: TSR_SETUP=off goes on without them"
    [ -t 0 ] && [ -t 1 ] && [ "${TSR_SETUP:-ask}" != yes ] || return 0
    printf 'setup: install them with apt-get? [Y/n] '
    read -r answer
    case $answer in [nN]*) return 1 ;; esac
}

if [ -n "$(missing)" ] && may_install && announce; then
    packages=$(missing | cut -d: -f2 | tr '\n' ' ')
    echo "setup: installing $packages"
    # shellcheck disable=SC2086 # a list of names
    apt install --no-install-recommends $packages ||
        { apt update && apt install --no-install-recommends $packages; } ||
        for package in $packages; do apt install --no-install-recommends "$package"; done
fi

missing | while IFS=: read -r tool package use; do
    echo "setup: no $tool (package $package): skipping $use"
done

for tool in cc make cmake; do
    command -v "$tool" >/dev/null 2>&1 || { echo "setup: cannot build without $tool" >&2; exit 1; }
done
