/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gic.h - the interrupt controller: GICv2, for up to eight processors
 *
 * Each processor has its own first 32 interrupts: 16 that processors send each
 * other, and 16 of what belongs to it, as its timers.  The others are shared;
 * the guest says to which processors each goes.
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
#define GIC_SENT 16u		/* the first that processors do not send */
#define GIC_PROCESSORS 8u

struct gic_interrupt {
	bool enabled, pending, line, active, edge, group;
	uint8_t priority;
	uint8_t targets;	/* processors that it goes to: a bit each */
};

/* What each processor has for itself. */
struct gic_processor {
	struct gic_interrupt own[GIC_SHARED];
	uint8_t senders[GIC_SENT];	/* of those that are pending: bits */
	uint32_t control;
	uint8_t mask, binary_point;
	uint16_t running[GIC_INTERRUPTS];	/* the last one is the newest */
	unsigned running_count;
};

struct gic {
	unsigned count;		/* of processors */
	unsigned present;	/* the one that reads and writes registers */
	uint32_t distributor;	/* control register */
	struct gic_interrupt shared[GIC_INTERRUPTS - GIC_SHARED];
	struct gic_processor processors[GIC_PROCESSORS];
};

void gic_init(struct gic *gic, unsigned processors);

struct state;
void gic_state(struct gic *gic, struct state *state);

#define GIC_ACKNOWLEDGE 0x0cu	/* a register of the processor's */

/* The present processor has read that it takes this one, says who recorded
 * it. */
void gic_follow(struct gic *gic, uint64_t acknowledged);

/* A device raises or lowers its line; one that belongs to a processor does. */
void gic_set_line(struct gic *gic, unsigned number, bool line);
void gic_set_own_line(struct gic *gic, unsigned processor, unsigned number,
		      bool line);

/* Whether a processor is to be interrupted. */
bool gic_interrupts(const struct gic *gic, unsigned processor);

/* Whether it is to wake up: also for one of no higher priority. */
bool gic_wakes(const struct gic *gic, unsigned processor);

uint64_t gic_distributor_read(void *gic, uint64_t offset, unsigned size);
void gic_distributor_write(void *gic, uint64_t offset, unsigned size,
			   uint64_t value);
uint64_t gic_processor_read(void *gic, uint64_t offset, unsigned size);
void gic_processor_write(void *gic, uint64_t offset, unsigned size,
			 uint64_t value);

#endif
