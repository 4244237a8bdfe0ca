/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_replay.c - see race_replay.h */
#include "replayer/race_replay.h"

#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "replayer/internal.h"
#include "replayer/race_calls.h"

static void note(struct race_replay *replay, int rc)
{
	if (rc && !replay->error)
		replay->error = rc;
}

static struct race_thread *present(struct race_replay *replay)
{
	return &replay->threads[replay->rep->stream];
}

/* ------- where it happens ------- */

/* The word on top of the stack, 0 if it cannot be seen. */
static uint64_t top_of_stack(struct race_replay *replay)
{
	uint64_t sp = vm_reg(replay->rep->vm, replay->rep->regs->sp);
	const uint8_t *page = memory_peek(replay->rep->memory,
					  sp >> GUEST_PAGE_SHIFT);
	uint64_t word = 0;

	if (page && sp % GUEST_PAGE <= GUEST_PAGE - sizeof(word))
		memcpy(&word, page + sp % GUEST_PAGE, sizeof(word));
	return word;
}

/*
 * The place that is to blame for what happens at `pc`: in the C library, where
 * the program called it, which the stack says at its first instruction.
 */
static void follow_place(struct race_replay *replay, uint64_t pc)
{
	struct race_thread *thread = present(replay);
	enum race_home home = race_home_of(&replay->homes, pc);

	if (home == HOME_PROGRAM) {
		thread->place = pc;
	} else if (home == HOME_C_LIBRARY && thread->home != home) {
		uint64_t back = top_of_stack(replay);

		if (back && race_home_of(&replay->homes, back) == HOME_PROGRAM)
			thread->place = back - 1;
	}
	thread->home = home;
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

	settle(replay);
	replay->pc = pc;
	replay->time = steps;
	follow_place(replay, pc);
}

/* ------- accesses ------- */

static void tell(struct race_replay *replay, struct race_access *access)
{
	const struct race_thread *thread = present(replay);

	access->pc = replay->pc;
	access->time = replay->time;
	access->is_library = thread->home != HOME_PROGRAM &&
			     thread->home != HOME_UNKNOWN;
	access->place = thread->place ? thread->place : replay->pc;
	if (replay->on_access)
		replay->on_access(replay->access_context,
				  replay->rep->stream, access);
	note(replay, race_detector_access(&replay->detector,
					  replay->rep->stream, access));
}

/* Whether a store leaves memory as it is. */
static bool is_there(struct race_replay *replay, uint64_t addr, unsigned size,
		     uint64_t value)
{
	const uint8_t *page = memory_peek(replay->rep->memory,
					  addr >> GUEST_PAGE_SHIFT);

	return page && addr % GUEST_PAGE + size <= GUEST_PAGE &&
	       size <= sizeof(value) &&
	       !memcmp(page + addr % GUEST_PAGE, &value, size);
}

static void mark(struct race_replay *replay, bool writes, uint64_t addr,
		 unsigned size)
{
	struct race_words *words = &replay->detector.words;
	bool is_atomic = vm_order(replay->rep->vm, replay->pc) != VM_PLAIN;

	if (present(replay)->home == HOME_LINKER && !is_atomic)
		return;
	note(replay, race_words_touch(words, replay->rep->stream, addr, size,
				      writes));
	if (is_atomic && writes)
		note(replay, race_words_synchronize(words, addr, size, false));
}

static bool can_race(struct race_replay *replay, uint64_t addr, unsigned size)
{
	struct race_words *words = &replay->detector.words;
	struct race_word *first, *last;

	note(replay, race_words_find(words, addr, &first));
	note(replay, race_words_find(words, addr + size - 1, &last));
	return first || last;
}

