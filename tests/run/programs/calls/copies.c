/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Optimizers inline these functions and move their first instructions, for
 * calls.py.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct item {
	int id;
	struct item *next;
};

static struct item *head;
static unsigned seed = 1;

static void *get_room(size_t size)
{
	void *room = malloc(size);

	if (!room)
		abort();
	return room;
}

/* At its first instruction, get_room() begins. */
static struct item *push(int id)
{
	struct item *item = get_room(sizeof(*item));

	item->id = id;
	item->next = head;
	head = item;
	return item;
}

/* The first instruction of get_room() comes before its code. */
static char *copy(const char *text)
{
	size_t size = strlen(text) + 1;
	char *room = get_room(size);

	memcpy(room, text, size);
	return room;
}

/* What it reads is read once for each loop. */
static unsigned draw(void)
{
	seed = seed * 1103515245 + 12345;
	return seed >> 8;
}

struct word {
	unsigned kind, length;
};

static const struct word words[] = { { 1, 4 }, { 0, 5 }, { 2, 3 } };
static const char *const kinds[] = { "noun", "verb", "other" };

static unsigned kind_of(const struct word *word)
{
	return word->kind;
}

/* One instruction reads the kind and is of this function: none is of kind_of(). */
__attribute__((noinline)) static const char *name_of(const struct word *word)
{
	return kinds[kind_of(word)];
}

int main(int argc, char **argv)
{
	char *texts[3];
	unsigned sum = 0;

	for (int i = 0; i < 4; i++)
		push(i * argc);
	for (int i = 0; i < 3; i++)
		texts[i] = copy(argv[i % argc]);
	for (int i = 0; i < 30; i++)
		sum ^= draw();
	for (int i = 0; i < 20; i++)
		sum += draw();
	for (int i = 0; i < 3 * argc; i++) {
		sum += kind_of(&words[i % 3]);
		puts(name_of(&words[i % 3]));
	}
	printf("%s%s%s %d %u\n", texts[0], texts[1], texts[2], head->id, sum);
	return 0;
}
