/* SPDX-License-Identifier: GPL-2.0-or-later */
/* gic.c - see gic.h */
#include "vm/board/gic.h"

#include <string.h>

#include "vm/board/state.h"

/* Registers of the distributor. */
enum {
	GICD_CTLR = 0x000, GICD_TYPER = 0x004, GICD_IIDR = 0x008,
	GICD_IGROUPR = 0x080, GICD_ISENABLER = 0x100, GICD_ICENABLER = 0x180,
	GICD_ISPENDR = 0x200, GICD_ICPENDR = 0x280, GICD_ISACTIVER = 0x300,
	GICD_ICACTIVER = 0x380, GICD_IPRIORITYR = 0x400, GICD_ITARGETSR = 0x800,
	GICD_ICFGR = 0xc00, GICD_ICFGR_END = 0xd00, GICD_SGIR = 0xf00,
	GICD_ICPIDR2 = 0xfe8,
};

/* And of the processor's interface. */
enum {
	GICC_CTLR = 0x00, GICC_PMR = 0x04, GICC_BPR = 0x08, GICC_IAR = 0x0c,
	GICC_EOIR = 0x10, GICC_RPR = 0x14, GICC_HPPIR = 0x18, GICC_IIDR = 0xfc,
	GICC_DIR = 0x1000,
};

#define ENABLES 3u		/* both groups, in both control registers */
#define EOI_ONLY_DROPS 0x200u
#define NUMBER_MASK 0x3ffu
#define IDENTITY 0x0200143bu	/* of an implementation by ARM */
#define IDENTITY_PROCESSOR 0x0202143bu
#define VERSION_2 0x2bu
#define IDLE_PRIORITY 0xffu

/* ------- which interrupt is next ------- */

static bool is_pending(const struct gic_interrupt *interrupt)
{
	return interrupt->pending || (interrupt->line && !interrupt->edge);
}

static bool is_waiting(const struct gic_interrupt *interrupt)
{
	return interrupt->enabled && !interrupt->active &&
	       is_pending(interrupt);
}

static unsigned highest(const struct gic *gic)
{
	unsigned best = GIC_SPURIOUS;

	if (!(gic->distributor & ENABLES))
		return best;
	for (unsigned i = 0; i < GIC_INTERRUPTS; i++)
		if (is_waiting(&gic->interrupts[i]) &&
		    (best == GIC_SPURIOUS ||
		     gic->interrupts[i].priority <
			     gic->interrupts[best].priority))
			best = i;
	return best;
}

static unsigned running_priority(const struct gic *gic)
{
	return gic->running_count ?
		       gic->interrupts[gic->running[gic->running_count - 1]]
			       .priority : IDLE_PRIORITY;
}

bool gic_wakes(const struct gic *gic)
{
	return highest(gic) != GIC_SPURIOUS;
}

bool gic_interrupts(const struct gic *gic)
{
	unsigned best = highest(gic), priority;

	if (!(gic->processor & ENABLES) || best == GIC_SPURIOUS)
		return false;
	priority = gic->interrupts[best].priority;
	return priority < gic->mask && priority < running_priority(gic);
}

void gic_set_line(struct gic *gic, unsigned number, bool line)
{
	struct gic_interrupt *interrupt = &gic->interrupts[number];

	interrupt->pending |= line && !interrupt->line && interrupt->edge;
	interrupt->line = line;
}

/* ------- the distributor ------- */

/* Which bit of each interrupt a bank of registers has; the second bank of two
 * clears what the first one sets. */
static bool *bit_of(struct gic_interrupt *interrupt, uint64_t offset)
{
	switch (offset & ~UINT64_C(0x7f)) {
	case GICD_IGROUPR:
		return &interrupt->group;
	case GICD_ISENABLER:
	case GICD_ICENABLER:
		return &interrupt->enabled;
	case GICD_ISPENDR:
	case GICD_ICPENDR:
		return &interrupt->pending;
	default:
		return &interrupt->active;
	}
}

