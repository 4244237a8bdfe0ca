/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * query_places.c - what an address of a machine means at a time
 *
 * If FILE.idx knows which page tables the core had, they are read like other
 * memory: most of them have not changed for long.
 */
#include "formats/page_tables.h"
#include "replayer/session/query_internal.h"

/* A walk through page tables. */
struct walk {
	struct query *query;
	bool is_lost;		/* only a replay knows a table */
	int rc;
	struct failure *why;
};

static bool read_entry(void *context, uint64_t addr, uint64_t *entry)
{
	struct walk *walk = context;
	enum query_word how;

	if (!walk->rc)
		walk->rc = query_word(walk->query, addr, entry, &how,
				      walk->why);
	if (walk->rc)
		return false;
	walk->is_lost |= how == WORD_CHANGED;
	return how == WORD_KNOWN;
}

/* Those that are meant, of a core; `*out` is NULL if they are not known. */
static int find_tables(struct query *query, const struct page_tables **out,
		       struct failure *why)
{
	const struct segment_position *place = &query->place;
	const struct address_space *space = &query->space;
	const struct table_changes *changes;
	int rc = fine_tables(&query->fine, place->segment, &changes, why);

	*out = NULL;
	if (!rc && changes)
		*out = table_changes_at(
			changes, place->time - recording_time(query->recording,
							      place->segment),
			place->events, space->has_core ? &space->core : NULL);
	return rc;
}

static int translate(struct query *query, uint64_t addr, uint64_t *out,
		     bool *is_known, struct failure *why)
{
	struct walk walk = { query, false, 0, why };
	const struct page_tables *tables;
	int rc = find_tables(query, &tables, why);

	if (rc || !tables)
		return rc;
	if (!page_tables_find(tables, read_entry, &walk, addr, out))
		*out = HOME_NONE;
	*is_known = !walk.is_lost;
	return walk.rc;
}

int query_find_place(struct query *query, uint64_t addr, uint64_t *out,
		     bool *is_known, struct failure *why)
{
	const struct address_space *space = &query->space;
	const struct reg_table *regs = recording_reg_table(query->recording);

	*out = addr;
	*is_known = regs->arch != ARCH_AARCH64_MACHINE || space->is_physical;
	/* A process's own table was found by a replay that stands there. */
	return *is_known || space->has_table ?
		       0 : translate(query, addr, out, is_known, why);
}
