/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_info.c - cprec info: what was recorded, and how it ended */
#include <stdbool.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/debug_notes.h"
#include "tools/info.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"

static int run(struct options *options);

enum { OPTION_JSON = 256, OPTION_THREAD, OPTION_DEBUG_DIR };

const struct command command_info = {
	.name = "info",
	.run = run,
	.arguments = "[FILE]",
	.summary = "what was recorded, and how it ended",
	.usage = "info [OPTION...] [FILE]",
	.about = "Tells what was recorded, which programs the process executed,"
		 " how it ended,\n"
		 "what takes the room in the file, and which other files hold"
		 " processes of the\n"
		 "same program.",
	.options = (const struct option_info[]) {
		{ 'v', "verbose", NULL, "also tell of each segment; all of long lists" },
		{ OPTION_THREAD, "thread", "TID",
		  "list only this thread; 'all': each, as without" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL, "one JSON object" },
		{ 0 }
	},
};

static int info_file(const char *path, const struct threads_text *threads,
		     bool verbose, bool json, struct failure *why)
{
	struct opened *opened;
	json_t *info;
	int rc = opened_begin_any(&opened, path, why);

	if (rc)
		return rc;
	rc = info_describe(&info, opened, threads, verbose, why);
	opened_end(opened);
	if (rc)
		return rc;
	if (json) {
		print_json(info);
		return 0;
	}
	info_print(info, verbose);
	json_decref(info);
	return 0;
}

static int run(struct options *options)
{
	struct threads_text threads = { 0 };
	bool json = false, verbose = false;
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == OPTION_JSON) {
			json = true;
		} else if (id == 'v') {
			verbose = true;
		} else if (id == OPTION_DEBUG_DIR) {
			debug_folders_take(options->value);
		} else if (!number_parse_threads(options->value, &threads)) {
			options_bad_value(options, id, NUMBER_THREADS_WANTED);
			return EXIT_USAGE;
		}
	}
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (info_file(path, &threads, verbose, json, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}
