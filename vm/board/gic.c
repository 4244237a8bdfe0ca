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
	GICD_CPENDSGIR = 0xf10, GICD_SPENDSGIR = 0xf20, GICD_SGIS_END = 0xf30,
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
#define PROCESSORS_SHIFT 5u	/* in GICD_TYPER */
#define IDLE_PRIORITY 0xffu

/* In an IAR and EOIR: who has sent it. */
#define SENDER_SHIFT 10u
#define SENDER_MASK 7u

void gic_init(struct gic *gic, unsigned processors)
{
	*gic = (struct gic){ .count = processors };
	for (unsigned i = 0; i < processors; i++)
		for (unsigned j = 0; j < GIC_SHARED; j++)
			gic->processors[i].own[j] = (struct gic_interrupt){
				.targets = (uint8_t)(1u << i),
				.enabled = j < GIC_SENT, .edge = j < GIC_SENT,
			};
	for (unsigned i = 0; i < GIC_INTERRUPTS - GIC_SHARED; i++)
		gic->shared[i].targets = 1;
}

/* An interrupt as a processor sees it. */
static struct gic_interrupt *find(const struct gic *gic, unsigned processor,
				  unsigned number)
{
	struct gic *own = (struct gic *)(uintptr_t)gic;

	return number < GIC_SHARED ?
		       &own->processors[processor].own[number] :
		       &own->shared[number - GIC_SHARED];
}

static struct gic_interrupt *present(struct gic *gic, unsigned number)
{
	return find(gic, gic->present, number);
}

/* ------- which interrupt is next ------- */

static bool is_pending(const struct gic_interrupt *interrupt)
{
	return interrupt->pending || (interrupt->line && !interrupt->edge);
}

static bool is_waiting(const struct gic_interrupt *interrupt,
		       unsigned processor)
{
	return interrupt->enabled && !interrupt->active &&
	       interrupt->targets >> processor & 1 && is_pending(interrupt);
}

static unsigned highest(const struct gic *gic, unsigned processor)
{
	unsigned best = GIC_SPURIOUS, priority = 0;

	if (!(gic->distributor & ENABLES))
		return best;
	for (unsigned i = 0; i < GIC_INTERRUPTS; i++) {
		const struct gic_interrupt *interrupt = find(gic, processor, i);

		if (!is_waiting(interrupt, processor) ||
		    (best != GIC_SPURIOUS && interrupt->priority >= priority))
			continue;
		best = i;
		priority = interrupt->priority;
	}
	return best;
}

static unsigned running_priority(const struct gic *gic, unsigned processor)
{
	const struct gic_processor *own = &gic->processors[processor];

	return own->running_count ?
		       find(gic, processor,
			    own->running[own->running_count - 1])->priority :
		       IDLE_PRIORITY;
}

bool gic_wakes(const struct gic *gic, unsigned processor)
{
	return highest(gic, processor) != GIC_SPURIOUS;
}

bool gic_interrupts(const struct gic *gic, unsigned processor)
{
	const struct gic_processor *own = &gic->processors[processor];
	unsigned best = highest(gic, processor), priority;

	if (!(own->control & ENABLES) || best == GIC_SPURIOUS)
		return false;
	priority = find(gic, processor, best)->priority;
	return priority < own->mask &&
	       priority < running_priority(gic, processor);
}

static void set_line(struct gic_interrupt *interrupt, bool line)
{
	interrupt->pending |= line && !interrupt->line && interrupt->edge;
	interrupt->line = line;
}

void gic_set_line(struct gic *gic, unsigned number, bool line)
{
	set_line(&gic->shared[number - GIC_SHARED], line);
}

void gic_set_own_line(struct gic *gic, unsigned processor, unsigned number,
		      bool line)
{
	set_line(&gic->processors[processor].own[number], line);
}

/* ------- what processors send each other ------- */

/* A pending one is pending from each that has sent it. */
static void add_senders(struct gic *gic, unsigned processor, unsigned number,
			unsigned senders)
{
	struct gic_processor *own = &gic->processors[processor];

	own->senders[number] |= (uint8_t)senders;
	own->own[number].pending = own->senders[number];
}

static void drop_senders(struct gic *gic, unsigned processor, unsigned number,
			 unsigned senders)
{
	struct gic_processor *own = &gic->processors[processor];

	own->senders[number] &= (uint8_t)~senders;
	own->own[number].pending = own->senders[number];
}

/* To those of a list; to all others; to itself. */
static void send(struct gic *gic, uint32_t value)
{
	unsigned targets = value >> 16 & 0xff, self = 1u << gic->present;

	if ((value >> 24 & 3) == 1)
		targets = 0xff & ~self;
	else if ((value >> 24 & 3) == 2)
		targets = self;
	for (unsigned i = 0; i < gic->count; i++)
		if (targets >> i & 1)
			add_senders(gic, i, value & 15, self);
}

