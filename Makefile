# Everything that a person or CI runs. Needed beforehand: Python 3.11 or newer with venv, a Rust toolchain
# (cargo and a linker), make. All else goes into .venv, target and results.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
STAMPS := $(VENV)/stamps
# How the core is compiled: for speed, or with PROFILE=quick in a third of the time, for work on it.
PROFILE ?= release

# Processes that the Python tests are spread over, file by file.
WORKERS ?= 2
# What the property tests draw from: the same cases on every machine. Other ones: make test SEED=2.
SEED ?= 1
# How long each fuzz target runs.
FUZZ_SECONDS ?= 30

# rustup's folder, for shells that have not been told of it.
export PATH := $(PATH):$(HOME)/.cargo/bin
export VIRTUAL_ENV := $(CURDIR)/$(VENV)
# One interpreter for every build of the Python crate, or pyo3 is compiled anew for each.
export PYO3_PYTHON := $(CURDIR)/$(RUN)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Python's packages in the versions that the tests passed with; CONSTRAINTS= takes the newest.
CONSTRAINTS ?= $(CURDIR)/checks/release/constraints.txt
export PIP_CONSTRAINT := $(CONSTRAINTS)
# maturin refuses to choose between two environments.
unexport CONDA_PREFIX

RUST_SOURCES := Cargo.toml Cargo.lock $(shell find crates -name Cargo.toml -o -path '*/src/*' -name '*.rs')

# An environment that was moved here from elsewhere, or whose Python is gone, is made anew.
VENV_HERE := $(shell $(RUN) -c 'import os, sys; print(os.path.samefile(sys.prefix, "$(VENV)"))' 2>/dev/null)
ifneq ($(VENV_HERE),True)
.PHONY: $(STAMPS)/tools
endif
# So is a core that somebody deleted.
ifeq ($(wildcard python/anabranch/_core*.so),)
.PHONY: $(STAMPS)/package
endif

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup check-tools test-tools demo test test-rust test-binaries test-python lint format bench bench-cores bench-engine operator-numbers bench-htsim validate validate-ns2 validate-ns3 validate-fabric validate-linux truth validate-live models declarations recipes attack mutants fingerprints reference docs site train notebooks classroom picture reproduce reproduce-live reproduced compare validate-export validate-fit wheel wasm networks check-wasm check-release lint-js fuzz constraints clean

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

setup: $(STAMPS)/package $(STAMPS)/publications ## make .venv and install Anabranch and its publications into it, compiled for speed
	@$(RUN) docs/generate/algorithms.py --check

check-tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
		echo "make: needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) --version 2>&1 | tail -1);" \
			"choose another with: make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
		echo "make: $(PYTHON) has no venv; install it (Debian: apt install python3-venv)" >&2; exit 1; }
	@command -v cargo >/dev/null || { \
		echo "make: needs a Rust toolchain, and there is no cargo; see https://rustup.rs" >&2; exit 1; }
	@wanted=$$(sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml); \
	found=$$(cargo --version | cut -d ' ' -f 2); \
	[ "$$(printf '%s\n' "$$wanted" "$$found" | sort -V | head -1)" = "$$wanted" ] || { \
		echo "make: needs Rust $$wanted or newer, and cargo is $$found; try: rustup update" >&2; exit 1; }
	@command -v cc >/dev/null || { \
		echo "make: Rust needs a linker, and there is no cc; install one (Debian: apt install gcc)" >&2; exit 1; }

$(STAMPS)/tools: pyproject.toml $(CONSTRAINTS) | check-tools
	@[ '$(VENV_HERE)' = True ] || $(PYTHON) -m venv --clear $(VENV)
	$(RUN) -m pip install --quiet 'maturin>=1.7,<2'
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/package: $(STAMPS)/tools $(RUST_SOURCES) | check-tools
	$(RUN) -m maturin develop --profile $(PROFILE) --locked --extras test,lint
	@touch $@

$(STAMPS)/publications: $(STAMPS)/package publications/pyproject.toml
	$(RUN) -m pip install --quiet --editable publications
	@touch $@

demo: setup ## one transfer on Abilene and one on AttMpls, over one path and over several
	$(RUN) examples/demo.py results/demo

test: lint test-rust test-python ## everything that must pass: lint, Rust tests, Python tests

# The Python crate has no tests of its own; tests/ reach it through the package.
test-rust: check-tools
	PROPTEST_RNG_SEED=$(SEED) cargo test --locked --workspace --exclude anabranch-python -- --quiet

