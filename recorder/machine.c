/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - runs a machine, and records what happens to it */
#include "recorder/machine_internal.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"

/* How often the input is looked at, in steps: some 40 milliseconds. */
#define LOOK_STEPS UINT64_C(20000000)

/* The same in accesses of devices, of which each may take some microseconds. */
#define LOOK_ACCESSES 30000u

/* The same, while the network has connections: two milliseconds. */
#define CONNECTED_STEPS UINT64_C(1000000)

/*
 * Idle time is skipped, but if the console has been silent for so long, and
 * somebody may type, the machine waits with them.
 */
#define SILENCE 1u		/* seconds */
#define WAIT_MOST UINT64_C(1000000)		/* at once, in microseconds */
#define MICROSECONDS UINT64_C(1000000)

/* Six hours: for a kernel that only waits, some seconds.  A choice. */
#define FORGOTTEN (6 * 3600u)

/* ------- the console ------- */

void machine_write_output(struct machine *machine)
{
	if (machine->output_count)
		machine->options->output(machine->options->context,
					 machine->output,
					 machine->output_count);
	machine->output_count = 0;
}

static void on_output(void *context, uint8_t byte)
{
	struct machine *machine = context;

	if (machine->follows)
		return;
	machine->output[machine->output_count++] = byte;
	machine_panic_see(&machine->panic, machine->board, byte);
	machine->spoken = board_ticks(machine->board);
	if (machine->output_count == OUTPUT_ROOM)
		machine_write_output(machine);
}

static void on_said(void *context, uint64_t addr, const uint8_t *bytes,
		    size_t size)
{
	struct machine *machine = context;

	machine_memory_output(&machine->memory, addr, size);
	for (size_t i = 0; i < size; i++)
		on_output(machine, bytes[i]);
}

static void on_stored(void *context, uint64_t addr, size_t size)
{
	struct machine *machine = context;

	machine_memory_changed(&machine->memory, addr, size);
}

static void on_warn(void *context, const char *text)
{
	struct machine *machine = context;

	machine->options->warn(machine->options->context, text);
}

/* Whether a connection has anything new. */
static bool has_happened(const struct machine_wait *waits)
{
	for (size_t i = 0; i < waits->count; i++)
		if (waits->sockets[i].revents)
			return true;
	return false;
}

/* Waits for input, at most so many microseconds; whether there is any. */
static bool take_input(struct machine *machine, uint64_t wait)
{
	uint8_t bytes[TYPED_MOST];
	size_t room = machine->kind->room(machine->live), count = 0;
	struct machine_wait waits = { wait, machine->sockets, 0 };
	enum machine_input input;

	machine->accesses = 0;
	if (room > sizeof(bytes))
		room = sizeof(bytes);
	if (machine->kind->sockets)
		waits.count = machine->kind->sockets(machine->live,
						     waits.sockets,
						     SOCKETS_MOST, &waits.most);
	machine->is_connected = waits.count;
	input = machine->options->input(machine->options->context, bytes, room,
					&count, &waits);
	if (machine->kind->found)
		machine->kind->found(machine->live, waits.sockets, waits.count);
	switch (input) {
	case INPUT_NONE:
		return has_happened(&waits);
	case INPUT_BYTES:
		machine->kind->type(machine->live, bytes, count);
		machine->spoken = board_ticks(machine->board);
		return true;
	case INPUT_CLOSED:
		machine->input_closed = true;
		return has_happened(&waits);
	case INPUT_STOPS:
		machine->stopped = true;
		break;
	}
	return true;
}

/* Nobody can type, and it has only waited for as long as nobody would. */
static bool is_forgotten(const struct machine *machine)
{
	return machine->input_closed &&
	       (board_ticks(machine->board) - machine->spoken) /
		       board_ticks_per_second(machine->board) >= FORGOTTEN;
}

/* ------- the world ------- */

void machine_record_event(struct machine *machine, struct packet *packet)
{
	if (!machine->is_live)
		machine_trace_event(&machine->trace, packet,
				    board_steps(machine->board));
}

static void count_access(struct machine *machine)
{
	if (++machine->accesses >= LOOK_ACCESSES)
		board_pause(machine->board);
}

static uint64_t on_read(void *context, uint64_t addr, unsigned size)
{
	struct machine *machine = context;
	uint64_t value = machine->kind->read(machine->live, addr, size);

	count_access(machine);
	if (!machine->is_live)
		machine_trace_read(&machine->trace, addr, value, size);
	return value;
}

/* A machine that ends itself stops before the next block. */
static void find_end(struct machine *machine)
{
	if (!machine->kind->ends ||
	    !machine->kind->ends(machine->live, &machine->end))
		return;
	machine->has_end = true;
	board_pause(machine->board);
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct machine *machine = context;

	machine->kind->write(machine->live, addr, size, value);
	count_access(machine);
	find_end(machine);
}

