/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmsdk_timer.c - timers of the CMSDK; see cmsdk.h */
#include "vm/board/cmsdk.h"

#include "vm/board/state.h"

/* Of one that counts down by `cycle` ticks: how much is left. */
static uint32_t left_of(uint64_t zero_at, uint64_t now, uint64_t cycle)
{
	return zero_at == UINT64_MAX || zero_at <= now ?
		       0 : (uint32_t)((zero_at - now - 1) / cycle);
}

/* ------- the simple one ------- */

enum { CONTROL = 0, VALUE = 4, RELOAD = 8, STATUS = 12 };

#define ENABLE 1u
#define INTERRUPTS 8u

static bool runs(const struct cmsdk_timer *timer)
{
	return timer->control & ENABLE;
}

void cmsdk_timer_look(struct cmsdk_timer *timer, uint64_t now, unsigned cycle)
{
	uint64_t period = (timer->reload + UINT64_C(1)) * cycle;

	if (!runs(timer) || now < timer->zero_at)
		return;
	timer->zero_at += (1 + (now - timer->zero_at) / period) * period;
	if (!timer->reload)
		timer->zero_at = UINT64_MAX;
	if (timer->control & INTERRUPTS)
		timer->interrupts = true;
}

uint64_t cmsdk_timer_read(struct cmsdk_timer *timer, uint64_t offset,
			  uint64_t now, unsigned cycle)
{
	uint64_t value;

	if (cmsdk_identity(offset, 0x22, 0x1b, &value))
		return value;
	switch (offset) {
	case CONTROL:
		return timer->control;
	case VALUE:
		return runs(timer) ? left_of(timer->zero_at, now, cycle) :
				     timer->left;
	case RELOAD:
		return timer->reload;
	case STATUS:
		return timer->interrupts;
	default:
		return 0;
	}
}

static void set_left(struct cmsdk_timer *timer, uint32_t left, uint64_t now,
		     unsigned cycle)
{
	timer->left = left;
	timer->zero_at = left ? now + left * (uint64_t)cycle : UINT64_MAX;
}

static void set_control(struct cmsdk_timer *timer, uint32_t value, uint64_t now,
			unsigned cycle)
{
	bool ran = runs(timer);

	if (ran && !(value & ENABLE))
		timer->left = left_of(timer->zero_at, now, cycle);
	timer->control = value & 15;
	if (!ran && value & ENABLE)
		set_left(timer, timer->left ? timer->left : timer->reload, now,
			 cycle);
}

void cmsdk_timer_write(struct cmsdk_timer *timer, uint64_t offset,
		       uint32_t value, uint64_t now, unsigned cycle)
{
	switch (offset) {
	case CONTROL:
		set_control(timer, value, now, cycle);
		break;
	case VALUE:
		set_left(timer, value, now, cycle);
		break;
	case RELOAD:
		timer->reload = value;
		if (!timer->left || timer->zero_at == UINT64_MAX)
			set_left(timer, value, now, cycle);
		break;
	case STATUS:
		if (value & 1)
			timer->interrupts = false;
		break;
	}
}

uint64_t cmsdk_timer_next(const struct cmsdk_timer *timer)
{
	return runs(timer) && timer->control & INTERRUPTS ? timer->zero_at :
							    UINT64_MAX;
}

void cmsdk_timer_state(struct cmsdk_timer *timer, unsigned number,
		       struct state *state)
{
	state_device(state, "timer", number);
	STATE_NUMBER(state, timer->control, UINT32_MAX);
	STATE_NUMBER(state, timer->reload, UINT32_MAX);
	STATE_NUMBER(state, timer->left, UINT32_MAX);
	STATE_NUMBER(state, timer->zero_at, UINT64_MAX);
	STATE_NUMBER(state, timer->interrupts, 1);
}

/* ------- two in one ------- */

enum {
	DUAL_LOAD = 0, DUAL_VALUE = 4, DUAL_CONTROL = 8, DUAL_CLEAR = 12,
	DUAL_RAW = 16, DUAL_MASKED = 20, DUAL_BACKGROUND = 24,
};

#define DUAL_ONCE 1u
#define DUAL_WIDE 2u		/* 32 bits, else 16 */
#define DUAL_INTERRUPTS 0x20u
#define DUAL_PERIODIC 0x40u
#define DUAL_ENABLE 0x80u

