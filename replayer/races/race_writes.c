/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_writes.c - see race_writes.h */
#include "replayer/races/race_writes.h"

#include <string.h>

#include "replayer/races/race_internal.h"

/* ------- memory ------- */

static void look(struct race_writes *writes, struct race_value *value)
{
	size_t inside = value->addr % GUEST_PAGE;
	const uint8_t *page = memory_peek(race_memory(&writes->replay),
					  value->addr >> GUEST_PAGE_SHIFT);

	value->is_known = page && inside + value->size <= GUEST_PAGE;
	if (value->is_known)
		memcpy(value->bytes, page + inside, value->size);
}

/* Notes what is there, for the next write. */
static void look_at_memory(struct race_writes *writes,
			   struct race_question *question)
{
	for (uint64_t at = 0; at < question->size; at++)
		question->is_known[at] =
			race_peek(&writes->replay, question->home + at,
				  &question->memory[at], 1);
}

static void look_at_slots(struct race_writes *writes,
			  struct race_question *question)
{
	for (unsigned i = 0; i < RACE_SLOTS; i++) {
		struct race_slot *slot = &question->slots[i];

		if (!slot->is_there || !slot->is_fresh)
			continue;
		look(writes, &slot->now);
		slot->is_fresh = false;
	}
}

/*
 * What has been written by now can be seen, also by others than instructions.
 * What these store is told: by that, what was there before is known.
 */
static void look_around(struct race_writes *writes)
{
	if (!writes->is_fresh && !writes->is_stale)
		return;
	for (size_t i = 0; i < writes->values->count; i++) {
		look_at_slots(writes, &writes->values->list[i]);
		look_at_memory(writes, &writes->values->list[i]);
	}
	writes->is_fresh = writes->is_stale = false;
}

static void recall(const struct race_question *question,
		   struct race_value *value)
{
	uint64_t at = value->addr - question->home;

	value->is_known = !memchr(question->is_known + at, 0, value->size);
	memcpy(value->bytes, question->memory + at, value->size);
}

/* ------- writes and reads ------- */

/* What a store has written, as much of it as a value shows. */
static void take_value(struct race_value *value,
		       const struct race_access *access)
{
	uint64_t bytes = access->value;

	if (!access->has_value)
		return;
	bytes >>= 8 * (value->addr - access->addr);
	memcpy(value->bytes, &bytes, value->size);
	value->is_known = true;
}

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

/* Whether what a thread did at a `count` of its clock is before `now`. */
static bool is_before(struct race_writes *writes, uint32_t thread,
		      uint32_t count, uint32_t now)
{
	return thread == now ||
	       clock_of(&writes->replay.detector.clocks[now], thread) >= count;
}

static bool is_ordered(struct race_writes *writes, const struct race_slot *slot,
		       uint32_t thread)
{
	return is_before(writes, slot->thread, slot->count, thread);
}

static void drop(struct race_slot *slots, unsigned number)
{
	slots[number].is_there = false;
	for (unsigned i = 0; i < RACE_SLOTS; i++)
		slots[i].rivals &= ~(UINT32_C(1) << number);
}

/* A free slot, or that of the write that was longest ago. */
static unsigned find_free(struct race_slot *slots)
{
	unsigned oldest = 0;

	for (unsigned i = 0; i < RACE_SLOTS; i++) {
		if (!slots[i].is_there)
			return i;
		if (slots[i].now.time < slots[oldest].now.time)
			oldest = i;
	}
	drop(slots, oldest);
	return oldest;
}

