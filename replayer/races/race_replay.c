/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_replay.c - see race_replay.h */
#include "replayer/races/race_replay.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/races/race_internal.h"

const struct reg_table *race_regs(const struct race_replay *replay)
{
	return recording_reg_table(replay->recording);
}

struct memory *race_memory(struct race_replay *replay)
{
	return vm_memory(race_vm(replay));
}

uint64_t race_reg(struct race_replay *replay, unsigned reg)
{
	return vm_reg(race_vm(replay), reg);
}

bool race_peek(struct race_replay *replay, uint64_t addr, void *out,
	       size_t size)
{
	const uint8_t *page = memory_peek(race_memory(replay),
					  addr >> GUEST_PAGE_SHIFT);

	if (!page || addr % GUEST_PAGE + size > GUEST_PAGE)
		return false;
	memcpy(out, page + addr % GUEST_PAGE, size);
	return true;
}

/* ------- where it happens ------- */

/* What the thread was in before, but for the linker, which is no caller. */
static enum race_home came_from(struct race_thread *thread)
{
	return thread->home == HOME_LINKER ? thread->home_before :
					     thread->home;
}

/* The thread comes to a library: it is called, or goes on. */
static void enter_library(struct race_replay *replay, uint64_t pc,
			  enum race_home home)
{
	enum race_home from = came_from(race_present(replay));

	if (home != HOME_C_LIBRARY && from == HOME_C_LIBRARY)
		race_served_end(replay);
	else if (home == HOME_C_LIBRARY || home != from)
		race_served_enter(replay, pc, home);
}

/*
 * Also finds the place that is to blame for what happens at `pc`: in a library
 * of the system, where the program called it, which the stack says at its
 * first instruction.
 */
void race_follow(struct race_replay *replay, uint64_t pc)
{
	struct race_thread *thread = race_present(replay);
	enum race_home home = race_home_of(&replay->homes, pc);
	bool changes = thread->home != home;
	enum race_role role;

	if (home == HOME_PROGRAM) {
		thread->place = pc;
		if (changes && thread->served.depth)
			race_served_end(replay);
	} else if (changes && home != HOME_LINKER && home != HOME_UNKNOWN) {
		enter_library(replay, pc, home);
	}
	if (changes)
		thread->home_before = came_from(thread);
	thread->home = home;
	if (changes || race_quiet_awaits(&thread->quiet, pc))
		race_library_step(replay, pc, race_home_is_program(home) ||
				  (home == HOME_RUNTIME &&
				   !race_quiet_is_share(&thread->quiet)));
	if (home != HOME_C_LIBRARY && home != HOME_RUNTIME)
		return;
	role = race_role_of(&replay->roles, pc);
	if (role != ROLE_NONE)
		race_library_call(replay, role);
}

/*
 * The thread comes to `pc`.  What it has executed last is told to nobody, if it
 * was of the program, but to blame for what a library does now.
 */
static void leave_program(struct race_replay *replay, uint64_t pc)
{
	struct race_thread *thread = race_present(replay);
	uint64_t from = vm_came_from(race_vm(replay));

	if (from && thread->home == HOME_PROGRAM &&
	    race_home_of(&replay->homes, pc) != HOME_PROGRAM)
		thread->place = from;
}

/* False if the thread must come to `pc` again: values are followed there. */
static bool settle_flow(struct race_replay *replay, uint64_t pc)
{
	struct race_flow *flow = &race_present(replay)->flow;

	replay->sp = race_reg(replay, race_regs(replay)->sp);
	if (!race_flow_is_on(flow))
		return true;
	race_flow_settle(flow, replay->sp);
	return !race_flow_is_on(flow) || race_watch_follows(replay, pc);
}

/* All accesses that were told have taken place. */
static void settle(struct race_replay *replay)
{
	if (replay->on_access && !replay->is_first)
		replay->on_access(replay->access_context, 0, NULL);
}

/* Not of each: race_watch.h says of which. */
static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct race_replay *replay = context;
	struct race_thread *thread;

	race_turn(replay);
	thread = race_present(replay);
	settle(replay);
	leave_program(replay, pc);
	if (!replay->is_first && !settle_flow(replay, pc))
		return;
	replay->pc = pc;
	replay->time = steps;
	race_follow(replay, pc);
	if (replay->is_first && race_home_is_program(thread->home))
		race_atomics_step(replay);
	if (race_flow_is_on(&thread->flow))
		race_flow_step(&thread->flow, vm_flow(race_vm(replay), pc));
}

