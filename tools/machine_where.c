/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_where.c - see machine_where.h */
#include "tools/machine_where.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "replayer/replayer.h"
#include "tools/opened.h"

#define FRAMES_MOST 40u

/* Linux: what ends it, and where exceptions of the kernel's own come in. */
static const char panics[] = "panic", enters[] = "el1h_64_sync";

struct where {
	char function[200];
	bool is_behind;		/* what panics was seen */
	bool is_next;		/* the next one is it */
	unsigned count;
	struct kernel_process process;
};

/* Who called panic(); or, if that was on account of a fault, whose it was. */
static int visit(void *context, const struct frame *frame)
{
	struct where *where = context;
	const char *function = frame->line.function;

	if (where->is_next && *function)
		snprintf(where->function, sizeof(where->function), "%.100s",
			 function);
	where->is_next = false;
	if (!where->is_behind && !strcmp(function, panics))
		where->is_next = where->is_behind = true;
	else if (where->is_behind && !strcmp(function, enters))
		where->is_next = true;
	return ++where->count == FRAMES_MOST;
}

static int take_process(void *context, const struct kernel_process *process)
{
	struct where *where = context;

	if (process->has_turn)
		where->process = *process;
	return 0;
}

static int find(struct opened *opened, struct where *where,
		struct failure *why)
{
	const struct position end = { recording_end(opened->recording),
				      EVENTS_ALL };
	struct backtrace backtrace = {
		.lines = opened->lines, .visit = visit, .context = where,
	};
	enum frames_end how;
	int rc = opened_kernel(opened, why);

	if (!rc)
		rc = kernel_each_process(opened->kernel, &end, take_process,
					 where, why);
	if (!rc)
		rc = query_replayer(opened->query, &backtrace.replayer, why);
	if (!rc)
		rc = replayer_seek(backtrace.replayer, &end, why);
	if (!rc)
		backtrace.stream = replayer_stream(backtrace.replayer);
	return rc ? rc : backtrace_walk(&backtrace, &how, why);
}

void machine_where(const char *path, char *text, size_t room)
{
	struct where where = { 0 };
	struct opened *opened;
	size_t size = 0;

	*text = '\0';
	if (opened_begin_any(&opened, path, NULL))
		return;
	if (!opened_ask(opened, NULL))
		find(opened, &where, NULL);
	opened_end(opened);
	if (*where.function)
		size = (size_t)snprintf(text, room, ", in %s",
					where.function);
	if (where.process.task && size < room)
		snprintf(text + size, room - size, ", process %u '%s'",
			 where.process.pid, where.process.name);
}
