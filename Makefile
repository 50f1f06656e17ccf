# The whole build, one file. `make` builds build/release/hearth; `make help` lists the rest.
# VARIANT=release|clang|asan|tsan|fuzz chooses the folder under build/ and the flags; UI=0 leaves the page out; V=1 shows the
# commands.

VARIANT ?= release
UI      ?= 1
V       ?= 0
PREFIX  ?= /usr/local
comma   := ,
BUILD   := build/$(VARIANT)
VERSION := $(shell cat VERSION)

ROOMS := $(shell sed -n 's/^\([a-z]*\):.*/\1/p' src/LAYERS)
# allowed(room): the rooms it may use, from src/LAYERS
allowed = $(shell sed -n 's/^$(1): *//p' src/LAYERS)

LIBS_base    := -lpthread -lm
LIBS_config  := -lyaml
LIBS_pack    := -ldeflate -lz -lzstd -llz4
LIBS_profile := -lpcre2-8
LIBS_kv      := -lrocksdb
LIBS_net     := -levent_core -lnghttp2
LIBS_scrape  := -ldl

CFLAGS_release := -O2 -DNDEBUG
CFLAGS_clang   := -O2
CFLAGS_asan    := -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -DHEARTH_DEBUG
CFLAGS_tsan    := -O1 -fsanitize=thread -DHEARTH_DEBUG
CFLAGS_fuzz    := -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all -DHEARTH_DEBUG
CFLAGS_cov     := -O0 --coverage
CC_release := gcc
CC_clang   := clang
CC_asan    := gcc
CC_tsan    := gcc
CC_fuzz    := clang
CC_cov     := gcc
ifeq ($(CFLAGS_$(VARIANT)),)
$(error unknown VARIANT '$(VARIANT)': release, clang, asan, tsan, fuzz or cov)
endif
CC := $(CC_$(VARIANT))

WARNINGS := -Wall -Wextra -Werror -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wformat=2 -Wundef -Wvla \
            -Wwrite-strings -Wpointer-arith -Wno-unused-parameter -Wno-missing-field-initializers
HARDENING := -fstack-protector-strong -fstack-clash-protection -fcf-protection -fPIE
ifneq ($(filter release clang,$(VARIANT)),)
HARDENING += -D_FORTIFY_SOURCE=2
endif
ALL_CFLAGS := -std=gnu17 -g $(WARNINGS) -fno-omit-frame-pointer -fvisibility=hidden $(HARDENING) \
              -ffile-prefix-map=$(CURDIR)=. -D_GNU_SOURCE -Isrc -I. $(CFLAGS_$(VARIANT)) $(CFLAGS)
ALL_LDFLAGS := -pie -Wl,-z,relro,-z,now -Wl,--as-needed $(filter -fsanitize=% --coverage,$(CFLAGS_$(VARIANT))) $(LDFLAGS)
ALL_LDFLAGS := $(subst fuzzer-no-link$(comma),,$(ALL_LDFLAGS))

ifeq ($(V),0)
say = @printf '  %-5s %s\n' $(1) $(patsubst $(BUILD)/%,%,$@);
else
say =
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all tests fuzzers benches faults docs share format check-format check-scripts clean install uninstall bench help \
        ui screenshots ui-bench

all: $(BUILD)/hearth share

