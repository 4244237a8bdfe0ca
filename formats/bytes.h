/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * bytes.h - taking values from unchecked bytes, and putting them into bytes
 *
 * `struct input` is the only gate through which the bytes of a file become
 * values.  Its error is sticky: take a whole structure, then look once.
 * `struct output` is its mirror; it grows by itself, and its error is sticky
 * too.  Integers are little-endian; a varint is LEB128 in its shortest form,
 * at most 64 bits.  A signed varint is zigzag-coded first.
 *
 * Units:      sizes and counts are bytes.
 * Ownership:  an input borrows its bytes.  An output owns `bytes` until
 *             output_release(); a zeroed output is an empty one.
 * Errors:     ERR_TRUNCATED, ERR_CORRUPT (input); ERR_NO_MEMORY (output).
 */
#ifndef CPREC_FORMATS_BYTES_H
#define CPREC_FORMATS_BYTES_H

#include <stddef.h>
#include <stdint.h>

struct input {
	const uint8_t *at;	/* next byte to take */
	const uint8_t *end;	/* one past the last byte */
	int error;		/* first failure, or 0 */
};

static inline size_t input_left(const struct input *in)
{
	return (size_t)(in->end - in->at);
}

/* Takes `count` bytes.  The result points into the input; NULL on failure. */
const uint8_t *input_bytes(struct input *in, uint64_t count);

/* Takes an integer of `width` bytes, 1 to 8. */
uint64_t input_uint(struct input *in, unsigned width);

/* Takes a varint; any form but the shortest is ERR_CORRUPT. */
uint64_t input_varint(struct input *in);

/* Takes a zigzag-coded varint. */
int64_t input_signed(struct input *in);

/*
 * Takes a varint that must not be above `most` (else ERR_CORRUPT, result 0):
 * the check that a count needs before it is trusted.
 */
uint64_t input_count(struct input *in, uint64_t most);

/*
 * Takes a text: its size as a varint, at most `most`, and as many bytes, none
 * of which is NUL.  The result has no NUL at its end either.
 */
const char *input_text(struct input *in, uint64_t most, size_t *size);

struct output {
	uint8_t *bytes;
	size_t size;		/* bytes put so far */
	size_t capacity;
	int error;		/* 0 or ERR_NO_MEMORY */
};

void output_bytes(struct output *out, const void *bytes, size_t count);
void output_uint(struct output *out, uint64_t value, unsigned width);
void output_varint(struct output *out, uint64_t value);
void output_signed(struct output *out, int64_t value);

void output_text(struct output *out, const char *text, size_t size);

/* Makes room for `count` bytes and returns where they go; NULL on failure. */
uint8_t *output_space(struct output *out, size_t count);

/* Forgets the contents, keeps the memory. */
static inline void output_clear(struct output *out)
{
	out->size = 0;
	out->error = 0;
}

void output_release(struct output *out);

#endif
