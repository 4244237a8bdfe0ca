/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of libraries: through the linkage table, by a pointer, and back. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compared;

static int by_length(const void *left, const void *right)
{
	size_t one = strlen(*(char *const *)left);
	size_t other = strlen(*(char *const *)right);

	compared++;
	return (one > other) - (one < other);
}

static char *joined(char **words, size_t count)
{
	char *out = calloc(64, 1);

	for (size_t i = 0; i < count; i++) {
		memcpy(out + strlen(out), words[i], strlen(words[i]) + 1);
		out[strlen(out)] = i + 1 < count ? ' ' : 0;
	}
	return out;
}

static void farewell(void)
{
	puts("done");
}

int main(void)
{
	char *words[] = {"three", "four", "a", "of"};
	char *(*find)(const char *, int) = strchr;
	char *text;

	atexit(farewell);
	qsort(words, 4, sizeof words[0], by_length);
	text = joined(words, 4);
	printf("%s, %d: %s\n", text, compared, find(text, 'f'));
	free(text);
	return 0;
}
