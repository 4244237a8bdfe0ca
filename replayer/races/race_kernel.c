/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_kernel.c - what the kernel does, to race_replay.h */

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/races/race_calls.h"
#include "vm/linux/abi/calls.h"
#include "replayer/races/race_internal.h"

/* ------- what it changes ------- */

/* Other pages are there now. */
static void change(struct race_replay *replay, uint64_t addr, uint64_t size)
{
	race_homes_change(&replay->homes);
	race_library_change(replay, addr, size);
	race_forget(replay, addr, size);
}

/*
 * Follows a change that the kernel makes in memory.  `order` is what its system
 * call orders (enum call_order), 0 if there is none.
 */
static void follow_effect(struct race_replay *replay,
			  const struct packet *packet, unsigned order)
{
	switch (packet->kind) {
	case PACKET_WRITE:
		/*
		 * The kernel writes a new thread's number before the thread
		 * runs, which may already have happened here.
		 */
		if (order & ORDER_CLONES)
			break;
		/* The word that says that a thread has ended. */
		if ((order & ORDER_ENDS) && replay->is_first)
			race_note(replay, race_words_synchronize(
				&replay->detector.words, packet->addr,
				packet->size, false));
		race_access_memory(replay, packet->addr, packet->size, true);
		break;
	case PACKET_MAP:
	case PACKET_UNMAP:
	case PACKET_CLEAR:
		change(replay, packet->addr, packet->size);
		break;
	case PACKET_MOVE:
		change(replay, packet->addr, packet->size);
		change(replay, packet->target, packet->size);
		break;
	default:
		break;
	}
}

/* ------- what system calls order ------- */

static bool read_memory(void *context, uint64_t addr, void *bytes, size_t size)
{
	return race_peek(context, addr, bytes, size);
}

/* The call that the thread makes. */
static struct race_call call_of(struct race_replay *replay, uint64_t number)
{
	const struct linux_reader reader = { read_memory, replay };
	const struct reg_table *regs = race_regs(replay);
	uint64_t args[RACE_ARGS];

	for (unsigned i = 0; i < RACE_ARGS; i++)
		args[i] = race_reg(replay, regs->call_args[i]);
	return race_call_of(regs->arch, number, args, &reader);
}

/* An argument that is the address of a word, as accesses to it are told. */
static uint64_t word_at(struct race_replay *replay,
			const struct race_call *call, unsigned index)
{
	return memory_home(race_memory(replay), call->args[index]);
}

static void publish(struct race_replay *replay, struct clock *to)
{
	race_note(replay, race_detector_publish(&replay->detector,
						race_stream(replay), to));
}

static void acquire(struct race_replay *replay, const struct clock *from)
{
	race_note(replay, race_detector_acquire(&replay->detector,
						race_stream(replay), from));
}

static void publish_at(struct race_replay *replay, uint64_t addr)
{
	if (race_quiet_orders(&race_present(replay)->quiet, addr))
		race_note(replay, race_detector_publish_at(
			&replay->detector, race_stream(replay), addr));
}

static void acquire_at(struct race_replay *replay, uint64_t addr)
{
	if (race_quiet_orders(&race_present(replay)->quiet, addr))
		race_note(replay, race_detector_acquire_at(
			&replay->detector, race_stream(replay), addr));
}

static void publish_futex(struct race_replay *replay,
			  const struct race_call *call)
{
	struct race_futex futex = race_futex_of(call->args[1]);

	if (!futex.publishes)
		return;
	publish_at(replay, word_at(replay, call, 0));
	if (futex.has_second)
		publish_at(replay, word_at(replay, call, 4));
}

static void acquire_futex(struct race_replay *replay,
			  const struct race_call *call, int64_t result)
{
	struct race_futex futex = race_futex_of(call->args[1]);

	/* EAGAIN: the word had another value, which the kernel has seen. */
	if (!futex.acquires || (result < 0 && result != -11))
		return;
	acquire_at(replay, word_at(replay, call, 0));
	if (futex.has_second)
		acquire_at(replay, word_at(replay, call, 4));
}

