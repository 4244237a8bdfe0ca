/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * replayer_internal.h - a replayer's state, for the files that make it up
 *
 * replayer.c is asked, and asks guest_program.c or guest_machine.c.  A program
 * goes to a time as follows: it starts at a key frame (start.c) or a checkpoint
 * (points.c); replay_events.c runs from event to event, and replay_effects.c
 * does what each of them did.  Pages come from snapshots (fetch.c) and from the
 * streams (doubtful.c).  turns.c knows the threads; check.c compares with the
 * recording.
 */
#ifndef CPREC_REPLAYER_REPLAYER_INTERNAL_H
#define CPREC_REPLAYER_REPLAYER_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/cache.h"
#include "formats/error.h"
#include "formats/number_map.h"
#include "replayer/replayer.h"
#include "replayer/script.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* A doubtful page that somebody looked at without the guest's doing. */
struct peeked {
	uint64_t page, doubt;
};

/*
 * What has retired, but not taken effect.  A system call during which another
 * thread got the processor does so in a later slice; a trap, when its signal is
 * delivered.
 */
enum pending {
	PENDING_NONE,
	PENDING_CALL,		/* its SYSCALL or RETURN comes next */
	PENDING_TRAP,		/* its FAULT does */
	PENDING_UNKNOWN,	/* the thread stands where its key frame says */
};

struct replay_thread {
	struct vm_thread *vm;	/* NULL: it stands as its newest key frame says */
	enum pending pending;
	unsigned pending_size;	/* PENDING_CALL: of the instruction */
	bool has_ended;
};

/* Where the threads stand that a replay has seen. */
struct saved_turns {
	uint32_t stream;		/* whose turn it is */
	struct saved_thread {
		uint32_t stream;
		struct replay_thread thread;	/* without its `vm` */
		bool has_regs;
		struct reg_file regs;
	} *list;
	size_t count;
};

/* A start point that is not in the recording. */
struct checkpoint {
	struct segment_position at;
	size_t next;			/* event that comes next */
	struct saved_turns turns;
	uint64_t *pages;		/* written since the key frame; rising */
	size_t page_count;
	uint8_t *bytes;			/* theirs */
	uint8_t *encoded;		/* of a machine: its state, instead */
	size_t encoded_size;
	uint64_t size;			/* of it all */
	uint64_t used;			/* counts: when it was used last */
};

struct points {
	struct checkpoint **list;
	size_t count, room;
	uint64_t size, most;		/* bytes that they take, and may take */
	uint64_t gap;			/* steps from one to the next, at least */
	uint64_t uses;			/* counts */
	bool lays;			/* makes more, on the way back */
	struct side_file *side;		/* has others; or NULL */
};

struct guest;
struct machine_guest;

struct replayer {
	struct recording *recording;
	const struct guest *guest;
	struct vm *vm;			/* of a program, ... */
	struct memory *memory;
	struct machine_guest *machine;	/* ... or this one */
	const struct reg_table *regs;
	struct cache cache;

	struct points points;

	bool loaded;		/* stands somewhere */
	bool in_order;		/* never jumps forwards */
	bool expects_back;	/* keeps a checkpoint before where it goes */
	const struct replay_diversion *diversion;	/* or NULL */
	const struct replay_unused *unused;	/* or NULL */
	bool was_diverted;	/* what is mapped may never have been there */
	size_t base;		/* absent pages are as of this segment */
	bool refills;		/* absent pages of zeros do not hold zeros */
	struct number_map supplied;	/* pages: the stored pages that they were
					   supplied with last */
	struct segment_index index;	/* of the segment `base` */
	size_t segment;
	uint64_t start;		/* time of the segment's key frame */
	struct script script;
	bool has_script;	/* of all threads, of the segment */
	size_t next;		/* event that comes next */
	struct position position;	/* that was asked for last */

	struct vm_thread *home;		/* the guest's first thread */
	struct replay_thread *threads;	/* by stream */
	uint32_t stream;		/* whose turn it is */
	struct address_space space;	/* of a machine */

	const struct replay_observer **observers;
	size_t observer_count, observer_room;

	bool has_fault;		/* it has executed one; the last was: */
	struct vm_stop fault;

