/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recorder_internal.h - the parts of the recorder, for each other
 *
 * record_events.c runs the guest; record_effects.c turns what happens to it
 * into packets; streams.c has them by thread; segments.c ends a segment with a
 * key frame, for which snapshot.c stores pages; moments.c looks at the clock;
 * module_files.c keeps files of modules, module_sums.c says what they held;
 * programs.c says what is executed; children.c starts the recordings of new
 * processes, and sharing.c keeps them from storing what others have; trace.c
 * begins and ends the file; recorder.c begins and ends all of it.
 */
#ifndef CPREC_RECORDER_RECORDER_INTERNAL_H
#define CPREC_RECORDER_RECORDER_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "cache/prediction.h"
#include "formats/error.h"
#include "formats/key_frame.h"
#include "formats/meta.h"
#include "formats/module_files.h"
#include "formats/module_sums.h"
#include "formats/moments.h"
#include "formats/packet.h"
#include "formats/trace_file.h"
#include "recorder/listing.h"
#include "recorder/pacing.h"
#include "recorder/page_store.h"
#include "recorder/recorder.h"
#include "recorder/folder.h"
#include "vm/memory/memory.h"
#include "vm/vm.h"

/* Consecutive pages. */
struct range {
	uint64_t page, count;
};

/*
 * What one thread of the guest has.  Its own steps are counted from where it
 * was last known to stand.
 */
struct stream {
	uint32_t number;	/* in the file */
	uint32_t tid;
	struct vm_thread *vm_thread;
	bool has_ended;
	bool is_new;		/* its registers are in no key frame yet */
	bool has_run;		/* since its newest key frame */

	uint64_t steps;		/* its own, at the end of its last slice */
	uint64_t skipped;	/* by its SLICE packets in this segment */
	uint64_t start;		/* own steps at the segment's start */
	uint64_t event_steps;	/* own steps at its event before */
	size_t told;		/* changes of the address space that are in its
				   stream already */

	struct cache cache;
	struct prediction_writer reads;
	bool in_event;
	bool has_left;		/* gave the processor away during the event */
	struct output events;	/* finished packets of the segment */
	struct output effects;	/* of the event under way */
	struct packet_state state;
	uint64_t hits_before;	/* cache hits at the segment's start */
};

/* The guest's threads, and who of them has the processor. */
struct recorded_threads {
	struct stream **list;	/* by number */
	size_t count, room;
	uint64_t turn_start;	/* time when the present one got it */
	uint64_t slice;		/* slices in this segment, so far */

	/* Changes of the address space in this segment, if there are several
	 * threads. */
	struct space_change {
		struct packet packet;
		uint32_t stream;	/* of the thread that made it */
	} *changes;
	size_t change_count, change_room;
};

/* The segment under way. */
struct recorded_segment {
	uint32_t number;
	uint64_t start;		/* time of its key frame */
	uint64_t time;		/* ns of the processor until then, in */
	pthread_t timed_by;	/* this thread */
	uint64_t touches;	/* memory_touches() until then */
	uint64_t flushed;	/* bytes of it that are in the file */
};

/* What became of pages in this segment. */
struct touched_pages {
	struct page_touch *list;
	size_t count, room;
	size_t written;		/* touches that are writes */
	struct range *fresh;	/* newly mapped, moved here or cleared */
	size_t fresh_count, fresh_room;

	/* Of all segments. */
	uint64_t resolved;	/* doubtful pages that became known */
	uint64_t listed;	/* pages in key frames since all were listed */
};

/* When streams were last written to the file. */
struct stream_flush {
	struct timespec time;
	unsigned early;		/* times that it was less than a second ago */
	int64_t paid;		/* ns; limits how often: may_flush_idle() */
	struct stream *in;	/* of the thread that ran then */
	size_t events;		/* since then */
};

/* When the clock was looked at, and is not written yet: moments.c. */
struct recorded_moments {
	struct moment *list;
	size_t count, room;
	int64_t last;		/* what it said then, */
	uint64_t steps;		/* and when that was */
	bool waits;		/* the program was going to wait then */
};

/* Modules whose symbols are in the file. */
#define MODULES_MOST 512

/* What is mapped under a name, whose symbols are written. */
struct recorded_module {
	const char *name;
	uint64_t dev, ino;
};

/* Checksums of files, also for the processes that will be forked. */
#define SUMMED_MOST 32u
struct summed_files {
	struct summed_file {
		struct stat status;	/* of the file, then */
		struct module_sum sum;	/* of 0 bytes: there is none */
	} list[SUMMED_MOST];
	size_t next;		/* to be replaced */
};

