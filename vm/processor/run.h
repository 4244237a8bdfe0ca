/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * run.h - what running consists of
 *
 * run.c runs the engine until something happens that it cannot go on behind;
 * the others say what that has cost and what it means.
 */
#ifndef CPREC_VM_PROCESSOR_RUN_H
#define CPREC_VM_PROCESSOR_RUN_H

#include "vm/vm_internal.h"

/* ------- clock.c ------- */

/* The guest runs on a new budget ... */
void clock_grant(struct vm *vm, uint64_t budget);

/* ... and no longer: what it has used of it goes into the steps. */
void clock_settle(struct vm *vm);

/* ------- stops.c ------- */

/*
 * The guest stopped before the instruction at `pc`: takes back what the block
 * under way has been counted for from there on.
 */
void stop_in_block(struct vm *vm, guest_addr pc);

/* Fills in what vm->stopped means. */
void stop_explain(struct vm *vm, struct vm_stop *stop);

/* ------- translations.c ------- */

/* Brings the engine up to date with what the host did to guest memory. */
void translations_refresh(struct vm *vm);

/* Forgets all translations, but for what is known of the block under way. */
void translations_flush(struct vm *vm);

#endif