static bool on_look(void *context, unsigned *number, uint64_t *next)
{
	struct machine *machine = context;
	uint64_t tick = machine->kind->next(machine->live);

	if (tick != UINT64_MAX)
		*next = board_steps_of(machine->board, tick);
	find_end(machine);
	machine_cores_look(machine);
	return machine->kind->interrupts(machine->live, number);
}

static void on_taken(void *context, unsigned number)
{
	struct machine *machine = context;
	struct packet packet = { .kind = PACKET_INTERRUPT, .number = number };

	if (machine->kind->taken)
		machine->kind->taken(machine->live, number);
	machine_record_event(machine, &packet);
}

/* ------- instructions whose results are not computed ------- */

static void record_register(struct machine *machine, unsigned reg,
			    uint64_t value)
{
	if (!machine->is_live)
		machine_trace_register(&machine->trace, reg, value);
	board_set_reg(machine->board, reg, value);
}

static void record_value(struct machine *machine, unsigned reg, uint64_t value)
{
	struct packet packet = { .kind = PACKET_VALUE };

	machine_record_event(machine, &packet);
	record_register(machine, reg, value);
}

/* Whoever follows is told why it failed before it is told that it did. */
static void record_answer(struct machine *machine,
			  const struct live_answer *answer)
{
	unsigned reg = board_reg_result(machine->board);

	record_value(machine, reg, answer->fails ? answer->error :
						   answer->value);
	if (answer->fails)
		record_register(machine, reg, answer->value);
}

static void work(struct machine *machine)
{
	if (machine->kind->work)
		machine->kind->work(machine->live);
}

/* Whether nobody has to wait: nothing can happen before the next timer. */
static bool may_skip(const struct machine *machine, uint64_t ticks)
{
	uint64_t second = board_ticks_per_second(machine->board);
	uint64_t now = board_ticks(machine->board);

	if (machine->is_connected)
		return false;
	if (ticks == UINT64_MAX)
		return machine->input_closed;
	return !machine->options->waits &&
	       (machine->input_closed ||
		now - machine->spoken < SILENCE * second);
}

/* How long somebody who may type is waited for, in microseconds. */
static uint64_t patience(const struct machine *machine, uint64_t ticks)
{
	uint64_t now = board_ticks(machine->board);
	uint64_t second = board_ticks_per_second(machine->board);

	if (may_skip(machine, ticks))
		return 0;
	if (ticks == UINT64_MAX)
		return WAIT_MOST;
	ticks -= now;
	return ticks < second ? ticks * MICROSECONDS / second : WAIT_MOST;
}

static uint64_t microseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MICROSECONDS +
	       (uint64_t)now.tv_nsec / 1000;
}

void machine_pass_time(struct machine *machine, uint64_t tick, bool *ended)
{
	struct board *board = machine->board;
	uint64_t wait = patience(machine, tick), start = microseconds();
	uint64_t second = board_ticks_per_second(board);
	uint64_t idle = board_reg(board, board_reg_idle(board)), passed, most;
	bool typed;

	machine_write_output(machine);
	typed = take_input(machine, wait);
	work(machine);
	*ended = machine->input_closed && !machine->is_connected &&
		 (tick == UINT64_MAX || is_forgotten(machine));
	passed = (microseconds() - start) * (second / 1000) /
		 (MICROSECONDS / 1000);
	most = tick == UINT64_MAX ? passed : tick - board_ticks(board);
	/* Without a wait, or at its end, the timer is next. */
	if (!typed && tick != UINT64_MAX &&
	    (wait < WAIT_MOST || passed > most))
		passed = most;
	board_set_reg(board, board_reg_idle(board),
		      idle + (passed < most ? passed : most));
}

/* A WFI has retired: until something wakes a core, time passes. */
static void wait_for_interrupt(struct machine *machine, bool *ended)
{
	unsigned idle = board_reg_idle(machine->board), next;

	if (machine->panic.core == board_core(machine->board))
		machine_panic_forget(&machine->panic);
	work(machine);
	next = machine_cores_wait(machine, ended);
	record_value(machine, idle, board_reg(machine->board, idle));
	machine_cores_turn(machine, next);
}

/* The core was switched off. */
static void wait_for_others(struct machine *machine, uint64_t result,
			    bool *ended)
{
	unsigned idle = board_reg_idle(machine->board), next;

	work(machine);
	next = machine_cores_wait(machine, ended);
	record_value(machine, board_reg_result(machine->board), result);
	record_register(machine, idle, board_reg(machine->board, idle));
	machine_cores_turn(machine, next);
}

