/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kernel_modules.c - see kernel_modules.h */
#include "replayer/session/kernel_modules.h"

#include <ctype.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "formats/bytes.h"
#include "formats/error.h"
#include "replayer/session/kernel_internal.h"
#include "replayer/session/kernel_sections.h"

/* Bounds against damaged memory. */
#define MODULES_MOST 512u
#define SYMBOLS_MOST 65536u
#define NAMES_MOST (UINT64_C(4) << 20)

#define NAME 56u		/* of a module, with its end */
#define STATES 4u		/* that a module can be in */

/* Their code is that near to the kernel, which branches to it. */
#define NEAR (UINT64_C(4) << 30)

/* Where members are; of pieces of memory there is one, or several kinds. */
enum place {
	LINK, STATE, MODULE_NAME, SYMBOLS, SYMBOL_LIST, SYMBOL_COUNT,
	SYMBOL_NAMES, PLACES
};
static const struct kernel_place places[PLACES] = {
	{ "module", "list" }, { "module", "state" }, { "module", "name" },
	{ "module", "kallsyms" }, { "mod_kallsyms", "symtab" },
	{ "mod_kallsyms", "num_symtab" }, { "mod_kallsyms", "strtab" },
};

enum piece { PIECES, PIECE_BASE, PIECE_SIZE, PIECE_PLACES };
static const struct {
	const char *structure;
	unsigned count;		/* the rest goes when the module has begun */
	struct kernel_place places[PIECE_PLACES];
} kinds[] = {
	{ "module_memory", 4,
	  { { "module", "mem" }, { "module_memory", "base" },
	    { "module_memory", "size" } } },
	{ "module_layout", 1,
	  { { "module", "core_layout" }, { "module_layout", "base" },
	    { "module_layout", "size" } } },
};

struct modules_reading {
	struct kernel *kernel;
	struct names *names;
	uint32_t at[PLACES], pieces[PIECE_PLACES], piece_size;
	unsigned piece_count;
};

static bool find_places(struct modules_reading *reading)
{
	const struct kernel *kernel = reading->kernel;

	if (kernel_places(kernel, places, PLACES, reading->at) != PLACES)
		return false;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kernel_places(kernel, kinds[i].places, PIECE_PLACES,
				  reading->pieces) != PIECE_PLACES ||
		    btf_size(&kernel->btf, kinds[i].structure,
			     &reading->piece_size))
			continue;
		reading->piece_count = kinds[i].count;
		return true;
	}
	return false;
}

/* ------- which there are ------- */

/* A module's name, if that is one. */
static bool take_name(const struct modules_reading *reading, uint64_t module,
		      char out[NAME])
{
	size_t size;

	if (kernel_number(reading->kernel, module + reading->at[STATE], 4) >=
		    STATES ||
	    !kernel_read(reading->kernel, module + reading->at[MODULE_NAME],
			 out, NAME) ||
	    !memchr(out, 0, NAME))
		return false;
	size = strlen(out);
	for (size_t i = 0; i < size; i++)
		if (!isgraph((unsigned char)out[i]))
			return false;
	return size;
}

/* The list of modules is a variable whose name may not be known: one whose
 * elements are modules. */
static bool is_list(const struct modules_reading *reading, uint64_t head)
{
	uint64_t first = kernel_pointer(reading->kernel, head);
	char name[NAME];

	return first && kernel_pointer(reading->kernel, first + 8) == head &&
	       take_name(reading, first - reading->at[LINK], name);
}

static bool is_near(const struct kernel_image *image, uint64_t addr)
{
	return addr % 8 == 0 && addr - image->base >= image->size &&
	       (addr - image->base < NEAR || image->base - addr < NEAR);
}

static uint64_t find_list(const struct modules_reading *reading)
{
	const struct kernel_image *image = &reading->kernel->image;

	for (size_t i = 0; i + 16 <= image->size; i += 8) {
		struct input in = { image->bytes + i, image->bytes + i + 16,
				    0 };

		if (is_near(image, input_uint(&in, 8)) &&
		    is_near(image, input_uint(&in, 8)) &&
		    is_list(reading, image->base + i))
			return image->base + i;
	}
	return 0;
}

/* ------- one ------- */

struct table {
	uint8_t *entries;
	size_t count;
	char *names;
	size_t names_size;
};

/* What is not in memory is zeros. */
static uint8_t *read_all(struct kernel *kernel, uint64_t addr, size_t size)
{
	uint8_t *bytes = calloc(size + 1, 1), *known = malloc(size + 1);

	if (bytes && known &&
	    replayer_read(kernel->replayer, addr, bytes, known, size, NULL)) {
		free(bytes);
		bytes = NULL;
	}
	free(known);
	return bytes;
}

/* Names are not longer than that; where they end is not said. */
#define SYMBOL_NAME 512u

static uint64_t names_end(const struct table *table)
{
	uint64_t last = 0;

	for (size_t i = 0; i < table->count; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)
					  table->entries + i;

		if (symbol->st_name > last && symbol->st_name < NAMES_MOST)
			last = symbol->st_name;
	}
	return last + SYMBOL_NAME;
}

