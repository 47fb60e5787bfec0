# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# `make help` lists the targets. BUILD=dir and SANITIZE=address,undefined|thread make a second build
# beside the first (asan and tsan do).

BUILD ?= build
# V=1 shows the commands.
Q := $(if $(V),,@)
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=
VERSION := 0.1.0

PACKAGES := gsl hwloc jansson
# 16-byte compare-and-swap: Concurrency Kit's, where a sanitizer must see it.
MCX16 := $(if $(filter x86_64 amd64,$(shell uname -m)),-mcx16)
SHIMS := -Itests/shim -include tests/shim/urcu.h $(MCX16)
WARNINGS := -Wall -Wextra -Wpedantic -Werror
CFLAGS ?= -O2 -g
FLAGS := -std=c11 -D_GNU_SOURCE $(CFLAGS) $(WARNINGS) -pthread -fPIC -fvisibility=hidden
ifneq ($(SANITIZE),)
FLAGS += -fsanitize=$(SANITIZE) -fno-omit-frame-pointer
endif
ifneq ($(filter thread,$(SANITIZE)),)
# ThreadSanitizer ignores fences (no happens-before here rests on one alone) and can't see inline
# assembly: the shims spell the libraries' accesses so that it can.
FLAGS += $(if $(findstring clang,$(shell $(CC) --version)),,-Wno-tsan) $(SHIMS)
endif

# C++ for the peers of queues/peers; headers there are C11's, which C++23 has too.
CXX := $(if $(filter default,$(origin CXX)),$(if $(findstring clang,$(CC)),clang++,g++),$(CXX))
CXX_FLAGS = $(patsubst -std=c11,-std=c++2b -Wno-missing-field-initializers,$(filter-out -include tests/shim/urcu.h,$(FLAGS)))

