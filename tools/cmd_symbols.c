/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_symbols.c - cprec symbols: functions and variables of what was mapped */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/expressions.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"

static int run(struct options *options);

enum { OPTION_JSON = 256, OPTION_AT, OPTION_DEBUG_DIR };

const struct command command_symbols = {
	.name = "symbols",
	.run = run,
	.arguments = "[FILE] [PATTERN]",
	.summary = "functions, variables, and where they are",
	.usage = "symbols [OPTION...] [FILE] [PATTERN]",
	.about = "Lists the functions and variables of the program and its"
		 " libraries: address,\n"
		 "size, kind, name and, with debugging information, source"
		 " line.  PATTERN is a\n"
		 "name as in the program (Server::serve), with '*', '?' and"
		 " '[...]' as in shells;\n"
		 "LIBRARY!PATTERN: only of that library; FILE.c:PATTERN: only"
		 " of that source file.",
	.options = (const struct option_info[]) {
		{ OPTION_AT, "at", "T",
		  "as of this time; without this, the end" },
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL,
		  "one JSON object per line: addr, size, kind, module,\n"
		  "name, linkage_name, file, line" },
		{ 0 }
	},
};

struct symbols_command {
	const char *path, *at;
	const char *asked;		/* NULL: all */
	struct symbol_pattern pattern;
	bool json;
	struct opened *opened;
	struct position position;
	size_t count;			/* of those printed */
};

static const char *const kinds[] = {
	[SYMBOL_OTHER] = "other",
	[SYMBOL_OBJECT] = "data",
	[SYMBOL_FUNCTION] = "function",
};

/* ------- which ------- */

static bool is_wanted(const struct symbols_command *command,
		      const struct lines_symbol *symbol, const char *plain)
{
	const struct symbol_pattern *pattern = &command->pattern;

	return (!pattern->library ||
		module_is_called(symbol->module, pattern->library)) &&
	       symbol_pattern_is(pattern, symbol->name, plain);
}

/* ------- one symbol ------- */

struct shown {
	const char *name, *plain, *module;
	uint64_t addr, size;
	enum symbol_type type;
	struct source_line line;
	int digits;		/* of addresses */
};

static void find_source(struct symbols_command *command, struct shown *shown)
{
	if (shown->type == SYMBOL_FUNCTION)
		lines_find(command->opened->lines, command->position.time,
			   shown->addr, &shown->line);
	else if (shown->type == SYMBOL_OBJECT)
		expressions_source(command->opened->expressions,
				   &command->position, shown->addr,
				   &shown->line.file, &shown->line.line);
}

static void print_as_json(const struct shown *shown)
{
	json_t *object = json_object();

	json_set_address(object, "addr", shown->addr);
	json_set_count(object, "size", shown->size);
	json_set_text(object, "kind", kinds[shown->type]);
	json_set_text(object, "module", shown->module);
	json_set_text(object, "name", shown->plain);
	if (strcmp(shown->plain, shown->name) != 0)
		json_set_text(object, "linkage_name", shown->name);
	if (shown->line.line) {
		json_set_text(object, "file", shown->line.file);
		json_set_count(object, "line", shown->line.line);
	}
	print_json(object);
}

/* Programs of 64 bits have addresses of 48. */
static int digits_of(struct recording *recording)
{
	return reg_word(recording_reg_table(recording)) == 8 ? 12 : 8;
}

static void print_as_text(const struct shown *shown, bool is_program)
{
	printf("0x%0*" PRIx64 " %8" PRIu64 " %-8s ", shown->digits,
	       shown->addr, shown->size, kinds[shown->type]);
	if (!is_program) {
		print_escaped(stdout, shown->module, strlen(shown->module));
		putchar('!');
	}
	print_escaped(stdout, shown->plain, strlen(shown->plain));
	if (shown->line.line) {
		fputs(" at ", stdout);
		print_escaped(stdout, shown->line.file,
			      strlen(shown->line.file));
		printf(":%u", shown->line.line);
	}
	putchar('\n');
}

static int print_symbol(void *context, const struct lines_symbol *symbol)
{
	struct symbols_command *command = context;
	char *plain = demangle(symbol->name);
	struct shown shown = {
		.name = symbol->name, .plain = plain ? plain : symbol->name,
		.module = symbol->module, .addr = symbol->addr,
		.size = symbol->size, .type = symbol->type,
		.digits = digits_of(command->opened->recording),
	};

	if (!is_wanted(command, symbol, shown.plain)) {
		free(plain);
		return 0;
	}
	find_source(command, &shown);
	if (!command->pattern.file ||
	    (shown.line.file &&
	     source_file_is(shown.line.file, command->pattern.file))) {
		if (command->json)
			print_as_json(&shown);
		else
			print_as_text(&shown, symbol->is_program);
		command->count++;
	}
	free(plain);
	return 0;
}

/* ------- all ------- */

static int list(struct symbols_command *command, struct failure *why)
{
	bool is_time;
	int rc = place_position(&command->position, &is_time,
				command->opened->recording, command->at, why);

	if (!rc)
		rc = opened_ask(command->opened, why);
	if (!rc)
		rc = names_check(lines_names(command->opened->lines),
				 command->position.time, why);
	if (!rc)
		rc = lines_each_symbol(command->opened->lines,
				       command->position.time, print_symbol,
				       command, why);
	if (!rc && !command->count && command->asked) {
		command->pattern.any_scope = true;
		rc = lines_each_symbol(command->opened->lines,
				       command->position.time, print_symbol,
				       command, why);
	}
	if (!rc && !command->count && command->asked)
		rc = failed(why, ERR_NOT_FOUND, "no symbol of '%s' is called"
			    " '%s'", command->path, command->asked);
	return rc;
}

static int open_and_list(struct symbols_command *command)
{
	struct failure why;
	int rc;

	if (opened_begin_any(&command->opened, command->path, &why))
		return say_failure(&why);
	rc = 0;
	if (command->asked &&
	    symbol_pattern_init(&command->pattern, command->asked))
		rc = failed(&why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = list(command, &why);
	symbol_pattern_release(&command->pattern);
	if (!rc)
		damage_say(command->opened->recording);
	opened_end(command->opened);
	return rc ? finish_output(say_failure(&why)) :
		    finish_output(EXIT_ANSWERED);
}

/* One argument is a recording if there is such a file, or it is called so. */
static void take_pattern(struct options *options,
			 struct symbols_command *command)
{
	int left = options->argc - options->first;
	char *last = options->argv[options->argc - 1];

	if (left != 2 && (left != 1 || options_has_recording(options)))
		return;
	command->asked = last;
	options_take_last(options, last);
}

static int run(struct options *options)
{
	struct symbols_command command = { .at = "end" };
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == OPTION_JSON) {
			command.json = true;
		} else if (id == OPTION_DEBUG_DIR) {
			debug_folders_take(options->value);
		} else if (place_may_be_time(options->value)) {
			command.at = options->value;
		} else {
			options_bad_value(options, id, PLACE_TIME_WANTED);
			return EXIT_USAGE;
		}
	}
	if (id == OPTIONS_END)
		take_pattern(options, &command);
	command.path = options_recording(options, id);
	return command.path ? open_and_list(&command) : options->status;
}
