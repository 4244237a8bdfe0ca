/* SPDX-License-Identifier: GPL-2.0-or-later */
/* psci.c - see psci.h */
#include "vm/board/psci.h"

#include <stdbool.h>
#include <stddef.h>

enum {
	PSCI_VERSION = 0x84000000, PSCI_MIGRATE_INFO_TYPE = 0x84000006,
	PSCI_SYSTEM_OFF = 0x84000008, PSCI_SYSTEM_RESET = 0x84000009,
	PSCI_FEATURES = 0x8400000a, PSCI_CPU_ON_64 = 0xc4000003,
	SMCCC_VERSION = 0x80000000,
};

#define VERSION UINT64_C(0x10001)	/* 1.1, of both */
#define NOT_SUPPORTED UINT64_MAX
#define ALREADY_ON ((uint64_t)-4)
#define NO_MIGRATION 2u

static bool is_there(uint64_t function)
{
	static const uint32_t there[] = {
		PSCI_VERSION, PSCI_MIGRATE_INFO_TYPE, PSCI_SYSTEM_OFF,
		PSCI_SYSTEM_RESET, PSCI_FEATURES, SMCCC_VERSION,
	};

	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		if (there[i] == (uint32_t)function)
			return true;
	return false;
}

enum psci_outcome psci_call(uint64_t function, uint64_t argument,
			    uint64_t *result)
{
	*result = NOT_SUPPORTED;
	switch ((uint32_t)function) {
	case PSCI_VERSION:
	case SMCCC_VERSION:
		*result = VERSION;
		break;
	case PSCI_MIGRATE_INFO_TYPE:
		*result = NO_MIGRATION;
		break;
	case PSCI_FEATURES:
		*result = is_there(argument) ? 0 : NOT_SUPPORTED;
		break;
	case PSCI_CPU_ON_64:
		*result = ALREADY_ON;
		break;
	case PSCI_SYSTEM_OFF:
		return PSCI_OFF;
	case PSCI_SYSTEM_RESET:
		return PSCI_RESET;
	}
	return PSCI_GOES_ON;
}