static void mark_futex(struct race_replay *replay,
		       const struct race_call *call)
{
	struct race_futex futex = race_futex_of(call->args[1]);
	struct race_words *words = &replay->detector.words;

	for (unsigned i = 0; i < (futex.has_second ? 2 : 1); i++) {
		uint64_t addr = word_at(replay, call, i ? 4 : 0);

		race_note(replay, race_words_synchronize(words, addr, 4,
							 false));
		race_note(replay, race_words_touch(words, race_stream(replay),
						   addr, 4, true));
	}
}

/* Where the thread stands, when it enters the kernel. */
static void stand(struct race_replay *replay)
{
	replay->pc = race_reg(replay, race_regs(replay)->pc) -
		     vm_call_size(race_vm(replay));
	replay->time = vm_steps(race_vm(replay));
	if (replay->time)
		replay->time--;
	race_follow(replay, replay->pc);
}

/* Nobody sends more at once; a call that asks for more than that fails. */
#define SENT_MOST (16u << 20)

/* What the kernel reads; nothing that nobody can have said in earnest. */
static void read_in(struct race_replay *replay, uint64_t addr, uint64_t size)
{
	if (size && size <= SENT_MOST)
		race_access_memory(replay, addr, size, false);
}

#define TEXT_MOST 4096u		/* PATH_MAX */

static void read_text(struct race_replay *replay, uint64_t addr)
{
	uint64_t size = 0;
	char byte = 1;

	while (byte && size < TEXT_MOST &&
	       race_peek(replay, addr + size, &byte, 1))
		size++;
	read_in(replay, addr, size);
}

#define BUFFERS_MOST 1024u	/* UIO_MAXIOV */

static void read_vector(struct race_replay *replay, uint64_t addr,
			uint64_t count)
{
	const unsigned word = race_word_size(replay);
	uint64_t start, size;

	if (count > BUFFERS_MOST)
		return;
	read_in(replay, addr, count * 2 * word);
	for (; count; count--, addr += 2 * word)
		if (race_read_word(replay, addr, &start) &&
		    race_read_word(replay, addr + word, &size))
			read_in(replay, start, size);
}

/* struct msghdr: an address, its length, buffers and their number. */
static void read_message(struct race_replay *replay, uint64_t addr)
{
	const unsigned word = race_word_size(replay);
	uint64_t words[4];

	for (unsigned i = 0; i < 4; i++)
		if (!race_read_word(replay, addr + word * i, &words[i]))
			return;
	read_in(replay, addr, 4 * word);
	read_in(replay, words[0], (uint32_t)words[1]);
	read_vector(replay, words[2], words[3]);
}

static void read_inputs(struct race_replay *replay,
			const struct race_call *call)
{
	if (call->buffer & RACE_IN)
		read_in(replay, call->args[1], call->args[2]);
	if (call->buffer & RACE_IN_VECTOR)
		read_vector(replay, call->args[1], call->args[2]);
	if (call->buffer & RACE_IN_MESSAGE)
		read_message(replay, call->args[1]);
	for (unsigned i = 0; call->texts >> i; i++)
		if (call->texts >> i & 1)
			read_text(replay, call->args[i]);
}

static void enter_call(struct race_replay *replay,
		       const struct race_call *call)
{
	struct race_thread *thread = race_present(replay);

	thread->in_call = true;
	thread->clones = call->order & ORDER_CLONES;
	read_inputs(replay, call);
	if (replay->is_first)
		return;
	if (call->order & ORDER_SENDS)
		publish(replay, &replay->kernel);
	if (call->order & ORDER_TIMES)
		publish(replay, &replay->signals[0]);
	if (call->order & ORDER_SIGNALS)
		publish(replay, &replay->signals[call->args[call->signal] %
						 RACE_SIGNALS]);
	if (call->order & ORDER_FUTEX)
		publish_futex(replay, call);
	if (call->order & ORDER_CLONES) {
		clock_release(&thread->at_call);
		publish(replay, &thread->at_call);
		race_library_clones(replay, call->stack_is_in_memory);
	}
}

static void add_birth(struct race_replay *replay, uint32_t tid)
{
	struct race_birth *birth;

	if (array_room(replay->births, replay->birth_count,
			replay->birth_room)) {
		race_note(replay, ERR_NO_MEMORY);
		return;
	}
	birth = &replay->births[replay->birth_count++];
	*birth = (struct race_birth) { .tid = tid };
	race_note(replay, clock_copy(&birth->clock,
				     &race_present(replay)->at_call));
}