static bool has_bits(uint64_t offset)
{
	return offset >= GICD_IGROUPR && offset < GICD_IPRIORITYR;
}

static uint32_t read_bits(struct gic *gic, uint64_t offset)
{
	unsigned first = (unsigned)(offset & 0x7c) * 8;
	uint32_t value = 0;

	for (unsigned i = 0; i < 32 && first + i < GIC_INTERRUPTS; i++) {
		struct gic_interrupt *interrupt = &gic->interrupts[first + i];
		const bool *bit = bit_of(interrupt, offset);
		bool set = bit == &interrupt->pending ? is_pending(interrupt) :
							*bit;

		value |= (uint32_t)set << i;
	}
	return value;
}

static void write_bits(struct gic *gic, uint64_t offset, uint32_t value)
{
	unsigned first = (unsigned)(offset & 0x7c) * 8;
	bool clears = offset & 0x80 && offset >= GICD_ISENABLER;
	bool all = offset < GICD_ISENABLER;

	for (unsigned i = 0; i < 32 && first + i < GIC_INTERRUPTS; i++)
		if (all || value >> i & 1)
			*bit_of(&gic->interrupts[first + i], offset) =
				all ? value >> i & 1 : !clears;
}

static uint32_t read_configuration(const struct gic *gic, uint64_t offset)
{
	unsigned first = (unsigned)(offset - GICD_ICFGR) / 4 * 16;
	uint32_t value = 0;

	for (unsigned i = 0; i < 16 && first + i < GIC_INTERRUPTS; i++)
		value |= gic->interrupts[first + i].edge ? 2u << 2 * i : 0;
	return value;
}

/* Those that processors send each other are always edges. */
static void write_configuration(struct gic *gic, uint64_t offset,
				uint32_t value)
{
	unsigned first = (unsigned)(offset - GICD_ICFGR) / 4 * 16;

	for (unsigned i = 0; first && i < 16 && first + i < GIC_INTERRUPTS; i++)
		gic->interrupts[first + i].edge = value >> (2 * i + 1) & 1;
}

/* A byte for each interrupt: its priority, or the processors that it goes to,
 * of which there is one. */
static uint32_t read_bytes(const struct gic *gic, uint64_t offset,
			   unsigned size)
{
	bool targets = offset >= GICD_ITARGETSR;
	uint64_t first = offset - (targets ? GICD_ITARGETSR : GICD_IPRIORITYR);
	uint32_t value = 0;

	for (unsigned i = 0; i < size && i < 4 && first + i < GIC_INTERRUPTS;
	     i++)
		value |= (targets ? 1u : gic->interrupts[first + i].priority)
			 << 8 * i;
	return value;
}

uint64_t gic_distributor_read(void *context, uint64_t offset, unsigned size)
{
	struct gic *gic = context;

	if (has_bits(offset))
		return read_bits(gic, offset);
	if (offset >= GICD_IPRIORITYR && offset < GICD_ICFGR)
		return read_bytes(gic, offset, size);
	if (offset >= GICD_ICFGR && offset < GICD_ICFGR_END)
		return read_configuration(gic, offset);
	switch (offset) {
	case GICD_CTLR:
		return gic->distributor;
	case GICD_TYPER:
		return GIC_INTERRUPTS / 32 - 1;
	case GICD_IIDR:
		return IDENTITY;
	case GICD_ICPIDR2:
		return VERSION_2;
	default:
		return 0;
	}
}

void gic_distributor_write(void *context, uint64_t offset, unsigned size,
			   uint64_t value)
{
	struct gic *gic = context;

	if (has_bits(offset))
		write_bits(gic, offset, (uint32_t)value);
	else if (offset >= GICD_IPRIORITYR && offset < GICD_ITARGETSR)
		for (uint64_t i = 0, at = offset - GICD_IPRIORITYR;
		     i < size && at + i < GIC_INTERRUPTS; i++)
			gic->interrupts[at + i].priority =
				(uint8_t)(value >> 8 * i);
	else if (offset >= GICD_ICFGR && offset < GICD_ICFGR_END)
		write_configuration(gic, offset, (uint32_t)value);
	else if (offset == GICD_CTLR)
		gic->distributor = (uint32_t)value;
	else if (offset == GICD_SGIR)
		gic->interrupts[value & 15].pending = true;
}

