/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * watch.c - telling of a board's accesses to memory
 *
 * Translated code logs them, by their virtual addresses, with the budget that
 * its block has left: that tells when they took place.  The log is told before
 * anything can change what an address means, and before it is full.
 */
#include "vm/board/board_internal.h"

#include <string.h>

#include "formats/error.h"

/* So many are told at once. */
#define TOLD_AT_ONCE 256u

/* Where pages are that were looked up since the log was told last. */
#define KNOWN_PAGES 64u
#define NO_PAGE UINT64_MAX

struct known_pages {
	struct page_tables tables;
	uint64_t pages[KNOWN_PAGES], places[KNOWN_PAGES];
};

static bool tells(const struct board_watcher *watcher)
{
	return watcher && watcher->instruction;
}

int board_watch(struct board *board, const struct board_watcher *watcher,
		struct failure *why)
{
	unsigned kinds = watcher ? watcher->accesses : 0;
	unsigned now = engine_logs(board->engine);
	int rc = 0;

	_Static_assert(BOARD_READS == ENGINE_LOG_READS &&
		       BOARD_WRITES == ENGINE_LOG_WRITES &&
		       BOARD_VALUES == ENGINE_LOG_VALUES, "kinds of accesses");
	if (kinds & ~now) {
		rc = engine_log(board->engine, kinds | now, why);
		board->drops_all = true;
	}
	board->drops_all |= tells(board->watcher) || tells(watcher);
	board->watcher = rc ? NULL : watcher;
	engine_log_range(board->engine, 0, kinds ? 0 : UINT64_MAX,
			 kinds ? UINT64_MAX : 0);
	return rc;
}

bool watch_is_told(const struct board *board, guest_addr pc)
{
	return tells(board->watcher) && pc >= board->watcher->first &&
	       pc <= board->watcher->last;
}

void watch_instruction(struct board *board, uint64_t steps, guest_addr pc)
{
	if (watch_is_told(board, pc))
		board->watcher->instruction(board->watcher->context, steps, pc);
}

void watch_tables(const struct board *board, uint64_t steps,
		  const struct page_tables *tables)
{
	if (board->watcher && board->watcher->tables)
		board->watcher->tables(board->watcher->context, steps, tables);
}

uint64_t watch_limit(const struct board *board)
{
	return board->watcher ? ENGINE_LOGGED_STEPS : UINT64_MAX;
}

/* What all that is granted comes to has changed: records count from there. */
void watch_shift(struct board *board, uint64_t by)
{
	size_t count;
	struct access_record *records = engine_logged(board->engine, &count);

	for (size_t i = 0; i < count; i++)
		records[i].budget += (int64_t)by;
}

/* ------- what a record says ------- */

/* A place has 48 bits of an address, and whether the others are ones. */
static guest_addr pc_of(const struct access_record *record)
{
	guest_addr pc = record->place >> PLACE_PC_AT;

	return pc & 1 ? (pc & ~UINT64_C(1)) | UINT64_C(0xffff) << 48 : pc;
}

static uint64_t steps_of(const struct board *board,
			 const struct access_record *record)
{
	return board->base + (uint64_t)board->granted -
	       (uint64_t)record->budget -
	       (record->place & PLACE_LEFT_MASK) / PLACE_LEFT;
}

/* False: nothing is mapped there, so that it did not take place. */
static bool find_place(const struct board *board, struct known_pages *known,
		       guest_addr addr, uint64_t *out)
{
	uint64_t page = addr >> GUEST_PAGE_SHIFT;
	unsigned slot = page % KNOWN_PAGES;
	uint64_t place;

	if (known->pages[slot] != page) {
		if (!tables_translate(board, &known->tables,
				      page << GUEST_PAGE_SHIFT, &place))
			return false;
		known->pages[slot] = page;
		known->places[slot] = place;
	}
	*out = known->places[slot] + addr % GUEST_PAGE;
	return true;
}

static unsigned size_of(const struct access_record *record)
{
	return 1u << (record->place & PLACE_SIZE);
}

/* And is not like one that was told just now. */
static bool is_wanted(const struct board *board, struct lines_seen *seen,
		      const struct access_record *record)
{
	const struct board_watcher *watcher = board->watcher;
	const struct line_epochs *epochs = watcher->epochs;
	bool writes = record->place & PLACE_WRITES;

	return watcher->accesses & (writes ? BOARD_WRITES : BOARD_READS) &&
	       !(epochs && lines_seen(seen, record->addr, size_of(record),
				      writes, (steps_of(board, record) -
					       epochs->start) >>
						      epochs->shift));
}

static bool explain(const struct board *board, struct known_pages *known,
		    const struct access_record *record,
		    struct board_access *out)
{
	unsigned size = size_of(record);
	unsigned unused = 64 - 8 * size;

	*out = (struct board_access){
		.steps = steps_of(board, record), .pc = pc_of(record),
		.value = record->value << unused >> unused,
		.size = (uint8_t)size,
		.writes = record->place & PLACE_WRITES,
	};
	return find_place(board, known, record->addr, &out->addr);
}

/* ------- telling ------- */

static void tell_some(struct board *board, struct known_pages *known,
		      const struct access_record *const *records, size_t count)
{
	const struct board_watcher *watcher = board->watcher;
	struct board_access list[TOLD_AT_ONCE];
	size_t some = 0;

	for (size_t i = 0; i < count; i++)
		some += explain(board, known, records[i], &list[some]);
	if (some)
		watcher->accessed(watcher->context, list, some);
}

static void tell_all(struct board *board, const struct access_record *records,
		     size_t count)
{
	const struct access_record *wanted[TOLD_AT_ONCE];
	struct known_pages known;
	struct lines_seen seen;
	size_t some = 0;

	known.tables = board_tables(board);
	memset(known.pages, 0xff, sizeof(known.pages));
	if (board->watcher->epochs)
		seen = (struct lines_seen){ 0 };
	for (size_t i = 0; i < count; i++) {
		wanted[some] = &records[i];
		some += is_wanted(board, &seen, &records[i]);
		if (some < TOLD_AT_ONCE && i + 1 < count)
			continue;
		tell_some(board, &known, wanted, some);
		some = 0;
	}
}

void watch_tell(struct board *board)
{
	size_t count;
	const struct access_record *records =
		engine_logged(board->engine, &count);

	if (!count)
		return;
	if (board->watcher)
		tell_all(board, records, count);
	engine_log_cut(board->engine, 0);
}

/* An instruction has not retired: what it accessed, it did not. */
void watch_take_back(struct board *board, guest_addr pc)
{
	uint64_t steps = board_steps_at(board, pc);
	size_t count;
	const struct access_record *records =
		engine_logged(board->engine, &count);
	size_t left = count;

	while (left && pc_of(&records[left - 1]) == pc &&
	       steps_of(board, &records[left - 1]) == steps)
		left--;
	if (left != count)
		engine_log_cut(board->engine, left);
}
