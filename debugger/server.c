/* SPDX-License-Identifier: GPL-2.0-or-later */
/* server.c - see server.h */
#include "debugger/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "debugger/wire.h"
#include "debugger/server_internal.h"
#include "debugger/target.h"

/* ------- replies ------- */

void reply(struct server *server, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	text_add(&server->reply, "%s", text);
}

void reply_nonsense(struct server *server)
{
	reply(server, "E.this request makes no sense");
}

void reply_failure(struct server *server, const struct cprec_failure *why)
{
	text_clear(&server->reply);
	text_add(&server->reply, "E.%s", why->text);
}

void tell_user(struct server *server, const char *bytes, size_t size)
{
	struct text text = { 0 };

	text_add(&text, "O");
	text_add_hex(&text, bytes, size);
	if (!text.failed)
		wire_send(server->wire, text.bytes, text.size);
	text_release(&text);
}

void tell_line(struct server *server, const char *words)
{
	tell_user(server, words, strlen(words));
	tell_user(server, "\n", 1);
}

void tell_printed(struct server *server, const char *bytes, size_t size)
{
	const struct server_options *options = server->options;

	if (options->printed)
		options->printed(options->printed_context, bytes, size);
	else
		tell_user(server, bytes, size);
}

/* ------- requests about the connection ------- */

/* ":FEATURE+;FEATURE+" */
static bool understands(const char *features, const char *name)
{
	const char *at = strstr(features, name);

	return at && at > features && (at[-1] == ':' || at[-1] == ';') &&
	       at[strlen(name)] == '+';
}

static void on_supported(struct server *server, const char *args)
{
	server->knows_failures = strstr(args, "error-message+") != NULL;
	server->tells_execs = understands(args, "exec-events");
	server->tells_forks = understands(args, "fork-events");
	server->tells_vforks = understands(args, "vfork-events");
	reply(server, "PacketSize=%x;QStartNoAckMode+;multiprocess+;swbreak+;"
	      "hwbreak+;vContSupported+;ReverseStep+;ReverseContinue+;"
	      "QPassSignals+;ConditionalBreakpoints+;BreakpointCommands+;"
	      "QCatchSyscalls+;exec-events+;fork-events+;vfork-events+;"
	      "binary-upload+;error-message+;"
	      "qXfer:features:read+;qXfer:exec-file:read+;qXfer:auxv:read+;"
	      "qXfer:libraries-svr4:read+;qXfer:threads:read+;"
	      "qXfer:siginfo:read+",
	      WIRE_MESSAGE_MOST - 1);
}

static void on_no_confirmations(struct server *server, const char *args)
{
	(void)args;
	wire_trust(server->wire);
	reply(server, "OK");
}

static void on_extended(struct server *server, const char *args)
{
	(void)args;
	reply(server, "OK");
}

/* Leaving the program alone means nothing here. */
static void on_attached(struct server *server, const char *args)
{
	(void)args;
	reply(server, "1");
}

/* As QEMU has it: "maintenance packet Qqemu.PhyMemMode:1" in gdb. */
static void on_physical(struct server *server, const char *args)
{
	struct cprec_failure why;

	if (cprec_use_physical(server->recording, *args == '1', &why)) {
		reply_failure(server, &why);
		return;
	}
	server->is_physical = *args == '1';
	reply(server, "OK");
}

static void on_whether_physical(struct server *server, const char *args)
{
	(void)args;
	reply(server, server->is_physical ? "1" : "0");
}

static void on_symbols(struct server *server, const char *args)
{
	(void)args;	/* none is wanted */
	reply(server, "OK");
}

/*
 * The debugger goes when it likes: it may still read from files that it has
 * open, and is not to wait in vain.
 */
static void on_detach(struct server *server, const char *args)
{
	(void)args;
	reply(server, "OK");
}

static void on_kill(struct server *server, const char *args)
{
	(void)args;
	reply(server, "OK");
	server->is_over = true;
}

/* ------- all requests ------- */

