/* SPDX-License-Identifier: GPL-2.0-or-later */
/* psci.c - see psci.h */
#include "vm/board/psci.h"

#include <stddef.h>

#include "vm/board/state.h"

enum {
	PSCI_VERSION = 0x84000000, PSCI_CPU_OFF = 0x84000002,
	PSCI_CPU_ON = 0x84000003, PSCI_AFFINITY_INFO = 0x84000004,
	PSCI_MIGRATE_INFO_TYPE = 0x84000006, PSCI_SYSTEM_OFF = 0x84000008,
	PSCI_SYSTEM_RESET = 0x84000009, PSCI_FEATURES = 0x8400000a,
	PSCI_CPU_ON_64 = 0xc4000003, PSCI_AFFINITY_INFO_64 = 0xc4000004,
	SMCCC_VERSION = 0x80000000,
};

#define VERSION UINT64_C(0x10001)	/* 1.1, of both */
#define SUCCESS 0
#define NOT_SUPPORTED UINT64_MAX
#define INVALID_PARAMETERS ((uint64_t)-2)
#define ALREADY_ON ((uint64_t)-4)
#define ON_PENDING ((uint64_t)-5)
#define NO_MIGRATION 2u

/* What AFFINITY_INFO answers. */
enum { AFFINITY_ON, AFFINITY_OFF, AFFINITY_ON_PENDING };

void psci_init(struct psci *psci, unsigned processors)
{
	*psci = (struct psci){ .count = processors };
	psci->processors[0].is_on = true;
}

void psci_state(struct psci *psci, struct state *state)
{
	/* A processor that is alone is on. */
	if (psci->count == 1)
		return;
	state_device(state, "psci", 0);
	STATE_MEMBERS(state, psci->processors, is_on, 1);
	STATE_MEMBERS(state, psci->processors, starts, 1);
	STATE_MEMBERS(state, psci->processors, entry, UINT64_MAX);
	STATE_MEMBERS(state, psci->processors, context, UINT64_MAX);
}

static bool is_there(uint64_t function)
{
	static const uint32_t there[] = {
		PSCI_VERSION, PSCI_CPU_OFF, PSCI_CPU_ON, PSCI_AFFINITY_INFO,
		PSCI_MIGRATE_INFO_TYPE, PSCI_SYSTEM_OFF, PSCI_SYSTEM_RESET,
		PSCI_FEATURES, PSCI_CPU_ON_64, PSCI_AFFINITY_INFO_64,
		SMCCC_VERSION,
	};

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		if (there[i] == (uint32_t)function)
			return true;
	return false;
}

/* By its affinity, of which only the lowest level counts. */
static uint64_t turn_on(struct psci *psci, const uint64_t *arguments)
{
	struct psci_processor *wanted = &psci->processors[arguments[1] %
							  PSCI_PROCESSORS];

	if (arguments[1] >= psci->count)
		return INVALID_PARAMETERS;
	if (wanted->is_on)
		return wanted->starts ? ON_PENDING : ALREADY_ON;
	*wanted = (struct psci_processor){
		.is_on = true, .starts = true,
		.entry = arguments[2], .context = arguments[3],
	};
	return SUCCESS;
}

static uint64_t affinity(const struct psci *psci, const uint64_t *arguments)
{
	const struct psci_processor *wanted =
		&psci->processors[arguments[1] % PSCI_PROCESSORS];

	if (arguments[1] >= psci->count || arguments[2])
		return INVALID_PARAMETERS;
	if (!wanted->is_on)
		return AFFINITY_OFF;
	return wanted->starts ? AFFINITY_ON_PENDING : AFFINITY_ON;
}

enum psci_outcome psci_call(struct psci *psci, unsigned processor,
			    const uint64_t arguments[PSCI_ARGUMENTS],
			    uint64_t *result)
{
	*result = NOT_SUPPORTED;
	switch ((uint32_t)arguments[0]) {
	case PSCI_VERSION:
	case SMCCC_VERSION:
		*result = VERSION;
		break;
	case PSCI_MIGRATE_INFO_TYPE:
		*result = NO_MIGRATION;
		break;
	case PSCI_FEATURES:
		*result = is_there(arguments[1]) ? SUCCESS : NOT_SUPPORTED;
		break;
	case PSCI_CPU_ON:
	case PSCI_CPU_ON_64:
		*result = turn_on(psci, arguments);
		break;
	case PSCI_CPU_OFF:
		psci->processors[processor].is_on = false;
		break;
	case PSCI_AFFINITY_INFO:
	case PSCI_AFFINITY_INFO_64:
		*result = affinity(psci, arguments);
		break;
	case PSCI_SYSTEM_OFF:
		return PSCI_OFF;
	case PSCI_SYSTEM_RESET:
		return PSCI_RESET;
	}
	return PSCI_GOES_ON;
}