# The backends. The first line of a file says what it needs, or what some of its backends want:
# pkg-config's names, or <headers>:  /* needs: ck <some/header.hpp> */   /* wants: ck for ck_lock */
QUEUE_FILES := $(sort $(wildcard queues/*.c queues/peers/*.c queues/peers/*.cpp))
SIGNAL_FILES := $(sort $(wildcard engine/signal*.c))
needs_of = $(shell sed -n '1s|^/[*] needs: \(.*\) [*]/$$|\1|p' $1)
wants_of = $(shell sed -n '1s|^/[*] wants: \(.*\) for .* [*]/$$|\1|p' $1)
wanting_of = $(shell sed -n '1s|^/[*] wants: .* for \(.*\) [*]/$$|\1|p' $1)
lacks = $(if $(filter <%,$1),$(shell echo '\#include $1' | $(CXX) -std=c++2b -x c++ -E - >/dev/null 2>&1 || echo '$1'),$(shell pkg-config --exists $1 2>/dev/null || echo $1))
$(foreach f,$(QUEUE_FILES) $(SIGNAL_FILES),$(eval NEEDS_$f := $(call needs_of,$f)) $(eval WANTS_$f := $(call wants_of,$f)))
$(foreach p,$(sort $(foreach f,$(QUEUE_FILES) $(SIGNAL_FILES),$(NEEDS_$f) $(WANTS_$f))),$(eval LACKS_$p := $(strip $(call lacks,$p))))
$(foreach f,$(QUEUE_FILES) $(SIGNAL_FILES),$(eval MISSING_$f := $(strip $(foreach p,$(NEEDS_$f) $(WANTS_$f),$(LACKS_$p)))))
$(foreach f,$(QUEUE_FILES) $(SIGNAL_FILES),$(eval REASON_$f := $(if $(MISSING_$f),missing: $(MISSING_$f))))
# ThreadSanitizer sees C++ only as far as it is in headers, and no fences: what it says would mean nothing.
ifneq ($(filter thread,$(SANITIZE)),)
$(foreach f,$(filter %.cpp,$(QUEUE_FILES)),$(eval REASON_$f := ThreadSanitizer can not see how it synchronises))
endif
BACKENDS := $(foreach f,$(QUEUE_FILES),$(if $(and $(NEEDS_$f),$(REASON_$f)),,$f))
SIGNALS := $(foreach f,$(SIGNAL_FILES),$(if $(and $(NEEDS_$f),$(REASON_$f)),,$f))
LEFT_OUT := $(foreach f,$(QUEUE_FILES) $(SIGNAL_FILES),$(if $(REASON_$f),$f))
# The library has no peers: they are there to be compared with.
LIB_BACKENDS := $(filter-out queues/peers/%,$(BACKENDS))
BROKEN := $(sort $(wildcard tests/broken/*.c))
packages_of = $(sort $(filter-out <%,$(foreach f,$1,$(foreach p,$(NEEDS_$f) $(WANTS_$f),$(if $(LACKS_$p),,$p)))))
BACKEND_PACKAGES := $(call packages_of,$(BACKENDS) $(SIGNALS))

pkg = $(if $1,$(shell pkg-config $2 $1 2>/dev/null))
PKG_CFLAGS := $(call pkg,$(PACKAGES) $(BACKEND_PACKAGES),--cflags)
LIB_LIBS := $(call pkg,$(call packages_of,$(LIB_BACKENDS) $(SIGNALS)),--libs)
# C++'s run time; clang, as it links for C, leaves out UBSan's part for C++.
UBSAN_CXX := $(if $(findstring undefined,$(SANITIZE)),$(if $(findstring clang,$(shell $(CC) --version)),-fsanitize-link-c++-runtime))
QUEUE_LIBS := $(call pkg,$(BACKEND_PACKAGES),--libs) $(if $(filter %.cpp,$(BACKENDS)),-lstdc++ $(UBSAN_CXX))
LIBS := $(QUEUE_LIBS) $(call pkg,$(PACKAGES),--libs) -lm

ENGINE := $(filter-out $(SIGNAL_FILES),$(sort $(wildcard engine/*.c))) $(SIGNALS)
PROGRAM := $(sort $(wildcard experiments/*.c))
# One test program a file; contract.mk builds the contract test's three.
TESTS := $(filter-out contract mutants,$(patsubst tests/%.c,%,$(sort $(wildcard tests/*.c))))

# release: what is measured. step: the same with queue_step and the shims, where tests park producers.
objects = $(patsubst %,$(BUILD)/$1/%.o,$(basename $2))
LIB_O := $(call objects,release,$(ENGINE) $(LIB_BACKENDS))
RELEASE_O := $(call objects,release,$(ENGINE) $(BACKENDS))
STEP_O := $(call objects,step,$(ENGINE) $(BACKENDS))
BROKEN_O := $(call objects,step,$(BROKEN))
PROGRAM_O := $(call objects,release,$(PROGRAM))
TESTED_O := $(filter-out %/main.o,$(PROGRAM_O))

.PHONY: all test tests check lint asan tsan bench_ffi_submit bench-queues collapse plot paper deps install clean help FORCE
.DELETE_ON_ERROR:
.SECONDARY:

all: $(BUILD)/fanin $(BUILD)/libfanin.a $(BUILD)/libfanin.so $(BUILD)/fanin.pc

$(BUILD)/release/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $(PKG_CFLAGS) -MMD -MP $(EXTRA) -c $< -o $@

$(BUILD)/step/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) -DQUEUE_STEP $(SHIMS) $(PKG_CFLAGS) -MMD -MP $(EXTRA) -c $< -o $@

$(BUILD)/release/%.o: %.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CXX  $@'
	$(Q)$(CXX) $(CXX_FLAGS) $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/step/%.o: %.cpp $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CXX  $@'
	$(Q)$(CXX) $(CXX_FLAGS) -DQUEUE_STEP $(PKG_CFLAGS) -MMD -MP -c $< -o $@

# Concurrency Kit counts generations in a char * that starts at NULL, which clang's UBSan reports.
ifneq ($(filter address%undefined,$(SANITIZE)),)
$(BUILD)/release/queues/ck_fifo.o $(BUILD)/step/queues/ck_fifo.o: EXTRA = -fno-sanitize=pointer-overflow
# liburcu's end of a stack is no node's address, and urcu-bp's readers lie less aligned than they say.
$(foreach q,wfstack rculfqueue,$(BUILD)/release/queues/$q.o $(BUILD)/step/queues/$q.o): \
	EXTRA = -fno-sanitize=alignment
endif

# Rebuilds when the flags, a compiler or a library change. Of headers alone Debian knows the version.
version_of = $(shell pkg-config --modversion $1 2>/dev/null || echo none)
debian_of = $(or $(shell dpkg-query -W -f '$${Version}' $1 2>/dev/null),unknown)
VERSIONS := $(foreach p,$(sort liburcu ck $(PACKAGES) $(BACKEND_PACKAGES)),$p=$(call version_of,$p)) \
	$(foreach p,libboost-dev libconcurrentqueue-dev libxenium-dev,$p=$(call debian_of,$p)) \
	c++=$(or $(shell $(CXX) -dumpfullversion -dumpversion 2>/dev/null),none)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(CXX) $(FLAGS) $(PKG_CFLAGS) $(VERSIONS)' | cmp -s - $@ || \
		echo '$(CC) $(CXX) $(FLAGS) $(PKG_CFLAGS) $(VERSIONS)' >$@

# Rebuilds when a backend or one of its packages comes or goes.
# Arguments: the backends' files, and those left out.
name_of = $(basename $(notdir $1))
registry_of = { echo '/* Generated from queues/ and engine/signal*.c by the Makefile. */'; \
	echo '\#include "engine/registry.h"'; \
	$(foreach f,$1,echo 'extern const struct queue_ops *const $(call name_of,$f)_backends[];';) \
	$(foreach f,$(SIGNALS),echo 'extern const struct signal_ops *const $(call name_of,$f)_signals[];';) \
	echo 'const struct queue_ops *const *const registry_files[] = {'; \
	$(foreach f,$1,echo '        $(call name_of,$f)_backends,';) echo '        NULL};'; \
	echo 'const struct signal_ops *const *const registry_signal_files[] = {'; \
	$(foreach f,$(SIGNALS),echo '        $(call name_of,$f)_signals,';) echo '        NULL};'; \
	echo 'const struct registry_left_out registry_left_out[] = {'; \
	$(foreach f,$2,echo '        {"$(call left_out_name,$f)", "$(REASON_$f)"},';) \
	echo '        {NULL, NULL}};'; }
left_out_name = $(if $(WANTS_$1),$(call wanting_of,$1) of )$1

$(BUILD)/registry.c: FORCE
	@mkdir -p $(@D)
	@$(call registry_of,$(BACKENDS),$(LEFT_OUT)) >$@.new
	@cmp -s $@.new $@ || cp $@.new $@; rm $@.new

$(BUILD)/registry_lib.c: FORCE
	@mkdir -p $(@D)
	@$(call registry_of,$(LIB_BACKENDS),$(filter-out queues/peers/%,$(LEFT_OUT))) >$@.new
	@cmp -s $@.new $@ || cp $@.new $@; rm $@.new

$(BUILD)/registry_broken.c: FORCE
	@mkdir -p $(@D)
	@$(call registry_of,$(BACKENDS) $(BROKEN),$(LEFT_OUT)) >$@.new
	@cmp -s $@.new $@ || cp $@.new $@; rm $@.new

$(BUILD)/%.o: $(BUILD)/%.c $(BUILD)/flags
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) -I. -MMD -MP -c $< -o $@

