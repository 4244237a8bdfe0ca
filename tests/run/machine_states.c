/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * machine_states.c - the end of a machine's recording, reached in several ways
 *
 * usage: machine_states FILE straight
 *        machine_states FILE stops SEED COUNT
 *        machine_states FILE frame NUMBER [LAST]
 *        machine_states FILE frames
 *        machine_states FILE words COUNT TIME... ADDR...
 *
 * All of it is executed in order; or with exact stops at random times; or from
 * one key frame on, where this process has not been before, to the end or to
 * another key frame.  Says the checksum of memory and registers there; "frames"
 * those at all key frames but the first, and at the end.  "stops" also goes
 * back to a fifth of its stops, which must be as they were.  "words" says what
 * memory holds at so many rising times, at addresses that are physical or,
 * behind a "v", those of the present core then, with the physical one.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/trace_layout.h"
#include "replayer/machine.h"
#include "tests/run/check.h"

#define WORD 8u

static struct recording *recording;
static struct machine_replay *replay;

static void go(uint64_t time, uint32_t events, bool in_order)
{
	const struct position to = { time, events };

	check(machine_replay_seek(replay, &to, in_order, &why));
}

static uint64_t state(void)
{
	const struct board *board = machine_replay_board(replay);
	struct reg_file regs;
	uint64_t memory = 0;

	for (uint64_t i = 0; i < board_pages(board); i++) {
		uint64_t page = board_guest_page(board, i);

		memory = memory * 31 +
			 trace_checksum(board_bytes(board,
						    page << GUEST_PAGE_SHIFT,
						    GUEST_PAGE), GUEST_PAGE);
	}
	board_registers(board, &regs);
	return memory * 31 + trace_checksum(regs.bytes, sizeof(regs.bytes)) +
	       board_steps(board);
}

static int by_time(const void *left, const void *right)
{
	const uint64_t *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static void stops(unsigned seed, size_t count)
{
	uint64_t end = recording_end(recording);
	uint64_t *times = calloc(count, sizeof(*times));
	uint64_t *states = calloc(count, sizeof(*states));

	if (!times || !states)
		check(ERR_NO_MEMORY);
	machine_replay_keep_points(replay, 100);
	srandom(seed);
	for (size_t i = 0; i < count; i++)
		times[i] = ((uint64_t)random() << 31 | (uint64_t)random()) %
			   end;
	qsort(times, count, sizeof(*times), by_time);
	for (size_t i = 0; i < count; i++) {
		go(times[i], 0, true);
		if (board_steps(machine_replay_board(replay)) != times[i])
			check(failed(&why, ERR_DIVERGED, "it does not stop"));
		states[i] = i % 5 ? 0 : state();
	}
	go(end, EVENTS_ALL, true);
	printf("%016" PRIx64 "\n", state());
	for (size_t i = count; i-- > 0;) {
		if (i % 5)
			continue;
		go(times[i], 0, false);
		if (state() != states[i])
			check(failed(&why, ERR_DIVERGED, "another state at t=%"
				     PRIu64, times[i]));
	}
	free(times);
	free(states);
}

static void say_word(const char *text)
{
	const struct board *board = machine_replay_board(replay);
	bool is_virtual = text[0] == 'v';
	uint64_t addr = strtoull(text + is_virtual, NULL, 0);
	const uint8_t *bytes = NULL;

	if (!is_virtual || board_translate(board, addr, &addr))
		bytes = board_bytes(board, addr, WORD);
	if (bytes)
		printf("%#" PRIx64 " ", addr);
	for (unsigned i = 0; bytes && i < WORD; i++)
		printf("%02x", bytes[i]);
	puts(bytes ? "" : "-");
}

static void words(char **times, size_t count, char **addrs)
{
	for (size_t i = 0; i < count; i++) {
		go(strtoull(times[i], NULL, 0), 0, true);
		for (char **addr = addrs; *addr; addr++)
			say_word(*addr);
	}
}

static uint64_t frame_time(const char *number)
{
	return recording_time(recording, (size_t)atoi(number));
}

static void say_state(uint64_t time, uint32_t events)
{
	go(time, events, true);
	printf("%016" PRIx64 "\n", state());
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	check(recording_open(&recording, argv[1], &why));
	check(machine_replay_create(&replay, recording, &why));
	if (!strcmp(argv[2], "stops") && argc == 5) {
		stops((unsigned)atoi(argv[3]), (size_t)atoi(argv[4]));
	} else if (!strcmp(argv[2], "words") && argc > 4 &&
		   argc - 4 > atoi(argv[3])) {
		words(argv + 4, (size_t)atoi(argv[3]),
		      argv + 4 + atoi(argv[3]));
	} else {
		if (!strcmp(argv[2], "frame") && argc > 3)
			go(frame_time(argv[3]), 0, false);
		for (size_t i = 1; !strcmp(argv[2], "frames") &&
				   i < recording_segments(recording); i++)
			say_state(recording_time(recording, i), 0);
		if (argc == 5)
			say_state(frame_time(argv[4]), 0);
		else
			say_state(recording_end(recording), EVENTS_ALL);
	}
	machine_replay_destroy(replay);
	recording_close(recording);
	return 0;
}
