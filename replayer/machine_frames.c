/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine_frames.c - key frames of a machine: started at, and compared with */
#include "replayer/machine_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAGES_AT_ONCE 4096u

static const uint8_t zeros[GUEST_PAGE];

/* Pages that were written are none of those that are stored. */
static void forget_written(struct machine_replay *replay)
{
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);

	for (size_t i = 0; i < count; i++)
		replay->ids[board_page(replay->board, writes[i].page)] =
			ID_UNKNOWN;
	board_close(replay->board);
}

/* ------- starting ------- */

/* Pages that are being loaded. */
struct loading {
	struct machine_replay *replay;
	uint8_t *bytes;		/* of PAGES_AT_ONCE */
	uint64_t pages[PAGES_AT_ONCE];
	struct page_want wants[PAGES_AT_ONCE];
	size_t count;
};

static int load_waiting(struct loading *loading, struct failure *why)
{
	int rc = recording_read_pages(loading->replay->recording,
				      loading->wants, loading->count, why);

	for (size_t i = 0; i < loading->count && !rc; i++)
		board_store(loading->replay->board,
			    loading->pages[i] << GUEST_PAGE_SHIFT,
			    loading->bytes + i * GUEST_PAGE, GUEST_PAGE);
	loading->count = 0;
	return rc;
}

static int load_page(struct loading *loading, uint64_t page, uint64_t id,
		     struct failure *why)
{
	size_t i = loading->count;

	if (!id) {
		board_store(loading->replay->board, page << GUEST_PAGE_SHIFT,
			    zeros, GUEST_PAGE);
		return 0;
	}
	loading->pages[i] = page;
	loading->wants[i] = (struct page_want){
		.id = id, .to = loading->bytes + i * GUEST_PAGE,
	};
	memset(loading->wants[i].to, 0, GUEST_PAGE);
	return ++loading->count < PAGES_AT_ONCE ? 0 :
						  load_waiting(loading, why);
}

/* All that differ from what is there. */
static int load_pages(struct loading *loading, size_t segment,
		      struct failure *why)
{
	struct machine_replay *replay = loading->replay;
	int rc = 0;

	for (uint64_t i = 0; i < board_pages(replay->board) && !rc; i++) {
		uint64_t page = board_guest_page(replay->board, i), id;

		rc = recording_snapshot(replay->recording, segment, page, &id,
					why);
		if (rc || id == replay->ids[i])
			continue;
		replay->ids[i] = ID_UNKNOWN;
		rc = load_page(loading, page, id, why);
		if (!rc)
			replay->ids[i] = id;
	}
	return rc ? rc : load_waiting(loading, why);
}

/* Says why there is none. */
static struct loading *begin_loading(struct machine_replay *replay,
				     struct failure *why)
{
	struct loading *loading = calloc(1, sizeof(*loading));

	if (loading)
		loading->bytes = malloc((size_t)PAGES_AT_ONCE * GUEST_PAGE);
	if (!loading || !loading->bytes) {
		free(loading);
		failed(why, ERR_NO_MEMORY, "out of memory");
		return NULL;
	}
	loading->replay = replay;
	return loading;
}

static void end_loading(struct loading *loading)
{
	free(loading->bytes);
	free(loading);
}

/* All cores; the first of the segment, whose `frame` is, is present. */
static int load_cores(struct machine_replay *replay, size_t segment,
		      const struct key_frame *frame, struct failure *why)
{
	size_t count;
	uint32_t first = recording_streams(replay->recording, segment,
					   &count)[0];

	board_switch(replay->board, first);
	for (uint32_t i = 0; i < board_cores(replay->board); i++) {
		struct key_frame own;
		int rc = i == first ? 0 :
			 recording_thread_frame(replay->recording, segment, i,
						&own, why);

		if (rc)
			return rc;
		if (i == first)
			continue;
		board_set_core_registers(replay->board, i, &own.regs);
		key_frame_release(&own);
	}
	board_set_registers(replay->board, &frame->regs);
	board_set_steps(replay->board, frame->time);
	return 0;
}

int frames_load(struct machine_replay *replay, size_t segment,
		const struct key_frame *frame, struct failure *why)
{
	struct loading *loading = begin_loading(replay, why);
	int rc;

	if (!loading)
		return ERR_NO_MEMORY;
	forget_written(replay);
	rc = load_pages(loading, segment, why);
	board_close(replay->board);
	/* If it failed, nobody knows how far it came. */
	if (rc)
		memset(replay->ids, 0xff,
		       board_pages(replay->board) * sizeof(*replay->ids));
	end_loading(loading);
	return rc ? rc : load_cores(replay, segment, frame, why);
}

