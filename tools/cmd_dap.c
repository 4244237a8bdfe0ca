/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_dap.c - cprec dap: gdb on a recording, for editors */
#include "tools/commands.h"
#include "tools/gdb_find.h"
#include "tools/gdb_start.h"
#include "tools/gdb_version.h"
#include "tools/messages.h"
#include "tools/options.h"

static int run(struct options *options);

/* The first one that speaks the protocol. */
#define LEAST_GDB 14

const struct command command_dap = {
	.name = "dap",
	.run = run,
	.arguments = "[FILE]",
	.summary = "let an editor go through a recording (DAP)",
	.usage = "dap [OPTION...] [FILE] [-- GDB OPTION...]",
	.about = "Speaks the Debug Adapter Protocol on standard input and"
		 " output, for editors such as\n"
		 "VS Code: gdb on the recording, in both directions.  Without"
		 " FILE, the editor says\n"
		 "which one, or it is the newest in its folder.  gdb 14 or"
		 " newer is needed.",
	.options = (const struct option_info[]) {
		GDB_BEGIN_OPTIONS,
		GDB_PROGRAM_OPTION,
		{ 0 }
	},
};

static int run(struct options *options)
{
	static const char *const scripts[] = { "cprec_commands.py",
					     "cprec_dap.py", NULL };
	struct gdb_start start = { .scripts = scripts, .interpreter = "dap",
				   .connect = "cprec-dap" };
	char why[GDB_WHY];
	int id, status;

	while ((id = options_next(options)) >= 0)
		gdb_take_option(&start, id, options->value);
	if (id == OPTIONS_END)
		start.more = options_take_words(options, &start.more_count);
	/* An editor may say later which recording it wants. */
	if (id != OPTIONS_END || options->pid || options_has_recording(options)) {
		start.path = options_recording(options, id);
		if (!start.path)
			return options->status;
	}
	if (!start.gdb)
		start.gdb = gdb_find(start.path, why);
	if (!start.gdb) {
		say("%s; 'cprec debug --plain' needs none", why);
		return EXIT_NO_PROGRAM;
	}
	status = gdb_check_version(start.gdb, LEAST_GDB);
	return status ? status : gdb_start(&start);
}
