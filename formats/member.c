/* SPDX-License-Identifier: GPL-2.0-or-later */
/* member.c - see member.h */
#include "formats/member.h"

#include <string.h>

#include "formats/error.h"

static int end(const struct input *in)
{
	if (in->error)
		return in->error;
	return input_left(in) ? ERR_CORRUPT : 0;
}

void member_encode(struct output *out, const struct member *member)
{
	output_varint(out, member->name.pid);
	output_varint(out, member->name.turn);
	output_bytes(out, member->run, sizeof(member->run));
}

int member_decode(struct member *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	const uint8_t *run;

	out->name.pid = (uint32_t)input_count(&in, UINT32_MAX);
	out->name.turn = (uint32_t)input_count(&in, UINT32_MAX);
	run = input_bytes(&in, sizeof(out->run));
	if (!run)
		return in.error;
	memcpy(out->run, run, sizeof(out->run));
	return out->name.pid ? end(&in) : ERR_CORRUPT;
}

void symbols_at_encode(struct output *out, const struct symbols_at *at)
{
	output_varint(out, at->member);
	output_varint(out, at->offset);
}

int symbols_at_decode(struct symbols_at *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };

	out->member = (uint32_t)input_count(&in, UINT32_MAX);
	out->offset = input_varint(&in);
	if (!in.error && !out->member)
		return ERR_CORRUPT;
	return end(&in);
}