static bool read_table(const struct modules_reading *reading, uint64_t module,
		       struct table *out)
{
	struct kernel *kernel = reading->kernel;
	const uint32_t *at = reading->at;
	uint64_t symbols = kernel_pointer(kernel, module + at[SYMBOLS]);
	uint64_t count = kernel_number(kernel, symbols + at[SYMBOL_COUNT], 4);

	*out = (struct table){ 0 };
	if (!symbols || !count || count > SYMBOLS_MOST)
		return false;
	out->count = (size_t)count;
	out->entries = read_all(kernel, kernel_pointer(kernel, symbols +
						       at[SYMBOL_LIST]),
				out->count * sizeof(Elf64_Sym));
	out->names_size = out->entries ? (size_t)names_end(out) : 0;
	if (out->names_size)
		out->names = (char *)read_all(
			kernel, kernel_pointer(kernel, symbols +
					       at[SYMBOL_NAMES]),
			out->names_size);
	return out->names;
}

static enum symbol_type type_of(const Elf64_Sym *symbol)
{
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
		return SYMBOL_FUNCTION;
	case STT_OBJECT:
		return SYMBOL_OBJECT;
	default:
		return SYMBOL_OTHER;
	}
}

static int compare(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	return strcmp(a->name, b->name);
}

/* Those of a piece of memory. */
static bool take_symbols(struct symbols *out, const struct table *table)
{
	out->list = calloc(table->count + 1, sizeof(*out->list));
	out->strings = malloc(table->names_size + 1);
	if (!out->list || !out->strings)
		return false;
	memcpy(out->strings, table->names, table->names_size + 1);
	for (size_t i = 0; i < table->count; i++) {
		const Elf64_Sym *symbol = (const Elf64_Sym *)(const void *)
					  table->entries + i;

		if (symbol->st_value < out->link_base ||
		    symbol->st_value >= out->link_end ||
		    symbol->st_name >= table->names_size ||
		    !table->names[symbol->st_name] ||
		    symbol_is_mark(table->names + symbol->st_name))
			continue;
		out->list[out->count++] = (struct symbol){
			.addr = symbol->st_value, .size = symbol->st_size,
			.type = type_of(symbol),
			.name = out->strings + symbol->st_name,
		};
	}
	qsort(out->list, out->count, sizeof(*out->list), compare);
	return true;
}

static int add_piece(const struct modules_reading *reading,
		     const struct table *table, const char *name,
		     uint64_t start, uint64_t size)
{
	struct symbols symbols = {
		.path = strdup(name), .link_base = start,
		.link_end = start + size,
	};

	if (!symbols.path || !take_symbols(&symbols, table)) {
		symbols_release(&symbols);
		return ERR_NO_MEMORY;
	}
	if (symbols.count)
		return names_add_lasting(reading->names, &symbols);
	symbols_release(&symbols);
	return 0;
}

static int add_module(const struct modules_reading *reading, uint64_t module)
{
	struct kernel *kernel = reading->kernel;
	struct module_sections sections;
	struct table table;
	char name[NAME];
	int rc = 0;

	if (!take_name(reading, module, name))
		return 0;
	if (read_table(reading, module, &table))
		for (unsigned i = 0; i < reading->piece_count && !rc; i++) {
			uint64_t piece = module + reading->pieces[PIECES] +
					 (uint64_t)i * reading->piece_size;
			uint64_t start = kernel_pointer(
				kernel, piece + reading->pieces[PIECE_BASE]);
			uint64_t size = kernel_number(
				kernel, piece + reading->pieces[PIECE_SIZE],
				4);

			if (start && size)
				rc = add_piece(reading, &table, name, start,
					       size);
		}
	free(table.entries);
	free(table.names);
	kernel_sections_read(kernel, module, &sections);
	return rc ? rc : names_add_sections(reading->names, name, &sections);
}

/* ------- all ------- */

static int add_all(struct modules_reading *reading)
{
	uint64_t head = find_list(reading), next = head;
	int rc = 0;

	for (unsigned i = 0; head && i < MODULES_MOST && !rc; i++) {
		next = kernel_pointer(reading->kernel, next);
		if (!next || next == head)
			break;
		rc = add_module(reading, next - reading->at[LINK]);
	}
	return rc;
}

static int read_all_modules(struct query *query, struct names *names,
			    struct failure *why)
{
	const struct position end = { recording_end(query->recording),
				      EVENTS_ALL };
	struct modules_reading reading = { .names = names };
	int rc = kernel_create(&reading.kernel, query, why);

	if (rc)
		return rc == ERR_NOT_FOUND ? 0 : rc;
	if (find_places(&reading)) {
		rc = kernel_go(reading.kernel, &end, why);
		if (!rc && add_all(&reading))
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
		kernel_leave(reading.kernel);
	}
	kernel_destroy(reading.kernel);
	return rc;
}

int kernel_modules_add(struct query *query, struct names *names,
		       struct failure *why)
{
	struct query *own;
	int rc = query_create(&own, query->recording, why);

	if (rc)
		return rc;
	rc = read_all_modules(own, names, why);
	query_destroy(own);
	return rc;
}
