/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * psci.h - what the firmware does when it is called: PSCI
 *
 * Which processors are on, and where one begins that is switched on.
 *
 * Source: Arm Power State Coordination Interface (DEN 0022D), chapter 5.
 */
#ifndef CPREC_VM_BOARD_PSCI_H
#define CPREC_VM_BOARD_PSCI_H

#include <stdbool.h>
#include <stdint.h>

#define PSCI_PROCESSORS 8u
#define PSCI_ARGUMENTS 4u

struct psci {
	unsigned count;		/* of processors */
	struct psci_processor {
		bool is_on;
		bool starts;	/* it has executed nothing since; it does so */
		uint64_t entry;	/* there, */
		uint64_t context;	/* with this in x0 */
	} processors[PSCI_PROCESSORS];
};

/* The first one is on. */
void psci_init(struct psci *psci, unsigned processors);

struct state;
void psci_state(struct psci *psci, struct state *state);

enum psci_outcome { PSCI_GOES_ON, PSCI_OFF, PSCI_RESET };

/* A processor calls with these in x0 and so on; `*result` goes to x0. */
enum psci_outcome psci_call(struct psci *psci, unsigned processor,
			    const uint64_t arguments[PSCI_ARGUMENTS],
			    uint64_t *result);

#endif