# What machine.json says of the build.
COMMIT = $(shell git rev-parse --verify HEAD 2>/dev/null || echo unknown)
DIRTY = $(shell test -z "$$(git status --porcelain 2>/dev/null)"; echo $$?)
$(BUILD)/release/experiments/machine.o: EXTRA = -DFANIN_COMMIT='"$(COMMIT)"' -DFANIN_DIRTY=$(DIRTY) \
	-DFANIN_CFLAGS='"$(FLAGS)"' -DFANIN_LIB_VERSIONS='"$(VERSIONS)"'
$(BUILD)/release/experiments/machine.o: $(BUILD)/commit
$(BUILD)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT) $(DIRTY)' | cmp -s - $@ || echo '$(COMMIT) $(DIRTY)' >$@

$(BUILD)/fanin: $(PROGRAM_O) $(RELEASE_O) $(BUILD)/registry.o
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(LIBS)

# The library
# One object whose internal names are local: they can't clash with a caller's.
$(BUILD)/libfanin.a: $(LIB_O) $(BUILD)/registry_lib.o
	@echo '  AR   $@'
	$(Q)$(LD) -r -o $(BUILD)/libfanin.o $^
	$(Q)objcopy --localize-hidden $(BUILD)/libfanin.o
	$(Q)rm -f $@ && $(AR) rcs $@ $(BUILD)/libfanin.o

