"""Builds wheel and sdist (PEP 517) with CMake and a C compiler; nothing else is needed.

A wheel holds what build/python holds, and beside the extension the library and the command tsr, which draws.
Its tag is what the files need: any CPython from 3.10 on, or one free-threaded version, and the glibc whose
symbols they use.
"""
import base64
import hashlib
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
SUMMARY = "Strided N-dimensional tensors: the Python array API standard over a C library"
# What a build of the package needs of the project.
SOURCES = ["CMakeLists.txt", "LICENSE", "cmake", "include", "src", "bench", "opcheck", "cli", "python"]


def version():
    text = (ROOT / "include/tessera/config.h").read_text()
    return ".".join(re.search(rf"TSR_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def metadata():
    return (f"Metadata-Version: 2.1\nName: tessera\nVersion: {version()}\nSummary: {SUMMARY}\n"
            "Requires-Python: >=3.10\n")


# Wheels ----------------------------------------------------------------------------------------------


def build(folder):
    """The package, with the library in it."""
    jobs = str(os.cpu_count() or 2)
    parts = ["TESTS", "EXAMPLES", "BACKENDS", "COMPAT"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-DCMAKE_BUILD_TYPE=Release", "-DTSR_INSTALL=OFF",
                    "-DTSR_BUILD_PYTHON=ON", "-DTSR_WHEEL=ON", f"-DPython3_EXECUTABLE={sys.executable}",
                    *(f"-DTSR_BUILD_{part}=OFF" for part in parts)], check=True)
    subprocess.run(["cmake", "--build", folder, "-j", jobs, "--target", "python", "tsr"], check=True)
    package = pathlib.Path(folder) / "python" / "tessera"
    # The shortest name with a version is the one that the extension asks for.
    library = min((pathlib.Path(folder) / "lib").glob("libtessera.so.*"), key=lambda p: len(p.name))
    shutil.copy(library.resolve(), package / library.name)
    shutil.copy(pathlib.Path(folder) / "bin" / "tsr", package / "tsr")
    if shutil.which("strip"):
        for file in binaries(package):
            subprocess.run(["strip", "--strip-unneeded", file], check=True)
    return package


def binaries(package):
    return [package / "tsr", *package.glob("*.so*")]


def python_tag():
    """The stable ABI from 3.10 on; a free-threaded Python has none."""
    if not sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "cp310-abi3"
    version = f"cp{sys.version_info[0]}{sys.version_info[1]}"
    return f"{version}-{version}t"


def platform(package):
    """linux_x86_64, or the manylinux of the glibc that the files need."""
    name = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    data = b"".join(p.read_bytes() for p in binaries(package))
    versions = [int(v) for v in re.findall(rb"GLIBC_2\.(\d+)", data)]
    if b"GLIBC_ABI_DT_RELR" in data:
        versions.append(36)
    if not name.startswith("linux_") or not versions:
        return name
    return f"manylinux_2_{max(versions + [17])}_{name[len('linux_'):]}"


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def write_wheel(path, files):
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files:
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | (0o755 if name.endswith("/tsr") else 0o644)) << 16
            archive.writestr(info, data)
            record.append(f"{name},{digest(data)},{len(data)}")
        name = f"tessera-{version()}.dist-info/RECORD"
        archive.writestr(name, "\n".join(record + [f"{name},,", ""]))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    with tempfile.TemporaryDirectory() as folder:
        package = build(folder)
        tag = f"{python_tag()}-{platform(package)}"
        wheel = f"Wheel-Version: 1.0\nGenerator: tessera\nRoot-Is-Purelib: false\nTag: {tag}\n"
        info = f"tessera-{version()}.dist-info"
        files = [(f"tessera/{p.name}", p.read_bytes()) for p in sorted(package.iterdir()) if p.is_file()]
        files += [(f"{info}/METADATA", metadata().encode()), (f"{info}/WHEEL", wheel.encode()),
                  (f"{info}/LICENSE", (ROOT / "LICENSE").read_bytes())]
        name = f"tessera-{version()}-{tag}.whl"
        write_wheel(pathlib.Path(wheel_directory) / name, files)
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    info = pathlib.Path(metadata_directory) / f"tessera-{version()}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(metadata())
    return info.name


def get_requires_for_build_wheel(config_settings=None):
    tools = [] if shutil.which("cmake") else ["cmake>=3.20"]
    return tools + ([] if shutil.which("make") or shutil.which("ninja") else ["ninja"])


# Sources ------------------------------------------------------------------------------------------------


def build_sdist(sdist_directory, config_settings=None):
    base = f"tessera-{version()}"
    name = f"{base}.tar.gz"
    settings = (HERE / "pyproject.toml").read_text()
    settings = settings.replace('backend-path = ["."]', 'backend-path = ["python"]')
    path = pathlib.Path(sdist_directory) / name
    with tempfile.TemporaryDirectory() as folder, tarfile.open(path, "w:gz") as out:
        for file, text in (("pyproject.toml", settings), ("PKG-INFO", metadata())):
            (pathlib.Path(folder) / file).write_text(text)
            out.add(pathlib.Path(folder) / file, f"{base}/{file}")
        for source in SOURCES:
            out.add(ROOT / source, f"{base}/{source}",
                    filter=lambda i: None if "__pycache__" in i.name else i)
    return name
