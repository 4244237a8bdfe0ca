/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * diversions.c - what a debugger changes: memory, registers, and functions that
 * it calls
 *
 * A debugger calls a function by setting registers, running until it returns,
 * and setting them back.  So a diversion begins with the first change; it runs
 * if the change has led somewhere else, until all registers are what they were;
 * and it is over when time moves.
 */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debugger/target.h"
#include "debugger/wire.h"

/* ------- beginning and ending ------- */

static int diverted_values(struct server *server, struct values *out,
			   struct cprec_failure *why)
{
	int rc = state_thread(server, server->diverted.tid, why);

	return rc ? rc : state_values(server, out, why);
}

static int begin(struct server *server, struct cprec_failure *why)
{
	struct diverted *diverted = &server->diverted;
	int rc;

	if (diverted->diversion)
		return 0;
	if (server->no_diversion) {
		snprintf(why->text, sizeof(why->text),
			 "a recording cannot be changed");
		return CPREC_INPUT;
	}
	diverted->tid = state_general(server);
	diverted->stop = server->stop;
	rc = diverted_values(server, &diverted->before, why);
	if (!rc)
		rc = cprec_diversion_begin(&diverted->diversion, server->cursor,
					   why);
	diverted->has_run = diverted->has_written = false;
	diverted->has_failed = false;
	return rc;
}

void diversion_over(struct server *server)
{
	cprec_diversion_end(server->diverted.diversion);
	server->diverted.diversion = NULL;
}

/* Whether the program counter or the stack is another one. */
static bool leads_away(struct server *server)
{
	const struct diverted *diverted = &server->diverted;
	const struct target *target = server->target;
	struct values now;

	if (diverted->has_run)
		return true;
	return !diverted_values(server, &now, NULL) &&
	       (!values_are_same(target, &now, &diverted->before, target->pc) ||
		!values_are_same(target, &now, &diverted->before, target->sp));
}

bool diversion_runs(struct server *server)
{
	return server->diverted.diversion && leads_away(server);
}

/* Registers of another thread are changed: it is the one that will run. */
static int change_thread(struct server *server, uint32_t tid,
			 struct cprec_failure *why)
{
	struct diverted *diverted = &server->diverted;
	int rc;

	if (leads_away(server)) {
		snprintf(why->text, sizeof(why->text),
			 "a function that was called in thread %" PRIu32
			 " has not returned yet", diverted->tid);
		return CPREC_INPUT;
	}
	rc = state_thread(server, tid, why);
	if (!rc)
		rc = cprec_diversion_thread(diverted->diversion, server->cursor,
					    why);
	if (rc)
		return rc;
	diverted->tid = tid;
	return diverted_values(server, &diverted->before, why);
}

static int begin_registers(struct server *server, struct cprec_failure *why)
{
	uint32_t tid = state_general(server);
	int rc = begin(server, why);

	return rc || tid == server->diverted.tid ?
		       rc : change_thread(server, tid, why);
}

/*
 * A function that was called has returned, or registers were changed and
 * changed back.  Memory that was written on the way stays so until time moves.
 */
static void settle_if_restored(struct server *server)
{
	struct diverted *diverted = &server->diverted;
	struct values now;

	if (diverted_values(server, &now, NULL) ||
	    !values_are_same(server->target, &now, &diverted->before, NULL))
		return;
	diverted->has_written |= diverted->has_run;
	diverted->has_run = false;
	server->stop = diverted->stop;
	if (!diverted->has_written || diverted->has_failed)
		diversion_over(server);
}

/* ------- memory ------- */

static void write_memory(struct server *server, uint64_t addr,
			 const uint8_t *bytes, uint64_t size)
{
	struct cprec_failure why;
	int rc = begin(server, &why);

	if (!rc)
		rc = cprec_diversion_write(server->diverted.diversion, addr,
					   bytes, size, &why);
	server->diverted.has_written |= !rc;
	if (rc)
		reply_failure(server, &why);
	else
		reply(server, "OK");
}

static bool parse_range(const char **args, uint64_t *addr, uint64_t *size)
{
	return text_read_hex(args, addr) && text_pass(args, ',') &&
	       text_read_hex(args, size) && text_pass(args, ':') &&
	       *size <= WIRE_MESSAGE_MOST;
}

