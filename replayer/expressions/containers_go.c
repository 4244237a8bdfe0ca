/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * containers_go.c - strings, slices and maps of Go
 *
 * Source: its runtime (slice.go, map.go) and DWARF of its linker; titles are
 * those of the printers for gdb that come with it (runtime-gdb.py).
 */
#include <inttypes.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/expressions/containers_internal.h"

#define SLOTS 8u		/* of a bucket, or of a group */
#define MARK_LEAST 5u		/* a lower one is of an empty or a moved slot */
#define LOOKS_MOST 1000000u	/* slots in a row without an element */

static bool open_string(struct container *container)
{
	uint64_t first, length;

	container->is_native = true;
	return container_number(container, "str", &first) &&
	       container_number(container, "len", &length) &&
	       shape_text(container, first, length,
			  type_by_words(&container->context->types, "char"));
}

static bool open_slice(struct container *container)
{
	uint64_t first, length;
	struct type *element;

	container->has_capacity = container_number(container, "cap",
						   &container->capacity);
	if (!container_pointer(container, "array", &first, &element) ||
	    !container_number(container, "len", &length) ||
	    !shape_counted(container, first, length, element))
		return false;
	if (length > container->capacity)
		container_damaged(container, "its length %llu is more than its"
				  " capacity", (unsigned long long)length);
	return true;
}

/* ------- maps ------- */

/* Where the next slot is, and its byte that says whether it is taken. */
struct slot {
	uint64_t block;		/* address */
	uint64_t number;	/* in it */
	bool is_taken;
};

/* Goes to the next slot: 1, 0 behind the last one, or an error. */
typedef int next_slot(struct container *container, struct slot *out,
		      struct failure *why);

static int unreadable(uint64_t addr, struct failure *why)
{
	return failed(why, ERR_NOT_FOUND, "Cannot access memory at address"
		      " 0x%" PRIx64, addr);
}

/* Members of blocks: `key` and `value` say where those of slot 0 are. */
static int find_slot(struct container *container, uint64_t n,
		     next_slot *next, struct slot *out, struct failure *why)
{
	if (!container->is_begun || n < container->at_n) {
		memset(&container->next_slot, 0, sizeof(container->next_slot));
		container->at = container->at_n = 0;
		container->is_begun = true;
	}
	for (unsigned looks = 0; looks < LOOKS_MOST; looks++) {
		int rc = next(container, out, why);

		if (rc < 0)
			return rc;
		if (!rc)
			break;
		if (out->is_taken && container->at_n++ == n)
			return 1;
		if (out->is_taken)
			looks = 0;
	}
	return failed(why, ERR_INPUT, "damaged: there are %" PRIu64 " of %"
		      PRIu64 " elements", container->at_n, container->count);
}

static struct value part_at(const struct member *member, uint64_t addr)
{
	return (struct value) { .type = member->type, .has_addr = true,
				.addr = addr + member->offset };
}

static bool find_member(struct container *container, struct type *type,
			const char *name, struct member *out)
{
	struct value of = { .type = type };
	struct member_walk walk = { .context = container->context, .of = &of };

	while (member_next(&walk, out) > 0)
		if (out->name && !strcmp(out->name, name))
			return true;
	return false;
}

/* The target of a pointer that is a member, and where it leads. */
static bool find_pointer(struct container *container, const struct value *map,
			 const char *path, uint64_t *addr, struct type **target)
{
	struct value pointer;
	int64_t number;

	if (!value_path(container->context, map, path, &pointer) ||
	    pointer.type->kind != TYPE_POINTER ||
	    value_integer(container->context, &pointer, &number, NULL))
		return false;
	*addr = (uint64_t)number;
	*target = type_target(pointer.type);
	return *target != NULL;
}

static bool find_number(struct container *container, const struct value *map,
			const char *path, uint64_t *out)
{
	struct value part;
	int64_t number;

	if (!value_path(container->context, map, path, &part) ||
	    value_integer(container->context, &part, &number, NULL))
		return false;
	*out = (uint64_t)number;
	return true;
}

