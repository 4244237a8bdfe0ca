/* SPDX-License-Identifier: GPL-2.0-or-later */
/* commands.c - what a debugger's user asks by "monitor" */
#include "debugger/server_internal.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A debugger that does not know failures of commands would show the packet:
 * then what failed is said as an answer that begins so.
 */
#define FAILED "error: "

/* ------- moving ------- */

static int tell_position(struct server *server, struct text *out)
{
	char text[CPREC_POSITION_TEXT];

	text_add(out, "%s\n", cprec_position_text(text,
		 cprec_cursor_position(server->cursor)));
	return 0;
}

static int run_when(struct server *server, const char *args, struct text *out,
		    struct cprec_failure *why)
{
	(void)args;
	(void)why;
	return tell_position(server, out);
}

static int run_goto(struct server *server, const char *args, struct text *out,
		    struct cprec_failure *why)
{
	int rc;

	diversion_over(server);
	rc = cprec_cursor_seek(server->cursor, args, why);
	if (!rc)
		rc = server_stand(server, why);
	return rc ? rc : tell_position(server, out);
}

/* Of a machine: where breakpoints stop. */
static int run_process(struct server *server, const char *args,
		       struct text *out, struct cprec_failure *why)
{
	(void)out;
	return cprec_follow_process(server->recording,
				    strcmp(args, "all") ? args : NULL, why);
}

/* ------- telling ------- */

/* The process's recording, for programs that ask it, too. */
static int run_recording(struct server *server, const char *args,
			 struct text *out, struct cprec_failure *why)
{
	const struct cprec_info *info;
	int rc = cprec_describe(server->recording, &info, why);

	(void)args;
	if (!rc)
		text_add(out, "%s\n", info->path);
	return rc;
}

/* ... and the program itself, for those. */
static int run_program(struct server *server, const char *args,
		       struct text *out, struct cprec_failure *why)
{
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)server;
	(void)args;
	(void)why;
	if (length > 0)
		text_add(out, "%.*s\n", (int)length, self);
	return 0;
}

/* What cprec means by an expression, for those that the debugger cannot. */
static int run_address(struct server *server, const char *args,
		       struct text *out, struct cprec_failure *why)
{
	struct cprec_bits found;
	int rc = cprec_find_bits(server->cursor, args, &found, why);

	if (rc)
		return rc;
	text_add(out, "0x%" PRIx64 " %" PRIu64, found.addr, found.length);
	if (found.bit_size)
		text_add(out, " %" PRIu32 " %" PRIu32 " %d", found.bit_offset,
			 found.bit_size, found.is_signed);
	text_add(out, "\n");
	return 0;
}

/* ------- bookmarks ------- */

static int add_bookmark(void *context, const struct cprec_bookmark *bookmark)
{
	char at[CPREC_POSITION_TEXT];

	text_add(context, "%s %s %s\n", cprec_position_text(at, bookmark->at),
		 bookmark->name, bookmark->text);
	return 0;
}

static int run_bookmarks(struct server *server, const char *args,
			 struct text *out, struct cprec_failure *why)
{
	(void)args;
	return cprec_each_bookmark(server->recording, add_bookmark, out, why);
}

/* "NAME TEXT" */
static int run_bookmark(struct server *server, const char *args,
			struct text *out, struct cprec_failure *why)
{
	size_t size = strcspn(args, " ");
	const char *words = args + size + strspn(args + size, " ");
	char *name = strndup(args, size);
	int rc = CPREC_NO_MEMORY;

	(void)out;
	snprintf(why->text, sizeof(why->text), "out of memory");
	if (name)
		rc = cprec_set_bookmark(server->recording, name,
			cprec_cursor_position(server->cursor), words, why);
	free(name);
	return rc;
}

static int run_unmark(struct server *server, const char *args,
		      struct text *out, struct cprec_failure *why)
{
	(void)out;
	return cprec_delete_bookmark(server->recording, args, why);
}

/* ------- other processes ------- */

static int add_process(void *context, const struct cprec_process *process)
{
	text_add(context, "%s %s %s\t%s\n", process->is_this ? "*" : "-",
		 process->name, process->path,
		 process->called ? process->called : "?");
	return 0;
}

static int run_processes(struct server *server, const char *args,
			 struct text *out, struct cprec_failure *why)
{
	(void)args;
	return cprec_each_process(server->recording, add_process, out, why);
}

static int clock_of(struct cprec_recording *recording, const char *at,
		    int64_t *out, struct cprec_failure *why)
{
	struct cprec_position position;
	int rc = cprec_find_position(recording, at, &position, why);

	return rc ? rc : cprec_find_clock(recording, position, out, why);
}

/* The clock on the wall is what processes have in common. */
static int find_moment(struct cprec_recording *other, int64_t clock,
		       struct text *out, struct cprec_failure *why)
{
	time_t seconds = (time_t)(clock / 1000000);
	char text[80], at[CPREC_POSITION_TEXT];
	struct cprec_position found;
	int64_t first, last;
	struct tm tm;
	size_t size;
	int rc = clock_of(other, "start", &first, why);