# nodelete: a thread may end, and run our destructor, after a dlclose.
$(BUILD)/libfanin.so: $(LIB_O) $(BUILD)/registry_lib.o
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) -shared -Wl,-soname,libfanin.so.0,-z,nodelete $^ -o $@ $(LIB_LIBS)

$(BUILD)/fanin.pc: Makefile $(BUILD)/registry_lib.c
	@mkdir -p $(@D)
	@printf '%s\n' 'prefix=$(PREFIX)' 'Name: fanin' 'Version: $(VERSION)' \
		'Description: many foreign threads submit to one FFI thread' \
		'Cflags: -I$${prefix}/include' 'Libs: -L$${prefix}/lib -lfanin' \
		'Libs.private: -pthread $(LIB_LIBS)' >$@

install: all
	install -d $(DESTDIR)$(PREFIX)/include $(DESTDIR)$(PREFIX)/lib/pkgconfig $(DESTDIR)$(PREFIX)/bin
	install -m 644 engine/fanin.h $(DESTDIR)$(PREFIX)/include/
	install -m 644 $(BUILD)/libfanin.a $(DESTDIR)$(PREFIX)/lib/
	install -m 755 $(BUILD)/libfanin.so $(DESTDIR)$(PREFIX)/lib/libfanin.so.$(VERSION)
	ln -sf libfanin.so.$(VERSION) $(DESTDIR)$(PREFIX)/lib/libfanin.so.0
	ln -sf libfanin.so.0 $(DESTDIR)$(PREFIX)/lib/libfanin.so
	sed 's|^prefix=.*|prefix=$(PREFIX)|' $(BUILD)/fanin.pc >$(DESTDIR)$(PREFIX)/lib/pkgconfig/fanin.pc
	install -m 755 $(BUILD)/fanin $(DESTDIR)$(PREFIX)/bin/

# The tests. A test program may use the engine with queue_step and all of the program but its main.
TEST_LIBS = $(call pkg,cmocka,--libs) $(LIBS)
$(BUILD)/tests/%: $(BUILD)/step/tests/%.o $(STEP_O) $(TESTED_O) $(BUILD)/registry.o
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(TEST_LIBS)

# The program with the broken backends: what its checks must find.
$(BUILD)/tests/fanin_broken: $(PROGRAM_O) $(STEP_O) $(BROKEN_O) $(BUILD)/registry_broken.o
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(LIBS)

-include tests/contract.mk
TEST_PROGRAMS := $(TESTS:%=$(BUILD)/tests/%) $(CONTRACT_PROGRAMS) $(BUILD)/tests/fanin_broken