/* ------- accesses ------- */

/* Whether synchronizing bytes are certainly of no atomic object. */
static bool is_plain(struct race_replay *replay,
		     const struct race_access *access)
{
	uint64_t start = access->addr & ~(uint64_t)(RACE_WORD - 1);
	struct race_word *word;

	race_note(replay, race_words_find(&replay->detector.words,
					  access->addr, &word));
	return word &&
	       (word->sync & ~word->atomic &
		race_word_bytes(start, access->addr, access->size)) &&
	       race_atomics_would_tell(replay, access->place, access->addr,
				       access->size);
}

static void tell(struct race_replay *replay, struct race_access *access)
{
	const struct race_thread *thread = race_present(replay);

	access->pc = replay->pc;
	access->time = replay->time;
	access->is_library = !race_home_is_program(thread->home) &&
			     thread->home != HOME_UNKNOWN &&
			     (access->is_atomic ||
			      !race_serves(replay, access->addr));
	access->place = thread->place ? thread->place : replay->pc;
	access->is_plain = access->writes && !access->is_atomic &&
			   !access->is_library && thread->home != HOME_CPP &&
			   is_plain(replay, access);
	if (replay->on_access && !access->is_hidden)
		replay->on_access(replay->access_context,
				  race_stream(replay), access);
	race_note(replay, race_detector_access(&replay->detector,
					  race_stream(replay), access));
}

/* Whether a store leaves memory as its instruction has found it. */
static bool is_there(const struct race_replay *replay,
		     const struct vm_access_told *store)
{
	return replay->loaded.size == store->size &&
	       replay->loaded.addr == store->addr &&
	       replay->loaded.value == store->value;
}

static int mark_by_type(struct race_replay *replay,
			const struct vm_access_told *told)
{
	if (replay->collects ||
	    !race_home_is_program(race_present(replay)->home))
		return 0;
	replay->pc = told->pc;
	race_atomics_access(replay, told->addr, told->size, told->writes,
			    told->value);
	return 0;
}

/* Otherwise it can only order threads. */
static bool matters(const struct race_replay *replay, enum race_home home,
		    const struct vm_access_told *told)
{
	return home == HOME_RUNTIME ||
	       (told->addr <= replay->focus.last &&
		told->addr + told->size - 1 >= replay->focus.first);
}

static int mark(struct race_replay *replay, const struct vm_access_told *told)
{
	struct race_words *words = &replay->detector.words;
	enum race_home home = race_present(replay)->home;
	bool is_atomic = vm_order(race_vm(replay), told->pc) != VM_PLAIN;
	int rc;

	if (home == HOME_LINKER && !is_atomic)
		return 0;
	if (!matters(replay, home, told) && !is_atomic)
		return mark_by_type(replay, told);
	rc = race_words_touch(words, race_stream(replay), told->addr,
			      told->size, told->writes);
	if (!rc && is_atomic && told->writes)
		rc = race_words_synchronize(words, told->addr, told->size,
					    false);
	if (!rc && race_home_is_program(home) && !is_atomic && !told->writes &&
	    race_words_load(words, told->addr, told->size))
		race_watch_load(replay, told->pc);
	return rc ? rc : mark_by_type(replay, told);
}

static void mark_all(struct race_replay *replay,
		     const struct vm_access_told *list, size_t count)
{
	if (race_quiet_is_memory(&race_present(replay)->quiet))
		return;
	for (size_t i = 0; i < count && !replay->error; i++)
		race_note(replay, mark(replay, &list[i]));
}

/* Whether the program's code loads bytes that others change indivisibly. */
static bool may_change(struct race_replay *replay, uint64_t addr,
		       unsigned size)
{
	uint64_t start = addr & ~(uint64_t)(RACE_WORD - 1);
	struct race_word *word;

	race_note(replay, race_words_find(&replay->detector.words, addr,
					  &word));
	return word && race_home_is_program(race_present(replay)->home) &&
	       (word->sync & ~word->atomic &
		race_word_bytes(start, addr, size));
}