/* The part of the access that the question is about. */
static struct race_value make_value(struct race_writes *writes,
				    const struct race_question *question,
				    uint32_t thread,
				    const struct race_access *access)
{
	uint64_t end = access->addr + access->size;
	uint64_t last = question->home + question->size;
	struct race_value value = {
		.addr = access->addr > question->home ? access->addr :
							question->home,
		.has_writer = true,
		.time = access->time,
		.pc = access->pc,
		.place = access->place,
	};

	value.size = (size_t)((end < last ? end : last) - value.addr);
	if (value.size > RACE_VALUE_MOST)
		value.size = RACE_VALUE_MOST;
	recording_tid(writes->replay.recording,
		      recording_thread_of(writes->replay.recording, thread,
					  access->time),
		      &value.tid, NULL);
	take_value(&value, access);
	return value;
}

/* Bytes that synchronize do not race: see race_writes_found(). */
static bool is_sync(struct race_writes *writes,
		    const struct race_access *access)
{
	struct race_word *word;

	if (race_words_find(&writes->replay.detector.words, access->addr,
			    &word) || !word)
		return false;
	return word->sync & race_word_bytes(access->addr &
					    ~(uint64_t)(RACE_WORD - 1),
					    access->addr, access->size);
}

/* Whether another thread has read what is written now; nothing orders them. */
static bool was_read(struct race_writes *writes,
		     const struct race_question *question,
		     const struct race_slot *slot)
{
	for (unsigned i = 0; i < RACE_READERS; i++) {
		const struct race_reader *reader = &question->readers[i];

		if (reader->is_there &&
		    overlap(&slot->now, reader->addr, reader->size) &&
		    !is_before(writes, reader->thread, reader->count,
			       slot->thread) &&
		    !(reader->is_library && slot->is_library))
			return true;
	}
	return false;
}

static struct race_slot make_slot(struct race_writes *writes,
				  const struct race_question *question,
				  uint32_t thread,
				  const struct race_access *access)
{
	struct race_slot slot = {
		.is_there = true, .is_fresh = !access->has_value,
		.thread = thread,
		.count = clock_of(&writes->replay.detector.clocks[thread],
				  thread),
		.is_library = access->is_library,
		.is_sync = is_sync(writes, access),
		.now = make_value(writes, question, thread, access),
	};

	slot.old = slot.now;
	slot.old.has_writer = false;
	recall(question, &slot.old);
	if (slot.is_sync)
		slot.is_read = writes->has_change &&
			       writes->change_thread == thread &&
			       writes->change_time == access->time;
	else
		slot.is_read = was_read(writes, question, &slot);
	return slot;
}

/* Finds rivals of a new write, and drops the writes that it replaces. */
static void compare_writes(struct race_writes *writes, struct race_slot *slots,
			   struct race_slot *slot)
{
	const struct race_value *now = &slot->now;

	for (unsigned i = 0; i < RACE_SLOTS; i++) {
		if (!slots[i].is_there ||
		    !overlap(&slots[i].now, now->addr, now->size))
			continue;
		if (!slot->is_sync &&
		    !is_ordered(writes, &slots[i], slot->thread)) {
			if (!slots[i].is_library || !slot->is_library)
				slot->rivals |= UINT32_C(1) << i;
		} else if (covers(now->addr, now->size, &slots[i].now)) {
			if (slots[i].now.addr == now->addr &&
			    slots[i].now.size == now->size)
				slot->old = slots[i].now;
			drop(slots, i);
		}
	}
}

static void take_write(struct race_writes *writes,
		       struct race_question *question, uint32_t thread,
		       const struct race_access *access)
{
	struct race_slot *slots = question->slots;
	struct race_slot slot = make_slot(writes, question, thread, access);
	unsigned number;

	compare_writes(writes, slots, &slot);
	number = find_free(slots);
	slot.rivals &= ~(UINT32_C(1) << number);
	for (unsigned i = 0; i < RACE_SLOTS; i++)
		if (slot.rivals & UINT32_C(1) << i)
			slots[i].rivals |= UINT32_C(1) << number;
	slots[number] = slot;
	writes->is_fresh |= slot.is_fresh;
}

