/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_values.c - see race_values.h */
#include "replayer/race_values.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/internal.h"
#include "replayer/races.h"

/* So many writes that nothing orders are kept for one question. */
#define SLOTS 32u

/* A write that no later one has replaced. */
struct race_slot {
	bool is_there;
	bool is_fresh;		/* what it writes is not in memory yet */
	bool is_read;		/* by a thread that it is not ordered with */
	bool is_library;
	uint32_t thread;
	uint32_t count;		/* of the thread's clock */
	uint32_t rivals;	/* slots that it is not ordered with; bits */
	struct race_value now, old;
};

struct search {
	struct race_replay replay;
	struct race_values *values;
	bool is_fresh;		/* some slot is */
};

/* ------- memory ------- */

static void look(struct search *search, struct race_value *value)
{
	size_t inside = value->addr % GUEST_PAGE;
	const uint8_t *page = memory_peek(search->replay.rep->memory,
					  value->addr >> GUEST_PAGE_SHIFT);

	value->is_known = page && inside + value->size <= GUEST_PAGE;
	if (value->is_known)
		memcpy(value->bytes, page + inside, value->size);
}

/* What has been written by now can be seen. */
static void look_at_fresh(struct search *search)
{
	if (!search->is_fresh)
		return;
	search->is_fresh = false;
	for (size_t i = 0; i < search->values->count; i++) {
		struct race_slot *slots = search->values->list[i].slots;

		for (unsigned j = 0; j < SLOTS; j++) {
			if (!slots[j].is_there || !slots[j].is_fresh)
				continue;
			look(search, &slots[j].now);
			slots[j].is_fresh = false;
		}
	}
}

/* ------- writes and reads ------- */

static bool overlap(const struct race_value *value, uint64_t addr,
		    uint64_t size)
{
	return value->addr < addr + size && addr < value->addr + value->size;
}

static bool covers(uint64_t addr, uint64_t size, const struct race_value *value)
{
	return addr <= value->addr &&
	       value->addr + value->size <= addr + size;
}

static bool is_ordered(struct search *search, const struct race_slot *slot,
		       uint32_t thread)
{
	return slot->thread == thread ||
	       clock_of(&search->replay.detector.clocks[thread],
			slot->thread) >= slot->count;
}

static void drop(struct race_slot *slots, unsigned number)
{
	slots[number].is_there = false;
	for (unsigned i = 0; i < SLOTS; i++)
		slots[i].rivals &= ~(UINT32_C(1) << number);
}

/* A free slot, or that of the write that was longest ago. */
static unsigned find_free(struct race_slot *slots)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < SLOTS; i++) {
		if (!slots[i].is_there)
			return i;
		if (slots[i].now.time < slots[oldest].now.time)
			oldest = i;
	}
	drop(slots, oldest);
	return oldest;
}

/* The part of the access that the question is about. */
static struct race_value make_value(struct search *search,
				    const struct race_question *question,
				    uint32_t thread,
				    const struct race_access *access)
{
	uint64_t end = access->addr + access->size;
	uint64_t last = question->addr + question->size;
	struct race_value value = {
		.addr = access->addr > question->addr ? access->addr :
							question->addr,
		.has_writer = true,
		.time = access->time,
		.pc = access->pc,
		.place = access->place,
	};

	value.size = (size_t)((end < last ? end : last) - value.addr);
	if (value.size > RACE_VALUE_MOST)
		value.size = RACE_VALUE_MOST;
	recording_tid(search->replay.recording, thread, &value.tid, NULL);
	return value;
}

static void take_write(struct search *search, struct race_question *question,
		       uint32_t thread, const struct race_access *access)
{
	struct race_value value = make_value(search, question, thread, access);
	struct race_slot slot = {
		.is_there = true, .is_fresh = true, .thread = thread,
		.count = clock_of(&search->replay.detector.clocks[thread],
				  thread),
		.is_library = access->is_library, .now = value, .old = value,
	};
	struct race_slot *slots = question->slots;
	unsigned number;

	slot.old.has_writer = false;
	look(search, &slot.old);
	for (unsigned i = 0; i < SLOTS; i++) {
		if (!slots[i].is_there ||
		    !overlap(&slots[i].now, value.addr, value.size))
			continue;
		if (!is_ordered(search, &slots[i], thread)) {
			if (!slots[i].is_library || !slot.is_library)
				slot.rivals |= UINT32_C(1) << i;
		} else if (covers(value.addr, value.size, &slots[i].now)) {
			if (slots[i].now.addr == value.addr &&
			    slots[i].now.size == value.size)
				slot.old = slots[i].now;
			drop(slots, i);
		}
	}
	number = find_free(slots);
	slot.rivals &= ~(UINT32_C(1) << number);
	for (unsigned i = 0; i < SLOTS; i++)
		if (slot.rivals & UINT32_C(1) << i)
			slots[i].rivals |= UINT32_C(1) << number;
	slots[number] = slot;
	search->is_fresh = true;
}

