/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * vector_views.c - see vector_views.h
 *
 * Source: gdb's target descriptions (features/i386/64bit-sse.xml,
 * aarch64-fpu.c) and its types of pseudo-registers (aarch64-tdep.c, arm-tdep.c).
 */
#include "replayer/expressions/vector_views.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/recording/recording.h"

/* Kinds of numbers, and what views call them on each processor. */
static const struct kind {
	const char *words;	/* the type in C */
	unsigned size;
	const char *x86;	/* behind "v4_" */
	const char *arm64;
	const char *arm;
} kinds[] = {
	{ "bfloat16", 2, "bfloat16", "h.bf", NULL },
	{ "half", 2, "half", "h.f", NULL },
	{ "float", 4, "float", "s.f", "f32" },
	{ "double", 8, "double", "d.f", "f64" },
	{ "int8_t", 1, "int8", "b.s", NULL },
	{ "int16_t", 2, "int16", "h.s", NULL },
	{ "int32_t", 4, "int32", "s.s", NULL },
	{ "int64_t", 8, "int64", "d.s", NULL },
	{ "__int128", 16, "int128", "q.s", NULL },
	{ "uint8_t", 1, NULL, "b.u", "u8" },
	{ "uint16_t", 2, NULL, "h.u", "u16" },
	{ "uint32_t", 4, NULL, "s.u", "u32" },
	{ "uint64_t", 8, NULL, "d.u", "u64" },
	{ "unsigned __int128", 16, NULL, "q.u", NULL },
};

/* "v4_float" of four, "uint128" of one. */
static bool is_of_x86(const struct kind *kind, unsigned size, const char *view)
{
	char name[32];

	if (!strcmp(view, "uint128"))
		return size == 16 && !strcmp(kind->words, "unsigned __int128");
	if (!kind->x86 || size == kind->size)
		return false;
	snprintf(name, sizeof(name), "v%u_%s", size / kind->size, kind->x86);
	return !strcmp(view, name);
}

/* Registers of AArch64 that are a part of one say no size: "$d0.f". */
static bool is_of_arm64(const struct kind *kind, unsigned size,
			const char *view)
{
	if (!kind->arm64)
		return false;
	return !strcmp(view, kind->arm64) ||
	       (size == kind->size && !strcmp(view, kind->arm64 + 2));
}

static bool is_of_arm(const struct kind *kind, const char *view)
{
	return kind->arm && !strcmp(view, kind->arm);
}

static const struct kind *find_kind(unsigned arch, unsigned size,
				    const char *view)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		const struct kind *kind = &kinds[i];

		if (kind->size > size)
			continue;
		if (arch == ARCH_AARCH64 ? is_of_arm64(kind, size, view) :
		    arch == ARCH_ARM ? is_of_arm(kind, view) :
				       is_of_x86(kind, size, view))
			return kind;
	}
	return NULL;
}

const char *vector_view_end(const char *text)
{
	const char *end = text;

	while (*end == '.' && isalpha((unsigned char)end[1]))
		for (end++; isalnum((unsigned char)*end) || *end == '_';)
			end++;
	return end;
}

static struct type *number_type(struct types *types, const struct kind *kind)
{
	struct type *type = type_by_words(types, kind->words);

	/* Bytes are numbers here, no characters. */
	if (type)
		type->is_char = false;
	return type;
}

/* "$d0.f" is a number, "$v0.q.u" an array of one. */
static bool is_single(const struct kind *kind, unsigned size, const char *view)
{
	return size == kind->size && !strchr(view, '.');
}

int vector_view(struct context *context, const char *view, size_t length,
		unsigned size, struct value *value, struct failure *why)
{
	unsigned arch = arch_of_code(
		recording_reg_table(context->recording)->arch);
	const struct kind *kind;
	struct type *type;
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)length, view);
	kind = length < sizeof(name) ? find_kind(arch, size, name) : NULL;
	if (!kind) {
		context->mistake = MISTAKE_MEMBER;
		return failed(why, ERR_NOT_FOUND, "a register of %u bytes has"
			      " no '%.40s'", size, view);
	}
	type = number_type(&context->types, kind);
	if (type && !is_single(kind, size, name))
		type = type_array(&context->types, type, size / kind->size);
	if (!type)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	/* No tree tells of a part of a register. */
	if (context->trace)
		context->trace->opaque++;
	value->type = type;
	value->node = NULL;
	return 0;
}
