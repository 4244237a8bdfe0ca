/* SPDX-License-Identifier: GPL-2.0-or-later */
/* machine.c - a position in the recording of a machine, that moves */
#include "replayer/machine_internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/meta.h"

/* How often it looks whether somebody still wants it. */
#define LOOK_STEPS UINT64_C(50000000)

#define CONSOLE "console"	/* how the name of its region begins */

static const char *path_of(const struct machine_replay *replay)
{
	return trace_reader_path(recording_reader(replay->recording));
}

static int diverged(const struct machine_replay *replay, const char *what,
		    struct failure *why)
{
	return failed(why, ERR_DIVERGED, "'%s': the replay differs from the"
		      " recording at t=%" PRIu64 ": %s", path_of(replay),
		      board_steps(replay->board), what);
}

/* ------- the world ------- */

static uint64_t on_read(void *context, uint64_t addr, unsigned size)
{
	struct machine_replay *replay = context;
	uint8_t bytes[sizeof(uint64_t)] = { 0 };
	uint64_t value = 0;
	int rc = prediction_replay(&machine_stream(replay)->reads, addr, bytes,
				   size);

	if (rc)
		replay->error = rc;
	for (unsigned i = size; i-- > 0;)
		value = value << 8 | bytes[i];
	if (replay->follower.read)
		replay->follower.read(replay->follower.context, addr, value);
	return value;
}

static void on_write(void *context, uint64_t addr, unsigned size,
		     uint64_t value)
{
	struct machine_replay *replay = context;

	if (replay->follower.write)
		replay->follower.write(replay->follower.context, addr, size,
				       value);
	if (addr == replay->console && replay->output)
		replay->output(replay->output_context, (uint8_t)value);
}

/* ------- events ------- */

/* Finds a stream's next event, behind the effects of the one at `base`. */
static int find_event(struct machine_stream *stream, uint64_t base,
		      struct failure *why)
{
	const struct packet *next = &stream->next;
	int rc = packet_stream_next(&stream->packets, &stream->next, why);
	uint64_t skipped;

	stream->has_next = rc > 0;
	stream->taken += rc > 0;
	if (rc <= 0)
		return rc;
	skipped = next->kind == PACKET_SLICE ? next->skipped : 0;
	if (!packet_is_event(next->kind) ||
	    next->steps > UINT64_MAX - base ||
	    skipped > UINT64_MAX - base - next->steps)
		return packet_stream_damaged(&stream->packets, ERR_CORRUPT,
					     why);
	stream->next_time = base + next->steps + skipped;
	return 0;
}

/*
 * The stream that has the next event: the present core's, until its turn ends;
 * then the one whose turn is next.  NULL: nothing happens any more.
 */
static struct machine_stream *coming(struct machine_replay *replay)
{
	struct machine_stream *present = machine_stream(replay);

	if (present->has_next && present->next.kind != PACKET_SLICE)
		return present;
	for (unsigned i = 0; i < board_cores(replay->board); i++) {
		struct machine_stream *stream = &replay->streams[i];

		/* What was decoded last is that SLICE. */
		if (stream->has_next && stream->next.kind == PACKET_SLICE &&
		    stream->packets.state.slice == replay->slice + 1)
			return stream;
	}
	return NULL;
}

static int damaged(struct machine_replay *replay, int code, struct failure *why)
{
	return packet_stream_damaged(&machine_stream(replay)->packets, code,
				     why);
}

static int take_register(struct machine_replay *replay,
			 const struct packet *packet, uint64_t *value,
			 struct failure *why)
{
	const struct reg_table *table = recording_reg_table(replay->recording);

	if (packet->number >= table->count ||
	    packet->size > sizeof(*value) ||
	    table->regs[packet->number].size != packet->size)
		return damaged(replay, ERR_CORRUPT, why);
	*value = 0;
	for (unsigned i = (unsigned)packet->size; i-- > 0;)
		*value = *value << 8 | packet->value[i];
	return 0;
}

