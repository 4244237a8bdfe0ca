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

const struct command command_dmesg = {
	.name = "dmesg",
	.run = run,
	.arguments = "[FILE] [--at=T]",
	.summary = "what a machine's kernel has logged",
	.usage = "dmesg [OPTION...] [FILE]",
	.about = "Prints the log of a Linux kernel as it was at a time, out of"
		 " the machine's memory:\n"
		 "also what never came to the console.",
	.options = (const struct option_info[]) {
		{ VIEW_AT, "at", "T",
		  "a time, in instructions: as 'cprec query --help'\n"
		  "says; without this, the end" },
		{ VIEW_JSON, "json", NULL,
		  "one JSON object for each message: nanoseconds,\n"
		  "level, text" },
		{ 0 }
	},
};

static int print(void *context, const struct kernel_message *message)
{
	const struct view *view = context;
	json_t *object;

	if (!view->json) {
		printf("[%5" PRIu64 ".%06" PRIu64 "] ",
		       message->nanoseconds / SECOND,
		       message->nanoseconds % SECOND / 1000);
		print_escaped(stdout, message->text, message->length);
		putchar('\n');
		return 0;
	}
	object = json_object();
	json_set_count(object, "nanoseconds", message->nanoseconds);
	json_set_count(object, "level", message->level);
	json_object_set_new(object, "text",
			    json_text_of(message->text, message->length));
	print_json(object);
	return 0;
}

static int show(struct view *view, struct failure *why)
{
	int rc = opened_kernel(view->opened, why);

	return rc ? rc : kernel_each_message(view->opened->kernel, &view->at,
					     print, view, why);
}

static int run(struct options *options)
{
	struct view view = { .show = show };
	int id = 0, rc = 0;

	while (!rc && (id = options_next(options)) >= 0)
		rc = view_take_option(options, id, &view);
	return views_run(&view, options, rc ? rc : id);
}
