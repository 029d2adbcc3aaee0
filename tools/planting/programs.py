"""The test programs: how long each takes at each instruction set, and which functions it enters."""
import bisect
import collections
import concurrent.futures
import itertools
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import time

# Instruction sets that TSR_ISA names and their flags in /proc/cpuinfo; native is avx512 and more.
LEVELS = {"portable": None, "avx2": "avx2", "avx512": "avx512bw", "native": "avx512_vnni"}
EXTENSIONS = {"vnni": "avx512_vnni", "bf16": "avx512_bf16", "amx": "amx_int8"}

# Programs that take minutes, in parts that take seconds and enter less each: their arguments. Plugins beside
# the library are not found here, so that the test of them fails without a fault: the others are run alone.
PARTS = {"net/test_net": [["--part", f"{k}/128"] for k in range(128)],
         "oom/test_oom_ops": [["system_refuses"], ["hook_refuses"], ["without_the_pool"],
                              ["with_the_pool"], ["workers_kept"], ["keep_their_size"]],
         "unit/test_plugins": [["without_an_entry"], ["called_as_its_file"], ["entries_of_the_search_path"],
                               ["anyone_may_write"], ["named_as_plugins"], ["too_long"], ["named_plainly"],
                               ["by_the_environment"], ["may_be_left_out"], ["problems_are_kept"]]}
IDLE = 60


def ticks_of(pid):
    """Processor time that a process has had, in ticks; that of its children once they have ended."""
    try:
        return sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    except OSError:
        return 0