static void on_access(void *context, enum vm_access kind, guest_addr addr,
		      unsigned size, uint64_t value)
{
	struct race_replay *replay = context;
	struct race_access access = {
		.addr = addr, .size = size, .writes = kind == ACCESS_WRITE,
	};
	enum vm_order order;

	if (replay->error)
		return;
	if (replay->is_first) {
		mark(replay, access.writes, addr, size);
		return;
	}
	if (!can_race(replay, addr, size))
		return;
	order = vm_order(replay->rep->vm, replay->pc);
	access.is_atomic = order != VM_PLAIN;
	/* What the linker notes for itself does no harm: it comes out equal. */
	if (present(replay)->home == HOME_LINKER && !access.is_atomic)
		return;
	access.changes_nothing = order == VM_COMPARES && access.writes &&
				 is_there(replay, addr, size, value);
	tell(replay, &access);
}

/* ------- the kernel's accesses, for a thread ------- */

static void kernel_access(struct race_replay *replay, uint64_t addr,
			  uint64_t size, bool writes)
{
	struct race_access access = {
		.addr = addr, .size = size, .writes = writes,
	};

	if (replay->is_first)
		note(replay, race_words_touch(&replay->detector.words,
					      replay->rep->stream, addr, size,
					      writes));
	else
		tell(replay, &access);
}

static void forget(struct race_replay *replay, uint64_t addr, uint64_t size)
{
	race_homes_change(&replay->homes);
	if (!replay->is_first)
		race_words_forget(&replay->detector.words, addr, size);
}

static void follow_effect(struct race_replay *replay,
			  const struct packet *packet, bool ends)
{
	switch (packet->kind) {
	case PACKET_WRITE:
		/* The word that says that a thread has ended. */
		if (ends && replay->is_first)
			note(replay, race_words_synchronize(
				&replay->detector.words, packet->addr,
				packet->size, false));
		kernel_access(replay, packet->addr, packet->size, true);
		break;
	case PACKET_MAP:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
		forget(replay, packet->addr, packet->size);
		break;
	case PACKET_MOVE:
		forget(replay, packet->addr, packet->size);
		forget(replay, packet->target, packet->size);
		break;
	default:
		break;
	}
}

/* ------- what system calls order ------- */

static uint64_t argument(struct race_replay *replay, unsigned index)
{
	static const unsigned regs[] = { X86_RDI, X86_RSI, X86_RDX,
					 X86_R10, X86_R8, X86_R9 };

	return vm_reg(replay->rep->vm, regs[index]);
}

/* An argument that is the address of a word, as accesses to it are told. */
static uint64_t word_at(struct race_replay *replay, unsigned index)
{
	return memory_home(replay->rep->memory, argument(replay, index));
}

static void publish(struct race_replay *replay, struct clock *to)
{
	note(replay, race_detector_publish(&replay->detector,
					   replay->rep->stream, to));
}

static void acquire(struct race_replay *replay, const struct clock *from)
{
	note(replay, race_detector_acquire(&replay->detector,
					   replay->rep->stream, from));
}

static void publish_futex(struct race_replay *replay)
{
	struct race_futex futex = race_futex_of(argument(replay, 1));

	if (!futex.publishes)
		return;
	note(replay, race_detector_publish_at(&replay->detector,
					      replay->rep->stream,
					      word_at(replay, 0)));
	if (futex.has_second)
		note(replay, race_detector_publish_at(&replay->detector,
						      replay->rep->stream,
						      word_at(replay, 4)));
}

static void acquire_futex(struct race_replay *replay, int64_t result)
{
	struct race_futex futex = race_futex_of(argument(replay, 1));

	/* EAGAIN: the word had another value, which the kernel has seen. */
	if (!futex.acquires || (result < 0 && result != -11))
		return;
	note(replay, race_detector_acquire_at(&replay->detector,
					      replay->rep->stream,
					      word_at(replay, 0)));
	if (futex.has_second)
		note(replay, race_detector_acquire_at(&replay->detector,
						      replay->rep->stream,
						      word_at(replay, 4)));
}

static void mark_futex(struct race_replay *replay)
{
	struct race_futex futex = race_futex_of(argument(replay, 1));
	struct race_words *words = &replay->detector.words;

	for (unsigned i = 0; i < (futex.has_second ? 2 : 1); i++) {
		uint64_t addr = word_at(replay, i ? 4 : 0);

		note(replay, race_words_synchronize(words, addr, 4, false));
		note(replay, race_words_touch(words, replay->rep->stream, addr,
					      4, true));
	}
}

