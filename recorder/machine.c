/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - runs a machine, and records what happens to it */
#include "recorder/machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/error.h"
#include "recorder/machine_trace.h"

/* How often the input is looked at, in steps: some 40 milliseconds. */
#define LOOK_STEPS UINT64_C(20000000)

/*
 * Idle time is skipped, but if the console has been silent for so long, and
 * somebody may type, the machine waits with them.
 */
#define SILENCE 1u		/* seconds */
#define WAIT_MOST UINT64_C(1000000)		/* at once, in microseconds */
#define MICROSECONDS UINT64_C(1000000)

/* Six hours: for a kernel that only waits, some seconds.  A choice. */
#define FORGOTTEN (6 * 3600u)

#define OUTPUT_ROOM 1024u
#define TYPED_MOST 64u

struct machine {
	const struct machine_options *options;
	const struct live_kind *kind;
	void *live;
	struct board *board;
	struct board_world world;
	struct machine_trace trace;
	bool input_closed, stopped;
	unsigned end;		/* how it ends, */
	bool has_end;		/* by itself */
	uint64_t spoken;	/* ticks, when the console was last used */
	uint8_t output[OUTPUT_ROOM];
	size_t output_count;
};

/* ------- the console ------- */

static void write_output(struct machine *machine)
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

	machine->output[machine->output_count++] = byte;
	machine->spoken = board_ticks(machine->board);
	if (machine->output_count == OUTPUT_ROOM)
		write_output(machine);
}

static void on_note(void *context, const char *text)
{
	struct machine *machine = context;

	write_output(machine);
	machine->options->note(machine->options->context, text);
}

