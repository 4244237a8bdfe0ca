/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * handles.h - what is behind the handles of cprec.h
 *
 * This room gives the sessions' questions to other programs, as plain data.  It
 * never prints, and it answers nothing by itself: that is replayer/session/.
 *
 * A recording has one replayer, which all of its cursors use: a cursor is a
 * place, and the replayer goes there when it is asked something.
 *
 * Ownership:  answers are kept in the handle until the same is asked again.
 * Errors:     those of cprec.h are those of formats/error.h, but for
 *             CPREC_BUSY.
 */
#ifndef CPREC_LIBRARY_HANDLES_H
#define CPREC_LIBRARY_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/error.h"
#include "library/cprec.h"
#include "replayer/expressions/expressions.h"
#include "replayer/recording/recording.h"
#include "replayer/replayer.h"
#include "replayer/session/session.h"
#include "replayer/symbols/symbols.h"

/* What is the library's, and may be used by programs. */
#define PUBLIC __attribute__((visibility("default")))

/* Bytes that are told at once. */
#define WORD_MOST 8

/* A place, with what its texts are in. */
struct kept_place {
	struct cprec_place place;
	struct source_line line;
	char symbol[2048], data[2048];
};

struct cprec_recording {
	struct recording *recording;
	struct lines *lines;
	struct query *query;
	struct expressions *expressions;
	struct kernel_programs *programs;
	struct kernel *kernel;	/* of a machine; NULL until it is asked */
	char *followed;		/* one of its processes, or NULL */
	struct trail *trail;	/* NULL until somebody walks */
	atomic_bool cancelled;
	bool runs;		/* a callback is told while the replayer runs */
	bool follows;		/* ... while calls or visits are followed */
	struct cprec_cursor *cursors;
	struct cprec_file *files;
	struct kept_pieces pieces;	/* of them */

	/* Answers. */
	struct cprec_thread *threads;	/* NULL: not asked for yet */
	size_t thread_count;
	struct thread_names *thread_names;	/* the same */
	char thread_name[THREAD_NAME_SIZE];
	struct cprec_info info;
	struct cprec_crash crash;
	char crash_name[16];
	struct source source;
	struct cprec_text text;
};

struct cprec_cursor {
	struct cprec_recording *of;
	struct cprec_cursor *next;	/* of the same recording */
	struct position at;
	bool some_thread;
	uint32_t tid;
	uint64_t frame;
	struct replayer *told;	/* of a callback's: that stood there; or NULL */

	/* Answers. */
	struct cprec_state state;
	struct cprec_stop stop;
	struct cprec_line line;
	struct cprec_memory memory;
	uint8_t *bytes, *known;		/* of it */
	uint8_t word[WORD_MOST];	/* or this */
	struct expression found;
	struct cprec_value value;
	uint8_t *value_bytes, *value_known;
	struct cprec_variable returned;
	char *returned_type, *returned_value;
	char *type;			/* that was asked for by itself */
	struct cprec_unit unit;
	struct kept_place place, write_place;
	struct cprec_register_write write;
	struct reg_named named;		/* what was asked for */
	struct register_write written;
	char write_by[64];
};

/* A caller's structure for a failure is larger than ours, and has the text
 * first. */
static inline struct failure *inner(struct cprec_failure *why)
{
	_Static_assert(sizeof(struct failure) <= sizeof(struct cprec_failure),
		       "a failure fits");
	/* Others write to it without asking whether somebody wants it. */
	static _Thread_local struct failure unwanted;

	return why ? (struct failure *)(void *)why : &unwanted;
}

/* ------- questions ------- */

/*
 * A question begins: CPREC_CANCELLED, or CPREC_BUSY if it `moves` the replayer
 * while that runs.
 */
int question_begin(struct cprec_recording *recording, bool moves,
		   struct cprec_failure *why);

/*
 * The same of one that follows the program by breakpoints: those of two cannot
 * be told apart.
 */