class Programs:
    def __init__(self, library, levels, quick):
        self.library, self.tree = library, library.tree
        flags = set(pathlib.Path("/proc/cpuinfo").read_text().split())
        self.levels = [level for level, flag in LEVELS.items()
                       if (flag is None or flag in flags) and (not levels or level in levels)]
        self.missing = [name for name, flag in EXTENSIONS.items() if flag not in flags]
        self.read_functions()
        self.read_runs(quick)

    def read_functions(self):
        """Each function's addresses, and the lines that have code in it."""
        library = self.library.base / "libplanted.so"
        names = subprocess.run(["nm", "-S", "--defined-only", library], check=True, capture_output=True,
                               text=True)
        rows = [line.split() for line in names.stdout.split("\n")]
        functions = sorted({(int(r[0], 16), int(r[0], 16) + int(r[1], 16))
                            for r in rows if len(r) == 4 and r[2] in "tTwW"})
        self.starts, self.ends = [f[0] for f in functions], [f[1] for f in functions]
        self.of_line, self.of_object = collections.defaultdict(set), collections.defaultdict(set)
        dump = subprocess.Popen(["readelf", "-W", "--debug-dump=decodedline", library],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        file, unit = None, None
        for line in dump.stdout:
            if line.endswith(":\n"):
                file = os.path.relpath(line.removeprefix("CU: ").strip()[:-1], self.tree)
                if line.startswith("CU: "):
                    unit = file
                    by_name = {os.path.basename(f): f for f in self.library.depends.get(unit, ())}
                continue
            row = line.split()
            if len(row) >= 3 and row[1].isdigit():
                function = self.function_at(int(row[2], 16))
                here = file if os.path.basename(file) == row[0] else by_name.get(row[0])
                if function is not None:
                    self.of_line[here, int(row[1])].add(function)
                    self.of_object[unit].add(function)
        dump.wait()

    def function_at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        return i if i >= 0 and address <= self.ends[i] else None

    def read_runs(self, quick):
        """Every program once at every instruction set, or what an earlier run of the same files found."""
        note = self.library.work / "runs.jsonl"
        library = str(self.library.base / "libplanted.so")
        keys = {" ".join([program, *part]): self.library.key([], [library, str(file)])
                for program, file in self.library.binaries.items() for part in PARTS.get(program, [[]])}
        known = [json.loads(line) for line in note.read_text().splitlines()] if note.exists() else []
        known = [run for run in known if keys.get(run["program"]) == run["key"]]
        there = {(run["program"], run["level"]) for run in known}
        missing = [(p, level) for p in sorted(keys) for level in self.levels if (p, level) not in there]
        if missing:
            print(f"running {len(missing)} programs without a fault", flush=True)
        with concurrent.futures.ThreadPoolExecutor(self.library.jobs) as pool, open(note, "w") as lines:
            runs, known = itertools.chain(known, pool.map(lambda job: self.trace(*job, keys, quick),
                                                          missing)), []
            for run in runs:
                known.append(run)
                lines.write(json.dumps(run) + "\n")  # at once: what is known stays if this run is ended
                lines.flush()
        self.runs = {}
        for run in [run for run in known if run["level"] in self.levels]:
            program, level, seconds, result = (run[name] for name in ("program", "level", "seconds",
                                                                      "result"))
            if result != "passed" or seconds > quick:
                reason = f"takes {seconds:.0f} s" if result == "passed" else f"{result} without a fault"
                print(f"left out: {program} at {level}, which {reason}")
            else:
                self.runs[program, level] = seconds, set(run["entered"])

    def trace(self, program, level, keys, quick):
        with tempfile.NamedTemporaryFile(dir=self.library.work) as file:
            file.truncate(os.path.getsize(self.library.base / "libplanted.so") + (1 << 20))
            trace = {"PLANT_TRACE": file.name}
            result, seconds = self.run(program, level, self.library.base, self.tree, 2 * quick, trace)
            entered = {self.function_at(m.start()) for m in re.finditer(b"\1", file.read())}
        return {"key": keys[program], "program": program, "level": level, "seconds": seconds,
                "result": result, "entered": sorted(entered - {None})}

    def run(self, program, level, library, tree, limit, extra={}):
        """How it ended, and its processor seconds. The limit is one of processor time: a busy machine is
        no reason to fail. A program that does nothing for IDLE seconds waits for ever."""
        def limits():
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, int(limit) + 2))
            resource.setrlimit(resource.RLIMIT_DATA, (12 << 30, 12 << 30))
        with tempfile.TemporaryDirectory(dir=self.library.work) as folder:
            environment = {**os.environ, "TSR_ISA": "" if level == "native" else level, "TSR_THREADS": "3",
                           "TMPDIR": folder, "LD_LIBRARY_PATH": str(library), "TSR_STOP": "1", **extra}
            name, *arguments = program.split(" ")
            child = subprocess.Popen([self.library.binaries[name], *arguments], cwd=tree, env=environment,
                                     preexec_fn=limits, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.DEVNULL)
            worked, since, status = 0, time.monotonic(), 0
            while True:
                pid, status, used = os.wait4(child.pid, os.WNOHANG)
                if pid or time.monotonic() - since > IDLE:
                    break
                time.sleep(0.02)
                if worked != ticks_of(child.pid):
                    worked, since = ticks_of(child.pid), time.monotonic()
            if not pid:
                os.killpg(child.pid, signal.SIGKILL)
                _, status, used = os.wait4(child.pid, 0)
            child.returncode = code = os.waitstatus_to_exitcode(status)
        if not pid or code in (-signal.SIGXCPU, -signal.SIGKILL):
            result = "timed out"
        else:
            crashed = f"crashed ({signal.Signals(-code).name})" if code < 0 else ""
            result = crashed or ("failed" if code > 0 else "passed")
        return result, used.ru_utime + used.ru_stime

    def suspects(self, fault, objects):
        """The runs that may notice: those that enter a function with code of the line; of a line that has
        none (a macro's, a table's), those that enter its objects. Of each program the widest set of
        instructions, and others where they enter functions that it does not."""
        functions = self.of_line.get((fault.file, fault.line))
        functions = functions or set().union(*(self.of_object[o] for o in objects))
        chosen, seen = [], collections.defaultdict(set)
        widest_first = sorted(self.runs.items(), key=lambda r: -self.levels.index(r[0][1]))
        for (program, level), (seconds, entered) in widest_first:
            new = (entered & functions) - seen[program]
            if new:
                seen[program] |= new
                chosen.append((seconds, program, level))
        return sorted(chosen)
