/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_process_tree.c - whatever recordings say of each other, it is a tree */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/table.h"
#include "tools/process_tree.h"
#include "tools/processes.h"

#define MOST 12
#define CHAIN 20000

/* "pid.turn<parent@time", and the numbers in order, with a '>' a level. */
struct row {
	const char *name;
	const char *processes, *lines;
};

static const struct row rows[] = {
	{ "nothing", "", "" },
	{ "one", "5.1<0@0", "5" },
	{ "a child", "5.1<0@0 6.1<5@9", "5 >6" },
	{ "a child before its parent", "4.1<5@9 5.1<0@0", "5 >4" },
	{ "two children, by time", "5.1<0@0 6.1<5@9 7.1<5@3", "5 >7 >6" },
	{ "two at one time, as listed", "5.1<0@0 6.1<5@9 7.1<5@9", "5 >6 >7" },
	{ "two levels, and back", "5.1<0@0 6.1<5@1 7.1<6@1 8.1<5@2",
	  "5 >6 >>7 >8" },
	{ "back by two levels", "5.1<0@0 6.1<5@1 7.1<6@1 8.1<7@2 9.1<5@2",
	  "5 >6 >>7 >>>8 >9" },
	{ "no parent there", "6.1<5@9 7.1<6@1", "6 >7" },
	{ "its own parent", "6.1<6@9", "6" },
	{ "each other's parents", "6.1<7@1 7.1<6@1", "6 >7" },
	{ "a circle of three and a child", "6.1<7@1 7.1<8@2 8.1<6@3 9.1<7@4",
	  "6 >8 >>7 >>>9" },
	{ "two roots", "6.1<0@0 9.1<0@0 7.1<9@1", "6 9 >7" },
	{ "a number given again", "5.1<0@0 6.1<5@1 6.2<5@8 7.1<6@1",
	  "5 >6 >6 >>7" },
	{ "a number given to its own child", "5.1<0@0 6.1<5@1 6.2<6@8",
	  "5 >6 >>6" },
};

static struct processes parse(struct process *list, const char *text)
{
	struct processes processes = { list, 0 };
	int size;

	while (processes.count < MOST) {
		struct process *process = &list[processes.count];

		memset(process, 0, sizeof(*process));
		if (sscanf(text, " %u.%u<%u@%lu%n", &process->pid,
			   &process->turn, &process->origin.parent,
			   &process->origin.time, &size) != 4)
			break;
		process->started = (int64_t)processes.count;
		text += size;
		processes.count++;
	}
	return processes;
}

static void tree_row(void **state)
{
	const struct row *row = *state;
	struct process list[MOST];
	struct processes processes = parse(list, row->processes);
	struct tree_line *lines;
	char text[200] = "";

	assert_int_equal(process_tree(&lines, &processes), 0);
	for (size_t i = 0; i < processes.count; i++) {
		size_t size = strlen(text);

		snprintf(text + size, sizeof(text) - size, "%s%.*s%u",
			 i ? " " : "", (int)lines[i].depth, ">>>>>>>",
			 list[lines[i].process].pid);
	}
	free(lines);
	assert_string_equal(text, row->lines);
}

/* No deeper than memory: nothing calls itself. */
static void deep_chain(void **state)
{
	struct process *list = calloc(CHAIN, sizeof(*list));
	struct processes processes = { list, CHAIN };
	struct tree_line *lines;

	(void)state;
	assert_non_null(list);
	for (uint32_t i = 0; i < CHAIN; i++) {
		list[i].pid = i + 1;
		list[i].origin.parent = i;
	}
	assert_int_equal(process_tree(&lines, &processes), 0);
	for (size_t i = 0; i < CHAIN; i++) {
		assert_int_equal(lines[i].process, i);
		assert_int_equal(lines[i].depth, i);
		assert_int_equal(lines[i].parent, i ? i - 1 : TREE_ROOT);
		assert_true(lines[i].is_last);
	}
	free(lines);
	free(list);
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, rows, tree_row);
	add_test(&list, "a long chain", deep_chain, NULL);
	return run_list("process_tree", &list);
}
