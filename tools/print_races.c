/* SPDX-License-Identifier: GPL-2.0-or-later */
/* print_races.c - see print_races.h */
#include "tools/print_races.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tools/print.h"
#include "tools/print_bytes.h"

void print_source_line(FILE *out, const struct source_line *line,
		       uint64_t addr)
{
	if (line->line)
		fprintf(out, "%s:%u (%s)", line->file, line->line,
			line->function[0] ? line->function : "?");
	else if (line->function[0] || line->module[0])
		fprintf(out, "%s+0x%" PRIx64, line->function[0] ?
			line->function : line->module, line->offset);
	else
		fprintf(out, "0x%" PRIx64, addr);
}

/* Or null. */
static void set_name(json_t *object, const char *key, const char *name)
{
	if (name[0])
		json_set_text(object, key, name);
	else
		json_object_set_new(object, key, json_null());
}

void json_set_source_line(json_t *object, const struct source_line *line)
{
	if (line->line) {
		json_set_text(object, "file", line->file);
		json_set_count(object, "line", line->line);
	} else {
		json_object_set_new(object, "file", json_null());
		json_object_set_new(object, "line", json_null());
	}
	set_name(object, "function", without_module(line->function, line->module));
	if (*line->linkage_name)
		json_set_text(object, "linkage_name", line->linkage_name);
	set_name(object, "module", line->module);
	if (line->module[0] && !line->line)
		json_set_count(object, "offset", line->offset);
}

static void print_value(const struct race_value *value,
			const struct race_text *text)
{
	uint8_t known[RACE_VALUE_MOST];

	memset(known, value->is_known, sizeof(known));
	printf("  0x%" PRIx64 ": ", value->addr);
	if (text->value)
		print_value_text(stdout, text->value);
	else
		print_bytes(stdout, NULL, value->bytes, known, value->size);
	if (!value->has_writer) {
		puts(", which was there before");
		return;
	}
	printf(", written at t=%" PRIu64 " in thread %" PRIu32 " by ",
	       value->time, value->tid);
	print_source_line(stdout, &value->line, value->place);
	putchar('\n');
}

void print_race_values(const struct race_question *question,
		       const struct race_text *texts)
{
	if (question->count)
		puts("This looks like a race: nothing orders the last"
		     " accesses.  It may have held:");
	for (size_t i = 0; i < question->count; i++)
		print_value(&question->values[i], &texts[i]);
	if (question->since)
		printf("%s from t=%" PRIu64 " on; --races looks at all"
		       " before, too.\n", question->count ?
		       "Looked at" : "No race", question->since);
}

static json_t *json_value(const struct race_value *value,
			  const struct race_text *text)
{
	json_t *object = json_object();
	uint8_t known[RACE_VALUE_MOST];
	char *bytes;

	memset(known, value->is_known, sizeof(known));
	bytes = memory_text(value->bytes, known, value->size);
	json_set_address(object, "addr", value->addr);
	json_set_count(object, "size", value->size);
	json_object_set_new(object, "bytes", bytes ? json_string(bytes) : NULL);
	free(bytes);
	if (text->value) {
		json_set_text(object, "type", text->type);
		json_object_set_new(object, "value", json_text(text->value));
	}
	if (value->has_writer) {
		json_set_count(object, "thread", value->tid);
		json_set_count(object, "at", value->time);
		json_set_address(object, "pc", value->pc);
	} else {
		json_object_set_new(object, "thread", json_null());
		json_object_set_new(object, "at", json_null());
		json_object_set_new(object, "pc", json_null());
	}
	json_set_source_line(object, &value->line);
	return object;
}

json_t *json_race_values(const struct race_question *question,
			 const struct race_text *texts)
{
	json_t *list = json_array();

	for (size_t i = 0; i < question->count; i++)
		json_array_append_new(list, json_value(&question->values[i],
						       &texts[i]));
	return list;
}
