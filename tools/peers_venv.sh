#!/usr/bin/env bash
# The Python that benchmarks compare with: NumPy and PyTorch in a virtual environment below the build folder.
# Prints its path; what cannot be installed is said on the standard error and left out.
#
#   tools/peers_venv.sh BUILD
set -eu
venv=$1/peers-venv
[ -x "$venv/bin/pip" ] || python3 -m venv "$venv" ||
    { echo "python3 has no venv module: no NumPy, no PyTorch" >&2; echo python3; exit 0; }
for package in numpy torch; do
    "$venv/bin/python" -c "import $package" 2>/dev/null && continue
    echo "installing $package into $venv" >&2
    "$venv/bin/pip" install -q "$package" >&2 || echo "cannot install $package" >&2
done
echo "$venv/bin/python"
