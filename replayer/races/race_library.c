/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * race_library.c - what functions of the C library do, to race_replay.h
 *
 * Memory that is handed out has no past: whoever had it before is done with
 * it, which the allocator's own locks need not say.  Giving it back counts as
 * a write: nobody may use it at the same time.
 *
 * Source: clone(2), clone3: struct clone_args.
 */
#include "formats/error.h"
#include "replayer/races/race_calls.h"
#include "replayer/races/race_internal.h"
#include "replayer/symbols/symbols.h"

/* Of large blocks the beginning stands for all; of others, if unknown. */
#define GIVEN_BACK_MOST 4096u
#define GIVEN_BACK_LEAST 16u

/* Larger blocks are no structures, nor buffers, of the library's own. */
#define OWN_MOST 65536u

/* ------- memory ------- */

/*
 * How much of a block can be used, at least `least`.  In front of it glibc has
 * the size of all, with three flags in the lowest bits.
 */
static uint64_t usable_size(struct race_replay *replay, uint64_t addr,
			    uint64_t least)
{
	const struct region *region =
		memory_region_at(race_memory(replay), addr);
	const unsigned word = race_word_size(replay);
	uint64_t head, size;

	if (!replay->roles.is_glibc || !region ||
	    !race_read_word(replay, addr - word, &head))
		return least;
	size = head & ~UINT64_C(7);
	size -= head & 2 ? 2 * word : word;
	return size > least && size <= region->end - addr ? size : least;
}

static void give_back(struct race_replay *replay, uint64_t addr)
{
	uint64_t size = usable_size(replay, addr, GIVEN_BACK_LEAST);

	if (addr)
		race_access_memory(replay, addr, size < GIVEN_BACK_MOST ?
				   size : GIVEN_BACK_MOST, true);
}

void race_library_give_back(struct race_replay *replay)
{
	give_back(replay, race_argument(replay, 0));
}

static void hand_out(struct race_replay *replay, uint64_t addr, uint64_t size,
		     bool to_library)
{
	if (!addr || size > UINT64_MAX - addr)
		return;
	size = usable_size(replay, addr, size);
	race_forget(replay, addr, size);
	if (replay->is_first)
		return;
	if (size > OWN_MOST)
		size = OWN_MOST;
	race_note(replay, race_words_give(&replay->detector.words, addr, size,
					  to_library));
}

/* What the function was asked for; products do not overflow if it succeeds. */
static uint64_t asked_size(const struct race_quiet_frame *call)
{
	switch (call->role) {
	case ROLE_NEW:
		return call->arg[0];
	case ROLE_NEW_ARRAY:
		return call->arg[0] * call->arg[1];
	case ROLE_NEW_ALIGNED:
	case ROLE_RESIZE:
		return call->arg[1];
	case ROLE_RESIZE_ARRAY:
		return call->arg[1] * call->arg[2];
	case ROLE_NEW_AT:
		return call->arg[2];
	default:
		return 0;
	}
}

/* ------- locks that many hold for reading ------- */

/* Whether the thread that lets go of a lock holds it for writing. */
static bool is_writer(struct race_replay *replay, uint64_t lock)
{
	/* glibc: who writes; musl: all bits of the first word. */
	unsigned offset = replay->roles.is_glibc ?
				  race_layout(replay)->lock_writer : 0;
	uint32_t word = 0;

	race_peek(replay, lock + offset, &word, sizeof(word));
	return replay->roles.is_glibc ? word != 0 :
					(word & INT32_MAX) == INT32_MAX;
}

static void finish_lock(struct race_replay *replay,
			const struct race_quiet_frame *call, uint64_t result)
{
	if (!replay->is_first && !(uint32_t)result &&
	    call->role != ROLE_UNLOCK)
		race_note(replay, race_rwlocks_lock(
			&replay->rwlocks, &replay->detector,
			race_stream(replay), call->arg[0],
			call->role == ROLE_WRITE_LOCK));
}

/* Accesses of the lock's words are told with the addresses of their homes. */
static void begin_lock(struct race_replay *replay,
		       struct race_quiet_frame *call)
{
	bool writes = is_writer(replay, call->arg[0]);

	call->arg[0] = memory_home(race_memory(replay), call->arg[0]);
	if (call->role == ROLE_UNLOCK && !replay->is_first &&
	    !race_quiet_is_on(&race_present(replay)->quiet))
		race_note(replay, race_rwlocks_unlock(
			&replay->rwlocks, &replay->detector,
			race_stream(replay), call->arg[0], writes));
}

/* ------- calls ------- */

static void finish_call(struct race_replay *replay,
			const struct race_quiet_frame *call)
{
	uint64_t result = race_reg(replay, race_regs(replay)->results[0]);

	if (race_role_is_lock(call->role))
		finish_lock(replay, call, result);
	if (call->role < ROLE_NEW || call->role == ROLE_FREE)
		return;
	if (call->role == ROLE_NEW_AT &&
	    ((uint32_t)result ||
	     !race_read_word(replay, call->arg[0], &result)))
		return;
	hand_out(replay, result, asked_size(call),
		 race_home_of(&replay->homes, call->back) == HOME_C_LIBRARY &&
			 !race_served_gives(replay));
}

/*
 * A thread that ends and calls exit() is the last: as if all had ended.  The
 * program's own call of it is another matter.
 */
static void exit_process(struct race_replay *replay, uint64_t back)
{
	const struct race_thread *thread = race_present(replay);
	struct race_detector *detector = &replay->detector;

	if (replay->is_first ||
	    race_home_is_program(race_home_of(&replay->homes, back)) ||
	    !(thread->is_leaving || race_quiet_is_outermost(&thread->quiet)))
		return;
	for (uint32_t i = 0; i < detector->threads; i++)
		race_note(replay, race_detector_acquire(
			detector, race_stream(replay), &detector->clocks[i]));
}

