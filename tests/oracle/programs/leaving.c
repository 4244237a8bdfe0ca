/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that leave in every way a compiler knows: what they do last is to be
 * seen before they do.  All work on one state, whatever they are given.
 */
#include "tests/oracle/programs/oracle.h"

struct state {
	long a, b, c;
};

struct state state = { 1, 2, 3 };
long table[8] = { 3, 1, 4, 1, 5, 9, 2, 6 };
static uint64_t random_state = 7;

KEEP long next_random(long most)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (long)(random_state >> 33) % most;
}

/* Nothing is behind its last statement but the return. */
KEEP void plain(struct state *p)
{
	p->b++;
	p->a += 2;
}

KEEP void branch(struct state *p)
{
	p->a++;
	if (p->a % 3)
		p->b = -p->b;
}

/* What it called has done, or what it does behind that. */
KEEP void behind_call(struct state *p)
{
	branch(p);
	p->a += 2;
}

KEEP void by_call(struct state *p)
{
	p->c++;
	plain(p);
}

/* A jump to another function, on a condition. */
KEEP void tail(struct state *p)
{
	p->a ^= 5;
	if (p->b & 1)
		plain(p);
	else
		branch(p);
}

/* Variables are in registers that others keep. */
KEEP long saved(struct state *p)
{
	long one = next_random(9), two = next_random(7);

	p->b = one;
	p->c += next_random(5) * two;
	p->a = one + two;
	return p->c;
}

/* Some paths need no frame. */
KEEP long wrapped(struct state *p, long number)
{
	if (number < 3) {
		p->a -= number;
		return number;
	}
	for (long i = 0; i < number; i++)
		p->b += next_random(4) + i;
	p->a = p->b - number;
	return p->b;
}

static inline void bump(struct state *p)
{
	p->a += table[p->a & 7];
}

static inline void bump_away(struct state *p)
{
	p->c -= 3;
	plain(p);
}

/* The last thing is a function that is inlined. */
KEEP void inlined(struct state *p)
{
	p->b ^= 1;
	bump(p);
}

KEEP void inlined_away(struct state *p)
{
	p->a = -p->a;
	bump_away(p);
}

/* A part that the compiler puts elsewhere. */
__attribute__((cold)) KEEP void rarely(struct state *p)
{
	p->b = 0;
}

KEEP void split(struct state *p)
{
	p->a++;
	if (p->a % 7 == 0) {
		rarely(p);
		p->a += 4;
		p->c++;
	}
}

KEEP void chosen(struct state *p, long which)
{
	switch (which) {
	case 0:
		p->a = 8;
		break;
	case 1:
		p->b += p->a;
		return;
	case 2:
		plain(p);
		break;
	case 3:
		p->c = p->b;
		p->a++;
		break;
	case 4:
		p->a = p->c;
		return;
	default:
		p->a <<= 1;
		p->a %= 1000;
	}
}

KEEP long recursive(struct state *p, long depth)
{
	p->a += depth;
	if (depth > 0)
		p->b += recursive(p, depth - 1);
	p->a -= 2 * depth;
	return p->a & 3;
}

int guest(void)
{
	struct state *p = &state;

	OPAQUE(p);
	for (int i = 0; i < 30; i++) {
		plain(p);
		behind_call(p);
		by_call(p);
		tail(p);
		saved(p);
		wrapped(p, next_random(6));
		inlined(p);
		inlined_away(p);
		split(p);
		chosen(p, next_random(6));
		recursive(p, next_random(3));
	}
	return 0;
}

void on_signal(int number)
{
	(void)number;
}