/* Four of them in a register, a byte each. */
static uint32_t read_senders(const struct gic *gic, uint64_t offset,
			     unsigned size)
{
	const struct gic_processor *own = &gic->processors[gic->present];
	uint32_t value = 0;

	for (unsigned i = 0; i < size && i < 4; i++)
		value |= (uint32_t)own->senders[(offset + i) % GIC_SENT]
			 << 8 * i;
	return value;
}

static void write_senders(struct gic *gic, uint64_t offset, unsigned size,
			  uint64_t value)
{
	bool sets = offset >= GICD_SPENDSGIR;

	for (unsigned i = 0; i < size && i < 4; i++)
		(sets ? add_senders : drop_senders)(
			gic, gic->present, (unsigned)(offset + i) % GIC_SENT,
			value >> 8 * i & 0xff);
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
		struct gic_interrupt *interrupt = present(gic, first + i);
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

	/* What processors send is not pending by itself, and always enabled. */
	if (first < GIC_SENT && offset >= GICD_ISENABLER &&
	    offset < GICD_ISACTIVER)
		value &= UINT32_MAX << GIC_SENT;
	for (unsigned i = 0; i < 32 && first + i < GIC_INTERRUPTS; i++)
		if (all || value >> i & 1)
			*bit_of(present(gic, first + i), offset) =
				all ? value >> i & 1 : !clears;
}

static uint32_t read_configuration(struct gic *gic, uint64_t offset)
{
	unsigned first = (unsigned)(offset - GICD_ICFGR) / 4 * 16;
	uint32_t value = 0;

	for (unsigned i = 0; i < 16 && first + i < GIC_INTERRUPTS; i++)
		value |= present(gic, first + i)->edge ? 2u << 2 * i : 0;
	return value;
}

/* Those that processors send each other are always edges. */
static void write_configuration(struct gic *gic, uint64_t offset,
				uint32_t value)
{
	unsigned first = (unsigned)(offset - GICD_ICFGR) / 4 * 16;

	for (unsigned i = 0; first && i < 16 && first + i < GIC_INTERRUPTS; i++)
		present(gic, first + i)->edge = value >> (2 * i + 1) & 1;
}

/* A byte for each: its priority, or the processors that it goes to. */
static uint8_t *byte_of(struct gic *gic, uint64_t offset)
{
	bool targets = offset >= GICD_ITARGETSR;
	uint64_t number = offset - (targets ? GICD_ITARGETSR : GICD_IPRIORITYR);
	struct gic_interrupt *interrupt;

	if (number >= GIC_INTERRUPTS)
		return NULL;
	interrupt = present(gic, (unsigned)number);
	return targets ? &interrupt->targets : &interrupt->priority;
}

static uint32_t read_bytes(struct gic *gic, uint64_t offset, unsigned size)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < size && i < 4; i++) {
		const uint8_t *byte = byte_of(gic, offset + i);

		value |= (uint32_t)(byte ? *byte : 0) << 8 * i;
	}
	return value;
}

