"""Arrays from the first to the last moment of a process: forks, threads, other interpreters, the end of the
interpreter, memory that is given back, calls with anything at all."""
import gc
import os
import pathlib
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import tessera as ts

HERE = pathlib.Path(__file__).parent
LONG = int(os.environ.get("TSR_EXAMPLES", "25")) >= 200  # as `make soak` asks for it


def run(code, *arguments):
    """A process of its own; it must end well and say nothing on stderr. What it printed."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", code, *arguments]  # of fork
    done = subprocess.run(command, capture_output=True, text=True,
                          timeout=600)
    assert done.returncode == 0 and done.stderr == "", (done.returncode, done.stdout, done.stderr)
    return done.stdout


def test_any_call_ends_in_a_result_or_an_exception():
    calls = "200000" if LONG else "3000"
    done = subprocess.run([sys.executable, HERE / "odd_calls.py", calls], capture_output=True, text=True)
    assert done.returncode == 0, (done.stdout, done.stderr[-3000:])
    assert f"{calls} calls" in done.stdout


def test_fork():
    run("""if True:
        import os, tessera as ts
        x = ts.ones((600, 600))
        assert float(ts.sum(x @ x)) == 600.0**3  # the pool of threads is there
        children = []
        for _ in range(3):
            pid = os.fork()
            if pid == 0:
                os._exit(0 if float(ts.sum(x @ x)) == 600.0**3 and x[::2].shape == (300, 600) else 1)
            children.append(pid)
        assert all(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0 for pid in children)
        assert float(ts.sum(x @ x)) == 600.0**3
    """)


def test_processes_exchange_arrays():
    assert run("""if True:
        import multiprocessing, tessera as ts
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print([float(v) for v in pool.map(ts.sum, [ts.ones(5), ts.ones((2, 3))])])
    """) == "[5.0, 6.0]\n"


SUBINTERPRETER = """
try:
    import _interpreters as other
except ImportError:
    import _xxsubinterpreters as other
import tessera
kept = tessera.ones(3)
run = other.exec if hasattr(other, "exec") else other.run_string
for _ in range(3):
    it = other.create()
    run(it, '''
try:
    import tessera
except ImportError as error:
    assert "interpreter" in str(error)
else:
    raise SystemError("loaded twice")
''')
    other.destroy(it)
print(float(tessera.sum(kept + kept)))
"""


def test_another_interpreter_is_refused_and_does_no_harm():
    pytest.importorskip("_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters")
    assert run(SUBINTERPRETER) == "6.0\n"


@pytest.mark.parametrize("code", [
    "x = ts.ones(5); y = x[::2]",  # in the module until it is torn down
    "import atexit; x = ts.ones(5); atexit.register(lambda: print(x + 1, repr(x)))",
    "import sys; sys.kept = [ts.ones(3), ts.float32, ts.add, ts.random.Generator(1)]",
    "x = ts.ones(5); capsules = [x.__dlpack__(), x.__arrow_c_array__()]",
    "class Node: pass\nn = Node(); n.me = n; n.x = ts.ones(3)[1:]",
    "class Late:\n    def __init__(s): s.x = ts.ones(3)\n"
    "    def __del__(s): s.x + s.x; s.x[0]; memoryview(s.x)\nlate = Late()",
    "import threading, time\nx = ts.ones((400, 400))\n"
    "def work():\n    while True: x @ x\n"
    "threading.Thread(target=work, daemon=True).start(); time.sleep(0.05)",
    "import sys; del sys.modules['tessera']; import tessera as again; again.ones(2) + ts.ones(2)",
    "import importlib; importlib.reload(ts); ts.ones(2)",
])
def test_end_of_the_interpreter(code):
    run(f"import tessera as ts\n{code}")


def test_a_cycle_through_an_array_lasts_until_it_is_broken():
    class Owner(bytearray):
        pass

    owner = Owner(8)
    owner.view = ts.asarray(owner)[2:]  # the array keeps its owner, the owner its array
    seen = weakref.ref(owner)
    view = owner.view
    del owner
    gc.collect()  # arrays are no containers for the collector, as in NumPy
    assert seen() is not None and view.tolist() == [0] * 6
    del seen().view, view
    assert seen() is None


def test_threads_share_arrays():
    x = ts.reshape(ts.arange(64.0), (8, 8))
    wrong = []

    def work():
        for i in range(300):
            view = x[i % 8, ::-1].copy()
            first = 8 * (i % 8)
            if float(ts.sum(view)) != sum(range(first, first + 8)) or np.asarray(x).shape != (8, 8):
                wrong.append(i)
            try:
                x[9]
            except IndexError as error:
                if "index 9" not in str(error):
                    wrong.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def resident():
    with open("/proc/self/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def some_of_everything(x, n):
    for _ in range(n):
        y = x[::2] + 1
        y.T if y.ndim == 2 else y.shape
        ts.asarray([1, 2, 3])
        np.asarray(y)
        ts.from_dlpack(y)
        ts.asarray(np.zeros(3))
        y.__arrow_c_array__()
        ts.ops.topk(y, 2)
        ts.ops.add(x, 1.5, out=x)
        for bad in (lambda: x[1001], lambda: x + "a", lambda: ts.ops.softmax(1, nothing=2),
                    lambda: ts.zeros(-1)):
            try:
                bad()
            except (IndexError, TypeError, ValueError):
                pass


@pytest.mark.skipif(not os.path.exists("/proc/self/statm") or "LD_PRELOAD" in os.environ,
                    reason="no /proc, or a sanitizer, which keeps what was freed")
def test_memory_is_given_back():
    x = ts.ones(1000)
    some_of_everything(x, 500)
    before = resident()
    some_of_everything(x, 100000 if LONG else 5000)  # a million arrays and views in the long form
    assert resident() - before < 4 << 20


def test_references_are_given_back():
    """No call keeps or drops a reference of its arguments, also where it fails."""
    x, key, shape, text = ts.ones((3, 4)), slice(0, 2), (3, 4), "axis text"
    held = (x, key, shape, text)
    before = [sys.getrefcount(o) for o in held]
    for _ in range(50):
        x[key], x[key, 1], x.T, x + x, -x, ts.reshape(x, shape), ts.zeros(shape), ts.ops.sum(x, 0), x.base
        ts.concat([x, x]), np.asarray(x), ts.from_dlpack(x), memoryview(x).tolist(), x.shape, x.dtype
        x[key] = 1.0
        x[key] = x[key]
        for bad in (lambda: x[text], lambda: ts.reshape(x, text), lambda: ts.ops.sum(x, text),
                    lambda: x @ shape, lambda: ts.ops.concat(text), lambda: ts.ops.concat([x, text]), lambda: ts.zeros(text),
                    lambda: ts.permute_dims(x, shape), lambda: ts.ops.einsum(text, [x]),
                    lambda: ts.dtype(text), lambda: ts.ops.sum(x, axis=0, out=text), lambda: x.__dlpack__(dl_device=shape)):
            try:
                bad()
            except Exception:
                pass
    assert [sys.getrefcount(o) for o in held] == before


@pytest.mark.skipif(not hasattr(sys, "gettotalrefcount"), reason="not a debug build of Python")
def test_total_references_of_a_debug_build():
    x = ts.ones(1000)
    some_of_everything(x, 50)
    before = sys.gettotalrefcount()
    some_of_everything(x, 2000)
    assert abs(sys.gettotalrefcount() - before) < 200
