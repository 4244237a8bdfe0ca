/* SPDX-License-Identifier: GPL-2.0-or-later */
/* values.c - see values.h */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "formats/registers.h"
#include "vm/linux/abi/values.h"

#define ONE_OF UINT32_MAX

#define VALUES(kind, field) static const struct value_name names_##kind[] = {
#define V(name, value) { #name, (uint32_t)(value) },
#define END };
#include "vm/linux/abi/values.inc"
#undef VALUES
#undef V
#undef END

static const struct value_table tables[VALUES_KINDS] = {
#define VALUES(kind, field)                                          \
	[VALUES_##kind] = { names_##kind,                            \
			    sizeof(names_##kind) / sizeof(names_##kind[0]), \
			    field },
#define V(name, value)
#define END
#include "vm/linux/abi/values.inc"
#undef VALUES
#undef V
#undef END
};

/* Source: Linux, arch/arm64/include/uapi/asm/fcntl.h, and that of arm. */
static const struct value_name arm_open[] = {
	{ "O_RDONLY", 0 }, { "O_WRONLY", 1 }, { "O_RDWR", 2 },
	{ "O_CREAT", 0100 }, { "O_EXCL", 0200 }, { "O_NOCTTY", 0400 },
	{ "O_TRUNC", 01000 }, { "O_APPEND", 02000 }, { "O_NONBLOCK", 04000 },
	{ "O_SYNC", 04010000 }, { "O_DSYNC", 010000 }, { "O_ASYNC", 020000 },
	{ "O_DIRECT", 0200000 }, { "O_LARGEFILE", 0400000 },
	{ "O_NOFOLLOW", 0100000 }, { "O_NOATIME", 01000000 },
	{ "O_CLOEXEC", 02000000 }, { "O_PATH", 010000000 },
	{ "O_TMPFILE", 020040000 }, { "O_DIRECTORY", 040000 },
};

static const struct value_table arm_tables[VALUES_KINDS] = {
	[VALUES_OPEN] = { arm_open,
			  sizeof(arm_open) / sizeof(arm_open[0]), 3 },
};

/* Those of a kind that differ; x86-64's are what most others have, too. */
static const struct value_table *others(unsigned arch)
{
	switch (arch) {
	case ARCH_X86_64:
	case ARCH_I386:
		return tables;
	case ARCH_AARCH64:
	case ARCH_ARM:
		return arm_tables;
	default:
		return NULL;
	}
}

const struct value_table *linux_values(unsigned arch, enum call_values kind)
{
	const struct value_table *own = others(arch);

	if (!own || kind <= VALUES_NONE || kind >= VALUES_KINDS)
		return NULL;
	return own[kind].names ? &own[kind] : &tables[kind];
}

/* ------- as text ------- */

struct text {
	char *out;
	size_t room, length;
};

__attribute__((format(printf, 2, 3)))
static void put(struct text *text, const char *format, ...)
{
	size_t left = text->room - text->length;
	va_list args;
	int size;

	if (text->length >= text->room)
		return;
	va_start(args, format);
	size = vsnprintf(text->out + text->length, left, format, args);
	va_end(args);
	if (size > 0)
		text->length += (size_t)size < left ? (size_t)size : left - 1;
}

static void put_name(struct text *text, const char *name)
{
	put(text, "%s%s", text->length ? "|" : "", name);
}

static bool is_in_field(const struct value_table *table, uint32_t value)
{
	return table->field && !(value & ~table->field);
}

/* The value of the field; what has no name is left to be a number. */
static uint32_t put_field(struct text *text, const struct value_table *table,
			  uint32_t value)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct value_name *name = &table->names[i];

		if (!is_in_field(table, name->value) ||
		    name->value != (value & table->field))
			continue;
		put_name(text, name->name);
		return value & ~table->field;
	}
	return value;
}

static uint32_t put_flags(struct text *text, const struct value_table *table,
			  uint32_t value)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct value_name *name = &table->names[i];

		if (is_in_field(table, name->value) || !name->value ||
		    (value & name->value) != name->value)
			continue;
		put_name(text, name->name);
		value &= ~name->value;
	}
	return value;
}

/* "O_": the beginning that all names of a table have, up to a '_'. */
static int prefix_size(const struct value_table *table)
{
	const char *first = table->names[0].name;
	size_t size = strlen(first);

	for (size_t i = 1; i < table->count; i++)
		for (size_t k = 0; k < size; k++)
			if (table->names[i].name[k] != first[k])
				size = k;
	while (size && first[size - 1] != '_')
		size--;
	return (int)size;
}

static const char *zero_name(const struct value_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (!table->names[i].value)
			return table->names[i].name;
	return "0";
}

static void put_unknown(struct text *text, const struct value_table *table,
			uint32_t value)
{
	bool is_all = !text->length;

	put(text, "%s0x%x", is_all ? "" : "|", value);
	if (is_all && table)
		put(text, " /* %.*s??? */", prefix_size(table),
		    table->names[0].name);
}

size_t linux_values_text(char *out, size_t room, unsigned arch,
			 enum call_values kind, uint64_t value)
{
	const struct value_table *table = linux_values(arch, kind);
	struct text text = { out, room, 0 };
	uint32_t left = (uint32_t)value;

	if (room)
		*out = '\0';
	if (table)
		left = put_field(&text, table, left);
	if (table)
		left = put_flags(&text, table, left);
	if (left)
		put_unknown(&text, table, left);
	else if (!text.length)
		put(&text, "%s", table ? zero_name(table) : "0");
	return text.length;
}
