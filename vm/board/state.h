/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * state.h - what devices are, as numbers with names
 *
 * One function of a device names its parts, and is used both ways: to write
 * them, and to read them again.  What was written without a part leaves it as
 * it is, and a part that the device does not have any more is passed over: so a
 * device can be changed, and still reads what it wrote.
 *
 * Ownership:  the bytes, and the output, are the caller's.
 * Errors:     what makes no sense is not read, and told by `damaged`.
 */
#ifndef CPREC_VM_BOARD_STATE_H
#define CPREC_VM_BOARD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output;

struct state {
	struct output *out;	/* it is written; NULL: it is read */
	const uint8_t *bytes;	/* from these */
	size_t size;
	bool damaged;

	const char *device;	/* whose parts come next: its name, */
	unsigned number;	/* and which one it is of this name */
};

/* Numbers of one kind, which are at equal distances in memory. */
struct state_part {
	const char *name;
	void *first;
	size_t size;		/* of each: 1, 2, 4 or 8 */
	size_t count, stride;
	uint64_t most;		/* no number is larger */
};

/* To be written to; to be read, `damaged` if that is no state. */
struct state state_to(struct output *out);
struct state state_from(const uint8_t *bytes, size_t size);

void state_device(struct state *state, const char *name, unsigned number);
void state_part(struct state *state, const struct state_part *part);

/* A number; an array of numbers; a member of each structure of an array. */
#define STATE_NUMBER(state, number, limit)                                     \
	state_part(state, &(struct state_part){                                \
		.name = #number, .first = &(number), .size = sizeof(number),   \
		.count = 1, .most = (limit) })
#define STATE_ARRAY(state, array, limit)                                       \
	state_part(state, &(struct state_part){                                \
		.name = #array, .first = (array), .size = sizeof((array)[0]),  \
		.count = sizeof(array) / sizeof((array)[0]),                   \
		.stride = sizeof((array)[0]), .most = (limit) })
#define STATE_MEMBERS(state, array, member, limit)                             \
	state_part(state, &(struct state_part){                                \
		.name = #array "." #member, .first = &(array)[0].member,       \
		.size = sizeof((array)[0].member),                             \
		.count = sizeof(array) / sizeof((array)[0]),                   \
		.stride = sizeof((array)[0]), .most = (limit) })

#endif
