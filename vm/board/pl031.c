/* SPDX-License-Identifier: GPL-2.0-or-later */
/* pl031.c - see pl031.h */
#include "vm/board/pl031.h"

#include "vm/board/state.h"

enum {
	RTCDR = 0x00, RTCMR = 0x04, RTCLR = 0x08, RTCCR = 0x0c,
	IDENTITY_START = 0xfe0, IDENTITY_END = 0x1000,
};

void pl031_init(struct pl031 *clock, uint64_t start,
		uint64_t (*seconds)(const void *context), const void *context)
{
	*clock = (struct pl031){
		.offset = start, .seconds = seconds, .context = context,
	};
}

void pl031_follow(struct pl031 *clock, uint64_t seconds)
{
	clock->offset = seconds - clock->seconds(clock->context);
}

uint64_t pl031_read(void *context, uint64_t offset, unsigned size)
{
	static const uint8_t identity[] = { 0x31, 0x10, 0x04, 0x00,
					    0x0d, 0xf0, 0x05, 0xb1 };
	const struct pl031 *clock = context;

	(void)size;
	if (offset >= IDENTITY_START && offset < IDENTITY_END)
		return identity[(offset - IDENTITY_START) / 4];
	switch (offset) {
	case RTCDR:
		return (uint32_t)(clock->offset +
				  clock->seconds(clock->context));
	case RTCMR:
		return clock->match;
	case RTCLR:
		return clock->load;
	case RTCCR:
		return 1;	/* it runs */
	default:
		return 0;
	}
}

void pl031_write(void *context, uint64_t offset, unsigned size, uint64_t value)
{
	struct pl031 *clock = context;

	(void)size;
	if (offset == RTCMR)
		clock->match = (uint32_t)value;
	if (offset != RTCLR)
		return;
	clock->load = (uint32_t)value;
	clock->offset = clock->load - clock->seconds(clock->context);
}

void pl031_state(struct pl031 *clock, struct state *state)
{
	state_device(state, "pl031", 0);
	STATE_NUMBER(state, clock->offset, UINT64_MAX);
	STATE_NUMBER(state, clock->match, UINT32_MAX);
	STATE_NUMBER(state, clock->load, UINT32_MAX);
}
