/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * files.c - firmware with a file of who runs it, by semihosting: it is written,
 * read at places, and closed, with waits in between
 */
#include "firmware.h"

enum { OPEN = 1, CLOSE, WRITE = 5, READ, SEEK = 10, LENGTH = 12, ERROR = 19,
       COMMAND_LINE = 21 };

#define ROUNDS 12u

static volatile uint32_t ticks;
static char text[64];

HANDLER(timer0)
{
	ticks++;
	TIMER0_INTCLEAR = 1;
}

static uint32_t ask(uint32_t number, const void *block)
{
	register uint32_t operation __asm__("r0") = number;
	register const void *argument __asm__("r1") = block;

	__asm__ volatile("bkpt 0xab" : "+r"(operation) : "r"(argument)
			 : "memory");
	return operation;
}

static uint32_t ask_file(uint32_t number, uint32_t first, const void *second,
			 uint32_t third)
{
	const uint32_t block[3] = { first, (uint32_t)second, third };

	return ask(number, block);
}

static uint32_t open_file(const char *name, uint32_t size, uint32_t mode)
{
	const uint32_t block[3] = { (uint32_t)name, mode, size };

	return ask(OPEN, block);
}

static void rest(void)
{
	uint32_t until = ticks + 2;

	while (ticks < until)
		__asm__ volatile("wfi");
}

static void show(uint32_t file, uint32_t at, uint32_t size)
{
	uint32_t left;

	ask_file(SEEK, file, (void *)at, 0);
	left = ask_file(READ, file, text, size);
	text[size - left] = 0;
	say(text);
}

int main(void)
{
	const uint32_t arguments[2] = { (uint32_t)text, sizeof(text) };
	char line[] = "line a\n";
	uint32_t file, missing;

	TIMER0_RELOAD = 200;
	TIMER0_CTRL = 9;
	NVIC_ISER = 1u << 8;
	file = open_file("kept.txt", 8, 6);		/* w+ */
	missing = open_file("nowhere/kept.txt", 16, 0);
	rest();
	say_value("error", ask(ERROR, 0));
	for (uint32_t i = 0; i < ROUNDS; i++) {
		ask_file(WRITE, file, line, 7);
		line[5]++;
		rest();
		say(".");
	}
	say("\n");
	for (uint32_t i = 0; i < ROUNDS; i += 3) {
		show(file, 7 * i, 7);
		rest();
	}
	say_value("length", ask_file(LENGTH, file, 0, 0));
	/* The one before is still open; of two, the other one is meant. */
	missing += open_file("kept.txt", 8, 0) == file + 1;
	rest();
	say_value("closed", ask_file(CLOSE, file, 0, 0));
	rest();
	show(file + 1, 70, 14);
	say_value("again", ask_file(CLOSE, file, 0, 0));
	rest();
	say_value("why", ask(ERROR, 0));
	say_value("missing", missing);
	ask(COMMAND_LINE, arguments);
	say(text);
	return 0;
}
