# SPDX-FileCopyrightText: 2026 the fanin authors
# SPDX-License-Identifier: MIT
# The contract test, three times: with queue_step, where producers are parked; with the release
# objects, as measured; and with the broken backends in the table, which mutants.c runs.

CONTRACT := tests/contract.c $(sort $(wildcard tests/contract/*.c))
CONTRACT_O := $(CONTRACT:%.c=$(BUILD)/step/%.o)
CONTRACT_RELEASE_O := $(CONTRACT:%.c=$(BUILD)/release/%.o)

CONTRACT_PROGRAMS := $(BUILD)/tests/contract $(BUILD)/tests/contract_release \
	$(BUILD)/tests/contract_broken $(BUILD)/tests/mutants
# What `make check` runs of them: two side by side, which takes two thirds of the time.
CONTRACT_TESTS := $(BUILD)/tests/contract+$(BUILD)/tests/contract_release $(BUILD)/tests/mutants

$(BUILD)/tests/contract: $(CONTRACT_O) $(STEP_O) $(BUILD)/registry.o
$(BUILD)/tests/contract_release: $(CONTRACT_RELEASE_O) $(RELEASE_O) $(BUILD)/registry.o
$(BUILD)/tests/contract_broken: $(CONTRACT_O) $(STEP_O) $(BROKEN_O) $(BUILD)/registry_broken.o
$(BUILD)/tests/mutants: $(BUILD)/release/tests/mutants.o $(BUILD)/release/tests/contract/report.o \
	| $(BUILD)/tests/contract_broken

$(CONTRACT_PROGRAMS):
	@mkdir -p $(@D)
	@echo '  CC   $@'
	$(Q)$(CC) $(FLAGS) $^ -o $@ $(TEST_LIBS)
