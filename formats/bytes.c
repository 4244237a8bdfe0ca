/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bytes.c - see bytes.h */
#include "formats/bytes.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

const uint8_t *input_bytes(struct input *in, uint64_t count)
{
	const uint8_t *taken = in->at;

	if (in->error)
		return NULL;
	/* Compare with what is left: `at + count` might wrap around. */
	if (count > input_left(in)) {
		in->error = ERR_TRUNCATED;
		return NULL;
	}
	if (count)
		in->at += count;
	return taken;
}

uint64_t input_uint(struct input *in, unsigned width)
{
	const uint8_t *bytes = input_bytes(in, width);
	uint64_t value = 0;

	assert(1 <= width && width <= 8);
	if (!bytes)
		return 0;
	for (unsigned i = width; i-- > 0;)
		value = value << 8 | bytes[i];
	return value;
}

static uint64_t input_byte(struct input *in)
{
	if (in->error)
		return 0;
	if (in->at == in->end) {
		in->error = ERR_TRUNCATED;
		return 0;
	}
	return *in->at++;
}

uint64_t input_varint(struct input *in)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = input_byte(in);
		uint64_t bits = byte & 0x7f;

		if (in->error)
			return 0;
		if (bits << shift >> shift != bits)
			break;		/* more than 64 bits */
		if (byte == 0 && shift > 0)
			break;		/* a shorter form exists */
		value |= bits << shift;
		if (byte < 0x80)
			return value;
	}
	in->error = ERR_CORRUPT;
	return 0;
}

int64_t input_signed(struct input *in)
{
	uint64_t coded = input_varint(in);

	return (int64_t)(coded >> 1 ^ -(coded & 1));
}

uint64_t input_count(struct input *in, uint64_t most)
{
	uint64_t count = input_varint(in);

	if (count <= most)
		return count;
	if (!in->error)
		in->error = ERR_CORRUPT;
	return 0;
}

const char *input_text(struct input *in, uint64_t most, size_t *size)
{
	uint64_t count = input_count(in, most);
	const uint8_t *bytes = input_bytes(in, count);

	*size = 0;
	if (in->error)
		return NULL;
	if (count && memchr(bytes, 0, count)) {
		in->error = ERR_CORRUPT;
		return NULL;
	}
	*size = count;
	return (const char *)bytes;
}

/* Room for `more` bytes; the size at least doubles, so puts are cheap. */
static int output_grow(struct output *out, size_t more)
{
	size_t capacity = out->capacity < 64 ? 64 : out->capacity;
	uint8_t *bytes;

	while (capacity - out->size < more) {
		if (capacity > SIZE_MAX / 2)
			return ERR_NO_MEMORY;
		capacity *= 2;
	}
	bytes = realloc(out->bytes, capacity);
	if (!bytes)
		return ERR_NO_MEMORY;
	out->bytes = bytes;
	out->capacity = capacity;
	return 0;
}

uint8_t *output_space(struct output *out, size_t count)
{
	uint8_t *space;

	if (out->error)
		return NULL;
	if (!out->bytes || out->capacity - out->size < count) {
		out->error = output_grow(out, count);
		if (out->error)
			return NULL;
	}
	space = out->bytes + out->size;
	out->size += count;
	return space;
}

void output_bytes(struct output *out, const void *bytes, size_t count)
{
	uint8_t *space = output_space(out, count);

	if (space && count)
		memcpy(space, bytes, count);
}

void output_uint(struct output *out, uint64_t value, unsigned width)
{
	uint8_t *space = output_space(out, width);

	assert(1 <= width && width <= 8);
	assert(width == 8 || value >> 8 * width == 0);
	if (!space)
		return;
	for (unsigned i = 0; i < width; i++)
		space[i] = (uint8_t)(value >> 8 * i);
}

void output_varint(struct output *out, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	while (value >= 0x80) {
		bytes[count++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	bytes[count++] = (uint8_t)value;
	output_bytes(out, bytes, count);
}

void output_signed(struct output *out, int64_t value)
{
	uint64_t bits = (uint64_t)value;

	output_varint(out, bits << 1 ^ -(bits >> 63));
}

void output_text(struct output *out, const char *text, size_t size)
{
	output_varint(out, size);
	output_bytes(out, text, size);
}

void output_release(struct output *out)
{
	free(out->bytes);
	*out = (struct output){ 0 };
}
