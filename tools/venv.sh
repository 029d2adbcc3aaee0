#!/usr/bin/env bash
# The Python that checks compare with: NumPy, safetensors and gguf, and, where they can be had, onnx, h5py and
# Pillow, in a virtual environment below the build folder, made when it is first asked for. Prints its path.
#
#   tools/venv.sh [BUILD]
#
# Exit status 77, with one line that says why: it cannot be had.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=${1:-build}/venv-files
python=$venv/bin/python3
wanted='import numpy, safetensors, gguf'

command -v python3 >/dev/null || { echo "no python3"; exit 77; }
if ! "$python" -c "$wanted" 2>/dev/null; then
    [ "${TSR_SETUP:-on}" != off ] || { echo "the packages are not installed"; exit 77; }
    python3 -m venv --system-site-packages "$venv" >/dev/null 2>&1 &&
        timeout 300 "$python" -m pip -q --disable-pip-version-check install --retries 0 --timeout 15 \
            'numpy>=2' safetensors gguf >/dev/null 2>&1
    # What checks do without, with a line that says so.
    timeout 300 "$python" -m pip -q --disable-pip-version-check install --retries 0 --timeout 15 \
        onnx h5py pillow >/dev/null 2>&1
    "$python" -c "$wanted" 2>/dev/null || { echo "numpy, safetensors and gguf cannot be installed"; exit 77; }
fi
realpath -s "$python"
