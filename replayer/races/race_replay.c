/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_replay.c - see race_replay.h */
#include "replayer/races/race_replay.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/races/race_internal.h"

void race_note(struct race_replay *replay, int rc)
{
	if (rc && !replay->error)
		replay->error = rc;
}

struct race_thread *race_present(struct race_replay *replay)
{
	return &replay->threads[race_stream(replay)];
}

const struct reg_table *race_regs(const struct race_replay *replay)
{
	return recording_reg_table(replay->recording);
}

struct vm *race_vm(struct race_replay *replay)
{
	return replayer_vm(replay->rep);
}

struct memory *race_memory(struct race_replay *replay)
{
	return vm_memory(race_vm(replay));
}

uint32_t race_stream(const struct race_replay *replay)
{
	return replayer_stream(replay->rep);
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

/* All accesses that were told have taken place. */
static void settle(struct race_replay *replay)
{
	if (replay->on_access && !replay->is_first)
		replay->on_access(replay->access_context, 0, NULL);
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct race_replay *replay = context;
	struct race_flow *flow = &race_present(replay)->flow;

	settle(replay);
	replay->pc = pc;
	replay->time = steps;
	replay->loaded.size = 0;
	race_follow(replay, pc);
	if (replay->is_first) {
		if (race_home_is_program(race_present(replay)->home))
			race_atomics_step(replay);
		return;
	}
	replay->sp = race_reg(replay, race_regs(replay)->sp);
	if (race_flow_is_on(flow))
		race_flow_step(flow, vm_flow(race_vm(replay), pc), replay->sp);
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

static void mark(struct race_replay *replay, bool writes, uint64_t addr,
		 unsigned size, uint64_t value)
{
	struct race_words *words = &replay->detector.words;
	bool is_atomic = vm_order(race_vm(replay), replay->pc) != VM_PLAIN;

	if (race_present(replay)->home == HOME_LINKER && !is_atomic)
		return;
	if (race_quiet_is_memory(&race_present(replay)->quiet))
		return;
	race_note(replay, race_words_touch(words, race_stream(replay), addr, size,
				      writes));
	if (is_atomic && writes)
		race_note(replay, race_words_synchronize(words, addr, size, false));
	if (race_home_is_program(race_present(replay)->home))
		race_atomics_access(replay, addr, size, writes, value);
}

static bool can_race(struct race_replay *replay, uint64_t addr, unsigned size)
{
	struct race_words *words = &replay->detector.words;
	struct race_word *first, *last;

	race_note(replay, race_words_find(words, addr, &first));
	race_note(replay, race_words_find(words, addr + size - 1, &last));
	return first || last;
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
				   (unsigned)access->size))
		race_flow_follow(flow, vm_flow(vm, replay->pc), access->addr,
				 access->size);
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
			const struct vm_access_told *told)
{
	const uint64_t addr = told->addr;
	const unsigned size = told->size;
	struct race_access access = {
		.addr = addr, .size = size, .writes = told->writes,
	};
	const struct race_quiet *quiet = &race_present(replay)->quiet;
	enum vm_order order;
	bool may_race;

	if (replay->error)
		return;
	if (replay->is_first) {
		mark(replay, access.writes, addr, size, told->value);
		return;
	}
	may_race = can_race(replay, addr, size);
	if (!may_race && !race_flow_is_on(&race_present(replay)->flow))
		return;
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

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	struct race_replay *replay = context;

	for (size_t i = 0; i < count; i++) {
		take_access(replay, &list[i]);
		if (list[i].writes)
			continue;
		replay->loaded.addr = list[i].addr;
		replay->loaded.size = list[i].size;
		replay->loaded.value = list[i].value;
	}
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
		.thread_count = count,
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
	clock_release(&replay->kernel);
	for (unsigned i = 0; i < RACE_SIGNALS; i++)
		clock_release(&replay->signals[i]);
	free(replay->births);
	race_atomics_release(&replay->atomics);
	race_homes_release(&replay->homes);
	race_roles_release(&replay->roles);
	race_rwlocks_release(&replay->rwlocks);
	free(replay->threads);
	race_detector_release(&replay->detector);
	*replay = (struct race_replay) { 0 };
}

/* So often somebody may want to know how far it is. */
#define STEPS_AT_ONCE 5000000u

static int watch(struct race_replay *replay, struct failure *why)
{
	int rc = replayer_observe(replay->rep, &replay->observer, why);

	if (!rc && race_library_start(replay))
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
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

static int run(struct race_replay *replay, struct failure *why)
{
	struct position to = { replay->start, EVENTS_ALL };
	int rc = go_to_start(replay, why);

	if (!rc)
		rc = watch(replay, why);
	while (!rc && to.time < replay->end) {
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

int race_replay_run(struct race_replay *replay, bool is_first,
		    struct failure *why)
{
	struct replayer *rep;
	int rc = replayer_create(&rep, replay->recording, why);

	if (rc)
		return rc;
	replay->rep = rep;
	replay->observer = (struct replay_observer) {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .accessed = on_accessed,
			   .accesses = VM_READS | VM_WRITES | VM_VALUES,
			   .data = VM_EVERYWHERE, .context = replay },
		.event = race_kernel_event, .turn = on_turn, .context = replay,
	};
	race_homes_start(&replay->homes, race_memory(replay));
	replay->is_first = is_first;
	start_again(replay);
	rc = run(replay, why);
	replayer_destroy(rep);
	replay->rep = NULL;
	return rc;
}