/* ------- maps until Go 1.23: buckets, each with a chain of more ------- */

/* Whether what was in an old bucket has been moved to new ones. */
static bool is_moved(struct container *container, uint64_t bucket)
{
	uint8_t mark;

	return !container_bytes(container, bucket, &mark, 1) ||
	       (mark > 1 && mark < MARK_LEAST);
}

/* 0: what would be there is in another bucket. */
static uint64_t bucket_at(const struct container *container, uint64_t number,
			  bool is_old)
{
	return (is_old ? container->end : container->first) +
	       number * container->element->size;
}

static uint64_t choose_bucket(struct container *container, uint64_t number)
{
	uint64_t olds = container->capacity, old;

	if (!container->end)
		return bucket_at(container, number, false);
	old = bucket_at(container, number & (olds - 1), true);
	if (is_moved(container, old))
		return bucket_at(container, number, false);
	return number < olds ? old : 0;
}

static int next_in_buckets(struct container *container, struct slot *out,
			   struct failure *why)
{
	uint64_t overflow;
	uint8_t mark;

	if (container->at && container->next_slot.slot == SLOTS) {
		overflow = container->at + container->offset;
		if (!container_word(container, overflow, &container->at))
			return unreadable(overflow, why);
		container->next_slot.slot = 0;
		container->next_slot.block += !container->at;
	}
	while (!container->at) {
		if (container->next_slot.block >= container->per_block)
			return 0;
		container->at = choose_bucket(container,
					      container->next_slot.block);
		container->next_slot.block += !container->at;
	}
	out->block = container->at;
	out->number = container->next_slot.slot++;
	if (!container_bytes(container, out->block + out->number, &mark, 1))
		return unreadable(out->block + out->number, why);
	out->is_taken = mark >= MARK_LEAST;
	return 1;
}

static int find_in_buckets(struct container *container, uint64_t n,
			   struct container_child *out, struct failure *why)
{
	struct slot slot;
	int rc;

	if (n >= container->count)
		return 0;
	rc = find_slot(container, n, next_in_buckets, &slot, why);
	if (rc < 0)
		return rc;
	out->key = part_at(&container->key, slot.block + slot.number *
						container->key.type->size);
	out->value = part_at(&container->value, slot.block + slot.number *
						container->value.type->size);
	return 1;
}

static bool take_element(struct member *member)
{
	if (member->type->kind != TYPE_ARRAY)
		return false;
	member->type = type_target(member->type);
	return member->type != NULL;
}

/* The bytes that say which slots are taken stand first. */
static bool open_buckets(struct container *container, const struct value *map)
{
	uint64_t exponent, flags;
	struct member overflow;
	struct type *ignored;

	if (!find_pointer(container, map, "buckets", &container->first,
			  &container->element) ||
	    !find_pointer(container, map, "oldbuckets", &container->end,
			  &ignored) ||
	    !find_number(container, map, "B", &exponent) || exponent > 48 ||
	    !find_number(container, map, "flags", &flags) ||
	    !find_number(container, map, "count", &container->count) ||
	    !find_member(container, container->element, "keys",
			 &container->key) ||
	    !find_member(container, container->element, "values",
			 &container->value) ||
	    !find_member(container, container->element, "overflow",
			 &overflow) ||
	    !take_element(&container->key) || !take_element(&container->value))
		return false;
	container->per_block = (uint64_t)1 << exponent;
	/* A map that grows doubles, but for one that is only rearranged. */
	container->capacity = flags & 8 || !exponent ?
				      container->per_block :
				      container->per_block / 2;
	container->offset = overflow.offset;
	container->find_child = find_in_buckets;
	return true;
}

/* ------- maps from Go 1.24 on: tables of groups ------- */

