/* SPDX-License-Identifier: GPL-2.0-or-later */
/* state.c - see state.h */
#include "vm/board/state.h"

#include <stdio.h>
#include <string.h>

#include "formats/bytes.h"
#include "formats/error.h"

#define NAME_MOST 80u
#define PARTS_MOST 4096u

/* A part as bytes. */
struct written {
	const char *name;
	size_t name_size;
	unsigned size;
	uint64_t count;
	const uint8_t *numbers;
};

static void take(struct input *in, struct written *out)
{
	out->name = input_text(in, NAME_MOST, &out->name_size);
	out->size = (unsigned)input_uint(in, 1);
	if (!in->error && (out->size > 8 || !out->size ||
			   (out->size & (out->size - 1))))
		in->error = ERR_CORRUPT;
	out->count = input_varint(in);
	if (!in->error && out->count > input_left(in) / out->size)
		in->error = ERR_TRUNCATED;
	if (!in->error)
		out->numbers = input_bytes(in, out->count * out->size);
}

struct state state_to(struct output *out)
{
	return (struct state){ .out = out };
}

struct state state_from(const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct written part;
	unsigned count = 0;

	while (input_left(&in) && !in.error && count++ < PARTS_MOST)
		take(&in, &part);
	return (struct state){ .bytes = bytes, .size = size,
			       .damaged = in.error || input_left(&in) };
}

void state_device(struct state *state, const char *name, unsigned number)
{
	state->device = name;
	state->number = number;
}

/* A number of the guest's machine, in memory of this one. */
static uint64_t get(const void *at, size_t size)
{
	uint8_t byte;
	uint16_t half;
	uint32_t word;
	uint64_t number;

	switch (size) {
	case 1:
		memcpy(&byte, at, size);
		return byte;
	case 2:
		memcpy(&half, at, size);
		return half;
	case 4:
		memcpy(&word, at, size);
		return word;
	default:
		memcpy(&number, at, sizeof(number));
		return number;
	}
}

static void set(void *at, size_t size, uint64_t number)
{
	uint8_t byte = (uint8_t)number;
	uint16_t half = (uint16_t)number;
	uint32_t word = (uint32_t)number;

	switch (size) {
	case 1:
		memcpy(at, &byte, size);
		break;
	case 2:
		memcpy(at, &half, size);
		break;
	case 4:
		memcpy(at, &word, size);
		break;
	default:
		memcpy(at, &number, sizeof(number));
	}
}

static void *place(const struct state_part *part, size_t i)
{
	return (uint8_t *)part->first + i * part->stride;
}

static void write_part(const struct state *state, const char *name,
		       const struct state_part *part)
{
	output_text(state->out, name, strlen(name));
	output_uint(state->out, part->size, 1);
	output_varint(state->out, part->count);
	for (size_t i = 0; i < part->count; i++)
		output_uint(state->out, get(place(part, i), part->size),
			    (unsigned)part->size);
}

static bool find(const struct state *state, const char *name,
		 struct written *out)
{
	struct input in = { state->bytes, state->bytes + state->size, 0 };
	size_t size = strlen(name);

	while (input_left(&in)) {
		take(&in, out);
		if (out->name_size == size && !memcmp(out->name, name, size))
			return true;
	}
	return false;
}

static uint64_t largest(const struct state_part *part)
{
	uint64_t fits = UINT64_MAX >> 8 * (sizeof(uint64_t) - part->size);

	return part->most < fits ? part->most : fits;
}

static void read_part(struct state *state, const char *name,
		      const struct state_part *part)
{
	struct written written;
	struct input in;

	if (state->damaged || !find(state, name, &written))
		return;
	in = (struct input){ written.numbers, written.numbers +
			     written.count * written.size, 0 };
	for (size_t i = 0; i < part->count && i < written.count; i++) {
		uint64_t number = input_uint(&in, written.size);

		if (number > largest(part))
			state->damaged = true;
		else
			set(place(part, i), part->size, number);
	}
}

void state_part(struct state *state, const struct state_part *part)
{
	const char *member = strstr(part->name, "->");
	char name[NAME_MOST];

	snprintf(name, sizeof(name), "%s%u.%s", state->device, state->number,
		 member ? member + 2 : part->name);
	if (state->out)
		write_part(state, name, part);
	else
		read_part(state, name, part);
}
