/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * host_units.c - the host's units of floating point, and who has set them
 *
 * Translated code, and functions of ours that it calls, compute by the host's
 * units.  Whoever uses cprec has set these as he likes, and whoever observes a
 * guest may compute, too: neither is to see what the other does.
 */
#include "vm/engine/build/sse.h"
#include "vm/engine/build/x87.h"
#include "vm/engine/engine_internal.h"

static bool has_sse(const struct engine *engine)
{
	return engine->x86.mxcsr;
}

void float_enter(struct engine *engine)
{
	engine->host.mxcsr = _mm_getcsr();
	engine->host.control = x87_enter();
	engine->host.is_entered = true;
	if (has_sse(engine))
		take_mode(engine->state);
	else
		_mm_setcsr(MXCSR_HOST);
}

void float_leave(struct engine *engine)
{
	if (has_sse(engine))
		take_flags(engine->state);
	engine->host.is_entered = false;
	x87_leave(engine->host.control);
	_mm_setcsr(engine->host.mxcsr);
}

void float_mode_is_new(const uint8_t *state)
{
	if (engine_executing && engine_executing->host.is_entered &&
	    engine_executing->state == state)
		take_mode(state);
}
