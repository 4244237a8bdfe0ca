/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_states.c - states that a replayer is told to keep
 *
 * usage: kept_states FILE SEED COUNT [ADDR LENGTH]
 *
 * Keeps the state at so many random positions, of all segments; then goes to
 * each of them, in another order: each is where a replay starts, and there
 * registers, and memory at ADDR, of a machine a physical address, are as with a
 * replayer that keeps nothing.  Less room keeps fewer, and no room none.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/registers.h"
#include "formats/trace_layout.h"
#include "replayer/replayer.h"
#include "tests/run/check.h"

#define ROOM (UINT64_C(1) << 30)
#define GAP (UINT64_C(1) << 40)	/* none is kept by itself */

static struct recording *recording;
static uint64_t addr, length;

static uint64_t state(struct replayer *replayer)
{
	uint8_t *bytes = malloc(length + 1), *known = malloc(length + 1);
	struct reg_file regs = { 0 };
	uint64_t sum;

	if (!bytes || !known)
		check(ERR_NO_MEMORY);
	replayer_registers(replayer, &regs);
	sum = trace_checksum(regs.bytes,
			     recording_reg_table(recording)->bytes);
	if (length)
		check(replayer_read(replayer, addr, bytes, known, length,
				    &why));
	for (uint64_t i = 0; i < length; i++)
		bytes[i] = known[i] ? bytes[i] : 0;
	sum = sum * 31 + trace_checksum(bytes, length);
	free(bytes);
	free(known);
	return sum;
}

static struct replayer *make(uint64_t room)
{
	const struct address_space space = { .is_physical = true };
	struct replayer *replayer;

	check(replayer_create(&replayer, recording, &why));
	replayer_keep_points(replayer, room, GAP);
	if (recording_is_machine(recording))
		replayer_use_space(replayer, &space);
	return replayer;
}

static uint64_t random_below(uint64_t end)
{
	return ((uint64_t)random() << 31 | (uint64_t)random()) % end;
}

static bool starts_at(struct replayer *replayer, uint64_t time)
{
	const struct position at = { time, 0 };
	uint64_t start;

	check(replayer_start_time(replayer, &at, &start, &why));
	return start == time;
}

static size_t count_starts(struct replayer *replayer, const uint64_t *times,
			   size_t count)
{
	size_t starts = 0;

	for (size_t i = 0; i < count; i++)
		starts += starts_at(replayer, times[i]);
	return starts;
}

static void compare(struct replayer *replayer, const uint64_t *times,
		    const uint64_t *states, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t which = i * 7 % count;
		const struct position at = { times[which], 0 };

		check(replayer_seek(replayer, &at, &why));
		if (state(replayer) != states[which])
			check(failed(&why, ERR_DIVERGED, "another state at t=%"
				     PRIu64, times[which]));
	}
}

static void keep(size_t count)
{
	uint64_t end = recording_end(recording), *times, *states;
	struct replayer *plain = make(0), *keeping = make(ROOM);
	size_t all, some;

	times = calloc(count, sizeof(*times));
	states = calloc(count, sizeof(*states));
	if (!times || !states)
		check(ERR_NO_MEMORY);
	for (size_t i = 0; i < count; i++) {
		const struct position at = { times[i] = random_below(end), 0 };

		check(replayer_seek(plain, &at, &why));
		states[i] = state(plain);
		check(replayer_seek(keeping, &at, &why));
		check(replayer_keep_point(keeping, &why));
	}
	all = count_starts(keeping, times, count);
	compare(keeping, times, states, count);
	printf("%zu of %zu are kept\n", all, count);
	if (all != count || count_starts(plain, times, count))
		check(failed(&why, ERR_DIVERGED, "not as told"));
	for (uint64_t room = ROOM; room; room /= 2) {
		replayer_keep_points(keeping, room, GAP);
		some = count_starts(keeping, times, count);
		if (some > all)
			check(failed(&why, ERR_DIVERGED, "more in less room"));
		all = some;
	}
	replayer_keep_points(keeping, 0, GAP);
	if (count_starts(keeping, times, count))
		check(failed(&why, ERR_DIVERGED, "some without room"));
	compare(keeping, times, states, count);
	replayer_destroy(plain);
	replayer_destroy(keeping);
	free(times);
	free(states);
}

int main(int argc, char **argv)
{
	if (argc != 4 && argc != 6)
		return 2;
	if (argc == 6) {
		addr = strtoull(argv[4], NULL, 0);
		length = strtoull(argv[5], NULL, 0);
	}
	srandom((unsigned)atoi(argv[2]));
	check(recording_open(&recording, argv[1], &why));
	keep((size_t)atoi(argv[3]));
	recording_close(recording);
	return 0;
}
