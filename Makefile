# What people type; the same that CI runs.
SHELL := /bin/bash
.DEFAULT_GOAL := help
.PHONY: help run build dist release test test-long test-release test-slow smoke terraform web-sdk oauth judges admin-sdks client samples soak ha ha-test schemathesis fuzz lint format clean bench bench-admin bench-console bench-idle \
	bench-import bench-maintenance bench-nodes bench-overload bench-pages bench-poisoned bench-startup bench-timing bench-transfer
# Arguments of `identity dev`: make run ARGS='--port 9000 --ephemeral'
ARGS ?=
# How long `make fuzz` and `make test-long` feed each parser.
SECONDS ?= 60
# How often `make test-long` runs each race, and how many cases its property tests make up.
ROUNDS ?= 300
# What `make test-slow` has of one core.
SHARE ?= 0.5
# How many refreshes eight processes share in `make client`.
REFRESHES ?= 200
# What `make soak` does: for how long, with which faults (all, or kill, promote, …), from which seed.
MINUTES ?= 10
FAULTS ?=
SEED ?= 1
# debug, or release: as the optimiser leaves the code, which takes longer to build, and less than half as long to test.
CONFIGURATION ?= debug
BUILD := scripts/swift-build -c $(CONFIGURATION)

# What is tested in processes of its own: the one just built, or that of IDENTITY_PROGRAM.
PROGRAM := IDENTITY_PROGRAM=$${IDENTITY_PROGRAM:-$$PWD/.build/$(CONFIGURATION)/identity}

help: ## Show this.
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## Build, and run everything for development; Ctrl-C stops it. ARGS= goes to `identity dev`.
	@scripts/install-dependencies
	@echo "Building; the first time takes some minutes …"
	@$(BUILD) --product identity
	@exec .build/$(CONFIGURATION)/identity dev $(ARGS)

build: ## Build everything, tests included.
	@scripts/install-dependencies test
	$(BUILD) --build-tests

test: build ## Run every test, against a private PostgreSQL or the one of DATABASE_URL, and schemathesis beside them.
	@scripts/venv
	@$(PROGRAM) scripts/schemathesis >.build/schemathesis.log 2>&1 & called=$$!; \
	scripts/test -c $(CONFIGURATION); tested=$$?; \
	wait $$called || { grep -v ' successful  ' .build/schemathesis.log | tail -n 120 | cut -c 1-300; tested=1; }; \
	grep -E ' in [0-9.]+s =' .build/schemathesis.log; exit $$tested

test-long: build ## Run what gets better with time, at length: races, property tests, fuzzing; ROUNDS=300 SECONDS=60.
	@scripts/venv
	RACE_ROUNDS=$(ROUNDS) FUZZ_SECONDS=$(SECONDS) PASSKEY_CASES=14000 scripts/test -c $(CONFIGURATION) \
		--filter 'ConcurrencyTests|MergeRaceTests|MergePropertyTests|PasskeyJudgeTests|Fuzz'

test-release: ## Run every test as the optimiser leaves the code.
	@$(MAKE) test CONFIGURATION=release

test-slow: ## Run every test as the optimiser leaves the code, with half a core; as root. SHARE=0.2 for less.
	@scripts/with-share $(SHARE) true
	@$(MAKE) build CONFIGURATION=release
	@scripts/venv
	scripts/with-share $(SHARE) scripts/test -c release

release: ## Build the program as it is packaged, in .build/dist/program.
	@scripts/install-dependencies dist
	@[ -n "$$IDENTITY_PROGRAM" ] || scripts/dist --unpack .build/dist

smoke: release ## Call every operation of openapi.yaml of the packaged program, to succeed and to be refused.
	@scripts/venv
	.venv/bin/pytest -q Tests/Release/smoke $(ARGS)

web-sdk: release ## Drive the packaged program by Firebase's own Web SDK in Chromium, Firefox and WebKit.
	@scripts/install-dependencies test web-sdk
	@scripts/venv
	.venv/bin/pytest -q Tests/Release/web_sdk $(ARGS)

judges: release ## Run firebase, firebase-admin, openid-client, MCP, … against the packaged program: make judges JUDGES=FOLDER, where each is one file.
	@scripts/install-dependencies test web-sdk
	JUDGES="$(JUDGES)" Tests/Release/judges/run

terraform: release ## Replay what Google's Terraform provider sends for its own tests against the packaged program.
	python3 Tests/Release/terraform/replay.py $(ARGS)

admin-sdks: release ## Run Google's own tests of the Python Admin SDK, as root: make admin-sdks SUITE=CHECKOUT of firebase-admin-python.
	@scripts/install-dependencies test
	Tests/Release/admin_sdks/run "$(SUITE)" $(ARGS)

oauth: release ## Let clients that nobody here wrote sign in at the packaged program: Authlib, requests-oauth2client, MCP, Apache.
	@scripts/install-dependencies test oauth
	@scripts/venv
	.venv/bin/pytest -q Tests/Release/oauth $(ARGS)

