/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moments.c - see moments.h */
#include "formats/moments.h"

#include <assert.h>
#include <stdlib.h>

#include "formats/error.h"

void moments_encode(struct output *out, const struct moment *list,
		    size_t count)
{
	struct moment before = { 0 };

	for (size_t i = 0; i < count; i++) {
		assert(list[i].time >= before.time);
		output_varint(out, list[i].time - before.time);
		output_signed(out, (int64_t)((uint64_t)list[i].clock -
					     (uint64_t)before.clock));
		before = list[i];
	}
}

static int take_moments(struct input *in, struct moment *list, size_t *count)
{
	struct moment before = { 0 };

	for (*count = 0; input_left(in); ++*count) {
		uint64_t later = input_varint(in);
		uint64_t clock = (uint64_t)input_signed(in);

		if (in->error)
			return in->error;
		if (later > UINT64_MAX - before.time)
			return ERR_CORRUPT;
		before.time += later;
		before.clock = (int64_t)((uint64_t)before.clock + clock);
		list[*count] = before;
	}
	return 0;
}

int moments_decode(struct moment **list, size_t *count, const uint8_t *bytes,
		   size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	int rc;

	/* An item has two bytes at least. */
	*list = calloc(size / 2 + 1, sizeof(**list));
	if (!*list)
		return ERR_NO_MEMORY;
	rc = take_moments(&in, *list, count);
	if (rc) {
		free(*list);
		*list = NULL;
		*count = 0;
	}
	return rc;
}
