/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * moves.c - runs a replay to breakpoints and watched memory, both ways
 *
 * usage: moves random RECORDING WINDOWS TRIES
 *        moves breaks RECORDING ADDRESS
 *        moves watches RECORDING ADDRESS
 *
 * random: in parts of a recording, each instruction, access and event is
 * written down by an observer.  From there it follows where a run must stop
 * that begins anywhere, with any breakpoints and watched bytes.  The state
 * where it stops must be the one that a replayer finds that goes there straight
 * away, without checkpoints; the other takes them every few hundred steps.
 *
 * breaks: how often a breakpoint is met from start to end, and back.
 *
 * If there is RECORDING.idx, what it knows is used on the way back.
 *
 * watches: who writes eight bytes, and their values, from start to end; those
 * on the way back must be the same.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/array.h"
#include "formats/side_file.h"
#include "replayer/replayer.h"
#include "tests/run/check.h"

#define WINDOW 60000u	/* steps */
#define BREAKS 3u
#define WATCHES 2u
#define PLACES 16u	/* in memory that are compared */

/* Checkpoints as close as this, and no more of them than in so many bytes. */
#define POINTS_GAP 2000u
#define POINTS_MOST (64u<<20)

/* An instruction that is about to execute; or an event, pc is 0 then. */
struct moment {
	struct position at;
	guest_addr pc;
	size_t first, count;	/* its accesses */
	bool done;		/* it retired, or took effect */
};

struct touch {
	enum vm_access access;
	guest_addr addr;
	uint64_t size;
};

struct log {
	struct replayer *replayer;
	struct moment *moments;
	size_t count, room;
	struct touch *touches;
	size_t touch_count, touch_room;
	struct position events;	/* that were seen at the newest time */
};

static struct recording *recording;
static struct side_file *side;
static uint64_t seed = 1;
static unsigned long wrong;

static uint64_t random_below(uint64_t most)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (seed >> 33) % most;
}

/* ------- writing down ------- */

static struct position now(const struct log *log, uint64_t steps)
{
	struct position at = { steps, 0 };

	if (log->events.time == steps)
		at.events = log->events.events;
	return at;
}

static struct moment *add_moment(struct log *log, struct position at,
				 guest_addr pc)
{
	check(array_room(log->moments, log->count, log->room));
	log->moments[log->count] = (struct moment) {
		.at = at, .pc = pc, .first = log->touch_count,
	};
	return &log->moments[log->count++];
}

static void add_touch(struct log *log, enum vm_access access, guest_addr addr,
		      uint64_t size)
{
	if (!log->count)
		return;
	check(array_room(log->touches, log->touch_count, log->touch_room));
	log->touches[log->touch_count++] =
		(struct touch){ access, addr, size };
	log->moments[log->count - 1].count++;
}

static void on_instruction(void *context, uint64_t steps, guest_addr pc)
{
	struct log *log = context;
	struct moment *last = log->count ? &log->moments[log->count - 1] : NULL;

	/* A repeated string instruction is told for each iteration. */
	if (last && last->pc == pc && last->at.time == steps &&
	    last->at.events == now(log, steps).events)
		return;
	if (last && last->at.time < steps)
		last->done = true;
	add_moment(log, now(log, steps), pc);
}

static void on_accessed(void *context, const struct vm_access_told *list,
			size_t count)
{
	for (size_t i = 0; i < count; i++)
		add_touch(context, list[i].writes ? ACCESS_WRITE : ACCESS_READ,
			  list[i].addr, list[i].size);
}

/* What a system call writes, its instruction does. */
static void on_event(void *context, const struct replay_event *event)
{
	struct log *log = context;
	uint64_t t = vm_steps(replayer_vm(log->replayer));
	struct moment *last = log->count ? &log->moments[log->count - 1] : NULL;

	if (last && last->at.time < t)
		last->done = true;
	if (position_counts(event->packet->kind)) {
		add_moment(log, now(log, t), 0)->done = true;
		log->events = now(log, t);
		log->events.time = t;
		log->events.events++;
	}
	for (size_t i = 0; i < event->count; i++) {
		const struct packet *effect = replay_event_effect(event, i);

		switch (effect->kind) {
		case PACKET_MOVE:
			add_touch(log, ACCESS_WRITE, effect->target,
				  effect->size);
			/* fall through */
		case PACKET_WRITE:
		case PACKET_MAP:
		case PACKET_UNMAP:
		case PACKET_CLEAR:
			add_touch(log, ACCESS_WRITE, effect->addr,
				  effect->size);
			break;
		case PACKET_STORED:
			add_touch(log, ACCESS_WRITE, effect->addr, GUEST_PAGE);
			break;
		default:
			break;
		}
	}
}

