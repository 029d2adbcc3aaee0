"""The code in the guide and in the modules' words does what they say."""
import doctest
import pathlib

import tessera

GUIDE = pathlib.Path(__file__).parents[2] / "docs" / "python.md"
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_guide(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(GUIDE), module_relative=False, optionflags=OPTIONS)
    assert result.attempted > 20 and result.failed == 0


def public_functions():
    """Every function with the name of its example."""
    for name, f in vars(tessera.ops).items():
        if not name.startswith("_"):
            yield f"ops.{name}", f
    for module in (tessera, tessera.linalg, tessera.fft):
        place = "" if module is tessera else module.__name__.partition(".")[2] + "."
        for name in module.__all__:
            f = getattr(module, name)
            if callable(f) and not isinstance(f, type):
                yield place + name, f


def command_is_there():
    try:
        return tessera._plot._command()
    except NotImplementedError:
        return None


def test_examples_of_all_functions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parser, failed = doctest.DocTestParser(), []
    for name, f in public_functions():
        runner = doctest.DocTestRunner(verbose=False)
        test = parser.get_doctest(f.__doc__, {"ts": tessera}, name, None, 0)
        assert test.examples, f"help({name}) has no example"
        if name != "plot" or command_is_there():
            runner.run(test)
        if runner.failures:
            failed.append(name)
    assert not failed


def test_words_of_modules():
    for module in (tessera, tessera.ops):
        test = doctest.DocTestParser().get_doctest(module.__doc__, {}, module.__name__, None, 0)
        assert doctest.DocTestRunner(optionflags=OPTIONS).run(test).failed == 0 and test.examples