/* Follows the values of loads; whether a store is a change of such a word. */
static bool follow_value(struct race_replay *replay,
			 const struct race_access *access, bool can_race)
{
	struct race_flow *flow = &race_present(replay)->flow;
	struct vm *vm = race_vm(replay);

	if (access->is_atomic) {
		race_flow_end(flow, access->addr, access->size);
		return false;
	}
	if (access->writes)
		return race_flow_is_on(flow) &&
		       race_flow_store(flow, access->addr, access->size,
				       replay->sp);
	if (race_flow_is_on(flow))
		race_flow_load(flow, access->addr, access->size);
	if (can_race && may_change(replay, access->addr,
				   (unsigned)access->size)) {
		race_watch_load(replay, replay->pc);
		race_flow_follow(flow, vm_flow(vm, replay->pc), access->addr,
				 access->size);
	}
	return false;
}

/*
 * Whether what runs a program's threads accesses its own memory: that of its
 * caller is on the caller's stack, where results are written.
 */
static bool is_of_runtime(struct race_replay *replay, uint64_t addr)
{
	const struct race_thread *thread = race_present(replay);
	const struct region *stack;
	uint64_t caller;

	if (thread->home != HOME_RUNTIME)
		return false;
	if (!thread->served.depth)
		return true;
	caller = thread->served.calls[thread->served.depth - 1].sp;
	stack = memory_region_at(race_memory(replay), caller);
	return addr < caller || !stack || addr >= stack->end;
}

static void take_access(struct race_replay *replay,
			const struct vm_access_told *told, bool may_race)
{
	const uint64_t addr = told->addr;
	struct race_access access = {
		.addr = addr, .size = told->size, .writes = told->writes,
		.has_value = told->writes, .value = told->value,
	};
	const struct race_quiet *quiet = &race_present(replay)->quiet;
	enum vm_order order;

	order = vm_order(race_vm(replay), replay->pc);
	access.is_atomic = order != VM_PLAIN;
	access.is_change = follow_value(replay, &access, may_race);
	if (!may_race)
		return;
	if (race_quiet_is_on(quiet)) {
		access.is_hidden = race_quiet_hides(quiet, addr);
		access.orders_nothing = !race_quiet_orders(quiet, addr);
		if (access.is_hidden && access.orders_nothing)
			return;
	}
	/* What the linker notes for itself does no harm: it comes out equal. */
	if (race_present(replay)->home == HOME_LINKER && !access.is_atomic)
		return;
	if (race_roles_is_runtime(&replay->roles, addr))
		access.is_hidden = true;
	if (is_of_runtime(replay, addr)) {
		access.is_hidden = true;
		access.is_order = !access.orders_nothing;
	}
	access.keeps_value = access.is_atomic && access.writes &&
			     is_there(replay, told);
	access.changes_nothing = order == VM_COMPARES && access.keeps_value;
	tell(replay, &access);
}

/* What an instruction has read before is known until the next one. */
static void begin_access(struct race_replay *replay,
			 const struct vm_access_told *told)
{
	struct race_thread *thread = race_present(replay);

	if (replay->time != told->steps || replay->pc != told->pc)
		replay->loaded.size = 0;
	replay->pc = told->pc;
	replay->time = told->steps;
	if (thread->home == HOME_PROGRAM)
		thread->place = told->pc;
}

static void end_access(struct race_replay *replay,
		       const struct vm_access_told *told)
{
	if (told->writes && replay->on_store)
		replay->on_store(replay->access_context, told->addr,
				 told->value, told->size);
	if (told->writes)
		return;
	replay->loaded.addr = told->addr;
	replay->loaded.size = told->size;
	replay->loaded.value = told->value;
}

static void look_at_all(struct race_replay *replay,
			const struct vm_access_told *list, size_t count)
{
	const struct race_flow *flow = &race_present(replay)->flow;

	for (size_t i = 0; i < count && !replay->error; i++) {
		bool may_race = race_words_can_race(&replay->detector.words,
						    list[i].addr, list[i].size);

		begin_access(replay, &list[i]);
		if (may_race || race_flow_is_on(flow))
			take_access(replay, &list[i], may_race);
		end_access(replay, &list[i]);
	}
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct race_replay *replay = context;

	race_turn(replay);
	if (replay->is_first)
		mark_all(replay, list, count);
	else
		look_at_all(replay, list, count);
}

