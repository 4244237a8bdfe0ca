/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * searches.c - which questions about races execute anything
 *
 * usage: searches RECORDING
 *
 * Each line of standard input is a question: an address, a size, a time, and
 * how many steps before it are looked at.  The answer is a line, too: 1 if
 * something was executed, else 0; since when accesses were looked at; and of
 * each value that was found, when it was written, -1 if it was there before.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "replayer/races/races.h"
#include "replayer/recording/recording.h"
#include "tests/run/check.h"


static void on_progress(void *context, uint64_t done, uint64_t total)
{
	bool *executed = context;

	(void)done;
	(void)total;
	*executed = true;
}

static void ask(struct recording *recording, struct race_question question,
		uint64_t most)
{
	struct race_values values = { .count = 1 };
	bool executed = false;

	values.list = malloc(sizeof(*values.list));
	if (!values.list)
		abort();
	values.list[0] = question;
	check(race_values_find(&values, recording, most, on_progress,
			       &executed, &why));
	printf("%d %" PRIu64, executed, values.list[0].since);
	for (size_t i = 0; i < values.list[0].count; i++) {
		const struct race_value *value = &values.list[0].values[i];

		printf(" %" PRId64,
		       value->has_writer ? (int64_t)value->time : -1);
	}
	putchar('\n');
	race_values_release(&values);
}

int main(int argc, char **argv)
{
	struct race_question question = { 0 };
	struct recording *recording;
	uint64_t most;

	if (argc != 2)
		return 2;
	check(recording_open(&recording, argv[1], &why));
	while (scanf("%" SCNi64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
		     (int64_t *)&question.addr, &question.size, &question.at,
		     &most) == 4)
		ask(recording, question, most);
	recording_close(recording);
	return 0;
}
