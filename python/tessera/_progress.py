"""A bar on the terminal while a large file is read or written."""
import sys

LARGE = 64 << 20  # bytes from which on a bar is drawn
WIDTH = 30


def _amount(n):
    for unit in ("bytes", "KB", "MB", "GB"):
        if n < 1024 or unit == "GB":
            return f"{n:.0f} {unit}" if unit == "bytes" else f"{n:.1f} {unit}"
        n /= 1024


class Bar:
    """Drawn on stderr if that is a terminal and `total` bytes are many; gone when it is left."""

    def __init__(self, words, total, stream=None):
        self.words, self.total, self.done = words, total, 0
        self.stream = stream or sys.stderr
        self.shown = total >= LARGE and self.stream is not None and self.stream.isatty()

    def __enter__(self):
        self.add(0)
        return self

    def add(self, n):
        """n bytes more are done."""
        self.done += n
        if self.shown:
            part = min(self.done / self.total, 1)
            bar = "#" * round(part * WIDTH)
            amounts = f"{_amount(self.done)} of {_amount(self.total)}"
            self.stream.write(f"\r{self.words} [{bar:{WIDTH}}] {part:4.0%} {amounts}\x1b[K")
            self.stream.flush()

    def __exit__(self, *unused):
        if self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()