int frames_restore(struct machine_replay *replay, size_t kept,
		   struct failure *why)
{
	struct loading *loading = begin_loading(replay, why);
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);
	int rc = 0;

	if (!loading)
		return ERR_NO_MEMORY;
	for (size_t i = kept; i < count && !rc; i++) {
		uint64_t id;

		rc = recording_snapshot(replay->recording, replay->segment,
					writes[i].page, &id, why);
		if (!rc)
			rc = load_page(loading, writes[i].page, id, why);
	}
	if (!rc)
		rc = load_waiting(loading, why);
	end_loading(loading);
	return rc;
}

/* ------- comparing ------- */

static int differs(const struct machine_replay *replay, const char *what,
		   struct failure *why)
{
	return failed(why, ERR_DIVERGED, "'%s': the replay differs from the"
		      " recording at the key frame at t=%" PRIu64 ": %s",
		      trace_reader_path(recording_reader(replay->recording)),
		      board_steps(replay->board), what);
}

static int check_registers(const struct machine_replay *replay, unsigned core,
			   const struct key_frame *frame, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(replay->recording);
	struct reg_file now;
	char text[80];

	board_core_registers(replay->board, core, &now);
	for (unsigned i = 0; i < table->count; i++) {
		const struct reg_info *reg = &table->regs[i];

		if (!memcmp(now.bytes + reg->offset,
			    frame->regs.bytes + reg->offset, reg->size))
			continue;
		snprintf(text, sizeof(text), "register %s of core %u",
			 reg->name, core);
		return differs(replay, text, why);
	}
	return 0;
}

/* Those that have a key frame here. */
static int check_cores(const struct machine_replay *replay, size_t segment,
		       const struct key_frame *frame, struct failure *why)
{
	unsigned present = board_core(replay->board);
	int rc = check_registers(replay, present, frame, why);

	for (unsigned i = 0; i < board_cores(replay->board) && !rc; i++) {
		struct key_frame own;

		if (i == present ||
		    !recording_has_frame(replay->recording, segment, i))
			continue;
		rc = recording_thread_frame(replay->recording, segment, i, &own,
					    why);
		if (rc)
			break;
		rc = check_registers(replay, i, &own, why);
		key_frame_release(&own);
	}
	return rc;
}

static int check_page(const struct machine_replay *replay, uint64_t page,
		      uint64_t id, struct failure *why)
{
	uint8_t expected[GUEST_PAGE];
	const uint8_t *found = board_bytes(replay->board,
					   page << GUEST_PAGE_SHIFT,
					   GUEST_PAGE);
	char text[80];
	size_t i = 0;
	int rc = recording_page(replay->recording, id, expected, why);

	if (rc || (found && !memcmp(found, expected, GUEST_PAGE)))
		return rc;
	while (found && i < GUEST_PAGE && found[i] == expected[i])
		i++;
	snprintf(text, sizeof(text), "memory at 0x%" PRIx64,
		 (page << GUEST_PAGE_SHIFT) + i);
	return differs(replay, text, why);
}

/* Those that changed, and those that were written here. */
static int check_pages(const struct machine_replay *replay, size_t segment,
		       const struct key_frame *frame, struct failure *why)
{
	size_t count;
	const struct board_write *writes = board_writes(replay->board, &count);
	int rc = 0;

	for (size_t i = 0; i < frame->page_count && !rc; i++)
		rc = check_page(replay, frame->pages[i].page,
				frame->pages[i].id, why);
	for (size_t i = 0; i < count && !rc; i++) {
		uint64_t id;

		rc = recording_snapshot(replay->recording, segment,
					writes[i].page, &id, why);
		if (!rc)
			rc = check_page(replay, writes[i].page, id, why);
	}
	return rc;
}

int frames_pass(struct machine_replay *replay, size_t segment,
		const struct key_frame *frame, struct failure *why)
{
	int rc = 0;

	if (replay->checks)
		rc = check_cores(replay, segment, frame, why);
	if (!rc && replay->checks)
		rc = check_pages(replay, segment, frame, why);
	forget_written(replay);
	return rc;
}