/* Where the thread stands, when it enters the kernel. */
static void stand(struct race_replay *replay)
{
	replay->pc = vm_reg(replay->rep->vm, replay->rep->regs->pc) - 2;
	replay->time = vm_steps(replay->rep->vm);
	if (replay->time)
		replay->time--;
	follow_place(replay, replay->pc);
}

/* Nobody sends more at once; a call that asks for more than that fails. */
#define SENT_MOST (16u << 20)

static void enter_call(struct race_replay *replay, uint64_t number)
{
	struct race_thread *thread = present(replay);
	struct race_call call = race_call_of(number);

	thread->in_call = true;
	thread->clones = call.kinds & CALL_CLONES;
	if ((call.kinds & CALL_IN) && argument(replay, 2) <= SENT_MOST)
		kernel_access(replay, word_at(replay, 1), argument(replay, 2),
			      false);
	if (replay->is_first)
		return;
	if (call.kinds & CALL_SENDS)
		publish(replay, &replay->kernel);
	if (call.kinds & CALL_TIMES)
		publish(replay, &replay->signals[0]);
	if (call.kinds & CALL_SIGNALS)
		publish(replay, &replay->signals[argument(replay, call.signal) %
						 RACE_SIGNALS]);
	if (call.kinds & CALL_FUTEX)
		publish_futex(replay);
	if (call.kinds & CALL_CLONES) {
		clock_release(&thread->at_call);
		publish(replay, &thread->at_call);
	}
}

static void add_birth(struct race_replay *replay, uint32_t tid)
{
	struct race_birth *birth;

	if (replay->birth_count == replay->birth_room) {
		size_t room = replay->birth_room ? replay->birth_room * 2 : 8;
		struct race_birth *more =
			realloc(replay->births, room * sizeof(*more));

		if (!more) {
			note(replay, ERR_NO_MEMORY);
			return;
		}
		replay->births = more;
		replay->birth_room = room;
	}
	birth = &replay->births[replay->birth_count++];
	*birth = (struct race_birth) { .tid = tid };
	note(replay, clock_copy(&birth->clock, &present(replay)->at_call));
}

static void learn_signal(struct race_replay *replay, uint64_t number)
{
	if (replay->is_first)
		return;
	acquire(replay, &replay->signals[0]);
	acquire(replay, &replay->signals[number % RACE_SIGNALS]);
}

static void leave_call(struct race_replay *replay, struct race_call call,
		       int64_t result)
{
	struct race_thread *thread = present(replay);

	thread->in_call = false;
	if (call.kinds & CALL_RETURNS)
		thread->place = thread->place_before;
	if (replay->is_first)
		return;
	if (((call.kinds & CALL_RECEIVES) && result >= 0) ||
	    ((call.kinds & CALL_RECEIVES_SOME) && result > 0))
		acquire(replay, &replay->kernel);
	if ((call.kinds & CALL_WAITS_SIGNAL) && result > 0)
		learn_signal(replay, (uint64_t)result);
	if (call.kinds & CALL_FUTEX)
		acquire_futex(replay, result);
	if ((call.kinds & CALL_CLONES) && result > 0)
		add_birth(replay, (uint32_t)result);
}

static void follow_call(struct race_replay *replay,
			const struct script_event *event)
{
	const struct script *script = &replay->rep->script;
	struct race_call call = race_call_of(event->packet.number);
	int64_t result = event->packet.result;

	stand(replay);
	if (replay->is_first && (call.kinds & CALL_FUTEX))
		mark_futex(replay);
	if (!present(replay)->in_call)
		enter_call(replay, event->packet.number);
	leave_call(replay, call, result);
	if ((call.kinds & CALL_OUT) && result > 0)
		kernel_access(replay, argument(replay, 1), (uint64_t)result,
			      true);
	for (size_t i = 0; i < event->count; i++)
		follow_effect(replay, &script->effects[event->first + i].packet,
			      call.kinds & CALL_ENDS);
}