static uint64_t dual_cycle(const struct cmsdk_dual_half *half, unsigned cycle)
{
	static const uint16_t dividers[] = { 1, 16, 256, 256 };

	return (uint64_t)cycle * dividers[half->control >> 2 & 3];
}

static uint64_t dual_top(const struct cmsdk_dual_half *half)
{
	uint64_t most = half->control & DUAL_WIDE ? UINT32_MAX : 0xffff;

	return half->control & DUAL_PERIODIC ? half->load & most : most;
}

static void start_half(struct cmsdk_dual_half *half, uint64_t count,
		       uint64_t now, unsigned cycle)
{
	half->left = (uint32_t)count;
	half->zero_at = now + count * dual_cycle(half, cycle);
}

static void look_at_half(struct cmsdk_dual_half *half, uint64_t now,
			 unsigned cycle)
{
	uint64_t period;

	if (!(half->control & DUAL_ENABLE) || now < half->zero_at)
		return;
	half->interrupts = true;
	period = (dual_top(half) + 1) * dual_cycle(half, cycle);
	if (half->control & DUAL_ONCE || !dual_top(half))
		half->zero_at = UINT64_MAX;
	else
		half->zero_at += (1 + (now - half->zero_at) / period) * period;
}

void cmsdk_dual_look(struct cmsdk_dual *dual, uint64_t now, unsigned cycle)
{
	look_at_half(&dual->halves[0], now, cycle);
	look_at_half(&dual->halves[1], now, cycle);
}

static uint32_t half_value(const struct cmsdk_dual_half *half, uint64_t now,
			   unsigned cycle)
{
	return half->control & DUAL_ENABLE ?
		       left_of(half->zero_at, now, dual_cycle(half, cycle)) :
		       half->left;
}

static bool half_interrupts(const struct cmsdk_dual_half *half)
{
	return half->interrupts && half->control & DUAL_INTERRUPTS;
}

uint64_t cmsdk_dual_read(struct cmsdk_dual *dual, uint64_t offset, uint64_t now,
			 unsigned cycle)
{
	const struct cmsdk_dual_half *half = &dual->halves[offset >> 5 & 1];
	uint64_t value;

	if (cmsdk_identity(offset, 0x23, 0x1b, &value))
		return value;
	if (offset >= 0x40)
		return 0;
	switch (offset & 0x1f) {
	case DUAL_LOAD:
	case DUAL_BACKGROUND:
		return half->load;
	case DUAL_VALUE:
		return half_value(half, now, cycle);
	case DUAL_CONTROL:
		return half->control;
	case DUAL_RAW:
		return half->interrupts;
	case DUAL_MASKED:
		return half_interrupts(half);
	default:
		return 0;
	}
}

static void set_half_control(struct cmsdk_dual_half *half, uint32_t value,
			     uint64_t now, unsigned cycle)
{
	uint32_t left = half_value(half, now, cycle);
	bool ran = half->control & DUAL_ENABLE;

	half->control = value & 0xef;
	if (!ran && value & DUAL_ENABLE)
		start_half(half, left, now, cycle);
	else
		half->left = left;
}

void cmsdk_dual_write(struct cmsdk_dual *dual, uint64_t offset, uint32_t value,
		      uint64_t now, unsigned cycle)
{
	struct cmsdk_dual_half *half = &dual->halves[offset >> 5 & 1];

	if (offset >= 0x40)
		return;
	switch (offset & 0x1f) {
	case DUAL_LOAD:
		half->load = value;
		start_half(half, value, now, cycle);
		break;
	case DUAL_BACKGROUND:
		half->load = value;
		break;
	case DUAL_CONTROL:
		set_half_control(half, value, now, cycle);
		break;
	case DUAL_CLEAR:
		half->interrupts = false;
		break;
	}
}

uint64_t cmsdk_dual_next(const struct cmsdk_dual *dual)
{
	uint64_t next = UINT64_MAX;

	for (unsigned i = 0; i < 2; i++)
		if (dual->halves[i].control & DUAL_ENABLE &&
		    dual->halves[i].control & DUAL_INTERRUPTS &&
		    dual->halves[i].zero_at < next)
			next = dual->halves[i].zero_at;
	return next;
}