tests: $(TEST_PROGRAMS) all

# Scripts of tests/ are tests too; each gets the build directory.
TEST_SCRIPTS := $(filter-out tests/run.sh,$(sort $(wildcard tests/*.sh)))
# Those that mostly wait, for deadlines and intended times, run beside another.
WAITING := latency+statuses sweep+doctor
RUN_TESTS = $(patsubst %,$(BUILD)/tests/%,$(filter-out $(subst +, ,$(WAITING)),$(TESTS)) \
	$(subst +,+$(BUILD)/tests/,$(WAITING))) $(CONTRACT_TESTS) $(TEST_SCRIPTS)

test: deps
	+@$(MAKE) --no-print-directory check

# test without the look for missing packages.
check: tests
	@tests/run.sh $(BUILD) $(RUN_TESTS)

asan:
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/asan SANITIZE=address,undefined check

# ThreadSanitizer can't start where mmap is too random: that is a skip (77), never a pass.
tsan:
	@mkdir -p $(BUILD)/tsan
	@echo 'int main(void) { return 0; }' | $(CC) -fsanitize=thread -x c - -o $(BUILD)/tsan/preflight
	@$(BUILD)/tsan/preflight || { echo "SKIP: ThreadSanitizer can't start here" \
		"(see sysctl vm.mmap_rnd_bits; 28 works)"; exit 77; }
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/tsan SANITIZE=thread check

# The reference's name for its gate, with its environment knobs (fanin gate --help).
bench_ffi_submit: all
	$(BUILD)/fanin gate

# The main experiment. QUICK=1: 30 s; SIGNAL=socketpair: the published signal path.
collapse: deps
	+@$(MAKE) --no-print-directory all
	@experiments/collapse.sh $(BUILD)

# Who gets through when a producer stops inside its push: linked with queue_step, so not in fanin.
STALLED_O := $(call objects,step,$(sort $(wildcard experiments/stalled/*.c)))
$(BUILD)/stalled: $(STALLED_O) $(STEP_O) $(BUILD)/registry.o
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(LIBS)

.PHONY: stalled docs new-queue contract
tests: $(BUILD)/stalled
stalled: $(BUILD)/stalled
	@experiments/stalled.sh $(BUILD)

# The generated parts of queues/README.md.
docs: $(BUILD)/fanin $(BUILD)/stalled
	@experiments/docs.sh $(BUILD) >$(BUILD)/queues.md
	@cp $(BUILD)/queues.md queues/README.md

# NAME=foo: a new backend to start from, and its contract test.
new-queue:
	@queues/new_queue.sh "$$NAME"

contract: $(BUILD)/tests/contract
	@$< --backend "$$NAME"

# What queues add to a submit, and the bars. OUT=DIR keeps the run.
bench-queues:
	@experiments/deps.sh build
	@experiments/deps.sh peers || echo 'measured without the peers that are missing' >&2
	+@$(MAKE) --no-print-directory all
	$(BUILD)/fanin bars $(if $(OUT),--out "$(OUT)")

# What the engine's counters cost: the program with an engine that has none, and A/A.
BARE_O := $(patsubst %,$(BUILD)/bare/%.o,$(basename $(ENGINE)))
$(BUILD)/bare/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) -DFANIN_COUNTERS=0 $(PKG_CFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/bare/fanin: $(PROGRAM_O) $(BARE_O) $(call objects,release,$(BACKENDS)) $(BUILD)/registry.o
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(LIBS)

tests: $(BUILD)/bare/fanin
.PHONY: bench-self fuzz
bench-self: deps
	+@$(MAKE) --no-print-directory all $(BUILD)/bare/fanin
	@experiments/self.sh $(BUILD) $(BUILD)/bare

# The fuzz targets, tests/fuzz/*.c: replayed over their corpus by tests/fuzz.sh; `make fuzz TARGET=rows FOR_S=600`
# searches on with clang's libFuzzer.
FUZZ_TARGETS := $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(sort $(wildcard tests/fuzz/*.c))))
FUZZ_O := $(STEP_O) $(TESTED_O) $(BUILD)/registry.o
$(BUILD)/tests/replay_%: $(BUILD)/step/tests/fuzz/%.o $(BUILD)/step/tests/fuzz/replay.o $(FUZZ_O)
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(LIBS)
tests: $(FUZZ_TARGETS:%=$(BUILD)/tests/replay_%)

$(BUILD)/fuzz_%: $(BUILD)/step/tests/fuzz/%.o $(FUZZ_O)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) -fsanitize=fuzzer $^ -o $@ $(LIBS)
FOR_S ?= 60
fuzz:
	@[ -f "tests/fuzz/$(TARGET).c" ] || { echo "TARGET can't be '$(TARGET)'; allowed: $(FUZZ_TARGETS)" >&2; exit 2; }
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz CC=clang SANITIZE=address,undefined \
		CFLAGS='-O1 -g -fsanitize=fuzzer-no-link' $(BUILD)/fuzz/fuzz_$(TARGET)
	@mkdir -p $(BUILD)/fuzz/found/$(TARGET)
	cd $(BUILD)/fuzz && ./fuzz_$(TARGET) -max_total_time=$(FOR_S) -max_len=65536 -print_final_stats=1 \
		found/$(TARGET) $(CURDIR)/tests/fuzz/corpus/$(TARGET)

plot:
	plots/plot.sh "$(RUN)"

paper:
	paper/build.sh

deps:
	@experiments/deps.sh build

SCRIPTS := $(wildcard */*.sh) .ci/run
lint:
	@experiments/deps.sh lint
	clang-format --dry-run -Werror $(filter-out $(BUILD)/%,$(wildcard */*.[ch] */*/*.[ch] */*/*.[ch]pp))
	shellcheck $(SCRIPTS)
	cppcheck --quiet --error-exitcode=1 --std=c11 --inline-suppr -j2 \
		--enable=warning,performance,portability --suppressions-list=.cppcheck \
		-D__x86_64__ -D_GNU_SOURCE engine queues experiments tests/*.c tests/contract tests/broken
	printf '%s\n' $(ENGINE) $(filter %.c,$(BACKENDS)) $(PROGRAM) $(wildcard experiments/*/*.c) \
		$(filter-out tests/caller/%,$(wildcard tests/*.c tests/*/*.c)) | \
		xargs -P 2 -I FILE clang-tidy --quiet FILE -- \
		-std=c11 -D_GNU_SOURCE -DQUEUE_STEP $(SHIMS) -U__clang_analyzer__ $(PKG_CFLAGS) # or ck hides half of itself

clean:
	rm -rf $(BUILD)

help:
	@echo 'make collapse          the main experiment: data, plot, table (QUICK=1, SIGNAL=socketpair)'
	@echo 'make test              all tests; asan, tsan: the same under sanitizers; lint'
	@echo 'make                   build/fanin, build/libfanin.a, build/libfanin.so'
	@echo 'make bench-queues      what queues add to a submit, and the bars that some are held to'
	@echo 'make bench-self        what the engine'"'"'s own counters cost, by A/A'
	@echo 'make fuzz TARGET=rows FOR_S=60   libFuzzer on what reads files (tests/fuzz)'
	@echo 'make bench_ffi_submit  the scaling gate under the name of the reference'
	@echo 'make new-queue NAME=foo, make contract NAME=foo   a new backend, and whether it keeps its promises'
	@echo 'make stalled           parks a producer inside its push, in every backend; docs: its table in queues/README.md'
	@echo 'make plot RUN=dir      the figure of a run directory'
	@echo 'make paper             paper/build/fanin.pdf, from committed data'
	@echo 'make install           PREFIX=/usr/local DESTDIR='

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