static void write_down(struct log *log, uint64_t from, uint64_t to)
{
	const struct position first = { from, EVENTS_ALL };
	const struct replay_until until = { .to = { to, 0 } };
	struct replay_stop stop;
	const struct replay_observer observer = {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .accessed = on_accessed,
			   .accesses = VM_READS | VM_WRITES,
			   .data = VM_EVERYWHERE, .context = log },
		.event = on_event, .context = log,
	};

	log->count = log->touch_count = 0;
	check(replayer_seek(log->replayer, &first, &why));
	check(recording_events_at(recording, from, &log->events.events, &why));
	log->events.time = from;
	check(replayer_observe(log->replayer, &observer, &why));
	check(replayer_run(log->replayer, &until, &stop, &why));
	replayer_unobserve(log->replayer, &observer);
	if (log->count)
		log->moments[log->count - 1].done = true;
}

/* ------- what must happen ------- */

static bool is_watched(const struct log *log, const struct moment *moment,
		       const struct replay_until *until)
{
	for (size_t i = 0; i < moment->count && moment->done; i++) {
		const struct touch *touch = &log->touches[moment->first + i];

		for (size_t j = 0; j < until->watch_count; j++) {
			const struct replay_watch *watch = &until->watches[j];

			if (touch->addr <= watch->data.last &&
			    touch->addr + touch->size > watch->data.first &&
			    (touch->access == ACCESS_WRITE ? watch->writes :
							     watch->reads))
				return true;
		}
	}
	return false;
}

static bool has_break(const struct moment *moment,
		      const struct replay_until *until)
{
	for (size_t i = 0; i < until->break_count; i++)
		if (moment->pc && until->breaks[i] == moment->pc)
			return true;
	return false;
}

/* Where a moment has happened, and nothing more. */
static struct position behind(const struct moment *moment)
{
	if (moment->pc)
		return (struct position){ moment->at.time + 1, 0 };
	return (struct position){ moment->at.time, moment->at.events + 1 };
}

static struct replay_stop expect_forwards(const struct log *log, size_t from,
					  const struct replay_until *until)
{
	for (size_t i = from; i < log->count; i++) {
		const struct moment *moment = &log->moments[i];
		struct position after = behind(moment);

		if (position_compare(&moment->at, &until->to) >= 0)
			break;
		if (i > from && has_break(moment, until))
			return (struct replay_stop){ REPLAY_AT_BREAK,
						     moment->at };
		if (is_watched(log, moment, until) &&
		    position_compare(&after, &until->to) <= 0)
			return (struct replay_stop){ REPLAY_AT_WATCH, after };
	}
	return (struct replay_stop){ REPLAY_AT_POSITION, until->to };
}

static struct replay_stop expect_backwards(const struct log *log, size_t from,
					   const struct replay_until *until)
{
	for (size_t i = from; i-- > 0;) {
		const struct moment *moment = &log->moments[i];

		if (position_compare(&moment->at, &until->to) < 0)
			break;
		if (is_watched(log, moment, until))
			return (struct replay_stop){ REPLAY_AT_WATCH,
						     moment->at };
		if (has_break(moment, until))
			return (struct replay_stop){ REPLAY_AT_BREAK,
						     moment->at };
	}
	return (struct replay_stop){ REPLAY_AT_POSITION, until->to };
}

/* ------- trying ------- */

static bool is_same_memory(struct replayer *a, struct replayer *b,
			   guest_addr addr)
{
	uint8_t bytes[2][64], known[2][64];

	addr &= ~(guest_addr)63;
	check(replayer_read(a, addr, bytes[0], known[0], 64, &why));
	check(replayer_read(b, addr, bytes[1], known[1], 64, &why));
	for (unsigned i = 0; i < 64; i++)
		if (known[0][i] != known[1][i] ||
		    (known[0][i] && bytes[0][i] != bytes[1][i]))
			return false;
	return true;
}