static void take_read(struct search *search, struct race_question *question,
		      uint32_t thread, const struct race_access *access)
{
	for (unsigned i = 0; i < SLOTS; i++) {
		struct race_slot *slot = &question->slots[i];

		if (slot->is_there &&
		    overlap(&slot->now, access->addr, access->size) &&
		    !is_ordered(search, slot, thread) &&
		    !(slot->is_library && access->is_library))
			slot->is_read = true;
	}
}

/* Bytes that synchronize do not race. */
static bool is_sync(struct search *search, const struct race_access *access)
{
	struct race_word *word;

	if (race_words_find(&search->replay.detector.words, access->addr,
			    &word) || !word)
		return false;
	return word->sync & race_word_bytes(access->addr &
					    ~(uint64_t)(RACE_WORD - 1),
					    access->addr, access->size);
}

static void on_access(void *context, uint32_t thread,
		      const struct race_access *access)
{
	struct search *search = context;

	if (!access) {
		look_at_fresh(search);
		return;
	}
	for (size_t i = 0; i < search->values->count; i++) {
		struct race_question *question = &search->values->list[i];

		if (access->time >= question->at ||
		    access->addr >= question->addr + question->size ||
		    question->addr >= access->addr + access->size ||
		    is_sync(search, access))
			continue;
		if (access->writes)
			take_write(search, question, thread, access);
		else
			take_read(search, question, thread, access);
	}
}

/* ------- answers ------- */

static int add_value(struct race_question *question, struct lines *lines,
		     const struct race_value *value)
{
	struct race_value *more =
		realloc(question->values,
			(question->count + 1) * sizeof(*more));

	if (!more)
		return ERR_NO_MEMORY;
	question->values = more;
	more[question->count] = *value;
	if (value->has_writer)
		lines_find(lines, value->time, value->place,
			   &more[question->count].line);
	question->count++;
	return 0;
}

static int compare_values(const void *a, const void *b)
{
	const struct race_value *one = a, *other = b;

	if (one->has_writer != other->has_writer)
		return one->has_writer ? 1 : -1;
	return (one->time > other->time) - (one->time < other->time);
}

static int answer(struct race_question *question, struct lines *lines)
{
	int rc = 0;

	for (unsigned i = 0; i < SLOTS && !rc; i++) {
		const struct race_slot *slot = &question->slots[i];

		if (!slot->is_there || (!slot->rivals && !slot->is_read))
			continue;
		rc = add_value(question, lines, &slot->now);
		if (!rc && slot->is_read && !slot->rivals)
			rc = add_value(question, lines, &slot->old);
	}
	if (question->count)
		qsort(question->values, question->count,
		      sizeof(*question->values), compare_values);
	return rc;
}

static uint64_t last_time(const struct race_values *values)
{
	uint64_t last = 0;

	for (size_t i = 0; i < values->count; i++)
		if (values->list[i].at > last)
			last = values->list[i].at;
	return last;
}

static void ignore(void *context, const struct race_entry *before,
		   uint32_t thread, const struct race_access *now,
		   uint64_t addr)
{
	(void)context;
	(void)before;
	(void)thread;
	(void)now;
	(void)addr;
}

static int make_slots(struct race_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		struct race_question *question = &values->list[i];

		assert(question->size);
		question->slots = calloc(SLOTS, sizeof(*question->slots));
		if (!question->slots)
			return ERR_NO_MEMORY;
	}
	return 0;
}

int race_values_find(struct race_values *values, struct recording *recording,
		     race_progress *progress, void *context,
		     struct failure *why)
{
	struct search search = { .values = values };
	struct race_replay *replay = &search.replay;
	int rc = race_replay_init(replay, recording, last_time(values), ignore,
				  NULL, why);

	replay->progress = progress;
	replay->progress_context = context;
	replay->on_access = on_access;
	replay->access_context = &search;
	if (!rc)
		rc = lines_create(&values->lines, recording, why);
	if (!rc && make_slots(values))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	if (!rc)
		rc = races_search(replay, values->lines, why);
	for (size_t i = 0; i < values->count && !rc; i++)
		if (answer(&values->list[i], values->lines))
			rc = failed(why, ERR_NO_MEMORY, "out of memory");
	race_replay_release(replay);
	return rc;
}

void race_values_release(struct race_values *values)
{
	for (size_t i = 0; i < values->count; i++) {
		free(values->list[i].slots);
		free(values->list[i].values);
	}
	free(values->list);
	lines_destroy(values->lines);
	*values = (struct race_values) { 0 };
}
