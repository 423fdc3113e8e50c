# The front door. Each target does all of its own set-up.

JOBS ?= $(shell nproc)
BUILD = build/release
TEV = $(BUILD)/bin/tev
DIR ?= tests/conformance/cases
SECONDS ?= 300
PROMPT = "What should I cook for Eva?"
export JOBS

.PHONY: help demo test conformance lossless fuzz coverage bench docs format clean configure

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

demo: ## decode a prompt through a draft tree, then compare the methods
	@tools/setup.sh demo
	@test -f $(BUILD)/build.ninja || cmake --preset release --log-level=WARNING \
	  -DTEV_BUILD_TESTS=OFF -DTEV_BUILD_BENCHMARKS=OFF
	@cmake --build $(BUILD) -j $(JOBS) --target tev_cli -- --quiet
	$(TEV) decode $(PROMPT) --mark brackets --picture build/verified_tree.svg
	@echo "The tree of the first cycle is drawn in build/verified_tree.svg."
	$(TEV) compare
	$(TEV) compare --temperature 1

test: ## check style, build everything, run every test
	@tools/setup.sh
	@tools/check.sh

conformance: configure ## run the conformance cases, or those of DIR=folder
	@cmake --build $(BUILD) -j $(JOBS) --target conformance -- --quiet
	$(BUILD)/bin/conformance "$(DIR)"

lossless: configure ## prove on all prompts that a draft tree changes no text
	@cmake --build $(BUILD) -j $(JOBS) --target lossless -- --quiet
	$(BUILD)/bin/lossless --all

fuzz: configure ## fuzz trees and file readers, SECONDS=300 each
	@env SECONDS=$(SECONDS) cmake --build $(BUILD) -j $(JOBS) --target fuzz

coverage: ## measure the branch coverage of the library
	@tools/coverage.sh

bench: configure ## time the verifiers, as ratios to one read of the same memory
	@cmake --build $(BUILD) -j $(JOBS) --target benchmarks -- --quiet
	@for program in $(BUILD)/bench/*_bench; do echo "$$program" && "$$program" || exit 1; done

docs: ## write the reference documentation to build/docs/html
	@tools/setup.sh
	@tools/docs.sh

format: ## format every C++ file
	@tools/setup.sh
	@tools/format.sh

clean: ## remove everything that was built
	rm -rf build

configure:
	@tools/setup.sh
	@cmake --preset release --log-level=WARNING -DTEV_BUILD_TESTS=ON -DTEV_BUILD_BENCHMARKS=ON
