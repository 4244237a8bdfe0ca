/* SPDX-License-Identifier: GPL-2.0-or-later */
/* clock.c - how many steps have retired, and the budget for those to come */
#include "vm/processor/processor.h"

#include <assert.h>

/* Steps of this run that have been paid for. */
static uint64_t paid(const struct vm *vm)
{
	int64_t left = __atomic_load_n(&engine_counter(vm->engine)->budget,
				       __ATOMIC_RELAXED);

	return (uint64_t)(vm->granted - vm->held - budget_left(left));
}

uint64_t vm_steps(const struct vm *vm)
{
	return vm->running ? vm->steps + paid(vm) : vm->steps;
}

uint64_t vm_steps_at_block(const struct vm *vm)
{
	uint64_t steps = vm_steps(vm);

	if (vm->running && engine_counter(vm->engine)->current)
		steps -= vm->blocks[engine_counter(vm->engine)->current]
				 .inlined.count;
	return steps;
}

void vm_set_steps(struct vm *vm, uint64_t steps)
{
	assert(!vm->running);
	vm->steps = steps;
}

bool vm_is_running(const struct vm *vm)
{
	return vm->running;
}

void vm_interrupt(struct vm *vm)
{
	vm->wanted = true;
	vm_stop_soon(vm);
}

void vm_limit_pauses(struct vm *vm, unsigned most)
{
	vm->pauses_most = most;
}

bool vm_has_paused(const struct vm *vm)
{
	return vm->pauses_most && vm->pauses >= vm->pauses_most;
}

void vm_stop_soon(struct vm *vm)
{
	if (engine_counter(vm->engine)->asked)
		return;
	engine_counter(vm->engine)->asked = 1;
	__atomic_fetch_sub(&engine_counter(vm->engine)->budget, ASKED_PENALTY,
			   __ATOMIC_RELAXED);
}

/* Between two looks at the log, steps of all that it has room for. */
static int64_t portion(int64_t budget)
{
	return budget < ENGINE_LOGGED_STEPS ? budget : ENGINE_LOGGED_STEPS;
}

void clock_grant(struct vm *vm, uint64_t budget)
{
	struct counter *counter = engine_counter(vm->engine);
	int64_t now;

	accesses_begin(vm);
	vm->granted = (int64_t)budget;
	vm->held = 0;
	if (engine_logs(vm->engine))
		vm->held = vm->granted - portion(vm->granted);
	now = vm->granted - vm->held;
	vm->running = true;
	__atomic_store_n(&counter->budget, now, __ATOMIC_RELAXED);
	/* A signal before this was not seen; one after it has lowered it. */
	if (counter->asked)
		__atomic_store_n(&counter->budget, now - ASKED_PENALTY,
				 __ATOMIC_RELAXED);
}

void clock_refill(struct vm *vm)
{
	int64_t more = portion(vm->held);

	accesses_tell(vm);
	vm->held -= more;
	__atomic_fetch_add(&engine_counter(vm->engine)->budget, more,
			   __ATOMIC_RELAXED);
}

void clock_settle(struct vm *vm)
{
	vm->steps += paid(vm);
	vm->running = false;
}