/* Symbols and kept files of modules. */
#define KNOWN_FILES_MOST (MODULES_MOST * (1 + MODULE_FILES))

struct known_file {
	struct page_key key;	/* of the file */
	uint64_t id;		/* symbols: offset of the chunk; else number */
};

/* The writer's thread adds to it. */
struct known_files {
	struct known_file list[KNOWN_FILES_MOST];
	size_t count;
};

/* The file of this process, and what is written of the process as a whole. */
struct recorded_process {
	struct trace_writer *writer;
	char *path;
	int file;		/* it, opened for a child and hidden; else -1 */
	struct folder folder;
	struct trace_header header;
	bool unrecorded;	/* a child without a recording */
	bool child_pending;	/* a child whose recording is to be started */

	struct origin origin;	/* of the next file */
	uint8_t run[RUN_ID_SIZE];

	struct family_table *table;	/* NULL: nothing is shared (yet) */
	struct known_files known;	/* until there is one */
	bool is_child;
	char **argv;		/* of the program that it is; NULL: as given */
	bool executed;		/* it has just become another one */

	struct recorded_module modules[MODULES_MOST];
	size_t module_count;
	bool mapped_code;	/* there may be new ones */
	uint32_t kept_files;	/* numbers that pieces have, so far */
};

struct recorder {
	const struct recorder_options *options;
	struct vm *vm;
	struct memory *memory;
	const struct reg_table *regs;
	struct linux_process *process;
	struct linux_observer watch;	/* of the process */

	bool started;		/* the guest has run: changes are recorded */
	struct stream *stream;	/* of the thread that runs */
	struct recorded_threads threads;
	struct recorded_segment segment;
	struct touched_pages touched;
	struct page_store pages;
	struct stream_flush flush;
	struct recorded_moments moments;
	struct pacing pacing;
	struct recorded_process trace;
	struct summed_files summed;

	int error;		/* first failure inside an observer */
	struct failure why;
};

/* ------- record_effects.c ------- */

/* The rest of the recording would be wrong: remembers that, once. */
void effects_out_of_memory(struct recorder *rec);

/* Whether a page is not an alias of another one. */
bool effects_own_page(const struct recorder *rec, uint64_t page);

/* What the memory is to be created with. */
struct memory_observer effects_observer(struct recorder *rec);

/* What happens from here to event_end() is this event's doing. */
void event_begin(struct recorder *rec);

/* The event took place; `packet->steps` is filled in here. */
void event_end(struct recorder *rec, struct packet *packet);

/* Adds a packet to the present event, or between events. */
void effect(struct recorder *rec, const struct packet *packet);

/* Notes a page as written: `context` is the recorder. */
void effects_mark_page(void *context, uint64_t page);

/* Tells the registers that differ from `before`; NULL: all of them. */
void effect_registers(struct recorder *rec, const struct reg_file *before);

/* ------- streams.c ------- */

/* The stream of a thread that begins; NULL when out of memory. */
struct stream *stream_add(struct recorder *rec, uint32_t tid,
			  struct vm_thread *vm_thread);
void streams_release(struct recorder *rec);

/* Only the running one is left, and is the first, as in a new recording. */
void streams_begin_again(struct recorder *rec, uint32_t tid);

/* The own steps of the thread that runs. */
uint64_t stream_steps(const struct recorder *rec);

/* An effect that changes the address space: other threads are told later. */
void streams_changed_space(struct recorder *rec, const struct packet *packet);

/* A segment starts here for all streams. */
void streams_start_segment(struct recorder *rec);

/* What the streams have in memory, in bytes. */
size_t streams_waiting(const struct recorder *rec);

/* Linux observer members. */
void streams_thread_begins(void *context, unsigned thread, uint32_t tid,
			   struct vm_thread *vm_thread);
void streams_thread_runs(void *context, unsigned thread);
void streams_thread_ends(void *context, unsigned thread);

/* ------- programs.c ------- */

/* Writes the meta data, with which a file begins. */
int programs_write_meta(struct recorder *rec, struct failure *why);

/* Linux observer member: the process has become another program. */
void programs_executed(void *context, char *const *argv);

/* Writes the program that the process has just become, if it has. */
int programs_write(struct recorder *rec, struct failure *why);

void programs_release(struct recorder *rec);

/* ------- children.c ------- */

/* Linux observer members: around a fork. */
void children_before_fork(void *context);
void children_after_fork(void *context, int pid);
void children_before_rights(void *context);

/* The recording has ended, but not the process: it gets another one. */
void children_go_on(struct recorder *rec);

/* ------- sharing.c ------- */

/* Before the first chunk. */
void sharing_watch(struct recorder *rec);

/* Before the first child is made, while nothing is written. */
void sharing_begin(struct recorder *rec);