	if (!rc)
		rc = clock_of(other, "end", &last, why);
	if (rc)
		return rc;
	if (clock < first || clock > last) {
		text_add(out, "%s %s\n", clock < first ? "start" : "end",
			 clock < first ? "before" : "after");
		return 0;
	}
	size = strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S",
			localtime_r(&seconds, &tm));
	snprintf(text + size, sizeof(text) - size, ".%06d",
		 (int)(clock % 1000000));
	rc = cprec_find_position(other, text, &found, why);
	if (!rc)
		text_add(out, "%s then\n", cprec_position_text(at, found));
	return rc;
}

/* Its recording and position, and whether that is when it began, or ended. */
static int run_moment(struct server *server, const char *args,
		      struct text *out, struct cprec_failure *why)
{
	struct cprec_recording *other = NULL;
	const struct cprec_info *info;
	int64_t clock;
	int rc = cprec_find_clock(server->recording,
				  cprec_cursor_position(server->cursor),
				  &clock, why);

	if (!rc)
		rc = cprec_describe(server->recording, &info, why);
	if (!rc)
		rc = cprec_open(&other, info->path, args, why);
	if (!rc)
		rc = cprec_describe(other, &info, why);
	if (!rc) {
		text_add(out, "%s\n", info->path);
		rc = find_moment(other, clock, out, why);
	}
	cprec_close(other);
	return rc;
}

/* ------- all of them ------- */

static int run_help(struct server *server, const char *args, struct text *out,
		    struct cprec_failure *why);

static const struct monitor_command {
	const char *name, *arguments;
	int (*run)(struct server *server, const char *args, struct text *out,
		   struct cprec_failure *why);
	const char *summary;
} commands[] = {
	{ "help", "", run_help, "these commands" },
	{ "when", "", run_when, "the position" },
	{ "goto", "T", run_goto,
	  "go to a position; the debugger has to look again" },
	{ "plan", "goto T | last ADDR SIZE [T] | register NAME | none", plan_make,
	  "what the next step backwards does instead" },
	{ "state", "", plan_tell, "where it is, and what a plan has found" },
	{ "recording", "", run_recording, "the file" },
	{ "program", "", run_program, "the path of cprec" },
	{ "files", "", files_tell, "of the program: where they come from" },
	{ "address", "EXPR", run_address, "and length of what it means" },
	{ "bookmark", "NAME [TEXT]", run_bookmark, "give the position a name" },
	{ "bookmarks", "", run_bookmarks, "all of them" },
	{ "delete-bookmark", "NAME", run_unmark, "forget one" },
	{ "processes", "", run_processes, "that were recorded together" },
	{ "process", "NAME | PID | all", run_process,
	  "of a machine: where breakpoints stop" },
	{ "moment", "PROCESS", run_moment,
	  "where another process was at this moment" },
};

static int run_help(struct server *server, const char *args, struct text *out,
		    struct cprec_failure *why)
{
	(void)server;
	(void)args;
	(void)why;
	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const struct monitor_command *command = &commands[i];

		text_add(out, "monitor %s%s%s - %s\n", command->name,
			 *command->arguments ? " " : "", command->arguments,
			 command->summary);
	}
	return 0;
}

static int run(struct server *server, const char *words, struct text *out,
	       struct cprec_failure *why)
{
	size_t size = strcspn(words, " ");

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		const struct monitor_command *command = &commands[i];
		const char *args = words + size + strspn(words + size, " ");

		if (strlen(command->name) != size ||
		    strncmp(words, command->name, size) != 0)
			continue;
		if (!*args == !*command->arguments)
			return command->run(server, args, out, why);
		snprintf(why->text, sizeof(why->text), "monitor %s%s%s",
			 command->name, *command->arguments ? " " : "",
			 command->arguments);
		return CPREC_INPUT;
	}
	snprintf(why->text, sizeof(why->text),
		 "there is no command '%.40s': see 'monitor help'", words);
	return CPREC_INPUT;
}

/* "monitor COMMAND" */
void on_command(struct server *server, const char *args)
{
	char *words = text_from_hex(args, strlen(args));
	struct text out = { 0 };
	struct cprec_failure why;
	int rc = words ? run(server, words, &out, &why) : 0;

	free(words);
	if (!words) {
		reply_nonsense(server);
		return;
	}
	if (rc && server->knows_failures) {
		reply_failure(server, &why);
	} else {
		if (rc) {
			text_clear(&out);
			text_add(&out, FAILED "%s\n", why.text);
		}
		/* Nothing would mean that there are no such commands. */
		if (out.size)
			text_add_hex(&server->reply, out.bytes, out.size);
		else
			reply(server, "OK");
	}
	text_release(&out);
}