/* A call that the program makes, or that quiet code makes in its own name. */
static void begin_call(struct race_replay *replay,
		       struct race_quiet_frame *call)
{
	struct race_quiet *quiet = &race_present(replay)->quiet;

	if (call->role == ROLE_JOIN)
		call->descriptor = (struct race_descriptor) {
			call->arg[0], race_library_descriptor(replay).size,
		};
	if (race_role_is_lock(call->role))
		begin_lock(replay, call);
	if (race_role_takes_back(call->role) && !race_quiet_is_on(quiet))
		give_back(replay, call->arg[0]);
	if (race_quiet_call(quiet, call))
		race_watch_return(replay, call->back);
}

void race_library_call(struct race_replay *replay, enum race_role role)
{
	struct race_quiet_frame call = {
		.kind = QUIET_CALL, .role = role,
		.sp = race_reg(replay, race_regs(replay)->sp),
		.back = race_return_address(replay),
		.arg = { race_argument(replay, 0), race_argument(replay, 1),
			 race_argument(replay, 2) },
	};

	if (!call.back)
		return;
	if (role == ROLE_LEAVE)
		race_present(replay)->is_leaving = true;
	else if (role == ROLE_EXIT)
		exit_process(replay, call.back);
	else
		begin_call(replay, &call);
}

void race_library_step(struct race_replay *replay, uint64_t pc,
		       bool is_program)
{
	struct race_quiet *quiet = &race_present(replay)->quiet;
	struct race_quiet_frame call;
	const struct race_quiet_place place = {
		.pc = pc, .sp = race_reg(replay, race_regs(replay)->sp),
		.back = race_has_link(replay) ? race_return_address(replay) : 0,
		.is_program = is_program,
	};

	if (quiet->depth && race_quiet_step(quiet, &place, &call))
		finish_call(replay, &call);
}

/* ------- threads ------- */

/* What a thread's descriptor is at most: glibc's and musl's struct pthread. */
#define DESCRIPTOR_MOST 4096u
#define DESCRIPTOR_LEAST 256u

struct clone_stack {
	uint64_t start, end, descriptor;
};

/* What a call makes the thread's pointer, which may be in memory. */
static uint64_t pointer_of(struct race_replay *replay, uint64_t argument)
{
	unsigned offset = race_clone_of(race_regs(replay)->arch).offset;

	if (offset && !race_read_word(replay, argument + offset, &argument))
		return 0;
	return argument;
}

static struct clone_stack clone_stack(struct race_replay *replay,
				      bool is_in_memory)
{
	const struct reg_table *table = race_regs(replay);
	const uint8_t *regs = table->call_args;
	unsigned pointer = regs[race_clone_of(table->arch).argument];
	struct clone_stack stack = {
		.end = race_reg(replay, regs[1]),
		.descriptor = pointer_of(replay, race_reg(replay, pointer)),
	};
	uint64_t args[8];	/* the sixth: stack, its size, pointer */

	if (!is_in_memory)
		return stack;
	for (unsigned i = 5; i < 8; i++)
		if (!race_peek(replay, race_reg(replay, regs[0]) + 8 * i,
			       &args[i], sizeof(args[i])))
			return (struct clone_stack) { 0 };
	return (struct clone_stack) { args[5], args[5] + args[6],
				      pointer_of(replay, args[7]) };
}

/* It may have been another thread's; a descriptor is behind it. */
void race_library_clones(struct race_replay *replay, bool is_in_memory)
{
	struct clone_stack stack = clone_stack(replay, is_in_memory);
	const struct region *region =
		memory_region_at(race_memory(replay), stack.end - 1);

	if (replay->roles_are_old) {
		if (race_library_start(replay))
			race_note(replay, ERR_NO_MEMORY);
		replay->has_roles = false;
		vm_replan_all(race_vm(replay));
	}
	if (!region)
		return;
	if (stack.start < region->start)
		stack.start = region->start;
	if (stack.end <= stack.descriptor && stack.descriptor < region->end)
		stack.end = stack.descriptor + GUEST_PAGE < region->end ?
				    stack.descriptor + GUEST_PAGE : region->end;
	if (stack.start < stack.end)
		race_forget(replay, stack.start, stack.end - stack.start);
}

/*
 * Where threads' variables are above their pointers, the descriptor is below;
 * glibc says how large it is, for debuggers, and musl's is small.
 */
struct race_descriptor race_library_descriptor(struct race_replay *replay)
{
	const struct reg_table *regs = race_regs(replay);
	uint64_t pointer = race_reg(replay, regs->tls);
	uint32_t size = 0;

	if (!regs->tls_head)
		return (struct race_descriptor) { pointer, DESCRIPTOR_MOST };
	race_peek(replay, replay->roles.descriptor_at, &size, sizeof(size));
	if (!size || size > DESCRIPTOR_MOST)
		size = DESCRIPTOR_LEAST;
	return (struct race_descriptor) { pointer - size, size };
}

int race_library_start(struct race_replay *replay)
{
	replay->roles_are_old = false;
	return race_roles_find(&replay->roles,
			       lines_names(replay->atomics.lines),
			       vm_steps(race_vm(replay)), &replay->homes);
}

void race_library_change(struct race_replay *replay, uint64_t addr,
			 uint64_t size)
{
	const struct race_roles *roles = &replay->roles;

	if (addr <= roles->high && roles->low < addr + size)
		replay->roles_are_old = true;
}
