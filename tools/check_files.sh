#!/usr/bin/env bash
# Files and DLPack against the programs of others: what NumPy, safetensors and gguf write is read
# here, what is written here is read there, and arrays are shared both ways, with NumPy and, if it
# is installed, PyTorch. Checkpoints of PyTorch, ONNX models, HDF5 and JPEG are tried where their packages are
# there, with a line where they are not. Needs the first three packages, in a virtual environment below the
# build folder; exit status 77: they cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 1
build=${1:-build}
python=$(tools/venv.sh "$build") || { echo "$python"; exit 77; }
exec "$python" tools/check_files.py "$build/lib/libtessera.so"
