/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_dmesg.c - cprec dmesg: what a machine's kernel has logged */
#include <inttypes.h>
#include <stdio.h>

#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/views.h"

#define SECOND UINT64_C(1000000000)

static int run(struct options *options);

enum { OPTION_NO_TIMES = VIEW_OWN };

const struct command command_dmesg = {
	.name = "dmesg",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "what a machine's kernel has logged",
	.usage = "dmesg [OPTION...] [FILE]",
	.about = "Prints the log of a Linux kernel as it was at a time, out of"
		 " the machine's memory:\n"
		 "also what never came to the console. Each line begins with the"
		 " time at which the\n"
		 "kernel stored the message.",
	.options = (const struct option_info[]) {
		{ VIEW_AT, "at", "T",
		  "a time, in instructions: as 'cprec query --help'\n"
		  "says; without this, the end" },
		{ OPTION_NO_TIMES, "no-times", NULL,
		  "not when: then nothing is replayed" },
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each message: at, nanoseconds,\n"
		  "level, text" },
		{ 0 }
	},
};

static int print(void *context, const struct kernel_message *message)
{
	const struct view *view = context;
	const bool *has_times = view->context;
	const struct position at = { message->at, 0 };
	char text[POSITION_TEXT];
	json_t *object;

	if (!view->json) {
		if (*has_times)
			printf("%-16s ", message->has_time ?
			       position_text(text, &at) : "?");
		printf("[%5" PRIu64 ".%06" PRIu64 "] ",
		       message->nanoseconds / SECOND,
		       message->nanoseconds % SECOND / 1000);
		print_escaped(stdout, message->text, message->length);
		putchar('\n');
		return 0;
	}
	object = json_object();
	if (message->has_time)
		json_set_count(object, "at", message->at);
	json_set_count(object, "nanoseconds", message->nanoseconds);
	json_set_count(object, "level", message->level);
	json_object_set_new(object, "text",
			    json_text_of(message->text, message->length));
	print_json(object);
	return 0;
}

static int show(struct view *view, struct failure *why)
{
	const bool *has_times = view->context;
	int rc = opened_kernel(view->opened, why);

	return rc ? rc : kernel_each_message(view->opened->kernel,
					     *has_times ?
						lines_names(view->lines) : NULL,
					     &view->at, print, view, why);
}

static int run(struct options *options)
{
	bool has_times = true;
	struct view view = { .show = show, .context = &has_times };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		if (id == OPTION_NO_TIMES)
			has_times = false;
		else
			rc = view_take_option(options, id, &view);
	return views_run(&view, options, rc ? rc : id);
}