void race_access_memory(struct race_replay *replay, uint64_t addr,
			uint64_t size, bool writes)
{
	struct race_access access = {
		.addr = memory_home(race_memory(replay), addr),
		.size = size, .writes = writes,
	};

	if (replay->is_first)
		race_note(replay, race_words_touch(&replay->detector.words,
						   race_stream(replay),
						   access.addr, size, writes));
	else
		tell(replay, &access);
}

void race_forget(struct race_replay *replay, uint64_t addr, uint64_t size)
{
	if (replay->is_first) {
		race_atomics_forget(replay, addr, size);
		return;
	}
	race_words_forget(&replay->detector.words, addr, size);
	if (replay->on_forget)
		replay->on_forget(replay->access_context, addr, size);
}

static void on_turn(void *context, bool after)
{
	struct race_replay *replay = context;

	if (replay->error)
		return;
	race_turn(replay);
	settle(replay);
	if (!after)
		race_kernel_enter(replay);
	else if (!race_present(replay)->has_begun)
		race_kernel_begin(replay);
}

/* ------- replaying ------- */

/*
 * The first thread alone races with nobody, and all that it does is before
 * all that others do: nothing is watched until it makes the second one.
 */
static int limit_start(struct race_replay *replay, struct failure *why)
{
	struct recording_thread second = { .first = UINT64_MAX };
	int rc = 0;

	if (replay->thread_count > 1)
		rc = recording_thread(replay->recording, 1, &second, why);
	if (rc)
		return rc;
	replay->threaded = second.first ? second.first - 1 : 0;
	if (replay->threaded > replay->end)
		replay->threaded = replay->end;
	if (replay->start < replay->threaded)
		replay->start = replay->threaded;
	return 0;
}

int race_replay_init(struct race_replay *replay, struct recording *recording,
		     uint64_t start, uint64_t end, race_found *found,
		     void *context, struct failure *why)
{
	uint32_t count = (uint32_t)recording_threads(recording);

	if (start < recording_start(recording))
		start = recording_start(recording);
	*replay = (struct race_replay) {
		.recording = recording, .start = start, .end = end,
		.thread_count = count, .focus = VM_EVERYWHERE,
	};
	replay->threads = calloc(count, sizeof(*replay->threads));
	if (!replay->threads ||
	    race_detector_init(&replay->detector, count, found, context))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	return limit_start(replay, why);
}

/* As before the first instruction. */
static void start_again(struct race_replay *replay)
{
	for (uint32_t i = 0; i < replay->thread_count; i++) {
		clock_release(&replay->threads[i].at_call);
		replay->threads[i] = (struct race_thread) { 0 };
	}
	for (size_t i = 0; i < replay->birth_count; i++)
		clock_release(&replay->births[i].clock);
	replay->birth_count = 0;
	race_rwlocks_clear(&replay->rwlocks);
}

void race_replay_release(struct race_replay *replay)
{
	if (replay->threads)
		start_again(replay);
	replayer_destroy(replay->rep);
	clock_release(&replay->kernel);
	for (unsigned i = 0; i < RACE_SIGNALS; i++)
		clock_release(&replay->signals[i]);
	free(replay->births);
	race_atomics_release(&replay->atomics);
	race_homes_release(&replay->homes);
	race_roles_release(&replay->roles);
	race_rwlocks_release(&replay->rwlocks);
	race_watch_release(&replay->watch);
	free(replay->threads);
	race_detector_release(&replay->detector);
	*replay = (struct race_replay) { 0 };
}

/* So often somebody may want to know how far it is. */
#define STEPS_AT_ONCE 1000000u

static int watch(struct race_replay *replay, struct failure *why)
{
	int rc = replayer_observe(replay->rep, &replay->observer, why);

	if (!rc && !replay->has_roles && race_library_start(replay))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	replay->has_roles = !rc;
	replay->roles_are_old = false;
	race_turn(replay);
	race_kernel_begin(replay);
	replayer_in_order(replay->rep, true);
	return rc;
}