static int apply_register(struct machine_replay *replay,
			  const struct packet *packet, struct failure *why)
{
	uint64_t value = 0;
	int rc = take_register(replay, packet, &value, why);

	if (!rc)
		board_set_reg(replay->board, (unsigned)packet->number, value);
	return rc;
}

/* All at once: while some are as before, they need not go together. */
static int apply_reset(struct machine_replay *replay, struct failure *why)
{
	const struct reg_table *table = recording_reg_table(replay->recording);
	struct reg_file regs;
	int rc = 0;

	board_registers(replay->board, &regs);
	for (size_t i = 0; i < replay->effect_count && !rc; i++) {
		const struct packet *packet = &replay->effects[i].packet;
		uint64_t value = 0;

		rc = packet->kind == PACKET_REG ?
			     take_register(replay, packet, &value, why) :
			     damaged(replay, ERR_CORRUPT, why);
		if (!rc)
			reg_set(table, &regs, (unsigned)packet->number, value);
	}
	if (rc)
		return rc;
	board_set_registers(replay->board, &regs);
	return 0;
}

/* The bytes that devices have stored are in the read stream. */
static int apply_write(struct machine_replay *replay,
		       const struct packet *packet, struct failure *why)
{
	uint8_t bytes[GUEST_PAGE];
	uint64_t done = 0;

	while (done < packet->size) {
		uint64_t addr = packet->addr + done;
		size_t part = GUEST_PAGE - addr % GUEST_PAGE;
		int rc;

		if (part > packet->size - done)
			part = (size_t)(packet->size - done);
		rc = prediction_replay(&machine_stream(replay)->reads, addr,
				       bytes, part);
		if (rc)
			return damaged(replay, rc, why);
		board_store(replay->board, addr, bytes, part);
		done += part;
	}
	return 0;
}

static int apply_stored(struct machine_replay *replay,
			const struct packet *packet, struct failure *why)
{
	uint8_t bytes[GUEST_PAGE];
	int rc;

	if (packet->source != TOUCH_STORED)
		return damaged(replay, ERR_CORRUPT, why);
	rc = recording_page(replay->recording, packet->page_id, bytes, why);
	if (!rc)
		board_store(replay->board, packet->addr, bytes, GUEST_PAGE);
	return rc;
}

static void show_output(struct machine_replay *replay,
			const struct packet *packet)
{
	const uint8_t *bytes = board_bytes(replay->board, packet->addr,
					   packet->size);

	for (uint64_t i = 0; i < packet->size && replay->output; i++)
		replay->output(replay->output_context, bytes[i]);
}

/* Applies a packet that is no event. */
static int apply_effect(struct machine_replay *replay,
			const struct packet *packet, struct failure *why)
{
	uint64_t size = packet->kind == PACKET_STORED ? GUEST_PAGE :
							packet->size;

	if (packet->kind == PACKET_REG)
		return apply_register(replay, packet, why);
	if (!board_bytes(replay->board, packet->addr, size))
		return damaged(replay, ERR_CORRUPT, why);
	switch (packet->kind) {
	case PACKET_WRITE:
		return apply_write(replay, packet, why);
	case PACKET_STORED:
		return apply_stored(replay, packet, why);
	case PACKET_OUTPUT:
		show_output(replay, packet);
		return 0;
	default:
		return damaged(replay, ERR_CORRUPT, why);
	}
}

/* Takes the effects of an event, up to the stream's next one. */
static int take_effects(struct machine_replay *replay,
			struct machine_stream *stream, struct failure *why)
{
	uint64_t base = stream->next_time;
	int rc;

	replay->effect_count = 0;
	for (;;) {
		struct packet_stream before = stream->packets;
		struct packet packet;

		rc = packet_stream_next(&stream->packets, &packet, why);
		if (rc <= 0)
			break;
		if (packet_is_event(packet.kind)) {
			stream->packets = before;
			break;
		}
		stream->taken++;
		if (array_room(replay->effects, replay->effect_count,
			       replay->effect_room))
			return failed(why, ERR_NO_MEMORY, "out of memory");
		replay->effects[replay->effect_count++] =
			(struct script_effect){ .packet = packet };
	}
	return rc < 0 ? rc : find_event(stream, base, why);
}

