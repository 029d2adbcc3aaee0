"""The recipes in packaging/ are about this version and this build.

    python3 tools/check_recipes.py

Each names the version of config.h; options that they set are options of the build; each is read by the
program that knows its language, where that is there. Prints one line a failure, and the counts.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import sys

COUNTS = {"passed": 0, "failed": 0, "skipped": 0}


def report(ok, what):
    COUNTS["passed" if ok else "failed"] += 1
    if not ok:
        print("FAILED", what)


def skip(what):
    COUNTS["skipped"] += 1
    print("skipped:", what)


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


VERSION = ".".join(re.findall(r"#define TSR_VERSION_\w+ (\d+)", read("include/tessera/config.h")))


def check_versions():
    places = {"packaging/brew/tessera.rb": 'version "%s"', "packaging/conan/conanfile.py": 'version = "%s"',
              "packaging/conda/meta.yaml": 'version = "%s"', "packaging/nix/default.nix": 'version = "%s"',
              "packaging/vcpkg/vcpkg.json": '"version": "%s"', "packaging/debian/changelog": "tessera (%s-",
              "CITATION.cff": "version: %s"}
    for path, line in places.items():
        report(line % VERSION in read(path), f"{path} is not about version {VERSION}")


def check_options():
    sources = ["CMakeLists.txt"] + glob.glob("cmake/*.cmake") + glob.glob("backends/*/backend.cmake")
    known = set(re.findall(r"(?:option\(|set\()(TSR_\w+)", "".join(map(read, sources))))
    for path in filter(os.path.isfile, glob.glob("packaging/*/*")):
        for name in re.findall(r"\bTSR_[A-Z_]+\b|(?<=-D)TSR_\w+(?==)", read(path)):
            report(name in known or name == "TSR_MAX_NDIM", f"{path}: there is no option {name}")


def check_with(program, arguments, path):
    if not shutil.which(program):
        return skip(f"no {program}: {path} is not read")
    done = subprocess.run([program, *arguments, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    return report(done.returncode == 0, f"{path}: {done.stdout.strip()}")


def check_yaml():
    try:
        import yaml
    except ImportError:
        return skip("no yaml: .github, CITATION.cff and the recipe for conda are not read")
    paths = glob.glob(".github/**/*.yml", recursive=True) + ["CITATION.cff"]
    conda = re.sub(r"\{\{.*?\}\}", "text", re.sub(r"\{%.*?%\}", "", read("packaging/conda/meta.yaml")))
    for path, text in [(path, read(path)) for path in paths] + [("packaging/conda/meta.yaml", conda)]:
        try:
            report(isinstance(yaml.safe_load(text), dict), f"{path} is no table")
        except yaml.YAMLError as error:
            report(False, f"{path}: {error}")
    return None


def main():
    check_versions()
    check_options()
    json.loads(read("packaging/vcpkg/vcpkg.json"))
    compile(read("packaging/conan/conanfile.py"), "conanfile.py", "exec")
    check_with("ruby", ["-c"], "packaging/brew/tessera.rb")
    check_with("nix-instantiate", ["--parse"], "packaging/nix/default.nix")
    check_yaml()
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % COUNTS)
    return COUNTS["failed"] != 0


sys.exit(main())
