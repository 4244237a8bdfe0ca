/* SPDX-License-Identifier: GPL-2.0-or-later */
/* btf.c - see btf.h */
#include "replayer/symbols/btf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"

#define HEADER 24u
#define TYPE 12u		/* a type without what follows it */
#define MEMBER 12u
#define DEPTH_MOST 8u		/* of structures without a name */

enum kind { KIND_STRUCT = 4, KIND_UNION = 5, KIND_TYPEDEF = 8,
	    KIND_VOLATILE = 9, KIND_CONST = 10, KIND_RESTRICT = 11,
	    KIND_TAG = 18, KINDS = 20 };

/* What follows a type: bytes, and bytes for each of its parts. */
static const struct {
	uint8_t once, each;
} behind[KINDS] = {
	[1] = { 4, 0 }, [3] = { 12, 0 }, [KIND_STRUCT] = { 0, MEMBER },
	[KIND_UNION] = { 0, MEMBER }, [6] = { 0, 8 }, [13] = { 0, 8 },
	[14] = { 4, 0 }, [15] = { 0, 12 }, [17] = { 4, 0 }, [19] = { 0, 12 },
};

static uint32_t word(const uint8_t *bytes)
{
	return bytes[0] | bytes[1] << 8 | bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

struct type {
	const uint8_t *parts;
	uint32_t name, kind, count, size, place;
	bool has_bits;
};

/* The type at a place; false: it is not all there. */
static bool type_at(const struct btf *btf, uint32_t place, struct type *out)
{
	const uint8_t *at = btf->types + place;
	uint32_t info;
	size_t size;

	if (place > btf->types_size || btf->types_size - place < TYPE)
		return false;
	info = word(at + 4);
	*out = (struct type){
		.parts = at + TYPE, .name = word(at), .kind = info >> 24 & 31,
		.count = info & 0xffff, .size = word(at + 8),
		.place = place, .has_bits = info >> 31,
	};
	if (out->kind >= KINDS)
		return false;
	size = TYPE + behind[out->kind].once +
	       (size_t)behind[out->kind].each * out->count;
	return size <= btf->types_size - place;
}

static uint32_t size_of(const struct type *type)
{
	return TYPE + behind[type->kind].once +
	       (uint32_t)behind[type->kind].each * type->count;
}

static const char *string_at(const struct btf *btf, uint32_t at)
{
	return at < btf->strings_size ? (const char *)btf->strings + at : "";
}

/* ------- finding it ------- */

static int list_types(struct btf *btf)
{
	struct type type;
	uint32_t at = 0, count = 0;

	while (type_at(btf, at, &type)) {
		at += size_of(&type);
		count++;
	}
	btf->places = calloc(count + 1, sizeof(*btf->places));
	if (!btf->places)
		return ERR_NO_MEMORY;
	for (at = 0; btf->count < count && type_at(btf, at, &type);
	     at += size_of(&type))
		btf->places[++btf->count] = at;
	return 0;
}

/* The kernel's own is the largest: modules have smaller ones. */
static bool take(struct btf *best, const uint8_t *at, size_t left)
{
	uint32_t types = word(at + 8), types_size = word(at + 12);
	uint32_t strings = word(at + 16), strings_size = word(at + 20);

	left -= HEADER;
	if (types || strings != types_size || !strings_size ||
	    strings > left || strings_size > left - strings ||
	    types_size <= best->types_size ||
	    at[HEADER + strings] || at[HEADER + strings + strings_size - 1])
		return false;
	*best = (struct btf){
		.types = at + HEADER, .types_size = types_size,
		.strings = at + HEADER + strings, .strings_size = strings_size,
	};
	return true;
}

int btf_find(struct btf *out, const uint8_t *bytes, size_t size)
{
	static const uint8_t magic[] = { 0x9f, 0xeb, 1, 0, HEADER, 0, 0, 0 };
	const uint8_t *at = bytes, *end = bytes + size;

	*out = (struct btf){ 0 };
	while ((at = memmem(at, (size_t)(end - at), magic, sizeof(magic)))) {
		if ((size_t)(end - at) > HEADER)
			take(out, at, (size_t)(end - at));
		at++;
	}
	return out->types ? list_types(out) : ERR_NOT_FOUND;
}

void btf_close(struct btf *btf)
{
	free(btf->places);
	*btf = (struct btf){ 0 };
}

/* ------- structures ------- */

static bool is_structure(const struct type *type)
{
	return type->kind == KIND_STRUCT || type->kind == KIND_UNION;
}

static bool find_structure(const struct btf *btf, const char *name,
			   struct type *out)
{
	for (uint32_t i = 1; i <= btf->count; i++)
		if (type_at(btf, btf->places[i], out) && is_structure(out) &&
		    !strcmp(string_at(btf, out->name), name))
			return true;
	return false;
}

/* What a type is called by others. */
static bool resolve(const struct btf *btf, uint32_t number, struct type *out)
{
	for (unsigned i = 0; i < DEPTH_MOST; i++) {
		if (!number || number > btf->count ||
		    !type_at(btf, btf->places[number], out))
			return false;
		if (out->kind != KIND_TYPEDEF && out->kind != KIND_TAG &&
		    (out->kind < KIND_VOLATILE || out->kind > KIND_RESTRICT))
			return true;
		number = out->size;
	}
	return false;
}

/* Members of members without a name count as its own. */
static bool find_member(const struct btf *btf, const struct type *type,
			const char *name, size_t length, unsigned depth,
			uint32_t *offset, struct type *found)
{
	for (uint32_t i = 0; i < type->count && depth < DEPTH_MOST; i++) {
		const uint8_t *member = type->parts + i * MEMBER;
		const char *called = string_at(btf, word(member));
		uint32_t bits = word(member + 8), inner = 0;
		struct type of = { 0 };
		bool has_type = resolve(btf, word(member + 4), &of);

		*offset = (type->has_bits ? bits & 0xffffff : bits) / 8;
		if (strlen(called) == length && length &&
		    !memcmp(called, name, length)) {
			*found = of;
			return true;
		}
		if (!*called && has_type && is_structure(&of) &&
		    find_member(btf, &of, name, length, depth + 1, &inner,
				found)) {
			*offset += inner;
			return true;
		}
	}
	return false;
}

int btf_member(const struct btf *btf, const char *name, const char *member,
	       uint32_t *out)
{
	struct type type, next;
	uint32_t offset;

	*out = 0;
	if (!find_structure(btf, name, &type))
		return ERR_NOT_FOUND;
	for (;;) {
		size_t length = strcspn(member, ".");

		if (!find_member(btf, &type, member, length, 0, &offset, &next))
			return ERR_NOT_FOUND;
		*out += offset;
		member += length;
		if (!*member)
			return 0;
		member++;
		if (!is_structure(&next))
			return ERR_NOT_FOUND;
		type = next;
	}
}

int btf_size(const struct btf *btf, const char *name, uint32_t *out)
{
	struct type type;

	if (!find_structure(btf, name, &type))
		return ERR_NOT_FOUND;
	*out = type.size;
	return 0;
}