static bool is_same_state(const struct log *log, struct replayer *b)
{
	struct replayer *a = log->replayer;
	struct reg_file one, other;

	check(replayer_seek(b, &(struct position){ replayer_time(a),
			    replayer_position(a).events }, &why));
	replayer_registers(a, &one);
	replayer_registers(b, &other);
	if (replayer_stream(a) != replayer_stream(b) ||
	    memcmp(&one, &other, sizeof(one)))
		return false;
	for (unsigned i = 0; i < PLACES && log->touch_count; i++) {
		const struct touch *touch =
			&log->touches[random_below(log->touch_count)];

		if (!is_same_memory(a, b, touch->addr))
			return false;
	}
	return true;
}

static void say(const char *what, const struct position *from,
		const struct replay_stop *expected,
		const struct replay_stop *found)
{
	char texts[3][POSITION_TEXT];

	if (wrong++ < 20)
		printf("%s from %s: expected %d at %s, found %d at %s\n", what,
		       position_text(texts[0], from), expected->kind,
		       position_text(texts[1], &expected->at), found->kind,
		       position_text(texts[2], &found->at));
}

static void try(const struct log *log, struct replayer *straight, bool back,
		size_t from, const struct replay_until *until)
{
	struct replayer *replayer = log->replayer;
	const struct position *start = &log->moments[from].at;
	struct replay_stop found, expected;

	expected = back ? expect_backwards(log, from, until) :
			  expect_forwards(log, from, until);
	check(replayer_seek(replayer, start, &why));
	check(back ? replayer_run_back(replayer, until, &found, &why) :
		     replayer_run(replayer, until, &found, &why));
	if (found.kind != expected.kind ||
	    position_compare(&found.at, &expected.at))
		say(back ? "back" : "on", start, &expected, &found);
	else if (!is_same_state(log, straight))
		say("state", start, &expected, &found);
}

static void choose(const struct log *log, struct replay_until *until,
		   guest_addr *breaks, struct replay_watch *watches)
{
	until->break_count = random_below(BREAKS + 1);
	for (size_t i = 0; i < until->break_count; i++)
		breaks[i] = log->moments[random_below(log->count)].pc;
	until->watch_count = log->touch_count ? random_below(WATCHES + 1) : 0;
	for (size_t i = 0; i < until->watch_count; i++) {
		const struct touch *touch =
			&log->touches[random_below(log->touch_count)];

		watches[i] = (struct replay_watch) {
			.data = { touch->addr, touch->addr },
			.addr = touch->addr,
			.reads = random_below(2), .writes = random_below(4),
		};
	}
}

static void try_window(const struct log *log, struct replayer *straight,
		       unsigned long tries)
{
	const struct position first = log->moments[0].at,
			      last = log->moments[log->count - 1].at;

	for (unsigned long i = 0; i < tries; i++) {
		guest_addr breaks[BREAKS];
		struct replay_watch watches[WATCHES];
		struct replay_until until = { .breaks = breaks,
					      .watches = watches };
		bool back = i % 2;

		/* Of those back, each third one is of several replayers. */
		replayer_get_help(log->replayer, i % 6 == 1);
		choose(log, &until, breaks, watches);
		until.to = back ? first : last;
		try(log, straight, back, random_below(log->count), &until);
	}
}

static int random_runs(char **arguments)
{
	unsigned long windows = strtoul(arguments[1], NULL, 10);
	unsigned long tries = strtoul(arguments[2], NULL, 10);
	uint64_t start = recording_start(recording);
	uint64_t length = recording_end(recording) - start;
	struct replayer *straight;
	struct log log = { 0 };

	check(replayer_create(&log.replayer, recording, &why));
	replayer_use_side_file(log.replayer, side);
	check(replayer_create(&straight, recording, &why));
	replayer_keep_points(log.replayer, POINTS_MOST, POINTS_GAP);
	replayer_keep_points(straight, 0, 0);
	for (unsigned long i = 0; i < windows; i++) {
		uint64_t from = start + random_below(length);
		uint64_t left = start + length - from;

		write_down(&log, from, from + (left < WINDOW ? left : WINDOW));
		if (log.count > 1)
			try_window(&log, straight, tries);
	}
	printf("%lu windows of %lu tries, %lu wrong\n", windows, tries, wrong);
	replayer_destroy(log.replayer);
	replayer_destroy(straight);
	free(log.moments);
	free(log.touches);
	return wrong > 0;
}