bool cmsdk_dual_interrupts(const struct cmsdk_dual *dual)
{
	return half_interrupts(&dual->halves[0]) ||
	       half_interrupts(&dual->halves[1]);
}

void cmsdk_dual_state(struct cmsdk_dual *dual, struct state *state)
{
	state_device(state, "dual", 0);
	STATE_MEMBERS(state, dual->halves, control, UINT32_MAX);
	STATE_MEMBERS(state, dual->halves, load, UINT32_MAX);
	STATE_MEMBERS(state, dual->halves, left, UINT32_MAX);
	STATE_MEMBERS(state, dual->halves, zero_at, UINT64_MAX);
	STATE_MEMBERS(state, dual->halves, interrupts, 1);
}

/* ------- the watchdog ------- */

enum {
	DOG_LOAD = 0, DOG_VALUE = 4, DOG_CONTROL = 8, DOG_CLEAR = 12,
	DOG_RAW = 16, DOG_MASKED = 20, DOG_LOCK = 0xc00,
};

#define DOG_INTERRUPTS 1u	/* it also enables it */
#define DOG_RESETS 2u
#define DOG_KEY 0x1acce551u

void cmsdk_watchdog_init(struct cmsdk_watchdog *dog)
{
	*dog = (struct cmsdk_watchdog){ .load = UINT32_MAX };
}

static void restart(struct cmsdk_watchdog *dog, uint64_t now, unsigned cycle)
{
	dog->zero_at = now + (dog->load + UINT64_C(1)) * cycle;
}

void cmsdk_watchdog_look(struct cmsdk_watchdog *dog, uint64_t now,
			 unsigned cycle)
{
	uint64_t period = (dog->load + UINT64_C(1)) * cycle, times;

	if (!(dog->control & DOG_INTERRUPTS) || now < dog->zero_at)
		return;
	times = 1 + (now - dog->zero_at) / period;
	dog->resets |= (dog->interrupts || times > 1) &&
		       dog->control & DOG_RESETS;
	dog->interrupts = true;
	dog->zero_at += times * period;
}

uint64_t cmsdk_watchdog_read(struct cmsdk_watchdog *dog, uint64_t offset,
			     uint64_t now, unsigned cycle)
{
	uint64_t value;

	if (cmsdk_identity(offset, 0x24, 0x1b, &value))
		return value;
	switch (offset) {
	case DOG_LOAD:
		return dog->load;
	case DOG_VALUE:
		return dog->control & DOG_INTERRUPTS ?
			       left_of(dog->zero_at, now, cycle) : dog->load;
	case DOG_CONTROL:
		return dog->control;
	case DOG_RAW:
	case DOG_MASKED:
		return dog->interrupts;
	case DOG_LOCK:
		return dog->locked;
	default:
		return 0;
	}
}

void cmsdk_watchdog_write(struct cmsdk_watchdog *dog, uint64_t offset,
			  uint32_t value, uint64_t now, unsigned cycle)
{
	if (offset == DOG_LOCK)
		dog->locked = value != DOG_KEY;
	if (dog->locked)
		return;
	switch (offset) {
	case DOG_LOAD:
		dog->load = value;
		restart(dog, now, cycle);
		break;
	case DOG_CONTROL:
		if (!(dog->control & DOG_INTERRUPTS))
			restart(dog, now, cycle);
		dog->control = value & 3;
		break;
	case DOG_CLEAR:
		dog->interrupts = false;
		restart(dog, now, cycle);
		break;
	}
}

uint64_t cmsdk_watchdog_next(const struct cmsdk_watchdog *dog)
{
	return dog->control & DOG_INTERRUPTS ? dog->zero_at : UINT64_MAX;
}

void cmsdk_watchdog_state(struct cmsdk_watchdog *dog, struct state *state)
{
	state_device(state, "watchdog", 0);
	STATE_NUMBER(state, dog->control, UINT32_MAX);
	STATE_NUMBER(state, dog->load, UINT32_MAX);
	STATE_NUMBER(state, dog->zero_at, UINT64_MAX);
	STATE_NUMBER(state, dog->interrupts, 1);
	STATE_NUMBER(state, dog->locked, 1);
	STATE_NUMBER(state, dog->resets, 1);
}
