#!/usr/bin/env bash
# Files and DLPack against the programs of others: what NumPy, safetensors and gguf write is read
# here, what is written here is read there, and arrays are shared both ways, with NumPy and, if it
# is installed, PyTorch. Needs those packages, in a virtual environment below the build folder;
# exit status 77: they cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
venv=$build/venv-files
python=$venv/bin/python3

command -v python3 >/dev/null || { echo "no python3"; exit 77; }
if ! "$python" -c 'import numpy, safetensors, gguf' 2>/dev/null; then
    [ "${TSR_SETUP:-on}" != off ] || { echo "the packages are not installed"; exit 77; }
    python3 -m venv --system-site-packages "$venv" >/dev/null 2>&1 &&
        timeout 300 "$python" -m pip -q --disable-pip-version-check install --retries 0 --timeout 15 \
            'numpy>=2' safetensors gguf >/dev/null 2>&1
    "$python" -c 'import numpy, safetensors, gguf' 2>/dev/null ||
        { echo "numpy, safetensors and gguf cannot be installed"; exit 77; }
fi
exec "$python" tools/check_files.py "$build/lib/libtessera.so"
