/* SPDX-License-Identifier: GPL-2.0-or-later */
/* nvic.c - see nvic.h */
#include "vm/board/nvic.h"

#include "vm/board/cortex_m.h"
#include "vm/board/state.h"

/* Of SysTick's control. */
#define TIMER_ENABLE 1u
#define TIMER_INTERRUPTS 2u
#define TIMER_CLOCK 4u
#define TIMER_WAS_ZERO 0x10000u
#define TIMER_BITS 0xffffffu

/* Offsets. */
enum {
	LINES = 0x4, TIMER_CONTROL = 0x10, TIMER_RELOAD = 0x14,
	TIMER_VALUE = 0x18, TIMER_CALIBRATION = 0x1c,
	ENABLE = 0x100, DISABLE = 0x180, PEND = 0x200, UNPEND = 0x280,
	ACTIVE = 0x300, PRIORITIES = 0x400,
	CPUID = 0xd00, ICSR = 0xd04, VTOR = 0xd08, AIRCR = 0xd0c, SCR = 0xd10,
	CCR = 0xd14, HANDLERS = 0xd18, SHCSR = 0xd24, CFSR = 0xd28,
	HFSR = 0xd2c, DFSR = 0xd30, MMFAR = 0xd34, BFAR = 0xd38, AFSR = 0xd3c,
	CPACR = 0xd88, STIR = 0xf00, FPCCR = 0xf34, FPCAR = 0xf38,
	FPDSCR = 0xf3c, MVFR0 = 0xf40, MVFR1 = 0xf44,
};

#define CALIBRATION 0xc0000000u	/* no reference of 10 ms is known */
#define BIT(n) (UINT64_C(1) << (n))

void nvic_init(struct nvic *nvic, struct board *board, uint32_t cpuid,
	       unsigned clock, unsigned reference)
{
	*nvic = (struct nvic){
		.board = board, .cpuid = cpuid, .clock = clock,
		.reference = reference,
		.enabled = BIT(CM_IRQ) - 1,
	};
}

static uint32_t own(const struct nvic *nvic, unsigned reg)
{
	return cm_reg(nvic->board, reg);
}

static uint64_t active(const struct nvic *nvic)
{
	return board_reg(nvic->board, CM_ACTIVE);
}

/* ------- the system timer ------- */

static uint64_t cycle(const struct nvic *nvic)
{
	return nvic->control & TIMER_CLOCK ? nvic->clock : nvic->reference;
}

static void start_timer(struct nvic *nvic)
{
	nvic->zero_at = board_ticks(nvic->board) +
			(nvic->reload + UINT64_C(1)) * cycle(nvic);
}

/* It has come to 0 since it was last looked at. */
static void advance_timer(struct nvic *nvic)
{
	uint64_t now = board_ticks(nvic->board);
	uint64_t period = (nvic->reload + UINT64_C(1)) * cycle(nvic);

	if (!(nvic->control & TIMER_ENABLE) || now < nvic->zero_at)
		return;
	nvic->zero_at += (1 + (now - nvic->zero_at) / period) * period;
	nvic->has_been_zero = true;
	if (nvic->control & TIMER_INTERRUPTS)
		nvic->pending |= BIT(CM_SYSTICK);
	/* With nothing to load, it stays 0. */
	if (!nvic->reload)
		nvic->zero_at = UINT64_MAX;
}

static uint32_t timer_value(const struct nvic *nvic)
{
	if (!(nvic->control & TIMER_ENABLE) || nvic->zero_at == UINT64_MAX)
		return 0;
	return (uint32_t)((nvic->zero_at - board_ticks(nvic->board) - 1) /
			  cycle(nvic)) & TIMER_BITS;
}

static uint32_t read_control(struct nvic *nvic)
{
	bool zero = nvic->has_been_zero;

	nvic->has_been_zero = false;
	return nvic->control | (zero ? TIMER_WAS_ZERO : 0);
}

static void write_timer(struct nvic *nvic, unsigned offset, uint32_t value)
{
	bool was_enabled = nvic->control & TIMER_ENABLE;

	switch (offset) {
	case TIMER_CONTROL:
		nvic->control = value & (TIMER_ENABLE | TIMER_INTERRUPTS |
					 TIMER_CLOCK);
		if (!was_enabled && value & TIMER_ENABLE)
			start_timer(nvic);
		break;
	case TIMER_RELOAD:
		nvic->reload = value & TIMER_BITS;
		break;
	case TIMER_VALUE:
		nvic->has_been_zero = false;
		start_timer(nvic);
		break;
	}
}

