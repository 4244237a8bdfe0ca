/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * print_races.h - how source lines, and values that threads raced for, look
 */
#ifndef CPREC_TOOLS_PRINT_RACES_H
#define CPREC_TOOLS_PRINT_RACES_H

#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include "replayer/races/races.h"
#include "replayer/symbols/symbols.h"

/* "count.c:12 (main)", "main+0x1f", or the address. */
void print_source_line(FILE *out, const struct source_line *line,
		       uint64_t addr);

/* The members "file", "line" and "function"; null for what is not known. */
void json_set_source_line(json_t *object, const struct source_line *line);

/* What a value is as its type has it; NULL: that is not known. */
struct race_text {
	char *type, *value;
};

/* One line for each value, and one if not all was looked at. */
void print_race_values(const struct race_question *question,
		       const struct race_text *texts);
json_t *json_race_values(const struct race_question *question,
			 const struct race_text *texts);

#endif
