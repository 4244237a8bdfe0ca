/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bit-fields, and neighbours in the same bytes. */
#include <stdio.h>
#include <string.h>

struct state {
	unsigned ready : 1;
	unsigned level : 3;
	int temper : 4;			/* signed */
	unsigned wide : 13;		/* in three bytes */
	unsigned long long far : 40;
	struct {
		unsigned inner : 2;
	};
};

static struct state state;

static void set(struct state *s, int i)
{
	s->ready = i & 1;		/* ready */
	s->level = i;			/* level */
	s->temper = -i;			/* temper */
	s->wide = 1000 * i;		/* wide */
	s->far = 7000000000ull * i;	/* far */
	s->inner = i;			/* inner */
	s->ready = i & 1;
}

int main(void)
{
	struct state own = { 0 }, copy;

	for (int i = 0; i < 6; i++) {
		set(&state, i);
		set(&own, i / 2);
	}
	copy = own;
	memset(&state, 0, sizeof(state));	/* cleared */
	printf("%d %d\n", copy.level, state.wide);
	return 0;
}