/*
 * The next instruction never retires, but it leaves something; that of an
 * AArch64 processor leads to itself again.
 */
static int lock_up(struct machine_replay *replay, struct failure *why)
{
	int rc;

	if (recording_reg_table(replay->recording)->arch ==
	    ARCH_AARCH64_MACHINE)
		return 0;
	rc = board_run(replay->board, board_steps(replay->board) + 1, true,
			   &replay->stop, why);

	return rc || replay->stop == BOARD_LOCKED ?
		       rc : diverged(replay, "the machine goes on where it"
				     " could not", why);
}

/* Devices do not write registers: the machine was reset. */
static bool is_reset(const struct machine_replay *replay,
		     const struct packet *event)
{
	return event->kind == PACKET_DMA && replay->effect_count &&
	       replay->effects[0].packet.kind == PACKET_REG;
}

static int apply_effects(struct machine_replay *replay,
			 const struct packet *event, struct failure *why)
{
	int rc = 0;

	if (is_reset(replay, event))
		return apply_reset(replay, why);
	for (size_t i = 0; i < replay->effect_count && !rc; i++)
		rc = apply_effect(replay, &replay->effects[i].packet, why);
	return rc;
}

/* Whoever observes is told of the event that stands here. */
static void tell_event(struct machine_replay *replay,
		       const struct packet *event, bool done)
{
	const struct replay_event told = {
		.packet = event, .effects = replay->effects,
		.count = replay->effect_count,
	};

	if (replay->rep)
		observers_tell(replay->rep, &told, done);
}

static void take_turn(struct machine_replay *replay, unsigned core)
{
	if (replay->rep)
		observers_turn(replay->rep, false);
	board_switch(replay->board, core);
	replay->slice++;
	if (!replay->rep)
		return;
	replay->rep->stream = core;
	observers_turn(replay->rep, true);
}

/* What the call returns is among its effects; before it, why it failed. */
static int tell_call(struct machine_replay *replay, struct failure *why)
{
	uint64_t result = 0, error = 0;
	unsigned count = 0;
	int rc = 0;

	if (replay->stop != BOARD_CALLS || !replay->follower.called)
		return 0;
	for (size_t i = 0; i < replay->effect_count && !rc; i++) {
		const struct packet *packet = &replay->effects[i].packet;

		if (packet->kind != PACKET_REG ||
		    packet->number != board_reg_result(replay->board))
			continue;
		error = result;
		rc = take_register(replay, packet, &result, why);
		count++;
	}
	if (!rc)
		replay->follower.called(replay->follower.context, result,
					count > 1 ? &error : NULL);
	return rc;
}

static bool take_interrupt(struct machine_replay *replay, unsigned number)
{
	if (!board_interrupt(replay->board, number))
		return false;
	if (replay->follower.interrupted)
		replay->follower.interrupted(replay->follower.context, number);
	return true;
}

/* What the processor does there by itself. */
static int perform_event(struct machine_replay *replay, unsigned core,
			 const struct packet *event, struct failure *why)
{
	bool stands = replay->stop != BOARD_AT_STEPS;

	switch (event->kind) {
	case PACKET_SLICE:
		if (stands)
			return diverged(replay, "a core loses its turn while an"
					" instruction waits for its result",
					why);
		take_turn(replay, core);
		return 0;
	case PACKET_VALUE:
		return stands ? tell_call(replay, why) :
			diverged(replay, "an instruction whose result was"
				 " recorded is another one", why);
	case PACKET_INTERRUPT:
		return !stands &&
		       take_interrupt(replay, (unsigned)event->number) ? 0 :
			diverged(replay, "the processor does not take an"
				 " interrupt that it took", why);
	case PACKET_DMA:
		return !stands ? 0 :
			diverged(replay, "a device changes memory where an"
				 " instruction waits for its result", why);
	case PACKET_EXIT:
		return event->result == MACHINE_LOCKED && !stands ?
			       lock_up(replay, why) : 0;
	default:
		return damaged(replay, ERR_CORRUPT, why);
	}
}

