/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_panic.c - see machine_panic.h
 *
 * Source: Linux, kernel/panic.c.
 */
#include "recorder/machine_panic.h"

#include <stdio.h>
#include <string.h>

#include "vm/board/board.h"

static const char begins[] = "Kernel panic - not syncing: ";
static const char ends[] = " ]---";
static const char last_words[] = "---[ end Kernel panic";

/* For a quarter of a second it must do nothing else.  A choice. */
#define PARTS_OF_SECOND 4u

static void take_line(struct machine_panic *panic, const struct board *board)
{
	const char *found = strstr(panic->line, begins);
	char *end;

	if (!found)
		return;
	snprintf(panic->text, sizeof(panic->text), "%s",
		 found + strlen(begins));
	end = strstr(panic->text, ends);
	if (end)
		*end = '\0';
	panic->loops = strstr(panic->line, last_words);
	panic->since = board_ticks(board);
	panic->left_programs = board_left_programs(board, panic->core);
}

void machine_panic_see(struct machine_panic *panic, const struct board *board,
		       uint8_t byte)
{
	panic->core = board_core(board);
	if (byte == '\n' || panic->size == sizeof(panic->line) - 1) {
		panic->line[panic->size] = '\0';
		panic->size = 0;
		take_line(panic, board);
	} else if (byte >= ' ' && byte < 0x7f) {
		panic->line[panic->size++] = (char)byte;
	}
}

void machine_panic_forget(struct machine_panic *panic)
{
	*panic = (struct machine_panic){ 0 };
}

bool machine_panic_is_there(const struct machine_panic *panic,
			    const struct board *board)
{
	return panic->text[0] &&
	       board_left_programs(board, panic->core) ==
		       panic->left_programs;
}

bool machine_panic_is_final(const struct machine_panic *panic,
			    const struct board *board)
{
	/* That core has its turn, so that the recording ends there. */
	return panic->loops && panic->core == board_core(board) &&
	       machine_panic_is_there(panic, board) &&
	       board_ticks(board) - panic->since >=
		       board_ticks_per_second(board) / PARTS_OF_SECOND;
}