static void learn_signal(struct race_replay *replay, uint64_t number)
{
	if (replay->is_first)
		return;
	acquire(replay, &replay->signals[0]);
	acquire(replay, &replay->signals[number % RACE_SIGNALS]);
}

static void leave_call(struct race_replay *replay,
		       const struct race_call *call, int64_t result)
{
	struct race_thread *thread = race_present(replay);

	thread->in_call = false;
	if (call->order & ORDER_RETURNS) {
		thread->place = thread->place_before;
		race_quiet_return(&thread->quiet);
		thread->flow = (struct race_flow) { 0 };
	}
	if (replay->is_first)
		return;
	if (((call->order & ORDER_RECEIVES) && result >= 0) ||
	    ((call->order & ORDER_RECEIVES_SOME) && result > 0))
		acquire(replay, &replay->kernel);
	if ((call->order & ORDER_WAITS_SIGNAL) && result > 0)
		learn_signal(replay, (uint64_t)result);
	if (call->order & ORDER_FUTEX)
		acquire_futex(replay, call, result);
	if ((call->order & ORDER_CLONES) && result > 0)
		add_birth(replay, (uint32_t)result);
}

static void follow_call(struct race_replay *replay,
			const struct replay_event *event)
{
	const struct race_call call = call_of(replay, event->packet->number);
	int64_t result = event->packet->result;

	stand(replay);
	if (replay->is_first && (call.order & ORDER_FUTEX))
		mark_futex(replay, &call);
	if (!race_present(replay)->in_call)
		enter_call(replay, &call);
	leave_call(replay, &call, result);
	if ((call.buffer & RACE_OUT) && result > 0)
		race_access_memory(replay, call.args[1],
				   (uint64_t)result, true);
	for (size_t i = 0; i < event->count; i++)
		follow_effect(replay, replay_event_effect(event, i),
			      call.order);
}

/* ------- what the replayer tells ------- */

void race_kernel_event(void *context, const struct replay_event *event)
{
	struct race_replay *replay = context;
	struct race_thread *thread;

	if (replay->error)
		return;
	race_turn(replay);
	thread = race_present(replay);
	if (!replay->is_first && replay->on_forget)
		replay->on_forget(replay->access_context, 0, 0);
	switch (event->packet->kind) {
	case PACKET_SYSCALL:
	case PACKET_RETURN:
		follow_call(replay, event);
		return;
	case PACKET_SIGNAL:
	case PACKET_FAULT:
		learn_signal(replay, event->packet->number);
		thread->place_before = thread->place;
		race_quiet_signal(&thread->quiet);
		thread->flow = (struct race_flow) { 0 };
		break;
	default:
		break;
	}
	for (size_t i = 0; i < event->count; i++)
		follow_effect(replay, replay_event_effect(event, i), 0);
}

/* The thread starts with what the one that made it knew. */
static void inherit(struct race_replay *replay, uint32_t tid)
{
	for (size_t i = replay->birth_count; i-- > 0;) {
		if (replay->births[i].tid == tid) {
			acquire(replay, &replay->births[i].clock);
			return;
		}
	}
	/* The call that made it has not come back yet. */
	for (uint32_t i = 0; i < replay->thread_count; i++)
		if (replay->threads[i].in_call && replay->threads[i].clones)
			acquire(replay, &replay->threads[i].at_call);
}

void race_kernel_begin(struct race_replay *replay)
{
	struct race_thread *present = race_present(replay);
	struct recording_thread thread;

	present->has_begun = true;
	race_quiet_unknown(&present->quiet);
	if (recording_thread(replay->recording, race_stream(replay), &thread,
			     NULL)) {
		race_note(replay, ERR_CORRUPT);
		return;
	}
	if (thread.first <= replay->start)
		return;		/* it was there before anybody watched */
	race_quiet_begin(&present->quiet, race_library_descriptor(replay));
	if (!replay->is_first)
		inherit(replay, thread.tid);
}

/* The thread gives its turn away; if the kernel has it, that is where. */
void race_kernel_enter(struct race_replay *replay)
{
	struct race_call call;
	unsigned size;

	if (!replayer_in_call(replay->rep, &size) ||
	    race_present(replay)->in_call)
		return;
	call = call_of(replay, race_reg(replay, race_regs(replay)->result));
	stand(replay);
	enter_call(replay, &call);
}
