/* SPDX-License-Identifier: GPL-2.0-or-later */
/* cmd_races.c - cprec races: which lines of a program race with each other */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "formats/error.h"
#include "replayer/expressions/expressions.h"
#include "replayer/races/races.h"
#include "replayer/recording/recording.h"
#include "replayer/session/session.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/debug_notes.h"
#include "tools/messages.h"
#include "tools/opened.h"
#include "tools/options.h"
#include "tools/print.h"
#include "tools/print_races.h"
#include "tools/progress.h"

static int run(struct options *options);

enum { OPTION_JSON = 256, OPTION_DEBUG_DIR };

const struct command command_races = {
	.name = "races",
	.run = run,
	.arguments = "[FILE]",
	.summary = "which source lines race with each other",
	.usage = "races [OPTION...] [FILE]",
	.about = "Finds accesses of different threads to the same memory, at"
		 " least one of them a\n"
		 "write, that nothing orders: they might as well have happened"
		 " the other way\n"
		 "round.  Prints each pair of source lines once: how many"
		 " instructions raced with\n"
		 "an earlier access of the other line, whether both write or"
		 " one reads, and an\n"
		 "example.",
	.options = (const struct option_info[]) {
		{ OPTION_DEBUG_DIR, "debug-dir", "DIR",
		  "where debugging information is looked for, too" },
		{ OPTION_JSON, "json", NULL, "one JSON object" },
		{ 0 }
	},
	.notes = "Threads are ordered by indivisible instructions and futexes,"
		 " by their beginning\n"
		 "and end, by signals, and by system calls that send and"
		 " receive.  What serves to\n"
		 "order, and variables of atomic types, is not reported; nor"
		 " are pairs of which\n"
		 "both are in the C library, the dynamic linker or libraries"
		 " for OpenMP.  Lines\n"
		 "come from debugging information, which the program's file must"
		 " have; else\n"
		 "functions are named, or modules and offsets.\n"
		 "\n"
		 "It executes the recording twice, and takes some 10 to 30 times"
		 " as long as\n"
		 "`cprec replay`.",
};

static const char *const kinds[RACE_KINDS] = {
	[RACE_OF_WRITES] = "write-write",
	[RACE_WITH_READ] = "read-write",
};

/* What the memory is called, with the parts of what it is in. */
static const char *data_of(struct expressions *expressions,
			   const struct race *race, char *text, size_t room)
{
	return expressions_name(expressions, &race->sides[1].at, race->address,
				text, room) ? text : race->symbol;
}

#define DATA_NAME 512

/* ------- for a person ------- */

static void print_side(const struct race_side *side)
{
	char text[POSITION_TEXT];

	printf("%s at t=%s in thread %" PRIu32,
	       side->writes ? "writes" : "reads",
	       position_text(text, &side->at), side->tid);
}

static void print_race(struct expressions *expressions,
		       const struct race *race)
{
	const char *separator = ", ", *name;
	char text[DATA_NAME];

	print_source_line(stdout, &race->sides[0].line,
			  race->sides[0].place);
	printf(" races with ");
	print_source_line(stdout, &race->sides[1].line,
			  race->sides[1].place);
	printf(", %" PRIu64 " time%s", race->count,
	       race->count == 1 ? "" : "s");
	for (int kind = 0; kind < RACE_KINDS; kind++) {
		if (!race->has_kind[kind])
			continue;
		printf("%s%s", separator, kinds[kind]);
		separator = " and ";
	}
	printf(": 0x%" PRIx64, race->address);
	name = data_of(expressions, race, text, sizeof(text));
	if (*name)
		printf(" (%s)", name);
	printf(": ");
	print_side(&race->sides[0]);
	printf(", ");
	print_side(&race->sides[1]);
	printf("\n");
}

static void print_races(struct expressions *expressions,
			const struct races *races)
{
	for (size_t i = 0; i < races->count; i++)
		print_race(expressions, &races->list[i]);
	if (!races->count)
		printf("no races found\n");
}