/* ------- running ------- */

static void record_end(struct machine *machine)
{
	struct packet packet = { .kind = PACKET_EXIT, .result = machine->end };

	machine_record_event(machine, &packet);
}

static void change_memory(struct machine *machine,
			  const struct live_change *change)
{
	board_load(machine->board, change->addr, change->bytes, change->size);
	machine_memory_changed(&machine->memory, change->addr, change->size);
}

/* Whether this end is none. */
static bool begins_anew(const struct machine *machine)
{
	return machine->has_end && machine->end == MACHINE_RESET &&
	       !machine->options->ends_at_reset;
}

/* Behind a call of what is around the machine. */
static void answer_call(struct machine *machine, bool *ended)
{
	struct live_answer answer;

	for (;;) {
		answer = (struct live_answer){ 0 };
		machine->kind->called(machine->live, machine->input_closed,
				      &answer);
		if (!answer.waits || machine->stopped)
			break;
		machine_write_output(machine);
		take_input(machine, WAIT_MOST);
	}
	machine->has_end = answer.ends;
	machine->end = answer.end;
	if (machine->has_end && !begins_anew(machine))
		return;
	if (!live_is_on(machine->kind, machine->live,
			board_core(machine->board))) {
		wait_for_others(machine, answer.value, ended);
		return;
	}
	record_answer(machine, &answer);
	for (unsigned i = 0; i < answer.change_count; i++)
		change_memory(machine, &answer.changes[i]);
}

static int write_segment(struct machine *machine, struct failure *why)
{
	size_t count;
	const struct region *regions =
		machine->kind->regions(machine->live, &count);
	int rc = machine_trace_segment(&machine->trace, machine->board, regions,
				       count, why);

	return rc ? rc : machine_record_devices(machine, why);
}

int machine_work(struct machine *machine, struct failure *why)
{
	work(machine);
	if (!machine->is_live)
		return machine_memory_record(&machine->memory, &machine->trace,
					     machine->board, why);
	machine->memory.count = 0;
	return 0;
}

static int write_due(struct machine *machine, struct failure *why)
{
	uint64_t steps = board_steps(machine->board);

	if (machine_trace_ends_segment(&machine->trace, steps) &&
	    steps > machine->trace.start)
		return write_segment(machine, why);
	return machine_trace_is_due(&machine->trace) ?
		       machine_trace_flush(&machine->trace, machine->board,
					   why) : 0;
}

static void end_by(struct machine *machine, enum machine_end end)
{
	machine->has_end = true;
	machine->end = end;
}

/* It runs, but nothing will come of that. */
static void find_standstill(struct machine *machine)
{
	if (machine_panic_is_final(&machine->panic, machine->board))
		end_by(machine, MACHINE_PANICKED);
	else if (machine_cores_are_stuck(machine))
		end_by(machine, MACHINE_LOCKED);
}

static void look_outside(struct machine *machine)
{
	take_input(machine, 0);
	machine_write_output(machine);
}

/* What the machine stopped for; `*ended`: nothing will happen any more. */
static void attend(struct machine *machine, enum board_stop stop, bool *ended)
{
	switch (stop) {
	case BOARD_WAITS:
		wait_for_interrupt(machine, ended);
		break;
	case BOARD_CALLS:
		answer_call(machine, ended);
		break;
	case BOARD_LOCKED:
		end_by(machine, MACHINE_LOCKED);
		break;
	case BOARD_AT_BREAK:
	case BOARD_PAUSES:
		if (machine->accesses >= LOOK_ACCESSES)
			look_outside(machine);
		else if (machine->is_connected)
			take_input(machine, 0);
		if (!machine->has_end)
			machine_cores_end_run(machine);
		break;
	case BOARD_AT_STEPS:
		look_outside(machine);
		find_standstill(machine);
		if (!machine->has_end)
			machine_cores_end_run(machine);
		break;
	}
}

/* Where this run ends at the latest. */
static uint64_t run_end(const struct machine *machine)
{
	uint64_t now = board_steps(machine->board);
	uint64_t until = machine->is_live ? UINT64_MAX :
			 machine_trace_segment_end(&machine->trace);
	uint64_t look = now + (machine->is_connected ? CONNECTED_STEPS :
						       LOOK_STEPS);
	uint64_t turn = machine_cores_run_end(machine);

	/* Where there can be no key frame, the segment is a little longer. */
	if (until <= now)
		until = now + 1;
	if (look < until)
		until = look;
	return turn < until && turn > now ? turn : until;
}

