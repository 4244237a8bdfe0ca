/* SPDX-License-Identifier: GPL-2.0-or-later */
/* symbols.c - the symbols of a module; see symbols.h */
#include "formats/symbols.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/region.h"

/* What a function of Thumb code has on disk for a type. */
#define TYPE_THUMB 3u

/* Smallest coded size of a symbol. */
#define SYMBOL_BYTES 4

/* The order of the list: by address, then name. */
static bool is_in_order(const struct symbol *before,
			const struct symbol *symbol)
{
	if (before->addr != symbol->addr)
		return before->addr < symbol->addr;
	return strcmp(before->name, symbol->name) <= 0;
}

/* ------- encoding ------- */

void symbols_encode(struct output *out, const struct symbols *symbols)
{
	size_t path_size = strlen(symbols->path);
	uint64_t addr = 0;

	assert(path_size <= REGION_NAME_MAX);
	assert(symbols->link_base <= symbols->link_end);
	assert(symbols->link_base % GUEST_PAGE == 0 &&
	       symbols->base_offset % GUEST_PAGE == 0);
	output_text(out, symbols->path, path_size);
	output_varint(out, symbols->link_base >> GUEST_PAGE_SHIFT);
	output_varint(out, symbols->link_end - symbols->link_base);
	output_varint(out, symbols->base_offset >> GUEST_PAGE_SHIFT);
	output_varint(out, symbols->count);
	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->list[i];

		assert(!i || is_in_order(symbol - 1, symbol));
		assert(symbol->type <= SYMBOL_FUNCTION);
		assert(!symbol->is_thumb || symbol->type == SYMBOL_FUNCTION);
		output_varint(out, symbol->addr - addr);
		output_varint(out, symbol->size);
		output_uint(out, symbol->is_thumb ? TYPE_THUMB : symbol->type,
			    1);
		output_text(out, symbol->name, strlen(symbol->name));
		addr = symbol->addr;
	}
}

/* ------- decoding ------- */

/* Takes a text and puts it, as a string, at `to`, which has room. */
static size_t take_string(struct input *in, uint64_t most, char *to)
{
	size_t size;
	const char *text = input_text(in, most, &size);

	if (size)
		memcpy(to, text, size);
	to[size] = '\0';
	return size + 1;
}

static int take_path(struct input *in, struct symbols *symbols)
{
	symbols->path = malloc(REGION_NAME_MAX + 1);
	if (!symbols->path)
		return ERR_NO_MEMORY;
	take_string(in, REGION_NAME_MAX, symbols->path);
	return in->error;
}

static int take_place(struct input *in, struct symbols *symbols)
{
	uint64_t most = UINT64_MAX >> GUEST_PAGE_SHIFT;

	symbols->link_base = input_count(in, most) << GUEST_PAGE_SHIFT;
	symbols->link_end = symbols->link_base +
			    input_count(in, UINT64_MAX - symbols->link_base);
	symbols->base_offset = input_count(in, most) << GUEST_PAGE_SHIFT;
	return in->error;
}

static void take_type(struct input *in, struct symbol *symbol)
{
	uint64_t type = input_uint(in, 1);

	symbol->is_thumb = type == TYPE_THUMB;
	symbol->type = symbol->is_thumb ? SYMBOL_FUNCTION :
					  (enum symbol_type)type;
}

static int take_list(struct input *in, struct symbols *symbols)
{
	uint64_t addr = 0;
	size_t used = 0;

	for (size_t i = 0; i < symbols->count; i++) {
		struct symbol *symbol = &symbols->list[i];

		symbol->addr = addr + input_count(in, UINT64_MAX - addr);
		symbol->size = input_varint(in);
		take_type(in, symbol);
		symbol->name = symbols->strings + used;
		used += take_string(in, UINT64_MAX, symbols->strings + used);
		if (in->error)
			return in->error;
		if (symbol->type > SYMBOL_FUNCTION)
			return ERR_CORRUPT;
		if (i && !is_in_order(symbol - 1, symbol))
			return ERR_CORRUPT;
		addr = symbol->addr;
	}
	return input_left(in) ? ERR_CORRUPT : 0;
}

static int take_symbols(struct input *in, struct symbols *symbols)
{
	int rc = take_path(in, symbols);

	if (!rc)
		rc = take_place(in, symbols);
	if (rc)
		return rc;
	symbols->count = input_varint(in);
	if (in->error)
		return in->error;
	if (symbols->count > input_left(in) / SYMBOL_BYTES)
		return ERR_TRUNCATED;
	/* One more, so that neither is empty: calloc(0) may be NULL.  A name
	 * and its NUL need at most the bytes that code them. */
	symbols->list = calloc(symbols->count + 1, sizeof(*symbols->list));
	symbols->strings = malloc(input_left(in) + 1);
	if (!symbols->list || !symbols->strings)
		return ERR_NO_MEMORY;
	return take_list(in, symbols);
}

int symbols_decode(struct symbols *out, const uint8_t *bytes, size_t size)
{
	struct input in = { bytes, bytes + size, 0 };
	struct symbols symbols = { 0 };
	int rc = take_symbols(&in, &symbols);

	if (rc) {
		symbols_release(&symbols);
		return rc;
	}
	*out = symbols;
	return 0;
}

void symbols_release(struct symbols *symbols)
{
	free(symbols->path);
	free(symbols->list);
	free(symbols->strings);
	*symbols = (struct symbols){ 0 };
}

/* ------- looking up ------- */

bool symbol_is_called(const struct symbol *symbol, const char *name)
{
	size_t length = strcspn(name, "@");
	const char *rest = symbol->name + length;

	if (!length || strncmp(symbol->name, name, length) ||
	    (*rest && *rest != '@'))
		return !strcmp(symbol->name, name);
	return !*rest || !name[length] || !strcmp(rest, name + length);
}

const struct symbol *symbols_find(const struct symbols *symbols,
				  const char *name)
{
	const struct symbol *found = NULL;

	for (size_t i = 0; i < symbols->count; i++) {
		const struct symbol *symbol = &symbols->list[i];

		if (!symbol_is_called(symbol, name))
			continue;
		if (symbol->type != SYMBOL_OTHER)
			return symbol;
		if (!found)
			found = symbol;
	}
	return found;
}

/* How many symbols start at or before `addr`. */
static size_t count_up_to(const struct symbols *symbols, uint64_t addr)
{
	size_t low = 0;
	size_t high = symbols->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols->list[middle].addr <= addr)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/*
 * Hand-written assembly often has no size: such a symbol reaches up to the
 * next one, if no symbol with a size covers the address.
 */
const struct symbol *symbols_at(const struct symbols *symbols, uint64_t addr)
{
	size_t count = count_up_to(symbols, addr);
	const struct symbol *found = NULL;
	const struct symbol *nearest = NULL;

	if (addr < symbols->link_base || addr >= symbols->link_end)
		return NULL;
	for (size_t i = count; i-- > 0;) {
		const struct symbol *symbol = &symbols->list[i];
		const struct symbol *last = &symbols->list[count - 1];

		if (found && symbol->addr < found->addr)
			return found;
		if (addr - symbol->addr < symbol->size &&
		    (!found || symbol->type > found->type))
			found = symbol;
		if (symbol->addr == last->addr && symbol->size == 0 &&
		    (!nearest || symbol->type > nearest->type))
			nearest = symbol;
	}
	return found ? found : nearest;
}
