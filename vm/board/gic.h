/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gic.h - the interrupt controller: GICv2, for one processor
 *
 * Source: ARM Generic Interrupt Controller, architecture version 2.0
 * (IHI 0048B), chapters 3 and 4.
 */
#ifndef CPREC_VM_BOARD_GIC_H
#define CPREC_VM_BOARD_GIC_H

#include <stdbool.h>
#include <stdint.h>

#define GIC_INTERRUPTS 96u
#define GIC_SPURIOUS 1023u
#define GIC_SHARED 32u		/* the first that is not a processor's own */

struct gic {
	struct gic_interrupt {
		bool enabled, pending, line, active, edge, group;
		uint8_t priority;
	} interrupts[GIC_INTERRUPTS];
	uint32_t distributor, processor;	/* control registers */
	uint8_t mask, binary_point;
	uint16_t running[GIC_INTERRUPTS];	/* the last one is the newest */
	unsigned running_count;
};

struct state;
void gic_state(struct gic *gic, struct state *state);

#define GIC_ACKNOWLEDGE 0x0cu	/* a register of the processor's */

/* The processor has taken that interrupt, says who recorded it. */
void gic_follow(struct gic *gic, unsigned number);

/* A device raises or lowers its line. */
void gic_set_line(struct gic *gic, unsigned number, bool line);

/* Whether the processor is to be interrupted. */
bool gic_interrupts(const struct gic *gic);

/* Whether it is to wake up: also for one of no higher priority. */
bool gic_wakes(const struct gic *gic);

uint64_t gic_distributor_read(void *gic, uint64_t offset, unsigned size);
void gic_distributor_write(void *gic, uint64_t offset, unsigned size,
			   uint64_t value);
uint64_t gic_processor_read(void *gic, uint64_t offset, unsigned size);
void gic_processor_write(void *gic, uint64_t offset, unsigned size,
			 uint64_t value);

#endif