/* The place for a read: of the same before, a free one, or the oldest. */
static struct race_reader *find_reader(struct race_question *question,
				       uint32_t thread,
				       const struct race_access *access)
{
	struct race_reader *readers = question->readers;
	struct race_reader *found = readers;

	for (unsigned i = 0; i < RACE_READERS; i++) {
		if (!readers[i].is_there ||
		    (readers[i].thread == thread &&
		     readers[i].addr == access->addr &&
		     readers[i].size == access->size))
			return &readers[i];
		if (readers[i].time < found->time)
			found = &readers[i];
	}
	return found;
}

static void take_read(struct race_writes *writes,
		      struct race_question *question, uint32_t thread,
		      const struct race_access *access)
{
	*find_reader(question, thread, access) = (struct race_reader) {
		.is_there = true, .is_library = access->is_library,
		.thread = thread,
		.count = clock_of(&writes->replay.detector.clocks[thread],
				  thread),
		.addr = access->addr, .size = access->size,
		.time = access->time,
	};
	for (unsigned i = 0; i < RACE_SLOTS; i++) {
		struct race_slot *slot = &question->slots[i];

		if (slot->is_there &&
		    overlap(&slot->now, access->addr, access->size) &&
		    !is_ordered(writes, slot, thread) &&
		    !(slot->is_library && access->is_library))
			slot->is_read = true;
	}
}

void race_writes_access(void *context, uint32_t thread,
		      const struct race_access *access)
{
	struct race_writes *writes = context;

	if (!access) {
		look_around(writes);
		return;
	}
	for (size_t i = 0; i < writes->values->count; i++) {
		struct race_question *question = &writes->values->list[i];

		if (access->time >= question->at ||
		    access->addr >= question->home + question->size ||
		    question->home >= access->addr + access->size)
			continue;
		if (access->writes)
			take_write(writes, question, thread, access);
		else if (!is_sync(writes, access))
			take_read(writes, question, thread, access);
	}
}

void race_writes_store(void *context, uint64_t addr, uint64_t value,
		       unsigned size)
{
	struct race_writes *writes = context;

	for (size_t i = 0; i < writes->values->count; i++) {
		struct race_question *question = &writes->values->list[i];

		if (addr >= question->home + question->size ||
		    question->home >= addr + size)
			continue;
		for (unsigned j = 0; j < size; j++) {
			uint64_t at = addr + j - question->home;

			if (at >= question->size)
				continue;
			question->memory[at] = (uint8_t)(value >> 8 * j);
			question->is_known[at] = 1;
		}
	}
}

void race_writes_forget(void *context, uint64_t addr, uint64_t size)
{
	struct race_writes *writes = context;

	writes->is_stale = true;
	for (size_t i = 0; i < writes->values->count; i++) {
		struct race_question *question = &writes->values->list[i];

		for (unsigned j = 0; j < RACE_SLOTS; j++)
			if (question->slots[j].is_there &&
			    covers(addr, size, &question->slots[j].now))
				drop(question->slots, j);
		for (unsigned j = 0; j < RACE_READERS; j++)
			if (question->readers[j].addr - addr < size)
				question->readers[j].is_there = false;
	}
}

/*
 * Of bytes that synchronize the detector alone knows when they race: one
 * thread changes them indivisibly, another by a load and a store.
 */
void race_writes_found(void *context, const struct race_entry *before,
		     uint32_t thread, const struct race_access *now,
		     uint64_t addr)
{
	struct race_writes *writes = context;

	(void)before;
	writes->has_change = true;
	writes->change_thread = thread;
	writes->change_time = now->time;
	for (size_t i = 0; i < writes->values->count; i++) {
		struct race_slot *slots = writes->values->list[i].slots;

		for (unsigned j = 0; j < RACE_SLOTS; j++)
			if (slots[j].is_there && slots[j].is_sync &&
			    slots[j].thread == thread &&
			    slots[j].now.time == now->time &&
			    overlap(&slots[j].now, addr, 1))
				slots[j].is_read = true;
	}
}