static void show_progress(const struct race_replay *replay, uint64_t t)
{
	uint64_t length = replay->end - replay->start;
	uint64_t done = t - replay->start;

	if (replay->progress)
		replay->progress(replay->progress_context,
				 replay->is_first ? done : done + length,
				 2 * length);
}

/* Goes to a key frame, if there is one at that time, before its events. */
static int go_to_start(struct race_replay *replay, struct failure *why)
{
	struct position to = { replay->start, EVENTS_ALL };
	size_t segment = recording_segment_at(replay->recording, to.time);
	int rc = 0;

	if (to.time == recording_time(replay->recording, segment))
		rc = recording_events_before(replay->recording, segment,
					     &to.events, why);
	return rc ? rc : replayer_seek(replay->rep, &to, why);
}

static bool is_enough(const struct race_replay *replay)
{
	return replay->is_enough && replay->is_enough(replay->enough_context);
}

static int run(struct race_replay *replay, struct failure *why)
{
	struct position to = { replay->start, EVENTS_ALL };
	int rc = watch(replay, why);

	while (!rc && to.time < replay->end && !is_enough(replay)) {
		uint64_t left = replay->end - to.time;

		to.time += left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;
		rc = replayer_seek(replay->rep, &to, why);
		if (!rc && replay->error)
			rc = failed(why, replay->error, "out of memory");
		settle(replay);
		show_progress(replay, to.time);
	}
	return rc;
}

/* All replays of a search begin at the same time. */
static int make_replayer(struct race_replay *replay, struct failure *why)
{
	int rc = 0;

	if (replay->rep)
		replayer_unobserve(replay->rep, &replay->observer);
	else
		rc = replayer_create(&replay->rep, replay->recording, why);
	if (rc)
		return rc;
	replay->vm = replayer_vm(replay->rep);
	replayer_in_order(replay->rep, false);
	return go_to_start(replay, why);
}

static int replay_with(struct race_replay *replay,
		       const struct vm_observer *guest, struct failure *why)
{
	bool is_again = replay->rep;
	int rc = make_replayer(replay, why);

	if (!rc && !is_again)
		rc = replayer_keep_point(replay->rep, why);
	if (rc)
		return rc;
	replay->observer = (struct replay_observer) {
		.guest = *guest, .event = race_kernel_event, .turn = on_turn,
		.context = replay,
	};
	race_homes_start(&replay->homes, race_memory(replay));
	start_again(replay);
	return run(replay, why);
}

/* The second replay does, for what instructions leave as it was. */
static bool needs_values(const struct race_replay *replay, bool is_first)
{
	return !is_first || replay->on_store ||
	       (race_atomics_is_needed(&replay->atomics) && !replay->collects);
}

int race_replay_run(struct race_replay *replay, bool is_first,
		    struct failure *why)
{
	const struct vm_observer guest = {
		.instruction = on_instruction, .part = race_watch_part,
		.accessed = on_accessed,
		.accesses = VM_READS | VM_WRITES |
			    (needs_values(replay, is_first) ? VM_VALUES : 0),
		.data = VM_EVERYWHERE, .context = replay,
	};

	replay->is_first = is_first;
	return replay_with(replay, &guest, why);
}

static void on_touched(void *context, const struct vm_access_told *list,
		       size_t count)
{
	struct race_replay *replay = context;

	race_turn(replay);
	for (size_t i = 0; i < count; i++)
		race_note(replay, race_words_touch(
			&replay->detector.words, race_stream(replay),
			list[i].addr, list[i].size, list[i].writes));
}

static void on_given_back(void *context, uint64_t steps, guest_addr pc)
{
	struct race_replay *replay = context;

	(void)steps;
	(void)pc;
	race_turn(replay);
	race_library_give_back(replay);
}

int race_replay_touch(struct race_replay *replay,
		      bool (*enough)(void *context), void *context,
		      struct failure *why)
{
	const struct vm_observer guest = {
		.instruction = on_given_back, .part = race_watch_given_back,
		.accessed = on_touched, .accesses = VM_READS | VM_WRITES,
		.data = replay->focus, .context = replay,
	};
	int rc;

	replay->is_first = true;
	replay->is_enough = enough;
	replay->enough_context = context;
	rc = replay_with(replay, &guest, why);
	replay->is_enough = NULL;
	return rc;
}