/* ------- all of a recording ------- */

static struct position first_position(void)
{
	return (struct position){ recording_start(recording), 0 };
}

static struct position last_position(void)
{
	struct position last = { recording_end(recording), 0 };

	check(recording_events_at(recording, last.time, &last.events, &why));
	return last;
}

static int count_breaks(guest_addr pc)
{
	struct replay_until until = { .breaks = &pc, .break_count = 1 };
	unsigned long counts[2] = { 0 };
	struct replayer *replayer;
	struct replay_stop stop;

	check(replayer_create(&replayer, recording, &why));
	for (unsigned back = 0; back < 2; back++) {
		until.to = back ? first_position() : last_position();
		do {
			check(back ? replayer_run_back(replayer, &until, &stop,
						       &why) :
				     replayer_run(replayer, &until, &stop,
						  &why));
			counts[back] += stop.kind == REPLAY_AT_BREAK;
		} while (stop.kind == REPLAY_AT_BREAK);
	}
	printf("%lu on, %lu back\n", counts[0], counts[1]);
	replayer_destroy(replayer);
	return 0;
}

struct write {
	bool by_event;
	int64_t value;		/* behind it */
};

static int64_t value_now(struct replayer *replayer, guest_addr addr)
{
	uint8_t known[8];
	int64_t value = 0;

	check(replayer_read(replayer, addr, (uint8_t *)&value, known, 8,
			    &why));
	return value;
}

static void print_writes(const struct write *writes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("%s %" PRId64 "\n",
		       writes[i].by_event ? "kernel" : "instruction",
		       writes[i].value);
}

/*
 * Backwards it stops before each of them: the value is that of the one before.
 */
static bool is_same_back(struct replayer *replayer, guest_addr addr,
			 const struct replay_until *until,
			 const struct write *writes, size_t count)
{
	struct replay_stop stop;

	for (size_t i = count; i-- > 0;) {
		check(replayer_run_back(replayer, until, &stop, &why));
		if (stop.kind != REPLAY_AT_WATCH ||
		    stop.by_event != writes[i].by_event ||
		    (i && value_now(replayer, addr) != writes[i - 1].value))
			return false;
	}
	check(replayer_run_back(replayer, until, &stop, &why));
	return stop.kind == REPLAY_AT_POSITION;
}

static int list_writes(guest_addr addr)
{
	const struct replay_watch watch = {
		.data = { addr, addr + 7 }, .addr = addr, .writes = true,
	};
	struct replay_until until = { .watches = &watch, .watch_count = 1 };
	struct write *writes = NULL;
	size_t count = 0, room = 0;
	struct replayer *replayer;
	struct replay_stop stop;
	bool same;

	check(replayer_create(&replayer, recording, &why));
	replayer_use_side_file(replayer, side);
	until.to = last_position();
	for (;;) {
		check(replayer_run(replayer, &until, &stop, &why));
		if (stop.kind != REPLAY_AT_WATCH)
			break;
		check(array_room(writes, count, room));
		writes[count++] = (struct write) {
			.by_event = stop.by_event,
			.value = value_now(replayer, addr),
		};
	}
	print_writes(writes, count);
	until.to = first_position();
	same = is_same_back(replayer, addr, &until, writes, count);
	replayer_destroy(replayer);
	free(writes);
	return !same;
}

/* NULL: it is not there. */
static struct side_file *open_side(const char *path)
{
	struct side_file *opened;
	char name[4096];

	snprintf(name, sizeof(name), "%s.idx", path);
	if (access(name, R_OK))
		return NULL;
	check(side_file_open(&opened, recording_meta(recording), name, &why));
	side_file_keep(opened, false);
	return opened;
}

int main(int argc, char **argv)
{
	int rc = 2;

	if (argc < 4)
		return rc;
	check(recording_open(&recording, argv[2], &why));
	side = open_side(argv[2]);
	if (!strcmp(argv[1], "random") && argc == 5)
		rc = random_runs(argv + 2);
	else if (!strcmp(argv[1], "breaks"))
		rc = count_breaks(strtoull(argv[3], NULL, 0));
	else if (!strcmp(argv[1], "watches"))
		rc = list_writes(strtoull(argv[3], NULL, 0));
	side_file_close(side);
	recording_close(recording);
	return rc;
}