/* The event that stands at the present time takes effect. */
static int apply_event(struct machine_replay *replay,
		       struct machine_stream *stream, struct failure *why)
{
	const struct packet event = stream->next;
	int rc = take_effects(replay, stream, why);

	if (rc)
		return rc;
	tell_event(replay, &event, false);
	rc = perform_event(replay, (unsigned)(stream - replay->streams),
			   &event, why);
	if (rc)
		return rc;
	replay->stop = BOARD_AT_STEPS;
	replay->events += position_counts(event.kind);
	rc = apply_effects(replay, &event, why);
	if (!rc)
		tell_event(replay, &event, true);
	if (!rc && event.kind == PACKET_DMA && replay->follower.stored)
		replay->follower.stored(replay->follower.context,
					is_reset(replay, &event));
	return rc;
}

/* ------- segments ------- */

static void leave_segment(struct machine_replay *replay)
{
	machine_points_drop(replay);
	for (unsigned i = 0; i < BOARD_CORES_MOST; i++) {
		struct machine_stream *stream = &replay->streams[i];

		packet_stream_close(&stream->packets);
		free(stream->read_bytes);
		stream->read_bytes = NULL;
		stream->has_next = false;
		stream->taken = 0;
	}
	replay->has_segment = false;
}

/* `frame` is the core's newest one. */
static int begin_reads(struct machine_replay *replay, size_t segment,
		       unsigned core, const struct key_frame *frame,
		       struct failure *why)
{
	struct machine_stream *stream = &replay->streams[core];
	size_t size;
	int rc = recording_stream(replay->recording, segment, core, CHUNK_READS,
				  &stream->read_bytes, &size, why);

	if (rc)
		return rc;
	if (stream->cache.entries != frame->cache_entries) {
		cache_release(&stream->cache);
		if (cache_init(&stream->cache, frame->cache_entries))
			return failed(why, ERR_NO_MEMORY, "out of memory");
	}
	cache_flush(&stream->cache);
	if (frame->cache_size)
		memcpy(stream->cache.words, frame->cache, frame->cache_size);
	prediction_reader_init(&stream->reads, &stream->cache,
			       stream->read_bytes, size);
	return 0;
}

/* One that is not present has nothing before its turn. */
static int begin_stream(struct machine_replay *replay, size_t segment,
			unsigned core, const struct key_frame *first,
			struct failure *why)
{
	struct machine_stream *stream = &replay->streams[core];
	bool is_first = core == board_core(replay->board);
	struct key_frame own = { 0 };
	int rc = is_first ? 0 :
		 recording_thread_frame(replay->recording, segment, core, &own,
					why);

	if (rc)
		return rc;
	rc = begin_reads(replay, segment, core, is_first ? first : &own, why);
	key_frame_release(&own);
	if (!rc)
		rc = packet_stream_open(&stream->packets, replay->recording,
					segment, core, first, why);
	if (!rc)
		rc = find_event(stream, first->time, why);
	if (!rc && !is_first && stream->has_next &&
	    stream->next.kind != PACKET_SLICE)
		rc = packet_stream_damaged(&stream->packets, ERR_CORRUPT, why);
	return rc;
}

/* The state is that of the key frame; its streams are next. */
static int begin_segment(struct machine_replay *replay, size_t segment,
			 const struct key_frame *frame, struct failure *why)
{
	int rc = 0;

	leave_segment(replay);
	for (unsigned i = 0; i < board_cores(replay->board) && !rc; i++)
		rc = begin_stream(replay, segment, i, frame, why);
	replay->slice = 0;
	replay->events = 0;
	replay->segment = segment;
	replay->has_segment = !rc;
	return rc;
}

int machine_start_at(struct machine_replay *replay, size_t segment,
		     struct failure *why)
{
	struct key_frame frame;
	int rc = recording_key_frame(replay->recording, segment, &frame, why);