/* Waits for input, at most so many microseconds; whether there is any. */
static bool take_input(struct machine *machine, uint64_t wait)
{
	uint8_t bytes[TYPED_MOST];
	size_t room = machine->kind->room(machine->live), count = 0;

	if (room > sizeof(bytes))
		room = sizeof(bytes);
	switch (machine->options->input(machine->options->context, bytes, room,
					&count, wait)) {
	case INPUT_NONE:
		return false;
	case INPUT_BYTES:
		machine->kind->type(machine->live, bytes, count);
		machine->spoken = board_ticks(machine->board);
		return true;
	case INPUT_CLOSED:
		machine->input_closed = true;
		return false;
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

static uint64_t on_read(void *context, uint64_t addr, unsigned size)
{
	struct machine *machine = context;
	uint64_t value = machine->kind->read(machine->live, addr, size);

	machine_trace_read(&machine->trace, addr, value, size);
	return value;
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct machine *machine = context;

	machine->kind->write(machine->live, addr, size, value);
}

static bool on_look(void *context, unsigned *number, uint64_t *next)
{
	struct machine *machine = context;
	uint64_t tick = machine->kind->next(machine->live);

	if (machine->kind->ends(machine->live, &machine->end)) {
		machine->has_end = true;
		board_end_run(machine->board);
		return false;
	}
	if (tick != UINT64_MAX)
		*next = board_steps_of(machine->board, tick);
	return machine->kind->interrupts(machine->live, number);
}

static void on_taken(void *context, unsigned number)
{
	struct machine *machine = context;
	struct packet packet = { .kind = PACKET_INTERRUPT, .number = number };

	machine->kind->taken(machine->live, number);
	machine_trace_event(&machine->trace, &packet,
			    board_steps(machine->board));
}

/* ------- instructions whose results are not computed ------- */

static void record_value(struct machine *machine, unsigned reg, uint64_t value)
{
	struct packet packet = { .kind = PACKET_VALUE };

	machine_trace_event(&machine->trace, &packet,
			    board_steps(machine->board));
	machine_trace_register(&machine->trace, reg, value);
	board_set_reg(machine->board, reg, value);
}

/* How long somebody who may type is waited for, in microseconds. */
static uint64_t patience(const struct machine *machine, uint64_t ticks)
{
	uint64_t now = board_ticks(machine->board);
	uint64_t second = board_ticks_per_second(machine->board);

	if (machine->input_closed)
		return 0;
	if (ticks == UINT64_MAX)
		return WAIT_MOST;
	if (now - machine->spoken < SILENCE * second)
		return 0;
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

/* Time passes, to `tick` at most; `*ended`: nothing will happen any more. */
static void pass_time(struct machine *machine, uint64_t tick, bool *ended)
{
	struct board *board = machine->board;
	uint64_t wait = patience(machine, tick), start = microseconds();
	uint64_t second = board_ticks_per_second(board);
	uint64_t idle = board_reg(board, board_reg_idle(board)), passed, most;
	bool typed;

	write_output(machine);
	typed = take_input(machine, wait);
	*ended = machine->input_closed &&
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

/* A WFI has retired: until something wakes the processor, time passes. */
static void wait_for_interrupt(struct machine *machine, bool *ended)
{
	unsigned idle = board_reg_idle(machine->board);

	while (!machine->kind->wakes(machine->live) && !machine->stopped &&
	       !*ended)
		pass_time(machine, machine->kind->next(machine->live), ended);
	record_value(machine, idle, board_reg(machine->board, idle));
}

/* ------- running ------- */

static void record_end(struct machine *machine)
{
	struct packet packet = { .kind = PACKET_EXIT, .result = machine->end };

	machine_trace_event(&machine->trace, &packet,
			    board_steps(machine->board));
}

/* Behind a call of what is around the machine. */
static void answer_call(struct machine *machine)
{
	struct live_answer answer = { 0 };

	machine->kind->called(machine->live, machine->input_closed, &answer);
	while (answer.waits && !machine->stopped) {
		write_output(machine);
		take_input(machine, WAIT_MOST);
		answer = (struct live_answer){ 0 };
		machine->kind->called(machine->live, machine->input_closed,
				      &answer);
	}
	machine->has_end = answer.ends;
	machine->end = answer.end;
	if (machine->has_end)
		return;
	record_value(machine, board_reg_result(machine->board), answer.value);
	for (unsigned i = 0; i < answer.change_count; i++)
		machine_trace_memory(&machine->trace, machine->board,
				     &answer.changes[i]);
}

static int write_segment(struct machine *machine, struct failure *why)
{
	size_t count;
	const struct region *regions = machine->kind->regions(machine->live, &count);

	return machine_trace_segment(&machine->trace, machine->board, regions,
				     count, why);
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

/* What the machine stopped for; `*ended`: nothing will happen any more. */
static void attend(struct machine *machine, enum board_stop stop, bool *ended)
{
	switch (stop) {
	case BOARD_WAITS:
		wait_for_interrupt(machine, ended);
		break;
	case BOARD_CALLS:
		answer_call(machine);
		break;
	case BOARD_LOCKED:
		machine->has_end = true;
		machine->end = MACHINE_LOCKED;
		break;
	case BOARD_AT_STEPS:
		take_input(machine, 0);
		write_output(machine);
		break;
	}
}

/* Runs to the next stop and does what it asks for; `*on`: the machine does. */
static int advance(struct machine *machine, bool *on, struct failure *why)
{
	uint64_t until = machine_trace_segment_end(&machine->trace);
	uint64_t look = board_steps(machine->board) + LOOK_STEPS;
	bool idle_for_ever = false;
	enum board_stop stop;
	int rc = board_run(machine->board, look < until ? look : until, true,
			   &stop, why);

	if (rc)
		return rc;
	attend(machine, stop, &idle_for_ever);
	*on = !machine->has_end && !machine->stopped && !idle_for_ever;
	if (machine->has_end)
		record_end(machine);
	else if (!*on)
		machine->end = machine->stopped ? MACHINE_STOPPED :
						  MACHINE_IDLE;
	return *on ? write_due(machine, why) : 0;
}

static int create(struct machine *machine, struct failure *why)
{
	struct live_options options = machine->options->live;
	struct board_ram rams[BOARD_RAMS_MOST];
	int rc;

	machine->kind = options.kind;
	options.out = on_output;
	options.note = on_note;
	options.context = machine;
	machine->world = (struct board_world){
		.read = on_read, .write = on_write,
		.look = on_look, .taken = on_taken, .context = machine,
	};
	rc = machine->kind->create(&machine->live, &options, why);
	if (rc)
		return rc;
	rc = board_create(&machine->board, machine->kind->arch,
			  machine->kind->model(&options), rams,
			  machine->kind->rams(machine->live, rams),
			  &machine->world, why);
	if (!rc)
		rc = machine->kind->start(machine->live, machine->board, why);
	return rc ? rc : machine_trace_open(&machine->trace, machine->options,
					    why);
}

static int run(struct machine *machine, struct failure *why)
{
	bool on = true;
	int rc = write_segment(machine, why);

	while (!rc && on)
		rc = advance(machine, &on, why);
	write_output(machine);
	/* The last key frame says how everything was in the end. */
	if (!rc && board_steps(machine->board) > machine->trace.start)
		rc = write_segment(machine, why);
	else if (!rc)
		rc = machine_trace_flush(&machine->trace, machine->board, why);
	return rc ? rc : machine_trace_finish(&machine->trace, machine->board,
					      machine->end, why);
}

static void tell_ending(const struct machine *machine,
			struct machine_ending *out)
{
	out->end = machine->end;
	if (machine->end == MACHINE_LOCKED)
		snprintf(out->text, sizeof(out->text), "%s, at 0x%llx",
			 board_fault(machine->board),
			 (unsigned long long)board_reg(
				 machine->board,
				 reg_table(machine->kind->arch)->pc));
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
		tell_ending(machine, ending);
	machine_trace_close(&machine->trace);
	board_destroy(machine->board);
	if (machine->live)
		machine->kind->destroy(machine->live);
	free(machine);
	return rc;
}