client: ## Build and test the Swift client package against IDENTITY_PROGRAM or the program just built; REFRESHES=10000.
	[ -n "$$IDENTITY_PROGRAM" ] || $(BUILD) --product identity
	swift build --package-path Client --traits Hummingbird --build-tests
	$(PROGRAM) REFRESHES=$(REFRESHES) swift test --package-path Client --traits Hummingbird --skip-build --disable-xctest
	Client/scripts/check-apple

samples: ## Run the Swift samples against `identity dev` of IDENTITY_PROGRAM or of the program just built.
	[ -n "$$IDENTITY_PROGRAM" ] || $(BUILD) --product identity
	$(PROGRAM) scripts/samples

soak: release ## Hold two packaged nodes to a model: make soak MINUTES=10 FAULTS=all SEED=7; ARGS= goes to Tests/Release/soak.
	@scripts/install-dependencies test soak
	@scripts/venv
	.venv/bin/python Tests/Release/soak --minutes $(MINUTES) --faults '$(FAULTS)' --seed $(SEED) $(ARGS)

ha: release ## Run three PostgreSQL under Patroni, HAProxy and two packaged nodes; Ctrl-C stops and deletes them.
	@scripts/install-dependencies ha
	@exec deploy/ha/cluster.py $(ARGS)

ha-test: release ## Break that cluster under load: make ha-test ARGS='--only switchover,network'; as root.
	@scripts/install-dependencies ha
	@exec /usr/bin/python3 Tests/Release/ha $(ARGS)

dist: ## Make a release in dist/: a tarball, a Debian package, the image's files, their checksums.
	@scripts/install-dependencies dist
	@scripts/dist

schemathesis: ## Call every operation of openapi.yaml with what schemathesis makes up; ARGS= goes to it.
	@$(BUILD) --product identity
	$(PROGRAM) scripts/schemathesis $(ARGS)

fuzz: build ## Feed the parsers with mutated inputs, each for so long: make fuzz SECONDS=600.
	FUZZ_SECONDS=$(SECONDS) scripts/test -c $(CONFIGURATION) --filter Fuzz

lint: ## Check format, scripts, openapi.yaml and docker-compose.yml.
	@scripts/install-dependencies lint
	@scripts/lint

format: ## Format the Swift sources.
	swift format -i -r -p Package.swift Sources Tests Client/Package.swift Client/Sources Client/Tests \
		Samples/Package.swift Samples/Sources Samples/Apps Samples/AppleStubs

clean: ## Remove what was built; kept data (.data) stays.
	rm -rf .build .venv

# Benchmarks measure the program as it is packaged.
RELEASED = "$${IDENTITY_PROGRAM:-.build/dist/program/identity}"
BENCHMARK = scripts/install-dependencies bench && \
	DURABLE=1 scripts/with-postgres python3 Benchmarks/$(1).py --program $(RELEASED) $(ARGS)

bench: release ## Measure the hot paths of a release; ARGS= goes to Benchmarks/bench.py (--accounts 1000000, --url …).
	@swift build -c release --package-path Benchmarks --product bench-floor
	@$(call BENCHMARK,bench)

bench-nodes: release ## Measure what a second node adds; needs root. ARGS='--share 0.25 --rounds 5'.
	@$(call BENCHMARK,two_nodes)

bench-overload: release ## Show a release under more load than it can carry.
	@$(call BENCHMARK,overload)

bench-maintenance: release ## Show what new keys, cleanup and an upgrade do to a release under load; ARGS='--previous PROGRAM'.
	@$(call BENCHMARK,maintenance)

bench-idle: release ## Measure what an idle node costs, with empty queues and with 10,000 rows waiting in each; ARGS='--only dev'.
	@$(call BENCHMARK,idle)

bench-timing: release ## Show whether the time of an answer tells who has an account.
	@$(call BENCHMARK,timing)

bench-admin: release ## Measure what a page of accounts costs among few of them and among many.
	@$(call BENCHMARK,admin)

bench-console: release ## Measure how long the pages of the console take among a million accounts.
	@$(call BENCHMARK,console)

bench-import: release ## Measure how fast accounts come in with their password hashes.
	@$(call BENCHMARK,import_accounts)

bench-transfer: release ## Measure imports and exports by command.
	@$(call BENCHMARK,transfer)

bench-pages: release ## Measure how long Chromium takes to show something of our pages.
	@scripts/install-dependencies test
	@scripts/venv
	@.venv/bin/python Benchmarks/first_paint.py --program $(RELEASED) $(ARGS)

bench-poisoned: release ## Measure what one bad question in each batch costs the good ones.
	@scripts/install-dependencies test soak
	@scripts/venv
	@.venv/bin/python Benchmarks/poisoned_batch.py $(ARGS)

bench-startup: ## Measure the start of `identity dev`, on a kept folder and on new ones.
	@$(BUILD) --product identity
	@scripts/bench-startup