	if (rc)
		return rc;
	rc = frames_load(replay, segment, &frame, why);
	replay->stop = BOARD_AT_STEPS;
	replay->error = 0;
	if (!rc)
		rc = begin_segment(replay, segment, &frame, why);
	key_frame_release(&frame);
	return rc;
}

/* Goes on from the end of a segment into the next one. */
static int pass_frame(struct machine_replay *replay, struct failure *why)
{
	struct key_frame frame;
	size_t segment = replay->segment + 1, count;
	int rc = recording_key_frame(replay->recording, segment, &frame, why);

	if (rc)
		return rc;
	rc = recording_streams(replay->recording, segment, &count)[0] ==
			     board_core(replay->board) ? 0 :
		diverged(replay, "another core has its turn", why);
	if (!rc)
		rc = frames_pass(replay, segment, &frame, why);
	/* Devices have done what they were asked for before. */
	if (!rc && replay->follower.stored)
		replay->follower.stored(replay->follower.context, false);
	if (!rc)
		rc = begin_segment(replay, segment, &frame, why);
	key_frame_release(&frame);
	return rc;
}

/* ------- moving ------- */

/* What a replayer wants of a run, if there is one. */
static void before_run(struct machine_replay *replay)
{
	struct replayer *rep = replay->rep;

	if (!rep)
		return;
	if (rep->passes)
		board_break_pass(replay->board);
	rep->passes = rep->at_break = false;
	rep->running = true;
}

static bool is_wanted(const struct wanted_breaks *breaks, guest_addr pc)
{
	for (size_t i = 0; i < breaks->count && !breaks->all; i++)
		if (breaks->list[i] == pc)
			return true;
	return breaks->all;
}

/* REPLAYER_STOPPED if it is to stop here. */
static int after_run(struct machine_replay *replay, enum board_stop stop)
{
	struct replayer *rep = replay->rep;
	guest_addr pc = board_reg(replay->board,
				  recording_reg_table(replay->recording)->pc);
	bool halts;

	if (!rep)
		return 0;
	rep->running = false;
	halts = rep->halts;
	rep->halts = false;
	if (halts || stop != BOARD_AT_BREAK)
		return halts ? REPLAYER_STOPPED : 0;
	rep->passes = !is_wanted(&rep->breaks, pc) ||
		      (rep->is_meant && !rep->is_meant(rep->meant_context));
	rep->at_break = !rep->passes;
	rep->met = (struct vm_stop){ .kind = VM_STOP_BREAK, .pc = pc };
	return rep->at_break ? REPLAYER_STOPPED : 0;
}

static bool is_retired(enum board_stop stop)
{
	return stop == BOARD_WAITS || stop == BOARD_CALLS;
}

/* Runs to a time at most, before which nothing is recorded. */
static int run_to(struct machine_replay *replay, uint64_t time,
		  struct failure *why)
{
	const atomic_bool *cancelled = recording_cancelled(replay->recording);
	uint64_t now = board_steps(replay->board);
	uint64_t most = time - now < LOOK_STEPS ? time : now + LOOK_STEPS;
	enum board_stop stop;
	int rc, wants;

	if (cancelled && *cancelled)
		return failed(why, ERR_CANCELLED, "cancelled");
	before_run(replay);
	rc = board_run(replay->board, most, true, &stop, why);
	wants = after_run(replay, stop);
	replay->stop = is_retired(stop) ? stop : BOARD_AT_STEPS;
	if (!rc && board_steps(replay->board) != now)
		replay->events = 0;
	if (!rc && replay->error)
		rc = diverged(replay, "a device is read that was not", why);
	if (!rc && is_retired(stop) && board_steps(replay->board) < time)
		rc = diverged(replay, "the machine waits or calls where it did"
			      " not", why);
	return rc ? rc : wants;
}

/* Whether the next event, which stands here, is on the way. */
static bool is_on_way(const struct machine_replay *replay,
		      const struct packet *event,
		      const struct segment_position *to)
{
	return replay->segment < to->segment ||
	       board_steps(replay->board) < to->time ||
	       !position_counts(event->kind) ||
	       replay->events < to->events;
}

