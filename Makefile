# The front door. Everything behind it is CMake: see CMakePresets.json.
#
#   make             build build/release/punt
#   make demo        from nothing to a story told live, and a table of planners
#   make test        from nothing to all tests passed
#   make test-asan   the tests under AddressSanitizer and UndefinedBehaviorSanitizer
#   make test-tsan   the tests under ThreadSanitizer
#   make test-clang  the tests, built with clang
#   make test-training  the tests of training/, in an environment from PyPI (6 GB)
#   make test-clients   openai (Python, JavaScript, in a page), LangChain, litellm and instructor against punt serve
#   make test-nginx     what attackers send to punt serve, through nginx (a package of Debian)
#   make test-python    the Python package: types and tests, in an environment from PyPI (150 MB)
#   make test-python-torch  the same with PyTorch, from PyPI if it is not there (6 GB)
#   make test-python-quick  the quick part of it, as .ci/run does; skipped, and said so, without PyPI
#   make wheels         a wheel of it for each Python from 3.10 on that is there, in build/wheels
#   make test-lm-eval   lm-evaluation-harness against punt serve, in an environment from PyPI (800 MB)
#   make lint        check formatting
#   make fuzz        a minute of libFuzzer on every parser of outside bytes
#   make tidy        clang-tidy (several minutes)
#   make bench       speed of the inner loops against a plain memory read, and of whole steps
#   make bench-llama forward passes and generations against llama.cpp's (long)
#   make exactness   regenerate docs/exactness.md and its pictures (several minutes)
#   make install     install to PREFIX (default /usr/local)
.PHONY: all demo test test-asan test-tsan test-clang test-training test-clients test-nginx test-lm-eval test-python test-python-torch test-python-quick wheels lint tidy fuzz format bench bench-llama exactness install deps clean

PREFIX ?= /usr/local

all: plan-build deps
	@scripts/build release

plan-%:
	@scripts/say-plan $*

deps:
	@scripts/install-deps build

demo: plan-demo deps
	@scripts/build release --target punt
	@build/release/punt demo

test: plan-test deps
	@scripts/build release
	@scripts/run-tests release

test-asan test-tsan: test-%: deps
	@scripts/build $*
	@scripts/run-tests $*

test-clang: deps
	@scripts/install-deps lint
	@scripts/build clang
	@scripts/run-tests clang

test-training: all
	training/test

test-clients: all
	@scripts/install-deps clients
	scripts/test-clients

test-nginx: all
	@scripts/install-deps slow
	scripts/test-nginx

test-lm-eval: all
	@scripts/install-deps clients
	scripts/test-lm-eval

test-python: deps
	@scripts/test-python

test-python-torch: deps
	@scripts/test-python --torch

test-python-quick: deps
	@scripts/test-python --quick

wheels: deps
	@scripts/build-wheels

lint:
	@scripts/install-deps lint
	@scripts/lint

fuzz:
	@scripts/fuzz

tidy: deps
	@scripts/install-deps lint
	@scripts/lint --tidy

format:
	@scripts/install-deps lint
	@scripts/lint --fix

bench: all
	build/release/row_kernels_bench
	build/release/planning_bench

bench-llama: all
	bench/compare

exactness: all
	rm -rf build/exactness
	build/release/punt analyze exactness --out build/exactness
	cp build/exactness/exactness*.md build/exactness/exactness*.svg docs

install: all
	cmake --install build/release --prefix $(PREFIX)

clean:
	rm -rf build
