/* SPDX-License-Identifier: GPL-2.0-or-later */
/* guest_machine.c - what a replayer does with machines: see guests.h */
#include "replayer/guests.h"

#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "replayer/machine_internal.h"

/* So many accesses are told at once. */
#define TOLD_AT_ONCE 256u

struct machine_guest {
	struct machine_replay *replay;
	struct vm_decoder *decoder;
	struct address_space space;
	struct board_watcher watcher;
	const struct vm_observer **observers;	/* of accesses */
	size_t observer_count, observer_room;
};

static struct board *board_of(const struct replayer *rep)
{
	return rep->machine->replay->board;
}

/* ------- going to a position ------- */

/* Where the replayer stands is also told to those who ask it alone. */
static int settle(struct replayer *rep, int rc)
{
	rep->segment = rep->machine->replay->segment;
	rep->stream = board_core(board_of(rep));
	rep->loaded = rep->machine->replay->has_segment;
	return rc;
}

static int go(struct replayer *rep, const struct segment_position *to,
	      struct failure *why)
{
	return settle(rep, machine_replay_go(rep->machine->replay, to,
					     rep->in_order && rep->loaded,
					     why));
}

/* What is on the way is executed: somebody may be told of it. */
static int seek_in(struct replayer *rep, size_t segment, uint64_t t,
		   struct failure *why)
{
	const struct segment_position place = { segment, t, EVENTS_ALL };
	bool is_on_way = rep->loaded && rep->segment == segment &&
			 board_steps(board_of(rep)) <= t;

	return settle(rep, machine_replay_go(rep->machine->replay, &place,
					     is_on_way, why));
}

static int encode_point(struct replayer *rep, struct segment_position *at,
			struct output *out, struct failure *why)
{
	return machine_stored_encode(rep->machine->replay, at, out, why);
}

static void trim_points(struct replayer *rep)
{
	machine_points_trim(rep->machine->replay);
}

static struct position now(const struct replayer *rep)
{
	return machine_replay_now(rep->machine->replay);
}

static uint64_t time_now(const struct replayer *rep)
{
	return board_steps(board_of(rep));
}

static void interrupt(struct replayer *rep)
{
	board_pause(board_of(rep));
}

/* ------- looking ------- */

static bool read_entry(void *context, uint64_t addr, uint64_t *entry)
{
	return board_entry(context, addr, entry);
}

static bool find_place(const struct replayer *rep, guest_addr addr,
		       uint64_t *out)
{
	const struct address_space *space = &rep->machine->space;
	struct board *board = board_of(rep);
	struct page_tables tables;

	*out = addr;
	if (space->is_physical)
		return true;
	tables = space->has_core ? board_view(board, space->core).tables :
				   board_tables(board);
	if (space->has_table)
		tables.low = space->table;
	return page_tables_find(&tables, read_entry, board, addr, out);
}

/* Of one page. */
static const uint8_t *find_bytes(const struct replayer *rep, guest_addr addr,
				 size_t size)
{
	uint64_t place;

	return find_place(rep, addr, &place) ?
		       board_bytes(board_of(rep), place, size) : NULL;
}

/* Each page may be elsewhere, or nowhere. */
static int look(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		uint8_t *known, size_t size, struct failure *why)
{
	(void)why;
	memset(known, 0, size);
	for (size_t done = 0, part; done < size; done += part) {
		const uint8_t *from;

		part = GUEST_PAGE - (addr + done) % GUEST_PAGE;
		if (part > size - done)
			part = size - done;
		from = find_bytes(rep, addr + done, part);
		if (!from)
			continue;
		memcpy(bytes + done, from, part);
		memset(known + done, 1, part);
	}
	return 0;
}

static bool peek(struct replayer *rep, uint64_t addr, uint8_t *bytes,
		 size_t size)
{
	const uint8_t *from = addr % GUEST_PAGE + size <= GUEST_PAGE ?
				      find_bytes(rep, addr, size) : NULL;

	if (from)
		memcpy(bytes, from, size);
	return from;
}

static guest_addr home(struct replayer *rep, guest_addr addr)
{
	uint64_t place;

	return find_place(rep, addr, &place) ? place : HOME_NONE;
}

/* Nothing tells which of them was used. */
static guest_addr address(struct replayer *rep, guest_addr home)
{
	(void)rep;
	return home;
}

static void use_space(struct replayer *rep, const struct address_space *space)
{
	rep->machine->space = *space;
}

static uint64_t reg(struct replayer *rep, unsigned number)
{
	return board_reg(board_of(rep), number);
}

static void registers(struct replayer *rep, struct reg_file *out)
{
	board_registers(board_of(rep), out);
}

static int of_thread(struct replayer *rep, uint32_t stream,
		     struct reg_file *out, struct failure *why)
{
	(void)why;
	board_core_registers(board_of(rep), stream, out);
	return 0;
}

static void instruction(struct replayer *rep, guest_addr pc,
			const uint8_t *code, size_t size,
			enum vm_syntax syntax, struct vm_instruction *out)
{
	vm_decoder_show(rep->machine->decoder, pc, code, size, syntax, out);
}

bool replayer_machine(const struct replayer *rep, uint32_t stream,
		      struct machine_view *out)
{
	struct board_view view;

	if (!rep->machine)
		return false;
	view = board_view(board_of(rep), stream);
	*out = (struct machine_view){ view.is_program, view.program_sp,
				      view.kernel_sp, view.tables.low,
				      view.tables.high, view.left_at };
	return true;
}

void replayer_look_for_space(struct replayer *rep, uint32_t number)
{
	board_look_for_space(board_of(rep), number);
}

bool replayer_found_space(const struct replayer *rep, uint64_t *table)
{
	return board_found_space(board_of(rep), table);
}