/* One move towards a place; `*done` if it is there. */
static int move(struct machine_replay *replay,
		const struct segment_position *to, bool *done,
		struct failure *why)
{
	uint64_t now = board_steps(replay->board);
	uint64_t end = recording_time(replay->recording, replay->segment + 1);
	uint64_t target = to->time < end ? to->time : end;
	struct machine_stream *next = coming(replay);

	if (next && next->next_time < now)
		return packet_stream_damaged(&next->packets, ERR_CORRUPT, why);
	if (next && next->next_time == now) {
		*done = !is_on_way(replay, &next->next, to);
		return *done ? 0 : apply_event(replay, next, why);
	}
	if (next && next->next_time < target)
		target = next->next_time;
	if (now < target)
		return run_to(replay, target, why);
	if (replay->segment < to->segment)
		return pass_frame(replay, why);
	*done = true;
	return 0;
}

/* Whether the nearest key frame is nearer than the present position. */
static bool must_start(const struct machine_replay *replay,
		       const struct segment_position *to, bool in_order)
{
	uint64_t now = board_steps(replay->board);

	if (!replay->has_segment || to->segment < replay->segment ||
	    to->time < now ||
	    (to->segment == replay->segment && to->time == now &&
	     to->events < replay->events))
		return true;
	if (in_order)
		return false;
	return (to->segment > replay->segment &&
		recording_time(replay->recording, to->segment) > now) ||
	       machine_stored_is_nearer(replay, to);
}

int machine_replay_move(struct machine_replay *replay,
			const struct segment_position *to, struct failure *why)
{
	bool done = false;
	int rc = 0;

	while (!rc && !done)
		rc = move(replay, to, &done, why);
	return rc;
}

/* Somebody who goes back by little will do so again. */
static bool steps_back(const struct machine_replay *replay,
		       const struct segment_position *to)
{
	const struct replayer *rep = replay->rep;

	return replay->has_segment &&
	       (!rep || (rep->points.lays && rep->points.most &&
			 !rep->observer_count)) &&
	       (to->segment + 1 == replay->segment ||
		(to->segment == replay->segment &&
		 to->time <= board_steps(replay->board)));
}

static int start(struct machine_replay *replay,
		 const struct segment_position *to, bool in_order,
		 struct failure *why)
{
	bool lays = !in_order && steps_back(replay, to);
	int rc = 0;

	if (in_order || (!machine_stored_start(replay, to, &rc, why) &&
			 !machine_points_start(replay, to, &rc, why)))
		rc = machine_start_at(replay, in_order ? 0 : to->segment, why);
	return rc || !lays ? rc : machine_points_lay(replay, to, why);
}

int machine_replay_go(struct machine_replay *replay,
		      const struct segment_position *to, bool in_order,
		      struct failure *why)
{
	int rc = 0;

	if (must_start(replay, to, in_order))
		rc = start(replay, to, in_order, why);
	if (!rc)
		rc = machine_replay_move(replay, to, why);
	/* What is half done is no state that anybody should see. */
	if (rc < 0)
		leave_segment(replay);
	return rc;
}

int machine_replay_seek(struct machine_replay *replay,
			const struct position *to, bool in_order,
			struct failure *why)
{
	struct segment_position place;
	int rc = recording_place(replay->recording, to, &place, why);

	return rc ? rc : machine_replay_go(replay, &place, in_order, why);
}

/* ------- making one ------- */

static int find_regions(struct machine_replay *replay, struct board_ram *rams,
			unsigned *count, const struct key_frame *frame,
			struct failure *why)
{
	for (size_t i = 0; i < frame->region_count; i++) {
		const struct region *region = &frame->regions[i];

		if (region->kind == REGION_DEVICE) {
			if (!strncmp(region->name, CONSOLE, strlen(CONSOLE)))
				replay->console = region->start;
			continue;
		}
		if (*count == BOARD_RAMS_MOST)
			break;
		rams[(*count)++] = (struct board_ram){
			region->start, region->end - region->start,
		};
	}
	return *count ? 0 : failed(why, ERR_CORRUPT, "'%s': a key frame has no"
				   " memory", path_of(replay));
}