int question_follow(struct cprec_recording *recording,
		    struct cprec_failure *why);

/* A copy of what a caller has filled in, as large as we know it. */
int question_take(void *out, size_t room, const void *asked,
		  struct cprec_failure *why);
#define QUESTION_TAKE(out, asked, why) \
	question_take(out, sizeof(*(out)), asked, why)

/* From one position to another; 0 if that makes sense. */
int question_range(struct cprec_recording *recording,
		   const struct cprec_position *from,
		   const struct cprec_position *to, struct position *first,
		   struct position *last, struct cprec_failure *why);

/* What cprec.h calls it. */
enum cprec_symbol_kind symbol_kind(enum symbol_type type);

/* What a caller's callback has returned, and who asked. */
struct visits {
	struct cprec_recording *of;
	int rc;			/* other than 0: it wants no more */
	struct failure *why;
	void *context;		/* the caller's */
};

/* Ends whatever visits, and means no error. */
#define VISITS_ENDED 1000000

/* Keeps what the callback returned. */
static inline int visits_told(struct visits *visits, int rc)
{
	visits->rc = rc;
	return rc ? VISITS_ENDED : 0;
}

/* What the question is to return. */
static inline int visits_result(const struct visits *visits, int rc)
{
	return visits->rc ? visits->rc : rc;
}

struct mapping_visits {
	struct visits visits;
	int (*visit)(void *context, const struct cprec_mapping *mapping);
};

/* Tells such a visitor, as visitors of mappings.h are told. */
int tell_mapping(void *context, const struct region *region);

/* ------- positions ------- */

static inline struct position to_position(struct cprec_position position)
{
	return (struct position){ position.time, position.events };
}

static inline struct cprec_position from_position(struct position position)
{
	return (struct cprec_position){ position.time, position.events, 0 };
}

/* ------- cursors ------- */

/* A question about a cursor's place begins: the replayer is there. */
int cursor_begin(struct cprec_cursor *cursor, struct replayer **out,
		 struct cprec_failure *why);

/* The stream and number of its thread; after cursor_begin(). */
int cursor_find_thread(struct cprec_cursor *cursor, uint32_t *stream,
		       uint32_t *tid, struct failure *why);

/* Visits all of a table. */
int tell_registers(const struct reg_table *table,
		   const struct frame_registers *found,
		   int (*visit)(void *context,
				const struct cprec_register *reg),
		   void *context);

/* The registers of its thread, if it has walked there. */
bool cursor_walked(const struct cprec_cursor *cursor, struct reg_file *out);

/* Those in its frame. */
int cursor_registers(struct cprec_cursor *cursor, struct frame_registers *out,
		     struct cprec_failure *why);

struct expression_place cursor_place(const struct cprec_cursor *cursor);

/* Whether the replayer stands there, with its thread's turn. */
static inline bool cursor_stands(const struct cprec_cursor *cursor)
{
	return cursor->told && !cursor->some_thread && !cursor->frame &&
	       replayer_is_at(cursor->told, &cursor->at);
}

/* What it keeps. */
void cursor_release(struct cprec_cursor *cursor);

/* ------- files ------- */

/* Closes all, and what they read. */
void close_files(struct cprec_recording *recording);

/* ------- places ------- */

/* What code at an address is called; without `data`. */
void place_find(struct kept_place *out, struct cprec_recording *recording,
		uint64_t t, uint64_t addr);

/* The same of a line that was found. */
void place_take(struct kept_place *out, const char *module);

/* Who is told: "read()", "signal 11" or "the kernel". */
const char *agent_name(char text[64], struct cprec_recording *recording,
		       enum packet_kind event, uint64_t number);

/* The number of a stream's thread at a time. */
int tid_of(struct cprec_recording *recording, uint32_t stream, uint64_t t,
	   uint32_t *out, struct failure *why);

#endif