/* ------- breakpoints ------- */

static int break_set(struct replayer *rep, guest_addr pc, struct failure *why)
{
	return board_break_set(board_of(rep), pc, why);
}

static void break_clear(struct replayer *rep, guest_addr pc)
{
	board_break_clear(board_of(rep), pc);
}

static bool break_is_set(const struct replayer *rep, guest_addr pc)
{
	return board_break_is_set(board_of(rep), pc);
}

void replayer_meet_only(struct replayer *rep, bool (*is_meant)(void *context),
			void *context)
{
	rep->is_meant = is_meant;
	rep->meant_context = context;
}

/* ------- observers ------- */

static void tell(const struct machine_guest *machine,
		 const struct vm_access_told *list, size_t count)
{
	for (size_t i = 0; i < machine->observer_count; i++)
		vm_observer_tell(machine->observers[i], list, count);
}

static void on_accessed(void *context, const struct board_access *list,
			size_t count)
{
	struct vm_access_told told[TOLD_AT_ONCE];
	size_t some = 0;

	for (size_t i = 0; i < count; i++) {
		told[some++] = (struct vm_access_told){
			.steps = list[i].steps, .pc = list[i].pc,
			.addr = list[i].addr, .value = list[i].value,
			.size = list[i].size, .writes = list[i].writes,
		};
		if (some < TOLD_AT_ONCE && i + 1 < count)
			continue;
		tell(context, told, some);
		some = 0;
	}
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	const struct machine_guest *machine = context;

	for (size_t i = 0; i < machine->observer_count; i++) {
		const struct vm_observer *observer = machine->observers[i];

		if (observer->instruction && pc >= observer->code.first &&
		    pc <= observer->code.last)
			observer->instruction(observer->context, steps, pc);
	}
}

static void on_tables(void *context, uint64_t steps,
		      const struct page_tables *tables)
{
	const struct machine_guest *machine = context;

	observers_tables(machine->replay->rep, steps, tables);
}

/* All instructions between the first and the last that anybody wants. */
static void arrange_code(struct machine_guest *machine)
{
	struct board_watcher *watcher = &machine->watcher;

	watcher->instruction = NULL;
	watcher->first = UINT64_MAX;
	watcher->last = 0;
	for (size_t i = 0; i < machine->observer_count; i++) {
		const struct vm_observer *observer = machine->observers[i];

		if (!observer->instruction)
			continue;
		watcher->instruction = on_instruction;
		if (observer->code.first < watcher->first)
			watcher->first = observer->code.first;
		if (observer->code.last > watcher->last)
			watcher->last = observer->code.last;
	}
}

/* Has the board tell what is observed now. */
static int arrange(struct replayer *rep, struct failure *why)
{
	struct machine_guest *machine = rep->machine;
	unsigned kinds = 0;

	_Static_assert(VM_READS == BOARD_READS && VM_WRITES == BOARD_WRITES &&
		       VM_VALUES == BOARD_VALUES, "kinds of accesses");
	for (size_t i = 0; i < machine->observer_count; i++)
		kinds |= machine->observers[i]->accesses;
	/* The board knows what was wanted before by the same structure. */
	board_watch(board_of(rep), NULL, NULL);
	machine->watcher.accesses = kinds;
	machine->watcher.epochs = machine->observer_count == 1 ?
					  machine->observers[0]->epochs : NULL;
	arrange_code(machine);
	return machine->observer_count ?
		       board_watch(board_of(rep), &machine->watcher, why) : 0;
}

static int observe(struct replayer *rep, const struct vm_observer *observer,
		   struct failure *why)
{
	struct machine_guest *machine = rep->machine;

	if (observer->part)
		return failed(why, ERR_INPUT, "this cannot be asked of machines"
			      " yet");
	if (array_room(machine->observers, machine->observer_count,
		       machine->observer_room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine->observers[machine->observer_count++] = observer;
	return arrange(rep, why);
}

static void unobserve(struct replayer *rep, const struct vm_observer *observer)
{
	struct machine_guest *machine = rep->machine;
	size_t left = 0;

	for (size_t i = 0; i < machine->observer_count; i++)
		if (machine->observers[i] != observer)
			machine->observers[left++] = machine->observers[i];
	machine->observer_count = left;
	arrange(rep, NULL);	/* taking away does not fail */
}

/* ------- making one ------- */

static int make(struct replayer *rep, struct failure *why)
{
	struct machine_guest *machine = calloc(1, sizeof(*machine));
	int rc;

	rep->machine = machine;
	if (!machine)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine->watcher = (struct board_watcher){
		.accessed = on_accessed, .tables = on_tables,
		.context = machine,
	};
	rc = machine_replay_create(&machine->replay, rep->recording, why);
	if (rc)
		return rc;
	machine->replay->rep = rep;
	return vm_decoder_create(&machine->decoder, rep->regs->arch, why);
}

static void end(struct replayer *rep)
{
	struct machine_guest *machine = rep->machine;

	if (!machine)
		return;
	machine_replay_destroy(machine->replay);
	vm_decoder_destroy(machine->decoder);
	free(machine->observers);
	free(machine);
}

const struct guest guest_machine = {
	.make = make, .end = end, .go = go, .seek_in = seek_in,
	.encode_point = encode_point, .trim_points = trim_points,
	.now = now, .time = time_now, .interrupt = interrupt,
	.reg = reg, .registers = registers, .of_thread = of_thread,
	.read = look, .peek = peek, .home = home, .address = address,
	.use_space = use_space,
	.break_set = break_set, .break_clear = break_clear,
	.break_is_set = break_is_set, .observe = observe,
	.unobserve = unobserve, .instruction = instruction,
};
