/* SPDX-License-Identifier: GPL-2.0-or-later */
/* split_units_internal.h - what the files of split_units.h share */
#ifndef CPREC_REPLAYER_SYMBOLS_SPLIT_UNITS_INTERNAL_H
#define CPREC_REPLAYER_SYMBOLS_SPLIT_UNITS_INTERNAL_H

#include "formats/bytes.h"
#include "formats/number_map.h"
#include "replayer/symbols/dwarf_bytes.h"
#include "replayer/symbols/split_units.h"

/* What is made has no index; what a package has in all its units is one part. */
enum { JOINED_ADDR = SPLIT_STR + 1, JOINED_SECTIONS };

/* Sizes of headers: of units, in versions 4 and 5; with an identifier, in 5; of
 * those with types, in 4. */
enum { HEADER_OLD = 11, HEADER_NEW = 12, SKELETON_OLD = 11, SKELETON_NEW = 20,
       HEADER_TYPES = 23 };

struct split_units {
	struct skeleton *list;		/* by their offsets */
	size_t count, room;
	struct number_map by_id;
	struct number_map types;	/* signatures of those that there are */
	struct output sections[JOINED_SECTIONS];
	uint64_t blank;			/* abbreviations of units without contents */
	const char *folder;		/* a text that was added last, */
	uint64_t folder_at;		/* where it is */
	int error;
};

/* A table of abbreviations: some codes get another meaning. */
struct split_table {
	uint64_t offset;		/* in the file */
	struct abbrevs abbrevs;
	struct {
		uint64_t code;
		struct output declaration;
	} *changed;
	size_t changed_count, changed_room;
};

/* A unit whose abbreviations have no place yet. */
struct split_pending {
	bool is_types;
	uint64_t at;			/* where their offset is to be */
	size_t table;
};

/* A file that is being added. */
struct split_source {
	struct split_units *units;
	const struct split_file *file;
	uint64_t placed[SPLIT_SECTIONS];	/* where its sections are now */
	uint64_t left[SPLIT_SECTIONS];	/* bytes that it may have more */
	struct split_table *tables;
	size_t table_count, table_room;
	struct split_pending *pending;
	size_t pending_count, pending_room;
	bool is_wanted;			/* it has the unit of a skeleton, */
	bool has_joined;		/* which has been copied */
};

/* A unit that was copied, and is changed where it is. */
struct split_unit {
	struct split_source *source;
	const struct split_part *parts;
	struct skeleton *skeleton;	/* NULL: it has types */
	bool is_types;			/* it is in .debug_types */
	uint64_t part_at;		/* where its contribution is now, */
	uint8_t *bytes;			/* and it; */
	size_t size;			/* with the header */
	struct dwarf_shape shape;
	size_t header;			/* bytes of it */
	uint64_t id, abbrevs;		/* offset of them in the contribution */
	size_t table;
	uint64_t addr_base, ranges_base;	/* as of the skeleton */
	uint64_t *lists;		/* where lists of locations are */
	size_t list_count, list_room;
};

/* Where a part of a file's section is now. */
static inline uint64_t split_placed(const struct split_unit *unit,
				    enum split_section which)
{
	return unit->source->placed[which] + unit->parts[which].offset;
}

/* A number that the skeleton has; 0: it has none. */
uint64_t split_skeleton_offset(const struct skeleton *skeleton, unsigned name);

/* Gives the unit its new header and first entry; `*next` is the one behind. */
int split_head_write(struct split_unit *unit, size_t *next);

/* Changes the entries from `next` on. */
int split_entries_write(struct split_unit *unit, size_t next);

#endif