static int create(struct machine_replay *replay, struct failure *why)
{
	const struct processor *processor =
		&recording_meta(replay->recording)->processor;
	enum arch arch = recording_reg_table(replay->recording)->arch;
	struct board_ram rams[BOARD_RAMS_MOST];
	size_t cores = recording_threads(replay->recording);
	unsigned count = 0;
	struct key_frame frame;
	int rc = processor_check(arch, processor, path_of(replay), why);

	if (!rc && cores > (arch == ARCH_AARCH64_MACHINE ? BOARD_CORES_MOST :
							   1))
		rc = failed(why, ERR_CORRUPT, "'%s': no machine has %zu cores",
			    path_of(replay), cores);
	if (!rc)
		rc = recording_key_frame(replay->recording, 0, &frame, why);
	if (rc)
		return rc;
	rc = find_regions(replay, rams, &count, &frame, why);
	key_frame_release(&frame);
	if (rc)
		return rc;
	replay->world = (struct board_world){ .read = on_read,
					      .write = on_write,
					      .context = replay };
	rc = board_create(&replay->board, arch, processor->model, rams, count,
			  &replay->world, why);
	if (rc)
		return rc;
	board_behave_as(replay->board, processor->behaviour);
	board_set_cores(replay->board, (unsigned)cores);
	replay->ids = calloc(board_pages(replay->board), sizeof(*replay->ids));
	return replay->ids ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

int machine_replay_create(struct machine_replay **out,
			  struct recording *recording, struct failure *why)
{
	struct machine_replay *replay = calloc(1, sizeof(*replay));
	int rc;

	if (!replay)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	replay->recording = recording;
	replay->console = UINT64_MAX;
	replay->gap = UINT64_C(1) << 20;
	rc = create(replay, why);
	if (rc) {
		machine_replay_destroy(replay);
		return rc;
	}
	*out = replay;
	return 0;
}

void machine_replay_destroy(struct machine_replay *replay)
{
	if (!replay)
		return;
	leave_segment(replay);
	for (unsigned i = 0; i < BOARD_CORES_MOST; i++)
		cache_release(&replay->streams[i].cache);
	board_destroy(replay->board);
	free(replay->ids);
	free(replay->effects);
	free(replay);
}

void machine_replay_tell(struct machine_replay *replay,
			 void (*output)(void *context, uint8_t byte),
			 void *context)
{
	replay->output = output;
	replay->output_context = context;
}

void machine_replay_follow(struct machine_replay *replay,
			   const struct board_follower *follower)
{
	replay->follower = *follower;
}

struct board *machine_replay_followed(struct machine_replay *replay)
{
	return replay->board;
}

int machine_replay_take_stores(struct machine_replay *replay,
			       struct failure *why)
{
	struct machine_stream *next;
	int rc = 0;

	while (!rc && (next = coming(replay)) &&
	       next->next_time == board_steps(replay->board) &&
	       next->next.kind == PACKET_DMA)
		rc = apply_event(replay, next, why);
	return rc;
}

enum board_stop machine_replay_stop(const struct machine_replay *replay)
{
	return replay->stop;
}

void machine_replay_keep_points(struct machine_replay *replay, uint64_t gap)
{
	replay->gap = gap;
}

void machine_replay_check(struct machine_replay *replay)
{
	replay->checks = true;
}

struct position machine_replay_now(const struct machine_replay *replay)
{
	struct position now = { board_steps(replay->board), replay->events };
	uint32_t before = 0;

	if (replay->has_segment &&
	    now.time == recording_time(replay->recording, replay->segment))
		recording_events_before(replay->recording, replay->segment,
					&before, NULL);
	now.events += before;
	return now;
}

const struct board *machine_replay_board(const struct machine_replay *replay)
{
	return replay->board;
}