/* By how they begin; of several, the first. */
static const struct request {
	const char *name;
	void (*run)(struct server *server, const char *args);
} requests[] = {
	{ "?", on_why },
	{ "!", on_extended },
	{ "bs", on_step_back },
	{ "bc", on_continue_back },
	{ "c", on_continue },
	{ "C", on_continue },
	{ "D", on_detach },
	{ "g", on_all_registers },
	{ "G", on_write_registers },
	{ "H", on_choose_thread },
	{ "k", on_kill },
	{ "m", on_memory },
	{ "M", on_write_memory },
	{ "p", on_register },
	{ "P", on_write_register },
	{ "qAttached", on_attached },
	{ "QCatchSyscalls:", on_catch_calls },
	{ "qC", on_current_thread },
	{ "qfThreadInfo", on_first_threads },
	{ "QPassSignals:", on_passed_signals },
	{ "qqemu.PhyMemMode", on_whether_physical },
	{ "Qqemu.PhyMemMode:", on_physical },
	{ "qGetTLSAddr:", on_thread_local },
	{ "qRcmd,", on_command },
	{ "qSearch:memory:", on_search },
	{ "qsThreadInfo", on_more_threads },
	{ "QStartNoAckMode", on_no_confirmations },
	{ "qSupported", on_supported },
	{ "qSymbol:", on_symbols },
	{ "qThreadExtraInfo,", on_thread_info },
	{ "qXfer:", on_object },
	{ "s", on_step },
	{ "S", on_step },
	{ "T", on_thread_alive },
	{ "vCont?", on_resume_actions },
	{ "vCont", on_resume },
	{ "vFile:", on_file },
	{ "vKill", on_detach },
	{ "vRun", on_run },
	{ "x", on_memory_bytes },
	{ "X", on_write_bytes },
	{ "z", on_remove },
	{ "Z", on_insert },
};

static const struct request *find_request(const char *message)
{
	for (size_t i = 0; i < sizeof(requests) / sizeof(*requests); i++)
		if (!strncmp(message, requests[i].name,
			     strlen(requests[i].name)))
			return &requests[i];
	return NULL;
}

/* Questions are answered again, if somebody is there. */
static void ready(struct server *server)
{
	cprec_resume(server->recording);
	if (atomic_load(&server->is_gone))
		cprec_cancel(server->recording);
}

void server_ready(struct server *server)
{
	atomic_store(&server->interrupted, false);
	ready(server);
	if (atomic_load(&server->is_gone))
		atomic_store(&server->interrupted, true);
}

static void answer(struct server *server, const char *message, size_t size)
{
	const struct request *request = find_request(message);
	size_t name;

	if (!request)
		return;
	/* Whoever wanted it to stop, meant what runs. */
	if (atomic_load(&server->interrupted))
		ready(server);
	name = strlen(request->name);
	server->args_size = size - name;
	request->run(server, message + name);
}

/* ------- serving ------- */

/*
 * Milliseconds.  What is interrupted may just have stopped by itself.  A
 * debugger that goes on without asking its user, whose condition did not hold,
 * does so sooner than this; a user goes on later, and does not mean that.
 */
#define LATE_MOST 100

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void interrupt(void *context, bool is_idle)
{
	struct server *server = context;

	atomic_store(&server->interrupted_at, milliseconds());
	if (is_idle)
		return;
	atomic_store(&server->interrupted, true);
	cprec_cancel(server->recording);
}

bool server_is_interrupted(struct server *server)
{
	uint64_t at = atomic_exchange(&server->interrupted_at, 0);

	return atomic_load(&server->interrupted) ||
	       (at && milliseconds() - at < LATE_MOST);
}

static void over(void *context)
{
	struct server *server = context;

	atomic_store(&server->is_gone, true);
	interrupt(context, false);
}

static void settle(void *context)
{
	server_ready(context);
}

int server_stand(struct server *server, struct cprec_failure *why)
{
	const struct cprec_state *state;
	struct cprec_position now = cprec_cursor_position(server->cursor);
	int rc = cprec_cursor_thread(server->cursor, ANY_THREAD, why);

	if (!rc)
		rc = cprec_cursor_describe(server->cursor, &state, why);
	if (rc)
		return rc;
	server->stop = (struct stop_told){ .tid = state->tid };
	if (server->has_crash &&
	    !cprec_position_compare(server->crash.at, now)) {
		server->stop.why = STOPPED_SIGNAL;
		server->stop.signal = server->crash.signal;
		server->stop.tid = server->crash.tid;
	}
	return cprec_cursor_thread(server->cursor, server->stop.tid, why);
}