/* Where a processor's own interrupts go is fixed. */
static void write_bytes(struct gic *gic, uint64_t offset, unsigned size,
			uint64_t value)
{
	bool targets = offset >= GICD_ITARGETSR;
	unsigned allowed = targets ? (1u << gic->count) - 1 : 0xff;

	if (targets && (gic->count == 1 ||
			offset < GICD_ITARGETSR + GIC_SHARED))
		return;
	for (unsigned i = 0; i < size && i < 4; i++) {
		uint8_t *byte = byte_of(gic, offset + i);

		if (byte)
			*byte = (uint8_t)(value >> 8 * i & allowed);
	}
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
	if (offset >= GICD_CPENDSGIR && offset < GICD_SGIS_END)
		return read_senders(gic, offset, size);
	switch (offset) {
	case GICD_CTLR:
		return gic->distributor;
	case GICD_TYPER:
		return (GIC_INTERRUPTS / 32 - 1) |
		       (gic->count - 1) << PROCESSORS_SHIFT;
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
	else if (offset >= GICD_IPRIORITYR && offset < GICD_ICFGR)
		write_bytes(gic, offset, size, value);
	else if (offset >= GICD_ICFGR && offset < GICD_ICFGR_END)
		write_configuration(gic, offset, (uint32_t)value);
	else if (offset == GICD_CTLR)
		gic->distributor = (uint32_t)value;
	else if (offset == GICD_SGIR)
		send(gic, (uint32_t)value);
	else if (offset >= GICD_CPENDSGIR && offset < GICD_SGIS_END)
		write_senders(gic, offset, size, value);
}

/* ------- the processor's interface ------- */

void gic_follow(struct gic *gic, uint64_t acknowledged)
{
	struct gic_processor *own = &gic->processors[gic->present];
	unsigned number = acknowledged & NUMBER_MASK;
	struct gic_interrupt *interrupt;

	if (number >= GIC_INTERRUPTS || own->running_count == GIC_INTERRUPTS)
		return;
	interrupt = present(gic, number);
	interrupt->active = true;
	interrupt->pending = false;
	if (number < GIC_SENT)
		drop_senders(gic, gic->present, number, 1u <<
			     (acknowledged >> SENDER_SHIFT & SENDER_MASK));
	own->running[own->running_count++] = (uint16_t)number;
}

/* The number, and, if a processor has sent it, the first that has. */
static uint32_t next_with_sender(const struct gic *gic)
{
	const struct gic_processor *own = &gic->processors[gic->present];
	uint32_t number = highest(gic, gic->present);

	if (!gic_interrupts(gic, gic->present))
		return GIC_SPURIOUS;
	return number < GIC_SENT && own->senders[number] ?
		       number | (uint32_t)__builtin_ctz(own->senders[number])
					<< SENDER_SHIFT : number;
}

static uint32_t acknowledge(struct gic *gic)
{
	uint32_t next = next_with_sender(gic);

	if (gic->processors[gic->present].running_count == GIC_INTERRUPTS)
		return GIC_SPURIOUS;
	gic_follow(gic, next);
	return next;
}

static void drop_running(struct gic_processor *own, unsigned number)
{
	unsigned i = own->running_count;

	while (i && own->running[i - 1] != number)
		i--;
	if (!i)
		return;
	memmove(own->running + i - 1, own->running + i,
		(own->running_count - i) * sizeof(*own->running));
	own->running_count--;
}

static void deactivate(struct gic *gic, unsigned number)
{
	if (number < GIC_INTERRUPTS)
		present(gic, number)->active = false;
}

uint64_t gic_processor_read(void *context, uint64_t offset, unsigned size)
{
	struct gic *gic = context;
	const struct gic_processor *own = &gic->processors[gic->present];

	(void)size;
	switch (offset) {
	case GICC_CTLR:
		return own->control;
	case GICC_PMR:
		return own->mask;
	case GICC_BPR:
		return own->binary_point;
	case GICC_IAR:
		return acknowledge(gic);
	case GICC_RPR:
		return running_priority(gic, gic->present);
	case GICC_HPPIR:
		return next_with_sender(gic);
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
	struct gic_processor *own = &gic->processors[gic->present];

	(void)size;
	switch (offset) {
	case GICC_CTLR:
		own->control = (uint32_t)value;
		break;
	case GICC_PMR:
		own->mask = (uint8_t)value;
		break;
	case GICC_BPR:
		own->binary_point = (uint8_t)value;
		break;
	case GICC_EOIR:
		drop_running(own, value & NUMBER_MASK);
		if (!(own->control & EOI_ONLY_DROPS))
			deactivate(gic, value & NUMBER_MASK);
		break;
	case GICC_DIR:
		deactivate(gic, value & NUMBER_MASK);
		break;
	}
}

#define STATE_INTERRUPTS(state, list)                                          \
	do {                                                                   \
		STATE_MEMBERS(state, list, enabled, 1);                        \
		STATE_MEMBERS(state, list, pending, 1);                        \
		STATE_MEMBERS(state, list, line, 1);                           \
		STATE_MEMBERS(state, list, active, 1);                         \
		STATE_MEMBERS(state, list, edge, 1);                           \
		STATE_MEMBERS(state, list, group, 1);                          \
		STATE_MEMBERS(state, list, priority, UINT8_MAX);               \
		STATE_MEMBERS(state, list, targets, UINT8_MAX);                \
	} while (0)

static void processor_state(struct gic_processor *processor, unsigned number,
			    struct state *state)
{
	state_device(state, "gic processor", number);
	STATE_INTERRUPTS(state, processor->own);
	STATE_ARRAY(state, processor->senders, UINT8_MAX);
	STATE_NUMBER(state, processor->control, UINT32_MAX);
	STATE_NUMBER(state, processor->mask, UINT8_MAX);
	STATE_NUMBER(state, processor->binary_point, UINT8_MAX);
	STATE_ARRAY(state, processor->running, GIC_INTERRUPTS - 1);
	STATE_NUMBER(state, processor->running_count, GIC_INTERRUPTS);
}

void gic_state(struct gic *gic, struct state *state)
{
	for (unsigned i = 0; i < gic->count; i++)
		processor_state(&gic->processors[i], i, state);
	state_device(state, "gic", 0);
	STATE_INTERRUPTS(state, gic->shared);
	STATE_NUMBER(state, gic->distributor, UINT32_MAX);
}