# Stamps change only when their content does. Changed flags rebuild everything; a source that came or went makes the
# archives and tests anew, so that nothing of a deleted file lives on.
stamp = $(shell mkdir -p $(BUILD); printf '%s\n' '$(2)' | cmp -s - $(1) || printf '%s\n' '$(2)' > $(1))
FLAGS_STAMP := $(BUILD)/flags
SOURCES_STAMP := $(BUILD)/sources
$(call stamp,$(FLAGS_STAMP),$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(VERSION))
$(call stamp,$(SOURCES_STAMP),$(sort $(wildcard src/*/*.c)))

$(BUILD)/obj/%.o: %.c $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(ALL_CFLAGS) $(EXTRA_$*) -MMD -MP -c $< -o $@
EXTRA_src/base/version = -DHEARTH_VERSION='"$(VERSION)"'

# --- rooms: one archive each; the test binary of a room links only what LAYERS allows ---
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(1))
room_sources = $(filter-out %_test.c src/cli/main.c,$(wildcard src/$(1)/*.c))
room_tests = $(wildcard src/$(1)/*_test.c)
archives = $(foreach room,$(1),$(BUILD)/lib/lib$(room).a)
libs = $(foreach room,$(1),$(LIBS_$(room))) $(LIBS_base)
# Archives from the top room down, as a linker wants them.
reverse = $(if $(1),$(call reverse,$(wordlist 2,$(words $(1)),$(1))) $(firstword $(1)))
TOP_DOWN := $(call reverse,$(ROOMS))

define room_rules
$(BUILD)/lib/lib$(1).a: $$(call objects,$$(call room_sources,$(1))) $(SOURCES_STAMP)
	@mkdir -p $$(@D); rm -f $$@
	$$(call say,AR)ar rcsD $$@ $$(filter %.o,$$^)

ALLOWED_$(1) := $(call allowed,$(1))
$(BUILD)/test/$(1): $$(call objects,$$(call room_tests,$(1))) \
                    $$(call archives,$(1) $$(filter $$(ALLOWED_$(1)),$(TOP_DOWN)))
	@mkdir -p $$(@D)
	$$(call say,LINK)$(CC) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) $(ALL_LDFLAGS) \
	        $$(call libs,$(1) $$(ALLOWED_$(1)))
endef
$(foreach room,$(ROOMS),$(eval $(call room_rules,$(room))))

TEST_ROOMS := $(foreach room,$(ROOMS),$(if $(call room_tests,$(room)),$(room)))
tests: $(addprefix $(BUILD)/test/,$(TEST_ROOMS))

$(BUILD)/hearth: $(BUILD)/obj/src/cli/main.o $(call archives,$(TOP_DOWN))
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(call libs,$(TOP_DOWN))

# --- the page: what Node makes of ui/, or a stub with UI=0; embedded in every variant alike ---
UI_FOLDER_0 := ui/stub
UI_FOLDER_1 := build/ui
UI_FOLDER   := $(UI_FOLDER_$(UI))
ifeq ($(UI_FOLDER),)
$(error UI is 1 for the page or 0 for a stub, not '$(UI)')
endif
EMBEDDED := build/embedded$(UI)
$(call stamp,$(BUILD)/ui,$(UI))
$(BUILD)/obj/src/page/assets.o: $(EMBEDDED)/page/files.h $(BUILD)/ui
EXTRA_src/page/assets = -I$(EMBEDDED)
$(EMBEDDED)/page/files.h: $(UI_FOLDER)/index.html tools/embed.sh
	$(call say,EMBED)tools/embed.sh $(UI_FOLDER) $(EMBEDDED)

NODE_MODULES := ui/node_modules/.installed
UI_SOURCES := $(sort $(shell find ui/src -type f)) $(addprefix ui/,build.mjs index.html offline.html tsconfig.json)
$(call stamp,build/ui-sources,$(UI_SOURCES))
ui: build/ui/index.html
build/ui/index.html: $(UI_SOURCES) $(NODE_MODULES) build/ui-sources
	$(call say,UI)node ui/build.mjs build/ui
# A lock file that is only newer installs nothing.
$(NODE_MODULES): ui/package-lock.json
	@for tool in node npm; do command -v $$tool >/dev/null || { \
	    echo "the page is made with Node 18 or newer, and there is no '$$tool' here: install both (on Debian: apt-get install" \
	         "nodejs npm; ./run does that), or build without the page: make UI=0" >&2; exit 1; }; done
	@cmp -s $< $@ || { printf '  %-5s %s\n' NPM ui/node_modules; \
	    npm ci --prefix ui --ignore-scripts --no-audit --no-fund --loglevel=error || { \
	    echo "npm could not fetch what the page is made of (see above); make UI=0 builds without the page" >&2; exit 1; }; }
	@cp $< $@

screenshots: $(BUILD)/hearth $(NODE_MODULES)
	node ui/test/browser/screenshots.mjs
ui-bench: $(NODE_MODULES)
	node ui/bench/flame.mjs
	node ui/bench/waterfall.mjs

# --- fuzzing: one target per reader of outside bytes; libFuzzer in the fuzz variant, a replaying main() elsewhere ---
FUZZERS := $(patsubst fuzz/fuzz_%.c,%,$(wildcard fuzz/fuzz_*.c))
ifeq ($(VARIANT),fuzz)
FUZZ_MAIN    :=
FUZZ_LDFLAGS := -fsanitize=fuzzer,address,undefined
else
FUZZ_MAIN    := $(BUILD)/obj/fuzz/replay.o
FUZZ_LDFLAGS :=
endif
fuzzers: $(addprefix $(BUILD)/fuzz/,$(FUZZERS))
$(BUILD)/fuzz/%: $(BUILD)/obj/fuzz/fuzz_%.o $(FUZZ_MAIN) $(call archives,$(TOP_DOWN))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(FUZZ_LDFLAGS) $(call libs,$(TOP_DOWN))

# --- benchmarks and tools: small programs over the same archives ---
BENCHES := $(patsubst bench/bench_%.c,%,$(wildcard bench/bench_*.c))
benches: $(addprefix $(BUILD)/bench/,$(BENCHES))
$(BUILD)/bench/%: $(BUILD)/obj/bench/bench_%.o $(call archives,$(TOP_DOWN))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(call libs,$(TOP_DOWN))
bench: all benches
	bench/run

# --- fault tests: a program over the store, a library that makes the disk fail, and a tool for what survives ---
faults: $(addprefix $(BUILD)/fault/,storm survive shim.so)
STORM_ROOMS := store $(filter $(ALLOWED_store),$(TOP_DOWN))
$(BUILD)/fault/storm: $(call objects,$(wildcard tests/fault/storm*.c)) $(call archives,$(STORM_ROOMS))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(call libs,$(STORM_ROOMS))
$(BUILD)/fault/survive: $(BUILD)/obj/tests/fault/survive.o $(call archives,base)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(LIBS_base)
# Preloaded into other programs, so neither sanitized nor fortified: it stands where those look.
$(BUILD)/fault/shim.so: tests/fault/shim.c tests/fault/shadow.c tests/fault/shadow.h $(FLAGS_STAMP)
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -std=gnu17 -O2 -g $(WARNINGS) -fvisibility=hidden -fPIC -shared -D_GNU_SOURCE -I. \
	        -o $@ $(filter %.c,$^)

$(BUILD)/tools/%: $(BUILD)/obj/tools/%.o $(call archives,$(TOP_DOWN))
	@mkdir -p $(@D)
	$(call say,LINK)$(CC) -o $@ $^ $(ALL_LDFLAGS) $(call libs,$(TOP_DOWN))

# --- man pages, completions and reference pages, all from the tables in the program ---
DOCS_TOOL := $(wildcard tools/generate_docs.c)
share: $(if $(DOCS_TOOL),$(BUILD)/share/.made)
$(BUILD)/share/.made: $(BUILD)/tools/generate_docs
	@rm -rf $(BUILD)/share; mkdir -p $(BUILD)/share
	$(call say,DOCS)$< $(BUILD)/share && touch $@
docs: $(BUILD)/share/.made
	rm -rf docs/reference && cp -r $(BUILD)/share/reference docs/reference
	cp $(BUILD)/share/openapi.yaml docs/openapi.yaml

# --- style ---
C_FILES := $(wildcard src/*/*.[ch] fuzz/*.[ch] bench/*.[ch] tools/*.[ch] tests/*/*.[ch])
format:
	clang-format -i $(C_FILES)
# Only files that changed since all was well are looked at; what others depend on counts for all of them.
changed = $(if $(filter $(1),$?),$(2),$(filter $(2),$?))
in_batches = @mkdir -p $(@D); printf '%s\n' $(2) | xargs -r -P $$(nproc) -n 8 $(1) && touch $@
check-format: build/style/format
build/style/format: $(C_FILES) .clang-format
	$(call in_batches,clang-format --dry-run -Werror,$(call changed,.clang-format,$(C_FILES)))
SCRIPT_LIBRARIES := $(wildcard tests/*.sh tests/*/lib.sh)
SCRIPTS := run check .ci/run $(wildcard tools/*.sh tests/*.sh tests/*/*.sh) \
           $(shell grep -lsE '^\#!/bin/(ba)?sh' bench/*)
check-scripts: build/style/scripts
build/style/scripts: $(SCRIPTS)
	$(call in_batches,shellcheck -x,$(call changed,$(SCRIPT_LIBRARIES),$(SCRIPTS)))

# --- installing ---
install: all
	install -D -m755 $(BUILD)/hearth $(DESTDIR)$(PREFIX)/bin/hearth
	for page in $(BUILD)/share/man/man1/*.1; do install -D -m644 $$page $(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/}; done
	install -D -m644 $(BUILD)/share/completions/hearth.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hearth
	install -D -m644 $(BUILD)/share/completions/_hearth $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_hearth
	install -D -m644 $(BUILD)/share/completions/hearth.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hearth.fish
	for file in README.md LICENSE THIRD_PARTY.md CHANGELOG.md; do install -D -m644 $$file $(DESTDIR)$(PREFIX)/share/doc/hearth/$$file; done
uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/hearth $(DESTDIR)$(PREFIX)/share/man/man1/hearth*.1 \
	      $(DESTDIR)$(PREFIX)/share/bash-completion/completions/hearth $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_hearth \
	      $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/hearth.fish
	rm -rf $(DESTDIR)$(PREFIX)/share/doc/hearth

clean:
	rm -rf build

help:
	@printf '%s\n' 'make                 build/release/hearth, man pages, completions' \
	  'make tests           the unit-test binaries, build/$$VARIANT/test/ROOM' \
	  'make fuzzers         build/$$VARIANT/fuzz/FORMAT (libFuzzer with VARIANT=fuzz, else corpus replay)' \
	  'make faults          what the scripts in tests/fault use, in build/$$VARIANT/fault' \
	  'make bench           every benchmark, peers beside us; results go to bench/RESULTS.md by hand' \
	  'make docs            docs/reference and docs/openapi.yaml from the tables in the program' \
	  'make ui              the page alone, build/ui' \
	  'make screenshots     docs/images from the page in a browser' \
	  'make ui-bench        the page in a browser, peers beside it' \
	  'make format          clang-format over the tree' \
	  'make install|uninstall [DESTDIR=] [PREFIX=/usr/local]' \
	  'VARIANT=release|clang|asan|tsan|fuzz|cov    UI=0 leaves the page out    V=1 shows commands'

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