/* ------- what is pending ------- */

/* What a device asserts is pending again as soon as nobody handles it. */
void nvic_sample(struct nvic *nvic)
{
	advance_timer(nvic);
	nvic->pending |= nvic->lines & ~active(nvic);
}

void nvic_set_line(struct nvic *nvic, unsigned number, bool up)
{
	uint64_t bit = BIT(CM_IRQ + number);

	if (up && !(nvic->lines & bit))
		nvic->pending |= bit;
	nvic->lines = up ? nvic->lines | bit : nvic->lines & ~bit;
}

void nvic_raise_nmi(struct nvic *nvic)
{
	nvic->pending |= BIT(CM_NMI);
}

/* The pending one that comes first; 0: none does. */
static unsigned first_pending(const struct nvic *nvic)
{
	uint64_t waiting = nvic->pending & nvic->enabled;
	unsigned best = 0, priority = 0;

	for (unsigned i = CM_NMI; i < CM_EXCEPTIONS; i++) {
		unsigned own_priority;

		if (!(waiting >> i & 1))
			continue;
		/* Whole priorities choose, groups only interrupt. */
		own_priority = i <= CM_HARD_FAULT ? 0 :
			(unsigned)(board_reg(nvic->board, CM_PRIORITIES +
					     i / 8) >> i % 8 * 8 & 0xff) + 1;
		if (!best || own_priority < priority) {
			best = i;
			priority = own_priority;
		}
	}
	return best;
}

bool nvic_interrupts(struct nvic *nvic, unsigned *number)
{
	*number = first_pending(nvic);
	return *number;
}

void nvic_taken(struct nvic *nvic, unsigned number)
{
	nvic->pending &= ~BIT(number);
}

bool nvic_wakes(struct nvic *nvic)
{
	unsigned number = first_pending(nvic);

	return number && cm_priority_of(nvic->board, number) <
				 cm_priority(nvic->board, false);
}

uint64_t nvic_next(const struct nvic *nvic)
{
	return nvic->control & TIMER_ENABLE &&
	       nvic->control & TIMER_INTERRUPTS ? nvic->zero_at : UINT64_MAX;
}

void nvic_state(struct nvic *nvic, struct state *state)
{
	state_device(state, "nvic", 0);
	STATE_NUMBER(state, nvic->pending, UINT64_MAX);
	STATE_NUMBER(state, nvic->enabled, UINT64_MAX);
	STATE_NUMBER(state, nvic->lines, UINT64_MAX);
	STATE_NUMBER(state, nvic->wants_reset, 1);
	STATE_NUMBER(state, nvic->control, TIMER_BITS);
	STATE_NUMBER(state, nvic->reload, TIMER_BITS);
	STATE_NUMBER(state, nvic->zero_at, UINT64_MAX);
	STATE_NUMBER(state, nvic->has_been_zero, 1);
}

/* ------- registers ------- */

static uint32_t read_state(const struct nvic *nvic)
{
	uint32_t number = own(nvic, CM_XPSR) & XPSR_EXCEPTION;
	uint64_t running = active(nvic) & ~BIT(number);
	uint32_t value = number | first_pending(nvic) << 12;

	if (nvic->pending >> CM_NMI & 1)
		value |= 1u << 31;
	if (nvic->pending >> CM_PENDSV & 1)
		value |= 1u << 28;
	if (nvic->pending >> CM_SYSTICK & 1)
		value |= 1u << 26;
	if (nvic->pending >> CM_IRQ)
		value |= 1u << 22;
	return value | (running ? 0 : 1u << 11);
}

static void write_state(struct nvic *nvic, uint32_t value)
{
	if (value >> 31)
		nvic->pending |= BIT(CM_NMI);
	if (value >> 28 & 1)
		nvic->pending |= BIT(CM_PENDSV);
	if (value >> 27 & 1)
		nvic->pending &= ~BIT(CM_PENDSV);
	if (value >> 26 & 1)
		nvic->pending |= BIT(CM_SYSTICK);
	if (value >> 25 & 1)
		nvic->pending &= ~BIT(CM_SYSTICK);
}

static uint32_t read_handlers(const struct nvic *nvic)
{
	static const uint8_t bits[CM_IRQ] = {
		[4] = 1, [5] = 2, [6] = 4, [11] = 8, [12] = 9, [14] = 11,
		[15] = 12,
	};
	uint32_t value = own(nvic, CM_SHCSR);

	for (unsigned i = CM_MEM_FAULT; i < CM_IRQ; i++)
		if (bits[i] && active(nvic) >> i & 1)
			value |= i == CM_USAGE_FAULT ? 8u : 1u << (bits[i] - 1);
	return value;
}