static int take_address(void *context, uint64_t addr)
{
	uint64_t *out = context;

	*out = addr;
	return 1;
}

int server_find_main(struct server *server, struct cprec_failure *why)
{
	uint64_t addr = 0;
	const struct cprec_until until = {
		.size = sizeof(until), .breaks = &addr, .break_count = 1,
	};
	const struct cprec_position end = { UINT64_MAX, 0, 0 };
	struct program_found last = { 0 };
	const struct cprec_stop *stop;
	int rc = find_program_at(server, end, &last, why);

	/* What others have started, a shell say, is of less interest. */
	if (!rc)
		rc = cprec_cursor_move(server->cursor, last.at, why);
	if (rc || cprec_each_place(server->cursor, "main", take_address,
				   &addr, NULL) != 1)
		return rc;
	rc = cprec_cursor_run(server->cursor, &until, &stop, why);
	if (!rc && stop->kind != CPREC_AT_BREAK)
		rc = cprec_cursor_move(server->cursor, last.at, why);
	return rc;
}

static int find_start(struct server *server, const char *from,
		      struct cprec_failure *why)
{
	if (from && strcmp(from, "main"))
		return cprec_cursor_seek(server->cursor, from, why);
	if (server->target->is_machine)
		return cprec_cursor_seek(server->cursor, "start", why);
	if (!from && server->has_crash)
		return 0;
	return server_find_main(server, why);
}

static int begin(struct server *server, const char *from,
		 struct cprec_failure *why)
{
	const struct cprec_info *info;
	const struct cprec_crash *crash;
	int rc = cprec_describe(server->recording, &info, why);

	if (rc)
		return rc;
	server->has_crash = !cprec_find_crash(server->recording, &crash, NULL);
	if (server->has_crash)
		server->crash = *crash;
	server->target = target_find(info->arch);
	if (!server->target) {
		snprintf(why->text, sizeof(why->text),
			 "debuggers are not told of %s", info->arch);
		return CPREC_VERSION;
	}
	/* Its cores are threads of what has to be a process. */
	server->pid = server->target->is_machine && info->threads > 1 ?
			      1 : info->pid;
	/* What would go on there has no devices. */
	server->no_diversion |= server->target->is_machine;
	rc = cprec_cursor_create(&server->cursor, server->recording, NULL, why);
	/* Where it begins, it looks: at the end, that takes a replay. */
	if (!rc)
		rc = find_start(server, from, why);
	if (!rc)
		rc = state_find_registers(server, why);
	return rc ? rc : server_stand(server, why);
}

static void serve(struct server *server)
{
	const char *message;
	size_t size;

	while (!server->is_over && wire_take(server->wire, &message, &size)) {
		text_clear(&server->reply);
		answer(server, message, size);
		if (!wire_send(server->wire, server->reply.bytes,
			       server->reply.size))
			break;
	}
}

int server_run(const struct server_options *options, struct cprec_failure *why)
{
	struct server server = {
		.recording = options->recording,
		.no_diversion = options->no_diversion,
		.note = options->note, .options = options,
	};
	struct wire_ends ends = {
		.in = options->in, .out = options->out,
		.interrupt = interrupt, .over = over, .settle = settle,
		.context = &server,
	};
	int rc = begin(&server, options->from, why), error = 0;

	if (!rc && options->connect &&
	    !options->connect(options->context, &ends.in, &ends.out))
		rc = CPREC_SYSTEM;
	if (!rc)
		error = wire_open(&server.wire, &ends);
	if (error) {
		snprintf(why->text, sizeof(why->text), "the connection: %s",
			 strerror(error));
		rc = CPREC_SYSTEM;
	} else if (!rc) {
		serve(&server);
		wire_close(server.wire);
	}
	cprec_resume(server.recording);
	diversion_over(&server);
	cprec_cursor_destroy(server.cursor);
	breaks_release(&server);
	plan_release(&server.plan);
	free(server.caught);
	open_files_release(&server);
	library_names_release(&server);
	text_release(&server.reply);
	text_release(&server.object);
	text_release(&server.auxv);
	return rc;
}
