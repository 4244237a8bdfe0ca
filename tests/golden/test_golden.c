/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * test_golden.c - the golden traces still read as they did
 *
 * good/NAME.cpr must print as good/NAME.txt, and bad/NAME.cpr must fail with
 * the message in bad/NAME.txt.  The file that trace-format.md shows must be
 * good/example.cpr, and the contents that it shows those of examples.c.
 * `test_golden FOLDER FORMAT` runs it; `test_golden FOLDER --print FILE` prints
 * what a text is compared with.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/error.h"
#include "tests/golden/examples.h"
#include "tests/golden/print_trace.h"
#include "tests/unit/table.h"

struct row {
	const char *name;
	int expected;
};

static const struct row rows[] = {
	{ "good/example", 0 },
	{ "good/all", 0 },
	{ "good/threads", 0 },
	{ "good/programs", 0 },
	{ "good/moments", 0 },
	{ "good/member", 0 },
	{ "good/later", 0 },
	{ "good/killed", 0 },
	{ "good/cut", 0 },
	{ "good/footer", 0 },
	{ "good/trailer", 0 },
	{ "bad/empty", ERR_TRUNCATED },
	{ "bad/not-a-trace", ERR_CORRUPT },
	{ "bad/cut-in-header", ERR_TRUNCATED },
	{ "bad/newer", ERR_VERSION },
	{ "bad/older", ERR_VERSION },
	{ "bad/parallel", ERR_VERSION },
	{ "bad/devices", ERR_CORRUPT },
	{ "bad/physical", ERR_CORRUPT },
	{ "bad/ring", ERR_VERSION },
	{ "bad/feature", ERR_VERSION },
	{ "bad/header", ERR_CHECKSUM },
	{ "bad/content", ERR_CHECKSUM },
	{ "bad/chunk-header", ERR_CHECKSUM },
	{ "bad/packet", ERR_CORRUPT },
	{ "bad/key-frame", ERR_TRUNCATED },
	{ "bad/index", ERR_CORRUPT },
	{ "bad/symbols", ERR_CORRUPT },
};

static const char *format;	/* path of trace-format.md */

static char *load(const char *name, size_t *size)
{
	FILE *file = fopen(name, "rb");
	char *bytes = malloc(1 << 20);

	assert_non_null(bytes);
	if (!file)
		fail_msg("cannot open '%s'", name);
	*size = fread(bytes, 1, (1 << 20) - 1, file);
	bytes[*size] = '\0';
	fclose(file);
	return bytes;
}

/* The text of a good trace, or the message about a bad one. */
static char *describe(const char *name, int *rc)
{
	struct failure why = { "" };
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	*rc = print_trace(out, name, &why);
	fclose(out);
	if (!*rc)
		return text;
	free(text);
	assert_true(asprintf(&text, "%s\n", why.text) > 0);
	return text;
}

static void golden_row(void **state)
{
	const struct row *row = *state;
	char trace[64], expected[64];
	size_t size;
	char *text, *found;
	int rc;

	snprintf(trace, sizeof(trace), "%s.cpr", row->name);
	snprintf(expected, sizeof(expected), "%s.txt", row->name);
	text = load(expected, &size);
	found = describe(trace, &rc);
	assert_int_equal(rc, row->expected);
	assert_string_equal(found, text);
	free(found);
	free(text);
}

/*
 * Takes the bytes of one line of an example, "    0010  01 02 03  words", to
 * their place.  Returns the offset behind them; 0 for any other line.
 */
static size_t take_line(const char *line, size_t offset, uint8_t *bytes,
			size_t room)
{
	unsigned at, byte;
	int used = 0;

	if (sscanf(line, "    %4x  %n", &at, &used) != 1 || used != 10)
		return 0;
	if (at < offset || at + 64 > room)
		fail_msg("the example goes on at %#zx, not %#x", offset, at);
	while (sscanf(line + used, "%2x", &byte) == 1) {
		bytes[at++] = (uint8_t)byte;
		used += 2;
		if (line[used] != ' ' || line[used + 1] == ' ')
			break;
		used++;
	}
	return at;
}

/*
 * Takes the bytes of the example with this heading.  What its lines leave out
 * is zeros.  The caller's to free().
 */
static uint8_t *load_example(const char *heading, size_t *size)
{
	enum { ROOM = 8192 };
	size_t format_size;
	char *text = load(format, &format_size);
	char *section = strstr(text, heading);
	uint8_t *bytes = calloc(ROOM, 1);
	size_t end;

	assert_non_null(section);
	assert_non_null(bytes);
	*size = 0;
	/* strtok() cuts the heading off first. */
	for (char *line = strtok(section + 1, "\n");
	     (line = strtok(NULL, "\n")) && *line != '#';) {
		end = take_line(line, *size, bytes, ROOM);
		if (end)
			*size = end;
	}
	free(text);
	return bytes;
}

static void example_file(void **state)
{
	size_t size, shown_size;
	char *expected = load("good/example.cpr", &size);
	uint8_t *shown = load_example("\n### 14.1 ", &shown_size);

	(void)state;
	assert_int_equal(shown_size, size);
	assert_memory_equal(shown, expected, size);
	free(shown);
	free(expected);
}

static void assert_example(const struct output *found, const uint8_t *shown,
			   size_t size)
{
	assert_int_equal(found->error, 0);
	assert_int_equal(found->size, size);
	assert_memory_equal(found->bytes, shown, size);
}

static void example_content(void **state)
{
	const struct example *example = *state;
	struct output encoded = { 0 }, again = { 0 };
	char heading[64];
	size_t size;
	uint8_t *shown;

	snprintf(heading, sizeof(heading), "\n### 14.%d %s\n",
		 (int)(example - examples) + 2, example->heading);
	shown = load_example(heading, &size);
	example->encode(&encoded);
	assert_example(&encoded, shown, size);
	assert_int_equal(example->again(&again, shown, size), 0);
	assert_example(&again, shown, size);
	output_release(&encoded);
	output_release(&again);
	free(shown);
}

int main(int argc, char **argv)
{
	static struct test_list list;

	if (argc == 4 && !strcmp(argv[2], "--print") && !chdir(argv[1])) {
		int rc;

		fputs(describe(argv[3], &rc), stdout);
		return EXIT_SUCCESS;
	}
	if (argc != 3 || chdir(argv[1])) {
		fprintf(stderr, "usage: test_golden FOLDER FORMAT\n");
		return EXIT_FAILURE;
	}
	format = argv[2];
	add_rows(&list, rows, golden_row);
	add_test(&list, "the example file of the format", example_file, NULL);
	for (size_t i = 0; i < EXAMPLES; i++)
		add_test(&list, examples[i].heading, example_content,
			 (void *)(uintptr_t)&examples[i]);
	return run_list("golden", &list);
}
