/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - runs a machine, and records what happens to it */
#include "recorder/machine_internal.h"

#include <stdlib.h>

#include "formats/error.h"

/* How often the input is looked at, in steps: some 40 milliseconds. */
#define LOOK_STEPS UINT64_C(20000000)

/* The same, while the network has connections: two milliseconds. */
#define CONNECTED_STEPS UINT64_C(1000000)

/*
 * Idle time is skipped, but if the console has been silent for so long, in
 * ticks, and somebody may type, the machine waits with them.
 */
#define SILENCE BOARD_TICKS_PER_SECOND
#define WAIT_MOST UINT64_C(1000000)		/* at once, in microseconds */
#define MICROSECONDS UINT64_C(1000000)

/* Six hours: for a kernel that only waits, some seconds.  A choice. */
#define FORGOTTEN (6 * 3600 * BOARD_TICKS_PER_SECOND)

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
	size_t room = virt_room(machine->virt), count = 0;
	struct machine_wait waits = { wait, machine->sockets, 0 };
	enum machine_input input;

	if (room > sizeof(bytes))
		room = sizeof(bytes);
	waits.count = virt_sockets(machine->virt, waits.sockets, SOCKETS_MOST,
				   &waits.most);
	machine->is_connected = waits.count;
	input = machine->options->input(machine->options->context, bytes, room,
					&count, &waits);
	virt_found(machine->virt, waits.sockets, waits.count);
	switch (input) {
	case INPUT_NONE:
		return has_happened(&waits);
	case INPUT_BYTES:
		virt_type(machine->virt, bytes, count);
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
	       board_ticks(machine->board) - machine->spoken > FORGOTTEN;
}

/* ------- the world ------- */

static void record_event(struct machine *machine, struct packet *packet)
{
	if (!machine->is_live)
		machine_trace_event(&machine->trace, packet,
				    board_steps(machine->board));
}

static uint64_t on_read(void *context, uint64_t addr, unsigned size)
{
	struct machine *machine = context;
	uint64_t value = virt_read(machine->virt, addr, size);

	if (!machine->is_live)
		machine_trace_read(&machine->trace, addr, value, size);
	return value;
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct machine *machine = context;

	virt_write(machine->virt, addr, size, value);
}

static bool on_look(void *context, uint64_t *next)
{
	struct machine *machine = context;
	uint64_t tick = board_timer_next(machine->board);

	if (tick != UINT64_MAX)
		*next = board_steps_of(machine->board, tick);
	return virt_interrupts(machine->virt);
}

static void on_taken(void *context)
{
	struct machine *machine = context;
	struct packet packet = { .kind = PACKET_INTERRUPT };

	record_event(machine, &packet);
}

/* ------- instructions whose results are not computed ------- */

static void record_value(struct machine *machine, unsigned reg, uint64_t value)
{
	struct packet packet = { .kind = PACKET_VALUE };

	record_event(machine, &packet);
	if (!machine->is_live)
		machine_trace_register(&machine->trace, reg, value);
	board_set_reg(machine->board, reg, value);
}

static void work(struct machine *machine)
{
	if (virt_has_work(machine->virt))
		virt_work(machine->virt);
}

/* How long somebody who may type is waited for, in microseconds. */
static uint64_t patience(const struct machine *machine, uint64_t ticks)
{
	uint64_t now = board_ticks(machine->board);

	if (machine->input_closed && !machine->is_connected)
		return 0;
	if (ticks == UINT64_MAX)
		return WAIT_MOST;
	if (!machine->is_connected && now - machine->spoken < SILENCE)
		return 0;
	ticks -= now;
	return ticks < BOARD_TICKS_PER_SECOND ?
		       ticks * MICROSECONDS / BOARD_TICKS_PER_SECOND :
		       WAIT_MOST;
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
	uint64_t idle = board_reg(board, BOARD_REG_IDLE), passed, most;
	bool typed;

	machine_write_output(machine);
	typed = take_input(machine, wait);
	work(machine);
	*ended = machine->input_closed && !machine->is_connected &&
		 (tick == UINT64_MAX || is_forgotten(machine));
	passed = (microseconds() - start) * BOARD_TICKS_PER_SECOND /
		 MICROSECONDS;
	most = tick == UINT64_MAX ? passed : tick - board_ticks(board);
	/* Without a wait, or at its end, the timer is next. */
	if (!typed && tick != UINT64_MAX &&
	    (wait < WAIT_MOST || passed > most))
		passed = most;
	board_set_reg(board, BOARD_REG_IDLE, idle + (passed < most ? passed : most));
}

