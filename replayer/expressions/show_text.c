/* SPDX-License-Identifier: GPL-2.0-or-later */
/* show_text.c - characters in a row, as gdb prints them; names of addresses */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "replayer/expressions/show_internal.h"
#include "replayer/symbols/symbols.h"

static uint32_t character(const struct type *type, const uint8_t *bytes,
			  size_t at)
{
	uint32_t c = 0;

	memcpy(&c, bytes + at * type->size, type->size < 4 ? type->size : 4);
	return c;
}

static size_t count_equal(const struct type *type, const uint8_t *bytes,
			  size_t at, size_t count)
{
	size_t end = at + 1;

	while (end < count &&
	       character(type, bytes, end) == character(type, bytes, at))
		end++;
	return end - at;
}

static void write_prefix(struct shower *shower, const struct type *type)
{
	if (type->prefix)
		fputc(type->prefix, shower->out);
}

void show_characters(struct shower *shower, const struct type *type,
		     const uint8_t *bytes, size_t count, bool cut)
{
	bool quoted = false, any = false;
	size_t shown = 0, i = 0;

	if (!count) {
		write_prefix(shower, type);
		fputs("\"\"", shower->out);
	}
	while (i < count && shown < shower->most) {
		size_t equal = count_equal(type, bytes, i, count);
		uint32_t c = character(type, bytes, i);

		if (equal > REPEATS_LEAST) {
			fputs(quoted ? "\", " : any ? ", " : "", shower->out);
			quoted = false;
			write_prefix(shower, type);
			fputc('\'', shower->out);
			/* As within the text. */
			show_escaped(shower->out, type, c, '"');
			fputc('\'', shower->out);
			fprintf(shower->out, " <repeats %zu times>", equal);
			i += equal;
			/* gdb counts each character of text, but in other
			   arrays a repeat as REPEATS_LEAST. */
			shown += equal;
		} else {
			if (!quoted) {
				fputs(any ? ", " : "", shower->out);
				write_prefix(shower, type);
				fputc('"', shower->out);
			}
			quoted = true;
			show_escaped(shower->out, type, c, '"');
			i++;
			shown++;
		}
		any = true;
	}
	fputs(quoted ? "\"" : "", shower->out);
	if (i < count || cut)
		fputs("...", shower->out);
}

/* So many bytes from there on are known; at most `most`. */
static size_t count_known(struct shower *shower, uint64_t addr, uint8_t *bytes,
			  size_t most)
{
	uint8_t *known = calloc(1, most);
	size_t count = 0;

	if (known && !context_look(shower->context, addr, bytes, known, most,
				   NULL))
		while (count < most && known[count])
			count++;
	free(known);
	return count;
}

void show_pointed_text(struct shower *shower, struct type *type, uint64_t addr)
{
	size_t most = (size_t)shower->most, known, count = 0;
	uint8_t *bytes = context_take(shower->context, most * type->size);

	if (!bytes)
		return;
	known = count_known(shower, addr, bytes, most * type->size) /
		type->size;
	if (!known) {
		fprintf(shower->out, "<error: Cannot access memory at address"
				     " 0x%" PRIx64 ">", addr);
		return;
	}
	while (count < known && character(type, bytes, count))
		count++;
	show_characters(shower, type, bytes, count, count == most);
}

void show_symbol(struct shower *shower, uint64_t addr, const char *before)
{
	struct context *context = shower->context;
	char name[1024];
	const char *mark;
	uint64_t inside;

	if (!lines_symbol(context->lines, context->place.at.time, addr, name,
			  sizeof(name)))
		return;
	/* As gdb: without the module, and how far inside in decimal. */
	mark = strchr(name, '!');
	mark = mark ? mark + 1 : name;
	fprintf(shower->out, "%s<", before);
	for (const char *plus = mark; (plus = strstr(plus, "+0x")); plus++) {
		char *end;

		inside = strtoull(plus + 3, &end, 16);
		if (*end)
			continue;
		fprintf(shower->out, "%.*s+%" PRIu64 ">", (int)(plus - mark),
			mark, inside);
		return;
	}
	fprintf(shower->out, "%s>", mark);
}