/* ------- the processor's interface ------- */

void gic_follow(struct gic *gic, unsigned number)
{
	if (number >= GIC_INTERRUPTS || gic->running_count == GIC_INTERRUPTS)
		return;
	gic->interrupts[number].active = true;
	gic->interrupts[number].pending = false;
	gic->running[gic->running_count++] = (uint16_t)number;
}

static unsigned acknowledge(struct gic *gic)
{
	unsigned number = highest(gic);

	if (!gic_interrupts(gic) || gic->running_count == GIC_INTERRUPTS)
		return GIC_SPURIOUS;
	gic_follow(gic, number);
	return number;
}

static void drop_running(struct gic *gic, unsigned number)
{
	unsigned i = gic->running_count;

	while (i && gic->running[i - 1] != number)
		i--;
	if (!i)
		return;
	memmove(gic->running + i - 1, gic->running + i,
		(gic->running_count - i) * sizeof(*gic->running));
	gic->running_count--;
}

static void deactivate(struct gic *gic, unsigned number)
{
	if (number < GIC_INTERRUPTS)
		gic->interrupts[number].active = false;
}

uint64_t gic_processor_read(void *context, uint64_t offset, unsigned size)
{
	struct gic *gic = context;

	(void)size;
	switch (offset) {
	case GICC_CTLR:
		return gic->processor;
	case GICC_PMR:
		return gic->mask;
	case GICC_BPR:
		return gic->binary_point;
	case GICC_IAR:
		return acknowledge(gic);
	case GICC_RPR:
		return running_priority(gic);
	case GICC_HPPIR:
		return gic_interrupts(gic) ? highest(gic) : GIC_SPURIOUS;
	case GICC_IIDR:
		return IDENTITY_PROCESSOR;
	default:
		return 0;
	}
}

void gic_processor_write(void *context, uint64_t offset, unsigned size,
			 uint64_t value)
{
	struct gic *gic = context;

	(void)size;
	switch (offset) {
	case GICC_CTLR:
		gic->processor = (uint32_t)value;
		break;
	case GICC_PMR:
		gic->mask = (uint8_t)value;
		break;
	case GICC_BPR:
		gic->binary_point = (uint8_t)value;
		break;
	case GICC_EOIR:
		drop_running(gic, value & NUMBER_MASK);
		if (!(gic->processor & EOI_ONLY_DROPS))
			deactivate(gic, value & NUMBER_MASK);
		break;
	case GICC_DIR:
		deactivate(gic, value & NUMBER_MASK);
		break;
	}
}

void gic_state(struct gic *gic, struct state *state)
{
	state_device(state, "gic", 0);
	STATE_MEMBERS(state, gic->interrupts, enabled, 1);
	STATE_MEMBERS(state, gic->interrupts, pending, 1);
	STATE_MEMBERS(state, gic->interrupts, line, 1);
	STATE_MEMBERS(state, gic->interrupts, active, 1);
	STATE_MEMBERS(state, gic->interrupts, edge, 1);
	STATE_MEMBERS(state, gic->interrupts, group, 1);
	STATE_MEMBERS(state, gic->interrupts, priority, UINT8_MAX);
	STATE_NUMBER(state, gic->distributor, UINT32_MAX);
	STATE_NUMBER(state, gic->processor, UINT32_MAX);
	STATE_NUMBER(state, gic->mask, UINT8_MAX);
	STATE_NUMBER(state, gic->binary_point, UINT8_MAX);
	STATE_ARRAY(state, gic->running, GIC_INTERRUPTS - 1);
	STATE_NUMBER(state, gic->running_count, GIC_INTERRUPTS);
}