/* ------- JSON ------- */

static json_t *json_side(const struct race_side *side)
{
	json_t *object = json_object();

	json_set_count(object, "thread", side->tid);
	json_set_position(object, &side->at);
	json_set_address(object, "pc", side->pc);
	json_set_text(object, "kind", side->writes ? "write" : "read");
	json_set_source_line(object, &side->line);
	return object;
}

static json_t *json_race(struct expressions *expressions,
			 const struct race *race)
{
	char text[DATA_NAME];
	const char *name = data_of(expressions, race, text, sizeof(text));
	json_t *object = json_object(), *list = json_array();

	json_set_text(object, "kind", kinds[race_kind_of(race)]);
	for (int kind = 0; kind < RACE_KINDS; kind++)
		if (race->has_kind[kind])
			json_array_append_new(list, json_string(kinds[kind]));
	json_object_set_new(object, "kinds", list);
	json_set_count(object, "count", race->count);
	json_set_position(object, &race->sides[1].at);
	json_set_address(object, "addr", race->address);
	if (*name)
		json_set_text(object, "symbol", name);
	else
		json_object_set_new(object, "symbol", json_null());
	json_object_set_new(object, "a", json_side(&race->sides[0]));
	json_object_set_new(object, "b", json_side(&race->sides[1]));
	return object;
}

static void print_as_json(struct expressions *expressions,
			  const struct races *races)
{
	json_t *object = json_object();
	json_t *list = json_array();

	for (size_t i = 0; i < races->count; i++)
		json_array_append_new(list, json_race(expressions, &races->list[i]));
	json_object_set_new(object, "races", list);
	print_json(object);
}

/* ------- that nothing was found ------- */

/* Fewer say little of a program; a choice. */
#define TURNS_FEW 10

/* Threads that hardly met cannot show much. */
static int note_turns(struct recording *recording, const struct races *races,
		      struct failure *why)
{
	uint64_t turns;
	int rc;

	if (races->count || recording_threads(recording) < 2)
		return 0;
	rc = recording_broken_turns(recording, &turns, why);
	if (!rc && turns < TURNS_FEW)
		say_note("threads were interrupted by others only %" PRIu64
			 " time%s; 'cprec record --schedule=random' makes that"
			 " more", turns, turns == 1 ? "" : "s");
	return rc;
}

/* ------- the command ------- */

static int print_found(struct recording *recording, const struct races *races,
		       bool json, struct failure *why)
{
	struct expressions *expressions = NULL;
	struct query *query = NULL;
	int rc = query_create(&query, recording, why);

	if (!rc)
		rc = expressions_create(&expressions, races->lines, query, why);
	if (!rc && json)
		print_as_json(expressions, races);
	else if (!rc)
		print_races(expressions, races);
	if (!rc)
		rc = note_turns(recording, races, why);
	if (!rc)
		damage_say(recording);
	expressions_destroy(expressions);
	query_destroy(query);
	return rc;
}

static int print_file(const char *path, bool json, struct failure *why)
{
	struct progress progress;
	struct opened *opened;
	struct races races;
	int rc = opened_begin(&opened, path, why);

	if (rc)
		return rc;
	progress_start(&progress, "searching", 0, 0);
	rc = races_find(&races, opened->recording, progress_update, &progress,
			why);
	progress_end(&progress);
	if (!rc) {
		rc = print_found(opened->recording, &races, json, why);
		races_release(&races);
	}
	opened_end(opened);
	return rc;
}

static int run(struct options *options)
{
	bool json = false;
	struct failure why;
	const char *path;
	int id;

	while ((id = options_next(options)) >= 0) {
		if (id == OPTION_DEBUG_DIR)
			debug_folders_take(options->value);
		else
			json = true;
	}
	path = options_recording(options, id);
	if (!path)
		return options->status;
	if (print_file(path, json, &why))
		return say_failure(&why);
	return finish_output(EXIT_ANSWERED);
}
