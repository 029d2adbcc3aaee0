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


def test_words_of_modules():
    for module in (tessera, tessera.ops):
        assert doctest.testmod(module, optionflags=OPTIONS).failed == 0