static uint32_t read_priorities(const struct nvic *nvic, unsigned first)
{
	uint32_t value = 0;

	for (unsigned i = 0; i < 4 && first + i < CM_EXCEPTIONS; i++)
		value |= (uint32_t)(board_reg(nvic->board, CM_PRIORITIES +
					      (first + i) / 8) >>
				    (first + i) % 8 * 8 & 0xff) << 8 * i;
	return value;
}

/* One word of all is used: there are 32 interrupts. */
static uint32_t interrupts_of(uint64_t bits)
{
	return (uint32_t)(bits >> CM_IRQ);
}

static uint32_t read_identity(const struct nvic *nvic, unsigned offset)
{
	bool has_float = own(nvic, CM_FPCCR);

	switch (offset) {
	case CPUID:
		return nvic->cpuid;
	case MVFR0:
		return has_float ? 0x10110021 : 0;
	case MVFR1:
		return has_float ? 0x11000011 : 0;
	default:
		return 0;
	}
}

static uint32_t read_system(const struct nvic *nvic, unsigned offset)
{
	static const struct {
		uint16_t offset, reg;
	} same[] = {
		{ VTOR, CM_VTOR }, { SCR, CM_SCR }, { CCR, CM_CCR },
		{ CFSR, CM_CFSR }, { HFSR, CM_HFSR }, { DFSR, CM_DFSR },
		{ MMFAR, CM_MMFAR }, { BFAR, CM_BFAR }, { AFSR, CM_AFSR },
		{ CPACR, CM_CPACR }, { FPCCR, CM_FPCCR },
		{ FPCAR, CM_FPCAR }, { FPDSCR, CM_FPDSCR },
	};

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (same[i].offset == offset)
			return own(nvic, same[i].reg);
	return read_identity(nvic, offset);
}

static uint32_t read_word(struct nvic *nvic, unsigned offset)
{
	nvic_sample(nvic);
	if (offset >= PRIORITIES && offset < PRIORITIES + 32)
		return read_priorities(nvic, CM_IRQ + offset - PRIORITIES);
	if (offset >= HANDLERS && offset < SHCSR)
		return read_priorities(nvic, CM_MEM_FAULT + offset - HANDLERS);
	switch (offset) {
	case TIMER_CONTROL:
		return read_control(nvic);
	case TIMER_RELOAD:
		return nvic->reload;
	case TIMER_VALUE:
		return timer_value(nvic);
	case TIMER_CALIBRATION:
		return CALIBRATION;
	case ENABLE:
	case DISABLE:
		return interrupts_of(nvic->enabled);
	case PEND:
	case UNPEND:
		return interrupts_of(nvic->pending);
	case ACTIVE:
		return interrupts_of(active(nvic));
	case ICSR:
		return read_state(nvic);
	case AIRCR:
		return 0xfa050000 | own(nvic, CM_AIRCR);
	case SHCSR:
		return read_handlers(nvic);
	default:
		return read_system(nvic, offset);
	}
}

uint64_t nvic_read(void *context, uint64_t offset, unsigned size)
{
	uint32_t word = read_word(context, (unsigned)offset & ~3u);

	return word >> 8 * (offset & 3) & (UINT64_MAX >> (64 - 8 * size));
}

#define RESET_REQUEST 4u
#define AIRCR_KEY 0x05fau

void nvic_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
	struct nvic *nvic = context;
	uint64_t bits = (value & UINT32_MAX) << CM_IRQ;

	(void)size;
	nvic_sample(nvic);
	switch (offset) {
	case TIMER_CONTROL:
	case TIMER_RELOAD:
	case TIMER_VALUE:
		write_timer(nvic, (unsigned)offset, (uint32_t)value);
		break;
	case ENABLE:
		nvic->enabled |= bits;
		break;
	case DISABLE:
		nvic->enabled &= ~bits;
		break;
	case PEND:
		nvic->pending |= bits;
		break;
	case UNPEND:
		nvic->pending &= ~bits;
		break;
	case ICSR:
		write_state(nvic, (uint32_t)value);
		break;
	case STIR:
		if (value < CM_EXCEPTIONS - CM_IRQ)
			nvic->pending |= BIT(CM_IRQ + value);
		break;
	case AIRCR:
		nvic->wants_reset |= value >> 16 == AIRCR_KEY &&
				     value & RESET_REQUEST;
		break;
	}
}
