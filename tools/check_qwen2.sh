#!/usr/bin/env bash
# The model of LLAISYS' face against the `transformers` package: small checkpoints of Qwen2's shape are made,
# and each token that is generated must be the same, on the CPU and on a device. Nothing is installed: PyTorch
# and transformers are gigabytes. TSR_PYTHON names a Python that has them, if python3 has not.
#
#   tools/check_qwen2.sh [BUILD]
#
# Exit status 77: there is no such Python.
set -u
cd "$(dirname "$0")/.." || exit 1
library=${1:-build}/compat/llaisys/lib/libllaisys.so
python=${TSR_PYTHON:-python3}
wanted='import sys, importlib.util as u
sys.exit(not all(map(u.find_spec, ("torch", "transformers", "safetensors", "numpy"))))'

[ -e "$library" ] || { echo "$library is not built"; exit 77; }
"$python" -c "$wanted" 2>/dev/null || { echo "no Python with torch and transformers (TSR_PYTHON)"; exit 77; }
exec "$python" tools/check_qwen2.py "$library"
