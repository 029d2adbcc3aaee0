# A thin face over CMake; `make help` prints the list.
#
#   make            library and command: build/lib, build/bin/tsr
#   make demo       build what the tour needs, and run it
#   make check      quick tests, under a minute
#   make test       every test that this machine can run
#   make all        everything there is to build, CUDA too where nvcc is
#   make plugins    backends, CUDA only if asked before
#   make cuda       the backend for NVIDIA GPUs (needs nvcc)
#   make python     the Python package: build/python, to be on PYTHONPATH
#   make compat     the interfaces of other tensor systems
#   make install    what was built, to PREFIX (/usr/local), below DESTDIR if set
#   make docs       pages with search, and man pages: build/docs
#   make amalgamate two files to add to any program: build/dist/tessera.h and tessera.c
#   make package    archives of what is installed and of the sources: build/packages (packaging/ has recipes)
#   make coverage   lines and branches that the tests reach, by folder and file
#   make soak       fuzzing and generated tests with new data, for HOURS=n; goes on where it stopped
#   make bench      benchmarks, build/bench.json (BENCH=regex: some of them, QUICK=1: a minute)
#   make bench-peers  the same workloads through NumPy, PyTorch, OpenBLAS and oneDNN, in turns with ours
#   make bench-all  every op, dtype, layout and size beside peers and plain loops, for SECONDS=300: counts, worst 30
#   make bench-models  a decoder, ResNet-50, BERT and a training step beside PyTorch, for SECONDS=120
#   make clean      remove build/
#
# JOBS=n builds with n processes. Ninja and ccache are used where they are installed (NINJA= and CCACHE= for
# neither). demo and test install what they need with apt-get, if they may: they print what, and ask on a
# terminal; TSR_SETUP=off never installs anything.

BUILD  ?= build
PREFIX ?= /usr/local
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
NINJA  ?= $(shell command -v ninja 2>/dev/null)
CCACHE ?= $(shell command -v ccache 2>/dev/null)

# CMake reads these when it first configures a folder.
ifneq ($(NINJA),)
export CMAKE_GENERATOR ?= Ninja
endif
ifneq ($(CCACHE),)
export CMAKE_C_COMPILER_LAUNCHER ?= $(CCACHE)
export CMAKE_CXX_COMPILER_LAUNCHER ?= $(CCACHE)
export CMAKE_CUDA_COMPILER_LAUNCHER ?= $(CCACHE)
endif

# The inner make gets its own -j, not this make's job server.
RUN_BUILD = MAKEFLAGS=--no-print-directory cmake --build
CMAKE_BUILD = $(RUN_BUILD) $(BUILD) -j$(JOBS)

.PHONY: build help demo check test all plugins cuda compat python install docs amalgamate package coverage \
	soak bench bench-peers bench-all bench-models clean

build: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target tessera tessera_static tsr

help:
	@sed -n '/^#   make/s/^#  //p; /^# JOBS/,/^$$/s/^# \{0,1\}//p' Makefile

# CUDA is looked for when it is asked for.
$(BUILD)/CMakeCache.txt:
	@cmake -S . -B $(BUILD) -DTSR_CUDA=OFF

# A build of its own, with little optimisation and plain kernels: `make check` uses it too.
demo:
	@tools/setup.sh build
	@cmake -C cmake/quick.cmake -S . -B build/quick >/dev/null
	@$(RUN_BUILD) build/quick -j$(JOBS) --target demo
	@build/quick/bin/demo

check:
	@JOBS=$(JOBS) tools/test.sh quick

test:
	@tools/setup.sh
	@JOBS=$(JOBS) tools/test.sh

all:
	@cmake -S . -B $(BUILD) -UTSR_CUDA
	@$(CMAKE_BUILD)

plugins: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target backends

cuda:
	@cmake -S . -B $(BUILD) -DTSR_CUDA=ON
	@$(CMAKE_BUILD) --target backend-cuda

compat: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target faces

python: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target python

install: build
	@cmake --install $(BUILD) --prefix $(PREFIX)

docs:
	@tools/docs.sh || [ $$? = 77 ]

amalgamate:
	@tools/amalgamate.py build/dist

# A build of its own, of what is packaged.
package:
	@cmake -S . -B build/package -DTSR_CUDA=OFF -DTSR_BUILD_COMPAT=OFF -DTSR_BUILD_PYTHON=OFF -DTSR_BUILD_TESTS=OFF -DTSR_BUILD_EXAMPLES=OFF
	@$(RUN_BUILD) build/package -j$(JOBS)
	@cd build/package && cpack -B $(CURDIR)/build/packages >/dev/null && \
		cpack --config CPackSourceConfig.cmake -B $(CURDIR)/build/packages >/dev/null
	@rm -rf build/packages/_CPack_Packages
	@ls build/packages/*.tar.gz

coverage:
	@JOBS=$(JOBS) tools/coverage.sh

soak:
	@JOBS=$(JOBS) tools/soak.sh $(or $(HOURS),1)

bench: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target bench-ops bench-roofline
	@rm -f $(BUILD)/bench.json
	@$(BUILD)/bin/bench-ops --json $(BUILD)/bench.json --threads 1 $(if $(QUICK),--quick) $(BENCH)
	@$(BUILD)/bin/bench-ops --json $(BUILD)/bench.json --threads $(JOBS) $(if $(QUICK),--quick) $(BENCH)
	@$(BUILD)/bin/bench-roofline $(BUILD)/bench.json $(BUILD)/roofline.svg $(BUILD)/roofline.png
	@echo "measurements in $(BUILD)/bench.json, a picture of them in $(BUILD)/roofline.svg and .png"

bench-peers:
	@BUILD=$(BUILD) JOBS=$(JOBS) tools/bench-peers $(if $(QUICK),--quick) $(BENCH)

bench-all: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target tessera tsr python
	@python=$$(tools/peers_venv.sh $(BUILD)) && for threads in $$(printf '%s\n' 1 $(JOBS) | sort -nu); do \
		BUILD=$(BUILD) $$python bench/all/run.py --seconds $(or $(SECONDS),300) --threads $$threads \
			--json $(BUILD)/bench-all.json "$(or $(BENCH),.)" || exit; \
	done

bench-models: $(BUILD)/CMakeCache.txt
	@$(CMAKE_BUILD) --target tessera python
	@python=$$(tools/peers_venv.sh $(BUILD)) && BUILD=$(BUILD) $$python bench/models/run.py --threads $(JOBS) \
		--seconds $(or $(SECONDS),120) --json $(BUILD)/bench-models.json "$(or $(BENCH),.)"

clean:
	@rm -rf $(BUILD)