# Compiled, not run: beside the package (make --jobs=2 setup test-binaries), whose last step has one thread.
test-binaries: check-tools
	cargo test --locked --workspace --exclude anabranch-python --no-run --quiet

# SKIPS=none fails where a test is skipped that CI could have run: see conftest.py.
# A worker that ends is not replaced: with the distribution by files, its replacement waits for ever.
SKIPS ?= allowed
test-python: setup
	$(RUN) -m pytest --quiet --numprocesses $(WORKERS) --dist loadfile --max-worker-restart=0 --hypothesis-seed=$(SEED) \
		$(if $(filter none,$(SKIPS)),--no-skips) tests publications/tests $(wildcard checks/validation)

# Switches, routers, a browser and the other programs that tests load what we write into, from Debian's packages.
# Debian's Go (1.19 in bookworm) downloads the module; one that is there is taken.
TOOLS := bash ca-certificates chromium curl ethtool fonts-dejavu-core frr iperf3 iproute2 libreoffice-calc-nogui nftables \
	openvswitch-switch procps tcpdump texlive-latex-recommended tshark $(if $(shell command -v go),,golang-go)
CONTAINERLAB := github.com/srl-labs/containerlab@v0.60.0
test-tools: ## what tests are skipped without: programs from Debian's packages, by root; containerlab's schema by Go
	@[ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null || { \
		echo "make: needs root and apt-get; elsewhere install: $(TOOLS)" >&2; exit 1; }
	apt-get update -qq
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(TOOLS) >/dev/null
	mkdir -p $(STAMPS) && cd $(STAMPS) && go mod download $(CONTAINERLAB)

lint: setup ## formats, clippy, rustdoc, ruff, mypy and the stub of the core, each without a word to say
	cargo fmt --all --check
	cargo clippy --quiet --locked --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="--deny warnings" cargo doc --quiet --locked --workspace --no-deps --document-private-items
	$(RUN) -m ruff check --quiet
	$(RUN) -m ruff format --quiet --check
	$(RUN) -m mypy --no-error-summary
	@$(RUN) -m mypy.stubtest anabranch._core --allowlist checks/release/stubs.allow --concise >target/stubtest.txt || { cat target/stubtest.txt; exit 1; }

format: setup ## bring all sources into form
	cargo fmt --all
	$(RUN) -m ruff check --quiet --fix
	$(RUN) -m ruff format --quiet

bench: setup ## packet-hops per CPU-second, memory per flow, path searches, captures, robust routing; ns-3, rustworkx and htsim beside them if they are there; writes a section of docs/speed.md
	cargo bench --locked -p anabranch-engine
	cargo bench --locked -p anabranch-routing
	cargo bench --locked -p anabranch-capture
	$(RUN) checks/benches/routing_ratio.py
	$(RUN) checks/benches/robust.py
	@mkdir -p target/bench && rm -f target/bench/*.json
	$(RUN) checks/validation/ns3_peer.py --only speed/ --out target/bench/ns3.json
	@[ ! -s target/bench/ns3.json ] || { \
		set -e; PATH="$(CURDIR)/$(VENV)/bin:$$PATH"; \
		$(RUN) checks/validation/anabranch_peer.py --only speed/ --out target/bench/anabranch.json; \
		$(RUN) checks/benches/ns3_ratio.py target/bench/ns3.json target/bench/anabranch.json; }
	$(RUN) checks/benches/speed_page.py --out docs/speed.md --htsim "$(HTSIM)" --pairs $(PAIRS)

# Folder sim of csg-htsim, with its headers and libhtsim.a; which scenarios, by a part of the name; pairs of each.
HTSIM ?=
ONLY ?=
PAIRS ?= 3

bench-engine: setup ## the section of docs/speed.md alone: the engine's bench, and htsim with HTSIM; PAIRS=3, PROFILED=yes
	$(RUN) checks/benches/speed_page.py --out docs/speed.md --htsim "$(HTSIM)" --pairs $(PAIRS) $(if $(PROFILED),--profiled)

bench-cores: setup ## what one run would take on 2 to 64 cores, from one thread, as the table of docs/parallel.md; ONLY=a network
	$(RUN) checks/benches/critical_path.py --only "$(ONLY)"

bench-htsim: setup ## the engine beside htsim alone, as pairs; HTSIM=folder of its headers and libhtsim.a
	$(RUN) checks/benches/htsim_ratio.py "$(HTSIM)" --only "$(ONLY)" --pairs $(PAIRS)

validate: setup ## run the scenarios of checks/validation/ here, and in ns-3 if installed; writes docs/validation.md
	$(RUN) checks/validation/ns3_peer.py --out checks/validation/ns3_results.json
	PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(RUN) checks/validation/compare.py --out docs/validation.md

# Versions of ns-3 on PyPI: the newest before 3.41, where its delivery rates were mended, and the newest.
NS3 ?= 3.39.post2 3.44.post0
validate-ns3: setup ## claims of MPRC's thesis in ns-3 itself, each version of it in target/ns3; writes docs/reproductions/ns3.md
	for version in $(NS3); do \
		[ -d "target/ns3/$$version/ns3" ] || \
			$(RUN) -m pip install --quiet --no-deps --target "target/ns3/$$version" "ns3==$$version" || \
			echo "skipped: ns-3 $$version cannot be installed here"; done
	$(RUN) checks/validation/ns3_claims.py $(NS3:%=--ns3 target/ns3/%)

validate-ns2: setup ## figure 4 of robust routing in ns-2 itself, if there (Debian: apt install ns2); writes docs/reproductions/ns2.md
	$(RUN) checks/validation/ns2_claims.py

validate-fabric: setup ## runs of uet-htsim beside ours: DATA=folder with golden_open.csv and matrices, which are not part of the repository; writes docs/fabric_checks.md
	$(RUN) checks/validation/fabric_page.py $(DATA) --out docs/fabric_checks.md

validate-linux: setup ## hold the linux-* transports against a measured kernel; writes docs/linux.md
	$(RUN) checks/validation/linux/linux_page.py

# TRUTH="--corpus NAME=FOLDER --fabric FOLDER": scripts and runs of others, which are not part of the repository.
TRUTH ?=
truth: setup ## every score of this version beside earlier ones and others; writes docs/truth.md and its history
	$(RUN) checks/validation/truth/truth.py $(TRUTH)

# Further arguments of validate-live: names of points, --all, --runs N.
POINTS ?=

validate-live: setup ## the same points measured anew between hosts of this kernel (Linux, root); writes a section of docs/linux.md
	$(RUN) checks/validation/linux/live_grid.py $(POINTS)

validate-export: setup ## load each export into the program that it is for, by root; writes docs/export_checks.md
	-@command -v go >/dev/null && cd $(STAMPS) && go mod download $(CONTAINERLAB)
	$(RUN) checks/validation/export_page.py docs/export_checks.md

# A folder of recorded paths with what the kernel got over them; left out, paths are drawn and run live (root, a quiet machine).
TRUTHS ?=
# Folder of live runs of them, which are not repeated.
LIVE_RUNS ?= results/fit-live
validate-fit: setup ## fits of captures held against paths whose truth is known (Linux, root, or TRUTHS= and LIVE_RUNS=); writes docs/fit_checks.md
	$(RUN) checks/validation/fit_page.py $(TRUTHS) --live $(LIVE_RUNS) --out docs/fit_checks.md

models: setup ## hold the throughput models against simulation; writes docs/model_errors.md
	rm -rf results/model_errors results/model_errors_bbr
	$(RUN) checks/benches/model_errors.py --out docs/model_errors.md

spraying: setup ## shares of all pairs together against ECMP and maximum flows, by simulation; writes docs/spraying.md
	$(RUN) checks/benches/spraying.py --out docs/spraying.md

steady: setup ## whether long runs repeat themselves, so that a part need not be simulated; writes docs/steady.md
	$(RUN) checks/benches/steady.py --out docs/steady.md

operator-numbers: setup ## how good weights are, and what failures take; writes a section of docs/operator.md
	$(RUN) checks/benches/operator_numbers.py --out docs/operator.md

robust-parts: setup ## what each part of robust routing gains over HiGHS alone, for an hour; writes a section of docs/robust_benchmarks.md
	rm -f results/robust_parts.json
	$(RUN) checks/benches/robust_parts.py --out docs/robust_benchmarks.md

# Before the package is made: with stale models it could not be imported.
declarations: $(STAMPS)/package ## the Python classes of algorithms, from what the core declares
	$(RUN) docs/generate/algorithms.py

recipes: setup ## follow the recipes of CONTRIBUTING.md with toys in a copy of the sources, and run them
	$(RUN) tests/recipes/follow.py

ATTACK ?= --mutants 20000 --scenarios 300
attack: setup ## mutated inputs, random scenarios, faults and more, for an hour; other ones: SEED=2; one part: ATTACK="--parts faults"; writes docs/attack.md
	$(RUN) checks/attack "--seed=$(SEED)" $(ATTACK) --page docs/attack.md

# Survivors do not fail it: docs/mutants.md says which carry no rule. Exit status 4 means that tests fail without a mutant.
MUTANTS ?=
mutants: check-tools ## which small changes of transport and engine no test notes; hours, or a sample: MUTANTS="--shard 0/50"
	@cargo mutants --version >/dev/null 2>&1 || { \
		echo "make: needs cargo-mutants, and there is none; try: cargo install cargo-mutants --locked" >&2; exit 1; }
	@mkdir -p target/mutants
	cargo mutants --package anabranch-transport --package anabranch-engine \
		--file 'crates/transport/src/tcp/**' --file 'crates/transport/src/congestion/**' \
		--file crates/engine/src/link.rs --file 'crates/engine/src/link/**' --file 'crates/engine/src/queues/**' \
		--file crates/engine/src/forwarding.rs --file 'crates/engine/src/forwarding/**' --output target/mutants $(MUTANTS) \
		|| { status=$$?; [ $$status -eq 2 ] || [ $$status -eq 3 ]; }

fingerprints: setup ## renew the hashes of what small scenarios compute, after a change that is meant to move them
	$(RUN) tests/fingerprints/renew.py

reference: setup ## docs/reference.md and docs/commands.md, from the program's own schema and help
	$(RUN) docs/generate docs

# Not a part of the tests: they check links and commands themselves.
$(STAMPS)/docs: $(STAMPS)/package
	$(RUN) -m pip install --quiet furo myst-parser sphinx
	@touch $@

docs: setup $(STAMPS)/docs ## the manual as a site, into target/docs/html; a warning or a link to nowhere fails it
	$(RUN) docs/site/build.py target/docs

formats: setup ## the tables of docs/topologies.md that say as what files are read; TOPOLOGIES=folder has those of other people
	$(RUN) docs/generate/topology_files.py $(TOPOLOGIES)

train: setup ## train the policy of examples/learning/lossy.toml anew, some minutes on two cores; SAVE=--save keeps it
	$(RUN) examples/learning/train.py $(SAVE)

notebooks: setup ## execute the notebooks of docs/notebooks, and write their outputs
	$(RUN) docs/generate/notebooks.py

classroom: setup ## docs/figures/classroom-*.png and plot-network.png, the pictures of docs/classroom.md and docs/figures.md
	$(RUN) docs/generate/classroom.py docs/figures

picture: setup ## docs/figures/report.png, the picture of the README; needs Playwright and a Chromium
	$(RUN) docs/generate/picture.py docs/figures/report.png

reproduce: setup ## run the publications behind Anabranch in full; writes docs/reproductions
	rm -rf results/reproduce
	$(VENV)/bin/anabranch reproduce --out results/reproduce
	$(MAKE) reproduced

# Papers may have been run one after the other, also into another folder: make reproduced REPRODUCED=...
REPRODUCED ?= results/reproduce
reproduced: ## write docs/reproductions from the papers that were run last
	@mkdir -p docs/reproductions && for page in $(REPRODUCED)/*/README.md; do \
		grep -v '^!\[' "$$page" | cat -s > "docs/reproductions/$$(basename "$$(dirname "$$page")").md"; done
	sed -e 's#](\([a-z]*\)/README\.md)#](\1.md)#' -e 's#](ratios\.svg)#](../figures/reproductions.svg)#' \
		$(REPRODUCED)/README.md > docs/reproductions/README.md
	cp $(REPRODUCED)/ratios.svg docs/figures/reproductions.svg
	cp $(REPRODUCED)/mprc/figure-delay-ratio-random/goodput_mbps.svg docs/figures/mprc-delay-ratio.svg

# In real time, by root, with Open vSwitch: no part of CI.
reproduce-live: setup ## tcpbp and semper by real kernels over Open vSwitch, half an hour; writes docs/reproductions/*-live.md
	$(VENV)/bin/anabranch reproduce --live --out results/reproduce-live
	for page in results/reproduce-live/*-live/README.md; do \
		grep -v '^!\[' "$$page" | cat -s > "docs/reproductions/$$(basename "$$(dirname "$$page")").md"; done

compare: setup ## compare all systems on four networks in full; writes docs/comparison_tables.md
	rm -rf results/compare
	$(VENV)/bin/anabranch compare --replications 20 --out results/compare
	$(RUN) checks/benches/comparison_page.py results/compare docs/comparison_tables.md docs/figures
	$(RUN) checks/benches/comparison_variants.py results/compare/variants docs/comparison_variants.md

# The wheel is built from the unpacked sdist, which shows that the sdist is complete.
# Users have no constraints.
wheel: export PIP_CONSTRAINT :=
wheel: $(STAMPS)/tools ## sdist and wheels into dist/, the wheels tested in an environment without Rust
	rm -rf dist target/sdist && mkdir -p dist target/sdist
	$(RUN) checks/release/backend.py copy
	$(RUN) -m maturin sdist --out dist || { $(RUN) checks/release/backend.py remove; exit 1; }
	$(RUN) checks/release/backend.py remove
	tar -xzf dist/*.tar.gz -C target/sdist --strip-components 1
	cd target/sdist && CARGO_TARGET_DIR=$(CURDIR)/target $(CURDIR)/$(RUN) -m maturin build --profile $(PROFILE) --locked \
		--out $(CURDIR)/dist
	$(RUN) -m pip wheel --quiet --no-deps --wheel-dir dist ./publications
	$(RUN) checks/release/wheel_test.py dist

# The version of the program is that of the crate in Cargo.lock.
WASM_BINDGEN := 0.2.130
wasm: check-tools ## the core for browsers, into target/wasm; needs rustup
	rustup target add wasm32-unknown-unknown
	[ -x target/tools/bin/wasm-bindgen ] || \
		CARGO_TARGET_DIR=target/tools/build cargo install wasm-bindgen-cli --version $(WASM_BINDGEN) --root target/tools
	cargo build --release --locked -p anabranch-wasm --target wasm32-unknown-unknown
	target/tools/bin/wasm-bindgen --target web --remove-name-section --remove-producers-section --out-dir target/wasm \
		target/wasm32-unknown-unknown/release/anabranch_wasm.wasm

networks: setup ## the networks that have a name, as files for pages, into target/wasm/networks
	$(RUN) checks/validation/browser_networks.py target/wasm/networks

# The manual, and in its folder studio the page that runs the core in the browser; any web server can serve it.
site: setup $(STAMPS)/docs wasm networks ## the manual and the studio without an installation, into target/docs/html; see docs/browser.md
	$(RUN) docs/site/build.py target/docs --live
	$(RUN) docs/site/studio.py target/wasm target/docs/html/studio

check-wasm: wasm networks ## examples in headless Chromium, each table beside the native one; needs Chromium
	$(RUN) checks/validation/browser.py target/wasm
	$(RUN) -m pytest --quiet tests/studio/test_studio_static.py

check-release: setup ## all checks of docs/release.md; writes docs/release_checks.md
	$(RUN) checks/release/check.py docs/release_checks.md

constraints: setup ## checks/release/constraints.txt: the versions that are installed in .venv
	@sed -i '/^[^#]/d' checks/release/constraints.txt
	$(RUN) -m pip freeze --exclude-editable >> checks/release/constraints.txt

lint-js: ## lint and type check of the scripts of report.html; needs Node.js and npm
	@command -v npm >/dev/null || { echo "make: needs npm (Debian: apt install npm)" >&2; exit 1; }
	cd checks/release/js && npm install --silent --no-package-lock --no-audit --no-fund && npm run --silent check

# libFuzzer's instrumentation without its sanitizers: the core has no unsafe code, and the stable compiler will do.
fuzz: FUZZ_FLAGS = --cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
	-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
	-Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 -Cdebug-assertions -Coverflow-checks
fuzz: check-tools ## fuzz what the core reads, FUZZ_SECONDS for each target (30)
	@command -v c++ >/dev/null || { echo "make: libFuzzer needs a C++ compiler (Debian: apt install g++)" >&2; exit 1; }
	cargo test --locked --quiet -p anabranch-engine --test all no_panic -- --ignored
	@mkdir -p checks/fuzz/artifacts checks/fuzz/corpus/quantity checks/fuzz/corpus/capture && printf '12.5 ms' > checks/fuzz/corpus/quantity/span
	host=$$(rustc -vV | sed -n 's/^host: //p') && cd checks/fuzz && \
		RUSTFLAGS="$(FUZZ_FLAGS)" cargo build --quiet --release --target $$host && \
		for name in setup quantity capture; do \
			target/$$host/release/$$name corpus/$$name -max_total_time=$(FUZZ_SECONDS) -timeout=20 -seed=1 \
				-verbosity=0 -print_final_stats=1 -artifact_prefix=artifacts/ || exit 1; done

clean: ## remove .venv, builds, caches and results
	rm -rf $(VENV) target results dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	rm -f python/anabranch/_core*.so
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
