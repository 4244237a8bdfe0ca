/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * psci.h - what the firmware does when it is called: PSCI, for one processor
 *
 * Source: Arm Power State Coordination Interface (DEN 0022D), chapter 5.
 */
#ifndef CPREC_VM_BOARD_PSCI_H
#define CPREC_VM_BOARD_PSCI_H

#include <stdint.h>

enum psci_outcome { PSCI_GOES_ON, PSCI_OFF, PSCI_RESET };

/* A call with these in x0 and x1; `*result` goes to x0. */
enum psci_outcome psci_call(uint64_t function, uint64_t argument,
			    uint64_t *result);

#endif