/* ------- what the replayer tells ------- */

static void on_event(void *context, const struct script_event *event)
{
	struct race_replay *replay = context;
	const struct script *script = &replay->rep->script;
	struct race_thread *thread = present(replay);

	if (replay->error)
		return;
	switch (event->packet.kind) {
	case PACKET_SYSCALL:
		follow_call(replay, event);
		return;
	case PACKET_SIGNAL:
	case PACKET_FAULT:
		learn_signal(replay, event->packet.number);
		thread->place_before = thread->place;
		break;
	default:
		break;
	}
	for (size_t i = 0; i < event->count; i++)
		follow_effect(replay, &script->effects[event->first + i].packet,
			      false);
}

/* The thread starts with what the one that made it knew. */
static void begin(struct race_replay *replay)
{
	struct recording_thread thread;

	present(replay)->has_begun = true;
	if (replay->is_first)
		return;
	if (recording_thread(replay->recording, replay->rep->stream, &thread,
			     NULL)) {
		note(replay, ERR_CORRUPT);
		return;
	}
	if (thread.first <= replay->start)
		return;		/* it was there before anybody watched */
	for (size_t i = replay->birth_count; i-- > 0;) {
		if (replay->births[i].tid == thread.tid) {
			acquire(replay, &replay->births[i].clock);
			return;
		}
	}
	/* The call that made it has not come back yet. */
	for (uint32_t i = 0; i < replay->thread_count; i++)
		if (replay->threads[i].in_call && replay->threads[i].clones)
			acquire(replay, &replay->threads[i].at_call);
}

static void on_switch(void *context, bool after)
{
	struct race_replay *replay = context;
	struct replayer *rep = replay->rep;

	if (replay->error)
		return;
	settle(replay);
	if (after) {
		if (!present(replay)->has_begun)
			begin(replay);
	} else if (rep->threads[rep->stream].call == CALL_RETIRED &&
		   !present(replay)->in_call) {
		stand(replay);
		enter_call(replay, vm_reg(rep->vm, rep->regs->result));
	}
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
}

void race_replay_release(struct race_replay *replay)
{
	if (replay->threads)
		start_again(replay);
	clock_release(&replay->kernel);
	for (unsigned i = 0; i < RACE_SIGNALS; i++)
		clock_release(&replay->signals[i]);
	free(replay->births);
	race_homes_release(&replay->homes);
	free(replay->threads);
	race_detector_release(&replay->detector);
	*replay = (struct race_replay) { 0 };
}

/* So often somebody may want to know how far it is. */
#define STEPS_AT_ONCE 5000000u

static int watch(struct race_replay *replay, struct failure *why)
{
	struct replayer *rep = replay->rep;
	int rc = vm_trace(rep->vm, on_instruction, replay, why);

	if (!rc)
		rc = vm_watch(rep->vm, on_access, replay, why);
	replay->threads[rep->stream].has_begun = true;
	rep->on_switch = on_switch;
	rep->on_event = on_event;
	rep->switch_context = replay;
	replayer_in_order(rep);
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

static int run(struct race_replay *replay, struct failure *why)
{
	uint64_t t = replay->start;
	int rc = replayer_seek(replay->rep, t, why);

	if (!rc)
		rc = watch(replay, why);
	while (!rc && t < replay->end) {
		uint64_t left = replay->end - t;

		t += left < STEPS_AT_ONCE ? left : STEPS_AT_ONCE;
		rc = replayer_seek(replay->rep, t, why);
		if (!rc && replay->error)
			rc = failed(why, replay->error, "out of memory");
		settle(replay);
		show_progress(replay, t);
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
	race_homes_start(&replay->homes, rep->memory);
	replay->is_first = is_first;
	start_again(replay);
	rc = run(replay, why);
	replayer_destroy(rep);
	replay->rep = NULL;
	return rc;
}