/* `first` is one group, or where the addresses of tables are. */
static int open_next_table(struct container *container, struct failure *why)
{
	uint64_t word = container->context->types.word, last = 0;
	uint64_t addr = container->first + container->next_slot.table * word;
	struct value table = { .type = container->table, .has_addr = true };
	struct type *ignored;

	container->next_slot.block = container->next_slot.slot = 0;
	if (!container->tables) {
		container->at = container->first;
		container->end = 1;
		return container->next_slot.table++ ? 0 : 1;
	}
	if (container->next_slot.table == container->tables)
		return 0;
	/* The same table may stand there several times in a row. */
	if ((container->next_slot.table &&
	     !container_word(container, addr - word, &last)) ||
	    !container_word(container, addr, &table.addr))
		return unreadable(addr, why);
	container->next_slot.table++;
	container->end = 0;
	if (table.addr == last)
		return 1;
	if (!find_pointer(container, &table, "groups.data", &container->at,
			  &ignored) ||
	    !find_number(container, &table, "groups.lengthMask",
			 &container->end))
		return unreadable(table.addr, why);
	container->end++;
	return 1;
}

static int next_in_groups(struct container *container, struct slot *out,
			  struct failure *why)
{
	uint8_t mark;

	if (container->next_slot.slot == SLOTS) {
		container->next_slot.slot = 0;
		container->next_slot.block++;
	}
	out->is_taken = false;
	if (!container->at || container->next_slot.block >= container->end)
		return open_next_table(container, why);
	out->block = container->at + container->next_slot.block *
					     container->element->size;
	out->number = container->next_slot.slot++;
	if (!container_bytes(container, out->block + out->number, &mark, 1))
		return unreadable(out->block + out->number, why);
	out->is_taken = !(mark & 0x80);
	return 1;
}

static int find_in_groups(struct container *container, uint64_t n,
			  struct container_child *out, struct failure *why)
{
	struct slot slot;
	uint64_t addr;
	int rc;

	if (n >= container->count)
		return 0;
	rc = find_slot(container, n, next_in_groups, &slot, why);
	if (rc < 0)
		return rc;
	addr = slot.block + container->offset + slot.number *
						container->per_block;
	out->key = part_at(&container->key, addr);
	out->value = part_at(&container->value, addr);
	return 1;
}

static bool find_group(struct container *container)
{
	struct member groups, data, slots;

	if (!find_member(container, container->table, "groups", &groups) ||
	    !find_member(container, groups.type, "data", &data) ||
	    data.type->kind != TYPE_POINTER)
		return false;
	container->element = type_target(data.type);
	if (!container->element ||
	    !find_member(container, container->element, "slots", &slots) ||
	    !take_element(&slots))
		return false;
	container->offset = slots.offset;
	container->per_block = slots.type->size;
	return find_member(container, slots.type, "key", &container->key) &&
	       find_member(container, slots.type, "elem", &container->value);
}

static bool open_groups(struct container *container, const struct value *map)
{
	if (!find_pointer(container, map, "dirPtr", &container->first,
			  &container->table) ||
	    !find_number(container, map, "dirLen", &container->tables) ||
	    !find_number(container, map, "used", &container->count) ||
	    container->table->kind != TYPE_POINTER)
		return false;
	container->table = type_target(container->table);
	container->find_child = find_in_groups;
	return container->table && find_group(container);
}

/* A map is a pointer, with a name of its own. */
static bool open_map(struct container *container)
{
	struct value map;

	if (container->of.type->kind != TYPE_POINTER ||
	    value_follow(container->context, &container->of, &map, NULL) ||
	    !map.addr)
		return false;
	container->kind = CONTAINER_MAP;
	container->has_count = true;
	return open_buckets(container, &map) || open_groups(container, &map);
}

const struct recogniser recognisers_go[] = {
	{ NULL, "map[*", open_map },
	{ NULL, "string", open_string },
	{ NULL, "[]*", open_slice },
	{ NULL, NULL, NULL },
};