/* A WFI has retired: until something wakes the processor, time passes. */
static void wait_for_interrupt(struct machine *machine, bool *ended)
{
	work(machine);
	while (!virt_wakes(machine->virt) && !machine->stopped && !*ended)
		pass_time(machine, board_timer_next(machine->board), ended);
	record_value(machine, BOARD_REG_IDLE,
		     board_reg(machine->board, BOARD_REG_IDLE));
}

/* ------- running ------- */

static void record_end(struct machine *machine, enum machine_end end)
{
	struct packet packet = { .kind = PACKET_EXIT, .result = end };

	record_event(machine, &packet);
}

/* Behind a call of the firmware: false if it ends the machine. */
static bool answer_call(struct machine *machine, enum machine_end *end)
{
	uint64_t x0;

	switch (virt_called(machine->virt, &x0)) {
	case VIRT_GOES_ON:
		record_value(machine, BOARD_REG_RESULT, x0);
		return true;
	case VIRT_OFF:
		*end = MACHINE_OFF;
		break;
	case VIRT_RESET:
		*end = MACHINE_RESET;
		break;
	}
	record_end(machine, *end);
	return false;
}

static int write_segment(struct machine *machine, struct failure *why)
{
	size_t count;
	const struct region *regions = virt_regions(machine->virt, &count);

	return machine_trace_segment(&machine->trace, machine->board, regions,
				     count, why);
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

int machine_advance(struct machine *machine, bool *on, enum machine_end *end,
		    struct failure *why)
{
	uint64_t now = board_steps(machine->board);
	uint64_t until = machine->is_live ? UINT64_MAX :
			 machine_trace_segment_end(&machine->trace);
	uint64_t look = now + (machine->is_connected ? CONNECTED_STEPS :
						       LOOK_STEPS);
	bool idle_for_ever = false;
	enum board_stop stop;
	int rc;

	/* Where there can be no key frame, the segment is a little longer. */
	if (until <= now)
		until = now + 1;
	rc = board_run(machine->board, look < until ? look : until, true, &stop,
		       why);
	if (rc)
		return rc;
	if (stop == BOARD_WAITS)
		wait_for_interrupt(machine, &idle_for_ever);
	else if (stop == BOARD_CALLS)
		*on = answer_call(machine, end);
	else if (stop == BOARD_AT_STEPS || machine->is_connected)
		take_input(machine, 0);
	if (*on)
		rc = machine_work(machine, why);
	if (rc)
		return rc;
	if (stop != BOARD_CALLS && (machine->stopped || idle_for_ever)) {
		*on = false;
		*end = machine->stopped ? MACHINE_STOPPED : MACHINE_IDLE;
	}
	if (stop == BOARD_AT_STEPS)
		machine_write_output(machine);
	return *on && !machine->is_live ? write_due(machine, why) : 0;
}

int machine_create_world(struct machine *machine, struct failure *why)
{
	struct virt_options options = machine->options->virt;

	options.out = on_output;
	options.said = on_said;
	options.stored = on_stored;
	options.warn = on_warn;
	options.context = machine;
	machine->world = (struct board_world){
		.read = on_read, .write = on_write,
		.look = on_look, .taken = on_taken, .context = machine,
	};
	return virt_create(&machine->virt, &options, why);
}

static int create(struct machine *machine, struct failure *why)
{
	struct board_ram ram;
	int rc = machine_create_world(machine, why);

	if (rc)
		return rc;
	ram = virt_ram(machine->virt);
	rc = board_create(&machine->board, machine->options->virt.model, &ram,
			  &machine->world, why);
	if (!rc)
		rc = virt_start(machine->virt, machine->board, why);
	return rc ? rc : machine_trace_open(&machine->trace, machine->options,
					    why);
}

static int run(struct machine *machine, enum machine_end *end,
	       struct failure *why)
{
	bool on = true;
	int rc = write_segment(machine, why);

	while (!rc && on)
		rc = machine_advance(machine, &on, end, why);
	machine_write_output(machine);
	/* The last key frame says how everything was in the end. */
	if (!rc && board_steps(machine->board) > machine->trace.start)
		rc = write_segment(machine, why);
	else if (!rc)
		rc = machine_trace_flush(&machine->trace, machine->board, why);
	return rc ? rc : machine_trace_finish(&machine->trace, machine->board,
					      *end, why);
}

void machine_destroy(struct machine *machine)
{
	machine_trace_close(&machine->trace);
	machine_memory_release(&machine->memory);
	board_destroy(machine->board);
	virt_destroy(machine->virt);
	free(machine);
}

int machine_record(const struct machine_options *options,
		   enum machine_end *end, struct failure *why)
{
	struct machine *machine = calloc(1, sizeof(*machine));
	int rc;

	if (!machine)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	machine->options = options;
	rc = create(machine, why);
	if (!rc)
		rc = run(machine, end, why);
	machine_destroy(machine);
	return rc;
}
