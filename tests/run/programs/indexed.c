/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * indexed.c - lines of memory that a few instructions access: see index.py
 *
 * One word of each line is written, twice, and read in the end, in an order in
 * which neighbours are far apart in time.  A line of output is behind each round.
 */
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#define LINES 32768u		/* of 64 bytes: two megabytes */
#define STEP 7919u		/* a prime: the rounds come to each line */

struct line {
	uint32_t words[16];
};

volatile struct line table[LINES] __attribute__((aligned(4096)));
static volatile uint32_t sum;

static void say(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		_exit(2);
}

/* Some hundred thousand instructions that access nothing else. */
static void pass_time(void)
{
	for (unsigned i = 0; i < 100000; i++)
		sum++;
}

static void fill(uint32_t round)
{
	for (uint32_t i = 0, line = 0; i < LINES; i++) {
		line = (line + STEP) % LINES;
		table[line].words[line % 16] = round << 16 | line / 64;
	}
}

static void add_up(void)
{
	for (uint32_t i = 0, line = 0; i < LINES; i++) {
		line = (line + STEP) % LINES;
		sum += table[line].words[line % 16];
	}
}

int main(void)
{
	say("begun\n");
	pass_time();
	fill(1);
	say("filled\n");
	pass_time();
	fill(2);
	say("filled again\n");
	pass_time();
	add_up();
	say("added up\n");
	return 0;
}