/* Somebody may want one to end that does nothing else. */
static int begin_anew(struct machine *machine, struct failure *why)
{
	char text[PANIC_TEXT + 60];

	if (machine_panic_is_there(&machine->panic, machine->board)) {
		snprintf(text, sizeof(text), "the machine's kernel panicked:"
			 " %s; it resets", machine->panic.text);
		on_warn(machine, text);
	}
	take_input(machine, 0);
	machine_write_output(machine);
	return machine_reset(machine, why);
}

int machine_attend(struct machine *machine, enum board_stop stop, bool *on,
		   struct failure *why)
{
	bool idle_for_ever = false;
	int rc = 0;

	attend(machine, stop, &idle_for_ever);
	if (begins_anew(machine))
		rc = begin_anew(machine, why);
	else if (machine->has_end && machine->end == MACHINE_RESET &&
		 machine_panic_is_there(&machine->panic, machine->board))
		machine->end = MACHINE_PANICKED;
	if (rc)
		return rc;
	if (!machine->has_end)
		rc = machine_work(machine, why);
	if (rc)
		return rc;
	*on = !machine->has_end && !machine->stopped && !idle_for_ever;
	if (machine->has_end)
		record_end(machine);
	else if (!*on)
		machine->end = machine->stopped ? MACHINE_STOPPED :
						  MACHINE_IDLE;
	return *on && !machine->is_live ? write_due(machine, why) : 0;
}

int machine_advance(struct machine *machine, bool *on, struct failure *why)
{
	enum board_stop stop;
	int rc;

	machine_cores_begin_run(machine);
	rc = board_run(machine->board, run_end(machine), true, &stop, why);
	return rc ? rc : machine_attend(machine, stop, on, why);
}

int machine_create_world(struct machine *machine, struct failure *why)
{
	struct live_options options = machine->options->live;

	machine->kind = options.kind;
	options.out = on_output;
	options.said = on_said;
	options.stored = on_stored;
	options.warn = on_warn;
	options.context = machine;
	machine->world = (struct board_world){
		.read = on_read, .write = on_write,
		.look = on_look, .taken = on_taken, .context = machine,
	};
	return machine->kind->create(&machine->live, &options, why);
}

static int create(struct machine *machine, struct failure *why)
{
	const struct machine_options *options = machine->options;
	struct board_ram rams[BOARD_RAMS_MOST];
	int rc = machine_create_world(machine, why);

	if (rc)
		return rc;
	rc = board_create(&machine->board, machine->kind->arch,
			  machine->kind->model(&options->live), rams,
			  machine->kind->rams(machine->live, rams),
			  &machine->world, why);
	if (rc)
		return rc;
	board_registers(machine->board, &machine->first);
	machine->cores.count = live_cores(machine->kind, machine->live);
	board_set_cores(machine->board, machine->cores.count);
	rc = machine->kind->start(machine->live, machine->board, why);
	/* Its first key frame has that. */
	machine->memory.count = 0;
	return rc ? rc : machine_trace_open(&machine->trace, machine->options,
					    machine->cores.count, why);
}

static int run(struct machine *machine, struct failure *why)
{
	bool on = true;
	int rc = write_segment(machine, why);

	while (!rc && on)
		rc = machine_advance(machine, &on, why);
	machine_write_output(machine);
	/* The last key frame says how everything was in the end. */
	if (!rc && board_steps(machine->board) > machine->trace.start)
		rc = write_segment(machine, why);
	else if (!rc)
		rc = machine_trace_flush(&machine->trace, machine->board, why);
	return rc ? rc : machine_trace_finish(&machine->trace, machine->board,
					      machine->end, why);
}

void machine_tell_ending(const struct machine *machine,
			 struct machine_ending *out)
{
	out->end = machine->end;
	if (machine->end == MACHINE_PANICKED)
		snprintf(out->text, sizeof(out->text), "%s",
			 machine->panic.text);
	if (machine->end == MACHINE_LOCKED)
		snprintf(out->text, sizeof(out->text), "%s, at 0x%llx",
			 board_fault(machine->board),
			 (unsigned long long)board_reg(
				 machine->board,
				 reg_table(machine->kind->arch)->pc));
}

void machine_destroy(struct machine *machine)
{
	machine_trace_close(&machine->trace);
	machine_memory_release(&machine->memory);
	board_destroy(machine->board);
	if (machine->live)
		machine->kind->destroy(machine->live);
	free(machine);
}

int machine_record(const struct machine_options *options,
		   struct machine_ending *ending, struct failure *why)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	int rc;

	if (!machine)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine->options = options;
	rc = create(machine, why);
	if (!rc)
		rc = run(machine, why);
	if (!rc)
		machine_tell_ending(machine, ending);
	machine_destroy(machine);
	return rc;
}
