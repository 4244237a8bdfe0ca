/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * errors.c - does to its heap what must not be done
 *
 * Comments say what and where: "allocated: NAME", "freed: NAME", and for an
 * error its kind and the name.  An argument is for what makes an allocator give
 * up.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

static char *volatile kept[32];
static int kept_count;

static char *keep(char *block)
{
	kept[kept_count++] = block;
	return block;
}

static void behind(void)
{
	char *text = malloc(13); /* allocated: text */

	for (int i = 0; i < 14; i++)
		text[i] = 0; /* write_behind: text */
}

static void before(void)
{
	char *numbers = calloc(10, 4); /* allocated: numbers */

	numbers[-1] = 0; /* write_before: numbers */
}

/* Later ones do not take its place: it is not of their sizes. */
static void into_freed(void)
{
	long *list = malloc(408); /* allocated: list */

	keep(malloc(408));
	free(list); /* freed: list */
	list[40] = 3; /* write_freed: list */
}

static void by_kernel(void)
{
	char *page = malloc(1001); /* allocated: page */
	char *small = malloc(10); /* allocated: small */
	char *rest = malloc(20001); /* allocated: rest */
	struct iovec vectors[] = { { keep(page), 1000 }, { small, 11 } };
	int zeros = open("/dev/zero", O_RDONLY);

	readv(zeros, vectors, 2); /* write_behind: small */
	read(zeros, rest, 20002); /* write_behind: rest */
	close(zeros);
}

/* There is room, but it is not the program's until it has asked for it. */
static void use_all(void)
{
	char *room = malloc(13); /* allocated: room */
	size_t size;

	room[14] = 0; /* write_behind: room */
	size = malloc_usable_size(room);
	memset(keep(room), 1, size);
}

static void resized(void)
{
	char *less = malloc(400);

	less = realloc(less, 53); /* allocated: less */
	less[54] = 1; /* write_behind: less */
	less = realloc(less, 5000);
	less[4999] = 1;
	free(less);
	keep(malloc(0));
	free(NULL);
	keep(reallocarray(NULL, 5, 7));
	keep(memalign(64, 3));
	keep(strdup("a text"));
}

/* What is written between blocks of one size is behind the one before. */
static void many(void)
{
	for (int i = 0; i < 10; i++) {
		short *number = malloc(18); /* allocated: number */

		number[9] = 5; /* write_behind: number */
	}
}

static char *take(void)
{
	return keep(malloc(24)); /* allocated: label */
}

/* The same code, that is memset(), writes and allocates for two. */
static void of_two(void)
{
	char *one = take(), *other = take();

	memset(one, 1, 25); /* write_behind: label */
	memset(other, 2, 25); /* write_behind: label */
}

static void free_wrongly(char how)
{
	static long none[8];
	char *block = malloc(40); /* allocated: block */

	if (how == 'i')
		free(block + 16); /* free_inside: block */
	if (how == 'n')
		free(none + 2); /* free_nothing: */
	if (how == 't') {
		free(block); /* freed: block */
		free(block); /* free_twice: block */
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		free_wrongly(*argv[1]);
	behind();
	before();
	into_freed();
	by_kernel();
	use_all();
	resized();
	many();
	of_two();
	return 0;
}
