# A thin face over CMake.
#
#   make            build the library, the examples and the tests into build/
#   make demo       set up, build, run the tour
#   make check      the quick tests: build and unit tests, under a minute
#   make test       set up, then every test this machine can run
#   make coverage   lines and branches that the tests reach, by folder and file
#   make soak       fuzzing and generated tests with new data, for HOURS=n; goes on where it stopped
#   make bench      benchmarks; writes build/bench.json (BENCH=regex runs some, QUICK=1 takes a minute)
#   make bench-peers  the same workloads through NumPy, PyTorch, OpenBLAS and oneDNN, in turns with ours
#   make install    to PREFIX (/usr/local), below DESTDIR if set
#   make clean      remove build/

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)

# The inner make gets its own -j, not this make's job server.
CMAKE_BUILD = MAKEFLAGS=--no-print-directory cmake --build $(BUILD) -j$(JOBS)

.PHONY: all demo check test coverage soak bench bench-peers install clean

all: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD)

$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD)

demo:
	@tools/setup.sh build
	@$(MAKE) --no-print-directory all
	@$(BUILD)/bin/demo

check:
	@tools/test.sh quick

test:
	@tools/setup.sh
	@tools/test.sh

coverage:
	@JOBS=$(JOBS) tools/coverage.sh

soak:
	@JOBS=$(JOBS) tools/soak.sh $(or $(HOURS),1)

bench: all
	@rm -f $(BUILD)/bench.json
	@$(BUILD)/bin/bench-core --json $(BUILD)/bench.json $(BENCH)
	@$(BUILD)/bin/bench-ops --json $(BUILD)/bench.json --threads 1 $(if $(QUICK),--quick) $(BENCH)
	@$(BUILD)/bin/bench-ops --json $(BUILD)/bench.json --threads $(JOBS) $(if $(QUICK),--quick) $(BENCH)
	@$(BUILD)/bin/bench-roofline $(BUILD)/bench.json $(BUILD)/roofline.svg $(BUILD)/roofline.png
	@echo "measurements in $(BUILD)/bench.json, a picture of them in $(BUILD)/roofline.svg and .png"

bench-peers:
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/bench-peers $(if $(QUICK),--quick) $(BENCH)

install: all
	@cmake --install $(BUILD) --prefix $(PREFIX)

clean:
	@rm -rf $(BUILD)