	/* run.c */
	bool passes;		/* not to stop before the next instruction */
	struct wanted_breaks {	/* at which what runs now stops; others are of
				   somebody who waits for it */
		bool all;
		const guest_addr *list;
		size_t count;
	} breaks;
	bool (*is_meant)(void *context);	/* of a machine's; or NULL */
	void *meant_context;
	bool at_break;		/* it has stopped before one with a breakpoint: */
	struct vm_stop met;
	bool helped_at_once;	/* going back; else when that takes long */
	bool meets_often;	/* going back, breakpoints */
	bool halts;		/* it is to stop soon */
	const atomic_bool *cancelled;	/* NULL: never */

	bool alone;		/* one thread without the others: alone.c */
	size_t next_seen;	/* of script.seen */
	bool giving;		/* contents are being replaced as a whole */

	bool running;
	struct peeked *peeked;
	size_t peeked_count, peeked_room;

	bool fetching;		/* pages are gathered in `wanted` */
	struct page_want *wanted;
	size_t wanted_count, wanted_room;

	int error;		/* first failure inside an observer */
	struct failure why;
};

/* Notes the first failure inside an observer. */
void replayer_broken(struct replayer *rep, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ------- fetch.c ------- */

/* Memory observer member: pages that are touched. */
void replayer_supply(void *context, uint64_t page, uint64_t count,
		     uint8_t *bytes);

/*
 * Fetches what the guest will certainly touch in the first `steps` of the
 * present segment, whose memory has just been set.
 */
void replayer_fetch(struct replayer *rep, uint64_t steps);

/* ------- doubtful.c ------- */

/* Memory observer member: contents of a page when it is first touched. */
void doubtful_resolve(void *context, uint64_t page, uint64_t doubt,
		      uint8_t *bytes);

/*
 * An effect of an event that makes pages doubtful: because the kernel has
 * written them, or because others may; of those, what is known is kept.
 */
int doubtful_begin(struct replayer *rep, const struct script_event *event,
		   size_t number);

/* What was looked at without the guest's doing becomes doubtful again. */
void doubtful_forget_peeks(struct replayer *rep);

/*
 * What the kernel looked at in this segment, the replay has not touched; the
 * next segment takes it for known.
 */
int doubtful_touch_rest(struct replayer *rep, struct failure *why);

/* Pages of shared mappings are doubtful anew at each key frame. */
void doubtful_anew(struct replayer *rep, const struct key_frame *frame);

/* ------- observers.c ------- */

void observers_event(struct replayer *rep, const struct script_event *event,
		     bool done);
void observers_tell(struct replayer *rep, const struct replay_event *told,
		    bool done);
void observers_turn(struct replayer *rep, bool after);
void observers_tables(struct replayer *rep, uint64_t time,
		      const struct page_tables *tables);

/* An OUTPUT packet: tells what the program wrote. */
void observers_output(struct replayer *rep, const struct packet *packet);

/* ------- replay_effects.c ------- */

/* Changes the guest as the event says, whose time it has reached. */
int effects_apply(struct replayer *rep, const struct script_event *event,
		  struct failure *why);

/* Of that, only what is mapped and which pages are doubtful. */
int effects_remap(struct replayer *rep, const struct script_event *event,
		  struct failure *why);

/* ------- replay_events.c ------- */

/* The event that comes next in this segment; NULL if there is none. */
const struct script_event *events_next(const struct replayer *rep);

/* Events of the present time in this segment that have taken effect. */
uint32_t events_done(const struct replayer *rep);

/* A run has stopped before what it was to run to, and can go on. */
#define REPLAYER_STOPPED 1

/*
 * Runs to `t` and through the first `events` at it, within the present segment;
 * what positions do not count goes with the event before.  May stop before that
 * if breakpoints are set or replayer_halt() is called.
 */
int events_run(struct replayer *rep, uint64_t t, uint32_t events,
	       struct failure *why);

/* The segment is over, but not its events: the replay has diverged. */
int events_never_came(struct replayer *rep, struct failure *why);

/* ------- replayer.c ------- */

/* Goes to a position within a segment.  REPLAYER_STOPPED as in events_run(). */
int replayer_go(struct replayer *rep, const struct segment_position *to,
		struct failure *why);

/* Where the replay stands. */
struct position position_now(const struct replayer *rep);

/* ------- guest_program.c ------- */

/* Makes the guest, without a program in it. */
int replayer_make_vm(struct replayer *rep, struct failure *why);

/* ------- start.c ------- */

/* Reads the streams of a segment; the guest is left as it is. */
int start_script(struct replayer *rep, size_t segment,
		 const struct key_frame *frame, struct failure *why);

/* Memory as of a segment's first key frame, and the segment's index. */
int start_guest(struct replayer *rep, size_t segment,
		const struct key_frame *frame, struct failure *why);

/* The thread that runs when a segment starts. */
uint32_t start_stream(const struct replayer *rep, size_t segment);

/* Goes to the first key frame of a segment. */
int start_at_frame(struct replayer *rep, size_t segment, struct failure *why);

/* ------- points.c ------- */

/*
 * Goes to a start point at or before a place: to the last one of its segment,
 * which is the key frame, or a checkpoint.
 */
int points_start(struct replayer *rep, const struct segment_position *to,
		 struct failure *why);

/*
 * Whether a checkpoint is nearer to a place ahead than where the replay stands.
 */
bool points_are_nearer(const struct replayer *rep,
		       const struct segment_position *to);

/*
 * Runs towards a place of the present segment, and takes checkpoints on the
 * way.
 */
int points_lay(struct replayer *rep, const struct segment_position *to,
	       struct failure *why);

/* The last one that is kept at or before a place, in its segment; or NULL. */
struct checkpoint *points_find(const struct replayer *rep,
			       const struct segment_position *place);

/*
 * The record of a start point before a place, in its segment, that is nearer
 * than all that are here; or NULL.
 */
const struct side_record *
points_find_stored(const struct replayer *rep,
		   const struct segment_position *to);

/*
 * The same where a long way is ahead, and for the side file: whoever asks next
 * will not have to wait for it.
 */
int points_store_on_way(struct replayer *rep,
			const struct segment_position *to, struct failure *why);

/* Runs to shortly before a place of the present segment, and keeps that. */
int points_lay_near(struct replayer *rep, const struct segment_position *to,
		    struct failure *why);

/* The last start point before a position, or that of the first key frame. */
int points_before(struct replayer *rep, const struct position *position,
		  struct position *out, struct failure *why);

void points_init(struct points *points);
void points_release(struct points *points);

/* ------- checkpoint.c ------- */

/*
 * Keeps the present state, behind all events of its time.  `*out` is NULL if
 * that is not possible here, or takes more than `most` bytes.
 */
int checkpoint_take(struct replayer *rep, uint64_t most,
		    struct checkpoint **out, struct failure *why);
int checkpoint_start(struct replayer *rep, const struct checkpoint *point,
		     struct failure *why);
void checkpoint_release(struct checkpoint *point);

/* For the bytes of as many pages as it has.  ERR_NO_MEMORY. */
int checkpoint_make_room(struct checkpoint *point);

/* ------- stored_points.c ------- */

/*
 * Where a start point stands among those of its segment: steps since its key
 * frame, and events of that time that have taken effect.
 */
#define STORED_EVENTS_BITS 20
uint64_t stored_point_place(const struct replayer *rep,
			    const struct segment_position *at);

/* The present state of a program; `out` stays empty if it cannot be kept. */
int stored_point_encode(struct replayer *rep, struct segment_position *at,
			struct output *out, struct failure *why);

/* `*out` is NULL if it is damaged. */
int stored_point_decode(const struct replayer *rep, const uint8_t *bytes,
			size_t size, size_t segment, struct checkpoint **out,
			struct failure *why);

/* ------- turns.c ------- */

/* The guest's present registers will be those of this stream; no others. */
void turns_start(struct replayer *rep, uint32_t stream);

/* Forgets all threads, before the guest is destroyed. */
void turns_end(struct replayer *rep);

/* ERR_NO_MEMORY.  The caller frees saved->list. */
int turns_save(struct replayer *rep, struct saved_turns *saved);
int turns_restore(struct replayer *rep, const struct saved_turns *saved,
		  struct failure *why);

/* Gives the turn to a stream, whose key frame is of `segment` or before. */
int turns_switch(struct replayer *rep, size_t segment, uint32_t stream,
		 struct failure *why);

int turns_registers(struct replayer *rep, uint32_t stream,
		    struct reg_file *out, struct failure *why);

/* ", thread 1234" if there are several, else "". */
const char *turns_name(struct replayer *rep, uint32_t stream, char *text,
		       size_t room);

#endif