/* In a child: what its parent has stored is known, but elsewhere. */
void sharing_inherit(struct recorder *rec, const struct family_member *name);

/* Writes the present batch, which has ended, of so many pages. */
int sharing_write_pages(struct recorder *rec, uint32_t count,
			struct failure *why);

/*
 * If another process has written the symbols of a module, says where, and
 * returns true.
 */
bool sharing_write_symbols(struct recorder *rec, const char *path, int *rc,
			   struct failure *why);

/* Writes them, for others to know. */
int sharing_write_own_symbols(struct recorder *rec, const char *path,
			      struct output *content, struct failure *why);

/* Says which processes are named from here on. */
int sharing_write_members(struct recorder *rec, struct failure *why);

/* Whether another process keeps a file: sets who, and its number there. */
bool sharing_find_file(struct recorder *rec, const char *path,
		       struct kept_file *out);

/* A piece of a file; with the last one, `whole` is its path, for others. */
int sharing_write_piece(struct recorder *rec, uint32_t number,
			const char *whole, struct output *content,
			struct failure *why);

/* ------- module_sums.c ------- */

/* Adds the checksums of a file's read-only parts, if it can be read. */
void module_sums_add(struct recorder *rec, const char *path,
		     struct output *list);
int module_sums_write(struct recorder *rec, struct output *list,
		      struct failure *why);

/* ------- module_files.c ------- */

/*
 * Says which build a module is, behind what `list` has, and keeps its files if
 * that was asked for.
 */
int module_files_add(struct recorder *rec, const char *path,
		     struct output *list, struct failure *why);

/* Writes the list, if there is anything in it. */
int module_files_write(struct recorder *rec, struct output *list,
		       struct failure *why);

/* ------- record_events.c ------- */

/* Runs to the next stop and does what it asks for: a linux_driver member. */
int events_advance(void *context, uint64_t budget, bool exact,
		   struct linux_result *result, struct failure *why);

/* Linux observer member: the recording ends before an exec that changes the
 * architecture, and another one begins behind it. */
void events_before_change(void *context, const struct linux_result *last);

/* Linux observer member: deadlocked programs, too, are killed. */
void events_before_idle(void *context);
void events_before_stop(void *context);

/* ------- trace.c ------- */

/* Chooses where the process's trace is to be, and what identifies it. */
int trace_make_header(struct recorder *rec, struct failure *why);

/* Creates the trace at rec->trace.path, up to its first chunk. */
int trace_open(struct recorder *rec, struct failure *why);

/* Writes the symbols of each module that is mapped executable, once. */
int trace_write_symbols(struct recorder *rec, struct failure *why);

/* Ends it: how the program ended, and what all of the recording came to. */
int trace_finish(struct recorder *rec, const struct linux_result *result,
		 struct failure *why);

/* ------- segments.c ------- */

/* What the segment has come to, for its pacing. */
struct segment_costs segment_costs(const struct recorder *rec);

/* Writes what the segment has so far; at its end also closes the reads. */
int segment_flush(struct recorder *rec, bool end, struct failure *why);

/* Sorts the touches of the segment, and joins those of one page and doubt. */
void segment_merge_touches(struct recorder *rec);

/* Ends the segment, if there is one, and starts the next here. */
int segment_start(struct recorder *rec, struct failure *why);

/* Ends the last segment. */
int segment_end(struct recorder *rec, struct failure *why);

/* Writes the key frame of a thread that does not run now. */
int segment_write_thread(struct recorder *rec, struct stream *stream,
			 struct failure *why);

/* Writes waiting pages out; with `all`, also a chunk that is not full. */
int segment_write_pages(struct recorder *rec, bool all, struct failure *why);

/* ------- moments.c ------- */

/*
 * Notes the time on the wall if it is some time since that was done, if the
 * program is going to wait, or if it has waited.
 */
void moments_look(struct recorder *rec, bool will_wait);

/* Writes what was noted. */
int moments_write(struct recorder *rec, struct failure *why);

/* Another process's recording begins, or nothing is recorded any more. */
void moments_begin_again(struct recorder *rec);
void moments_release(struct recorder *rec);

/* ------- snapshot.c ------- */

/* Stores what was written in the segment that ends; lists what has changed. */
int snapshot_take(struct recorder *rec, struct snapshot *out,
		  struct failure *why);

/*
 * Before a child is made: stores what was written in this segment until now,
 * so that children need not.
 */
int snapshot_prepare(struct recorder *rec, struct failure *why);

/* Behind the key frame: writes the list of all pages, from time to time. */
int snapshot_write(struct recorder *rec, const struct snapshot *shot,
		   struct failure *why);

#endif