/* "ADDR,SIZE:DIGITS" */
void on_write_memory(struct server *server, const char *args)
{
	uint64_t addr, size;
	uint8_t *bytes;

	if (!parse_range(&args, &addr, &size)) {
		reply_nonsense(server);
		return;
	}
	bytes = malloc(size + 1);
	if (bytes && text_read_bytes(args, bytes, size))
		write_memory(server, addr, bytes, size);
	else
		reply_nonsense(server);
	free(bytes);
}

/* "ADDR,SIZE:BYTES"; none ask whether this is understood. */
void on_write_bytes(struct server *server, const char *args)
{
	const char *end = args + server->args_size;
	uint64_t addr, size;

	if (!parse_range(&args, &addr, &size) ||
	    size != (uint64_t)(end - args))
		reply_nonsense(server);
	else if (!size)
		reply(server, "OK");
	else
		write_memory(server, addr, (const uint8_t *)args, size);
}

/* ------- registers ------- */

/* Digits of one register; `*digits` goes behind them. */
static int set_register(struct server *server, size_t number,
			const char **digits, struct cprec_failure *why)
{
	const struct target_register *reg = &server->target->registers[number];
	uint8_t bytes[16] = { 0 };
	size_t size = reg->bits / 8;

	if (!text_read_bytes(*digits, bytes, size)) {
		snprintf(why->text, sizeof(why->text), "this is no value");
		return CPREC_INPUT;
	}
	*digits += 2 * size;
	/* What is not recorded is nothing to the processor either. */
	return reg->ours ? cprec_diversion_set_register(
				   server->diverted.diversion, reg->ours,
				   bytes, why) : 0;
}

/* "NUMBER=DIGITS" */
void on_write_register(struct server *server, const char *args)
{
	struct cprec_failure why;
	uint64_t number;
	int rc;

	if (!text_read_hex(&args, &number) || !text_pass(&args, '=') ||
	    number >= server->target->count) {
		reply_nonsense(server);
		return;
	}
	rc = begin_registers(server, &why);
	if (!rc)
		rc = set_register(server, number, &args, &why);
	if (rc) {
		reply_failure(server, &why);
		return;
	}
	settle_if_restored(server);
	reply(server, "OK");
}

void on_write_registers(struct server *server, const char *args)
{
	struct cprec_failure why;
	int rc = begin_registers(server, &why);

	for (size_t i = 0; i < server->target->count && !rc && *args; i++)
		rc = set_register(server, i, &args, &why);
	if (rc) {
		reply_failure(server, &why);
		return;
	}
	settle_if_restored(server);
	reply(server, "OK");
}

/* ------- running ------- */

static void on_printed(void *context, uint32_t descriptor,
		       const uint8_t *bytes, uint64_t length)
{
	(void)descriptor;
	tell_user(context, (const char *)bytes, length);
}

int diversion_run_on(struct server *server, bool steps,
		     struct cprec_failure *why)
{
	static const enum stop_why reasons[] = {
		[CPREC_DIVERSION_STEPPED] = STOPPED_PLAIN,
		[CPREC_DIVERSION_AT_BREAK] = STOPPED_BREAK,
		[CPREC_DIVERSION_AT_SIGNAL] = STOPPED_SIGNAL,
		[CPREC_DIVERSION_EXITED] = STOPPED_PLAIN,
	};
	const struct cprec_diversion_run run = {
		.size = sizeof(run), .most = steps ? 1 : 0,
		.breaks = server->breaks, .break_count = server->break_count,
		.printed = on_printed, .context = server,
	};
	enum cprec_diversion_stop stop = CPREC_DIVERSION_AT_SIGNAL;
	uint32_t signal = SIGSEGV;
	int rc = state_thread(server, server->diverted.tid, why);
	int is_met = 0;

	while (!rc && !is_met) {
		is_met = 1;
		rc = cprec_diversion_run(server->diverted.diversion, &run,
					 &stop, &signal, why);
		if (!rc && stop == CPREC_DIVERSION_AT_BREAK)
			is_met = breaks_are_met(server, why);
	}
	if (is_met < 0)
		rc = is_met;
	if (rc == CPREC_CANCELLED)
		return rc;
	server->diverted.has_run = true;
	/* It cannot go on, which is no failure of the recording. */
	if (rc == CPREC_INPUT)
		signal = SIGSYS;
	else
		server->diverted.has_failed |= rc != 0;
	if (rc)
		tell_line(server, why->text);
	else if (stop == CPREC_DIVERSION_EXITED)
		tell_line(server, "This would end the program.");
	server->stop = (struct stop_told) {
		.why = reasons[stop], .tid = server->diverted.tid,
		.signal = signal,
	};
	return 0;
}
