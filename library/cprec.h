/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * cprec.h - questions about a recorded program, for other programs
 *
 * A recording is opened; cursors are places in it: a position, a thread, one of
 * its frames.  They move, forwards and backwards, and tell what was there:
 * memory, registers, callers, variables.  Other questions are about all of a
 * recording, or a part of it: who wrote this memory, which calls there were.
 *
 *	struct cprec_recording *recording;
 *	struct cprec_cursor *cursor;
 *	const struct cprec_value *value;
 *	struct cprec_failure why;
 *
 *	if (cprec_open(&recording, "trace.cpr", NULL, &why) ||
 *	    cprec_cursor_create(&cursor, recording, "end", &why) ||
 *	    cprec_evaluate(cursor, "head->name", NULL, &value, &why))
 *		errx(1, "%s", why.text);
 *	puts(value->text);
 *
 * Units:      times are instructions that have been executed, of all threads;
 *             sizes and offsets are bytes; addresses are those of the program
 *             that was recorded.  Texts are UTF-8 where the program's are.
 * Ownership:  what a function hands out by pointer is the library's, and lasts
 *             until the same function is called again with the same handle;
 *             what a callback gets lasts until it returns.
 * Errors:     a function that can fail returns 0 or one of `enum cprec_error`,
 *             and says why in `why`, which may be NULL.  A callback that
 *             returns another value than 0 ends the question, which returns
 *             that value; positive ones are the caller's to choose.
 * Callbacks:  may ask what needs no replay: names, positions, texts.  Where it
 *             is said, all.  What may not be asked fails with CPREC_BUSY.  They
 *             may not close the recording.
 * Threads:    one at a time uses a recording and its cursors, whichever it is;
 *             others may use other recordings, also the same file opened again,
 *             at the same time.  cprec_cancel() may be called from any thread,
 *             and from signal handlers.
 * Signals:    no handler is left behind, and none is installed for faults of
 *             memory, whatever the caller does with these.  Where the program
 *             had exceptions of SSE unmasked, the instruction that raised one
 *             is executed with a handler for SIGFPE, for that moment.
 * Files:      what is learnt of a recording is kept beside it, in FILE.idx, if
 *             that can be written; it may be deleted at any time.
 * Output:     none; and the process is not ended, but for one that has no
 *             memory left at a place from which there is no return.
 * Versions:   structures that the library fills in are only read by pointer,
 *             and grow at their end.  Structures that a caller fills in begin
 *             with `size`, sizeof of the structure as the caller knows it; all
 *             that is not set must be 0, which means what most want.  The few
 *             that are passed by value never change.  Enumerations may get more
 *             values.  A later library runs what was linked with this one.
 */
#ifndef CPREC_LIBRARY_CPREC_H
#define CPREC_LIBRARY_CPREC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct cprec_recording;
struct cprec_cursor;

enum cprec_error {
	CPREC_TRUNCATED = -1,	/* the file ends too early */
	CPREC_CORRUPT = -2,	/* it is no recording, or a damaged one */
	CPREC_CHECKSUM = -3,	/* bytes of it are not those written */
	CPREC_VERSION = -4,	/* this library cannot read it */
	CPREC_DIVERGED = -5,	/* the replay left the recorded execution */
	CPREC_SYSTEM = -6,	/* the operating system refused */
	CPREC_NO_MEMORY = -7,
	CPREC_NOT_FOUND = -8,	/* what was asked for is not there */
	CPREC_INPUT = -9,	/* the question makes no sense */
	CPREC_CANCELLED = -10,	/* cprec_cancel() was called */
	CPREC_BUSY = -11,	/* a callback asked what it may not */
};

/* A sentence for a person.  Untouched by a call that succeeds. */
struct cprec_failure {
	char text[512];
};

/* "0.1.0" */
const char *cprec_version(void);

/* A place in the execution: so many instructions have been executed, and so
 * many of the events that happen before the next one have taken effect. */
struct cprec_position {
	uint64_t time;
	uint32_t events;
	uint32_t reserved;	/* 0 */
};

/* As `events`: all of them. */
#define CPREC_EVENTS_ALL UINT32_MAX

/* ------- recordings ------- */

/*
 * Opens a recording.  `process` says which of the processes that were recorded
 * together: "1234", or "1234-2" if that number was given twice; or the name of
 * its program, or a word of its command line, if only one has it; NULL for the
 * one of the file.  CPREC_NOT_FOUND if there is no such process, CPREC_INPUT if
 * there are several.
 */
int cprec_open(struct cprec_recording **out, const char *path,
	       const char *process, struct cprec_failure *why);

/* Ends its cursors, too.  NULL is allowed. */
void cprec_close(struct cprec_recording *recording);

/*
 * The question under way returns CPREC_CANCELLED soon, and so does each that
 * is asked from now on, until cprec_resume().  Reading debugging information is
 * not interrupted.
 */
void cprec_cancel(struct cprec_recording *recording);
void cprec_resume(struct cprec_recording *recording);

/*
 * What went wrong meanwhile that changes no answer, as that FILE.idx cannot be
 * written; NULL: nothing.  Each is told once.
 */
const char *cprec_note(struct cprec_recording *recording);

/*
 * Where debugging information is looked for, too: folders with ':' between
 * them, for the whole process, before the first recording is opened; else
 * those of the environment variable CPREC_DEBUG_DIR.  The text is borrowed.
 */
void cprec_debug_folders(const char *folders);

struct cprec_info {
	const char *path;		/* of the recording */
	uint32_t pid;
	struct cprec_position start, end;
	const char *arch;		/* "x86_64" */
	const char *program;		/* path; the last of several */
	const char *const *argv;	/* NULL-ended; of that one */
	const char *directory;		/* where it was run */
	const char *host, *made_by;
	int64_t started;		/* seconds since 1970 */
	uint32_t threads;		/* how many there were */
	uint64_t key_frames;
	uint64_t file_size;
	bool is_complete;		/* else it was cut short: then it is not
					   known how the process ended */
	uint32_t exit_signal;		/* 0: it exited, */
	uint32_t exit_code;		/* with this status */
	bool has_become;		/* or neither: it executed a program of
					   another architecture, and another
					   recording has the rest */
	bool is_machine;		/* it is of a whole machine: `exit_code`
					   says how that ended */
	uint32_t address_size;		/* bytes of an address, as all are shown */
};

int cprec_describe(struct cprec_recording *recording,
		   const struct cprec_info **out, struct cprec_failure *why);

struct cprec_process {
	const char *name;	/* for cprec_open(): "1234" */
	const char *path;	/* of its recording */
	uint32_t pid;
	bool is_this;		/* the one that is open */
	const char *program;	/* path of the last one; NULL: not known */
	const char *called;	/* how that was called: "sh", "./stock"; NULL */
};

/* The processes that were recorded together, this one among them. */
int cprec_each_process(struct cprec_recording *recording,
		       int (*visit)(void *context,
				    const struct cprec_process *process),
		       void *context, struct cprec_failure *why);

struct cprec_program {
	struct cprec_position at;	/* its first instruction comes next */
	const char *path;
	const char *const *argv;
	const char *directory;
};

/* The programs that the process was, one after the other. */
int cprec_each_program(struct cprec_recording *recording,
		       int (*visit)(void *context,
				    const struct cprec_program *program),
		       void *context, struct cprec_failure *why);

struct cprec_thread {
	uint32_t tid;
	uint64_t first, last;	/* times: it began, it ended or was last seen */
	uint64_t instructions;	/* of its own */
	bool has_ended;
};

int cprec_each_thread(struct cprec_recording *recording,
		      int (*visit)(void *context,
				   const struct cprec_thread *thread),
		      void *context, struct cprec_failure *why);

struct cprec_crash {
	uint32_t signal;
	const char *signal_name;	/* "SIGSEGV" */
	struct cprec_position at;	/* before the signal */
	uint32_t tid;
	bool is_fault;			/* an instruction of its own is why: */
	bool has_addr;			/* ... an access, to: */
	bool is_write, is_fetch;
	bool is_mapped;			/* something is mapped there */
	uint64_t addr;
};

/* CPREC_NOT_FOUND if no signal ended the process, or nobody knows. */
int cprec_find_crash(struct cprec_recording *recording,
		     const struct cprec_crash **out,
		     struct cprec_failure *why);

/* ------- files of the program ------- */

struct cprec_module {
	const char *path;
	const char *build_id;		/* digits; NULL: it has none */
	uint64_t kept, kept_debug;	/* bytes of its own file, and of the
					   one with its debugging information,
					   that the recording has; 0: none */
};

/*
 * The program's file and those of libraries, as they were mapped in the whole
 * recording; one that an older version made may tell none.
 */
int cprec_each_module(struct cprec_recording *recording,
		      int (*visit)(void *context,
				   const struct cprec_module *module),
		      void *context, struct cprec_failure *why);

struct cprec_module_symbol {
	uint64_t addr, length;		/* as in the module's file */
	uint32_t kind;			/* enum cprec_symbol_kind */
	bool is_thumb;			/* a function of Thumb code */
	const char *name;		/* as linkers know it */
};

/*
 * The symbols of a module, by its path, that the recording has; no file is read
 * for them.  CPREC_NOT_FOUND if there is no such module.
 */
int cprec_each_module_symbol(
	struct cprec_recording *recording, const char *path,
	int (*visit)(void *context, const struct cprec_module_symbol *symbol),
	void *context, struct cprec_failure *why);

struct cprec_file;

/*
 * Opens a file for reading, by the name that a debugger looks for: a module's
 * path; DIR/.build-id/ab/cdef, or with .debug behind it, where DIR does not
 * matter; or that which a module's .gnu_debuglink names, beside the module, in
 * .debug there, or below a folder.  It comes from the recording, or, if it is
 * here and the build that was recorded, from this machine: no other file of the
 * machine is read.  CPREC_NOT_FOUND if there is none, or another build.
 */
int cprec_file_open(struct cprec_file **out, struct cprec_recording *recording,
		    const char *name, struct cprec_failure *why);

/* NULL is allowed.  Closing the recording does the same. */
void cprec_file_close(struct cprec_file *file);

struct cprec_file_info {
	uint64_t length;
	int64_t changed;	/* seconds since 1970; 0: that is not known */
	const char *path;	/* on this machine; NULL: it is kept, and what
				   the program would only load is 0 in it */
};

const struct cprec_file_info *cprec_file_describe(struct cprec_file *file);

/* Reads at most so many bytes; `*done` is less at its end. */
int cprec_file_read(struct cprec_file *file, uint64_t offset, void *bytes,
		    uint64_t length, uint64_t *done, struct cprec_failure *why);

/* ------- positions ------- */

/*
 * As users write them: "5000", "5000.1", "5m", "start", "end", "end-1", "50%",
 * "output:3", "TID:5000", "12:04:31.5"; the manual page cprec(1) has all.
 */
int cprec_find_position(struct cprec_recording *recording, const char *text,
			struct cprec_position *out, struct cprec_failure *why);

/* "5000", or "5000.1" */
#define CPREC_POSITION_TEXT 40
const char *cprec_position_text(char text[CPREC_POSITION_TEXT],
				struct cprec_position position);

/* Less than 0, 0 or more than 0, as the first is before the second. */
int cprec_position_compare(struct cprec_position a, struct cprec_position b);

/*
 * How much of the recording lies before a position, as percents: "12.5".
 * "100.0" is its end alone.
 */
#define CPREC_PERCENT_TEXT 16
const char *cprec_percent_text(char text[CPREC_PERCENT_TEXT],
			       struct cprec_recording *recording,
			       struct cprec_position position);

/* What the clock on the wall said, in microseconds since 1970. */
int cprec_find_clock(struct cprec_recording *recording,
		     struct cprec_position position, int64_t *out,
		     struct cprec_failure *why);

/*
 * To go back, a recording keeps states from which it can start again: up to so
 * many bytes of them, with so many instructions between two at least.
 */
void cprec_keep_limits(struct cprec_recording *recording, uint64_t bytes,
		       uint64_t gap);

/*
 * Keeps such states from one position to another, `gap` instructions apart:
 * what is asked in there is answered sooner.
 */
int cprec_keep_range(struct cprec_recording *recording,
		     struct cprec_position from, struct cprec_position to,
		     uint64_t gap, struct cprec_failure *why);

/* ------- bookmarks ------- */

struct cprec_bookmark {
	const char *name;
	struct cprec_position at;
	const char *text;	/* may be "" */
};

/*
 * Positions with names, which are kept beside the recording, in FILE.marks.  A
 * name is a position as users write them.  By position.
 */
int cprec_each_bookmark(struct cprec_recording *recording,
			int (*visit)(void *context,
				     const struct cprec_bookmark *bookmark),
			void *context, struct cprec_failure *why);

/*
 * Makes a bookmark, or gives one another place.  A name has letters, digits and
 * '_', and does not begin with a digit; a text has no control characters, and
 * may be NULL.  CPREC_INPUT for others.
 */
int cprec_set_bookmark(struct cprec_recording *recording, const char *name,
		       struct cprec_position at, const char *text,
		       struct cprec_failure *why);

/* CPREC_NOT_FOUND if there is none of that name. */
int cprec_delete_bookmark(struct cprec_recording *recording, const char *name,
			  struct cprec_failure *why);

/* ------- cursors ------- */

/*
 * Makes a cursor; `at` is as in cprec_find_position(), or NULL: where a signal
 * ended the program, or else its end.  It means the thread whose turn it is,
 * and its innermost frame.  A recording may have any number of cursors; those
 * that are far from each other make each other go long ways.
 */
int cprec_cursor_create(struct cprec_cursor **out,
			struct cprec_recording *recording, const char *at,
			struct cprec_failure *why);
void cprec_cursor_destroy(struct cprec_cursor *cursor);

/* Goes to a position.  The frame is the innermost one again. */
int cprec_cursor_seek(struct cprec_cursor *cursor, const char *at,
		      struct cprec_failure *why);
int cprec_cursor_move(struct cprec_cursor *cursor, struct cprec_position to,
		      struct cprec_failure *why);

struct cprec_position cprec_cursor_position(const struct cprec_cursor *cursor);

/*
 * Goes so many instructions forwards, or backwards if it is less than 0; no
 * further than the start or the end of the recording.
 */
int cprec_cursor_step(struct cprec_cursor *cursor, int64_t instructions,
		      struct cprec_failure *why);

/*
 * Another thread is meant from now on; 0: whichever has its turn.
 * CPREC_NOT_FOUND if it is not there.
 */
int cprec_cursor_thread(struct cprec_cursor *cursor, uint32_t tid,
			struct cprec_failure *why);

struct cprec_state {
	struct cprec_position at;
	uint32_t tid;		/* of the thread that is meant */
	uint64_t instructions;	/* of its own: where "TID:N" is */
	bool has_turn;
	bool has_ended;		/* where it stands, it has */
};

/* Visits the threads that exist where the cursor stands. */
int cprec_each_thread_at(struct cprec_cursor *cursor,
			 int (*visit)(void *context,
				      const struct cprec_thread *thread),
			 void *context, struct cprec_failure *why);

/*
 * What a thread is called where the cursor stands, as /proc/PID/task/TID/comm has
 * it.  `*out` is NULL if that is not known.
 */
int cprec_find_thread_name(struct cprec_cursor *cursor, uint32_t tid,
			   const char **out, struct cprec_failure *why);

/*
 * Which recorded process has forked this one, and when in its time, if at the
 * cursor's position it still is the program that it was then: what memory holds
 * may have been written by that process.  CPREC_NOT_FOUND: none.
 */
int cprec_find_parent(struct cprec_cursor *cursor, uint32_t *pid,
		      struct cprec_position *at, struct cprec_failure *why);

int cprec_cursor_describe(struct cprec_cursor *cursor,
			  const struct cprec_state **out,
			  struct cprec_failure *why);

/*
 * Another frame is meant, as a backtrace counts them.  CPREC_NOT_FOUND if there
 * are fewer.
 */
int cprec_cursor_frame(struct cprec_cursor *cursor, uint64_t frame,
		       struct cprec_failure *why);

/* Keeps the state here: coming back is fast. */
int cprec_cursor_keep(struct cprec_cursor *cursor, struct cprec_failure *why);

struct cprec_watch {
	uint64_t addr, length;
	bool reads, writes;	/* what counts; writes may change nothing */
	uint8_t reserved[6];
};

/* Until what a cursor runs. */
struct cprec_until {
	size_t size;
	bool backwards;
	bool has_to;
	struct cprec_position to;	/* no further; else the end or start */
	const uint64_t *breaks;		/* before instructions at these */
	size_t break_count;
	const struct cprec_watch *watches;
	size_t watch_count;
	bool signals;			/* also before a signal is delivered */

	/*
	 * Asked at each breakpoint whether it counts: more than 0, or 0; less
	 * ends the run, and is returned.  The cursor stands there.  NULL: all
	 * do.
	 */
	int (*is_met)(void *context, struct cprec_cursor *cursor);
	void *context;

	bool calls;			/* also before system calls, */
	bool returns;			/* and when they are over: */
	const uint64_t *call_numbers;	/* these; if there are none, all */
	size_t call_number_count;

	/*
	 * Also at what happens where the cursor stands: forwards, a signal that
	 * is delivered, or a call that begins, unless it has stopped for that;
	 * backwards, the end of a call.
	 */
	bool here;

	/* Not before signal N, if bit N % 64 of word N / 64 is set. */
	uint64_t passed_signals[3];

	/*
	 * Forwards: told what the program prints on the way, to 1, standard
	 * output, or 2.  Nothing may be asked.  May be NULL.
	 */
	void (*printed)(void *context, uint32_t descriptor,
			const uint8_t *bytes, uint64_t length);
};

enum cprec_stop_kind {
	CPREC_AT_POSITION,
	CPREC_AT_BREAK,
	CPREC_AT_WATCH,
	CPREC_AT_SIGNAL,
	CPREC_AT_CALL,
	CPREC_AT_RETURN,		/* of a system call: it is over */
};

struct cprec_stop {
	enum cprec_stop_kind kind;
	struct cprec_position at;	/* where the cursor is now */
	uint32_t tid;
	size_t index;			/* of the breakpoint or watch */
	bool by_kernel;			/* CPREC_AT_WATCH: no instruction */
	bool is_write;
	uint64_t pc;			/* of the instruction */
	uint64_t addr, length;		/* what is accessed */
	uint32_t signal;		/* that is about to be delivered; 0 */
	uint64_t call;			/* number of a system call */
	int64_t result;			/* CPREC_AT_RETURN */
	bool others;			/* cprec_cursor_walk: other threads
					   have executed on the way, */
	bool prints;			/* or the program has printed */
};

/*
 * Runs.  Forwards, the cursor is before the instruction with a breakpoint, and
 * behind what accesses; backwards, before both.  CPREC_CANCELLED: the cursor is
 * where it got to.
 */
int cprec_cursor_run(struct cprec_cursor *cursor,
		     const struct cprec_until *until,
		     const struct cprec_stop **out, struct cprec_failure *why);

/* Single steps of a cursor's thread. */
struct cprec_walk {
	size_t size;
	bool backwards;
	uint64_t count;		/* so many instructions; 0: any number */
	uint64_t start, end;	/* while the next one is in between; both 0:
				   wherever it is */
	const uint64_t *breaks;	/* no further than before one of these */
	size_t break_count;
	bool signals;		/* nor than before a signal is delivered; where
				   a walk forwards ends anyway, the next one
				   tells of it, if that is asked to */
	bool here;		/* forwards, also before a signal where the
				   cursor stands */
};

/*
 * Walks: stops before the thread's instructions, and before signals that it
 * gets.  Other threads run as they did.  CPREC_NOT_FOUND if the thread's
 * execution ends, or begins, before; the cursor stays.  Steps after the first
 * take microseconds, and so do the registers where one has stopped.
 */
int cprec_cursor_walk(struct cprec_cursor *cursor,
		      const struct cprec_walk *walk,
		      const struct cprec_stop **out, struct cprec_failure *why);

/* ------- where a breakpoint stops ------- */

/*
 * The instructions that "FILE:LINE", "FUNCTION" or "*ADDRESS" means at the
 * cursor's position.  CPREC_NOT_FOUND if there are none.
 */
int cprec_each_place(struct cprec_cursor *cursor, const char *where,
		     int (*visit)(void *context, uint64_t addr),
		     void *context, struct cprec_failure *why);

/* ------- steps by lines ------- */

/* Where code stands in the source. */
struct cprec_line {
	uint64_t start, end;	/* of the code that is of the same row of the
				   line table; both 0: it has no lines */
	uint64_t first;		/* rows before it, without a gap, are of the
				   line, too: the first of them begins here */
	const char *file;	/* NULL: not known */
	uint32_t line;		/* 0: not known */
	bool is_statement;	/* one begins at `start` */
	bool is_linker;		/* only leads to functions of libraries, or
				   looks for them */
	bool is_resolver;	/* chooses which function a name means */
	uint64_t function, function_end;	/* both 0: not known */
	uint64_t body;		/* where a step into the function stops, if the
				   address is its first */
};

/* That of the code at an address; it need not have one. */
int cprec_find_line(struct cprec_cursor *cursor, uint64_t addr,
		    const struct cprec_line **out, struct cprec_failure *why);

/* A function that was inlined. */
struct cprec_inlined {
	uint64_t start;		/* of its code */
	bool begins;		/* control comes into it at the address */
	const char *function;
	const char *file;	/* where it is called; NULL: not known */
	uint32_t line;
};

/* Those that code at an address is of, the innermost one first. */
int cprec_each_inlined(struct cprec_cursor *cursor, uint64_t addr,
		       int (*visit)(void *context,
				    const struct cprec_inlined *one),
		       void *context, struct cprec_failure *why);

/*
 * What tells the cursor's frame from others, as long as its function has not
 * returned: where the stack pointer is when it has.  CPREC_NOT_FOUND if nobody
 * called it, or it is not known who.
 */
int cprec_find_base(struct cprec_cursor *cursor, uint64_t *out,
		    struct cprec_failure *why);

/* ------- memory ------- */

enum cprec_source {
	CPREC_FROM_NOWHERE,	/* nothing is known */
	CPREC_FROM_CODE,
	CPREC_FROM_SNAPSHOT,
	CPREC_FROM_REPLAY,
	CPREC_FROM_FILE,	/* that is mapped: nobody may write there, and
				   the program never used it */
};

struct cprec_memory {
	uint64_t addr, length;
	const uint8_t *bytes;
	const uint8_t *known;	/* of each byte, 1 or 0 */
	enum cprec_source source;
	bool is_certain;	/* else others share the memory, and may have
				   changed it since, or before: */
	uint64_t as_of;
	bool is_mapped;		/* something is mapped there */
};

#define CPREC_MEMORY_MOST (UINT64_C(16) << 20)

/*
 * Of a machine: from now on, addresses of memory are physical, or virtual ones
 * again, as they are at first.  CPREC_INPUT of a program.
 */
int cprec_use_physical(struct cprec_recording *recording, bool physical,
		       struct cprec_failure *why);

/*
 * Of a machine whose kernel is Linux with BTF: from now on, breakpoints are
 * met only in this process, a number or a name, and virtual addresses are its,
 * as of where it was met last.  NULL: in all, as at first.  CPREC_INPUT of a
 * program.
 */
int cprec_follow_process(struct cprec_recording *recording,
			 const char *process, struct cprec_failure *why);

/* Bytes that nobody knows are an answer, too. */
int cprec_read(struct cprec_cursor *cursor, uint64_t addr, uint64_t length,
	       const struct cprec_memory **out, struct cprec_failure *why);

enum cprec_protection {
	CPREC_MAY_READ = 1,
	CPREC_MAY_WRITE = 2,
	CPREC_MAY_EXECUTE = 4,
};

struct cprec_mapping {
	uint64_t start, end;
	uint32_t protection;
	bool is_shared;
	uint64_t offset;	/* in the file */
	const char *name;	/* path of a file, "[heap]", "[stack]", "" */
};

/* By address. */
int cprec_each_mapping(struct cprec_cursor *cursor,
		       int (*visit)(void *context,
				    const struct cprec_mapping *mapping),
		       void *context, struct cprec_failure *why);

/* ------- registers ------- */

struct cprec_register {
	const char *name;	/* "rax" */
	uint32_t number;	/* in the architecture's table */
	uint32_t length;
	const uint8_t *bytes;	/* the lowest first */
	uint64_t value;		/* of at most 8 bytes */
	bool is_known;		/* false: what the function that the frame
				   called did with it is not known */
	bool is_general;	/* one that all programs use */
};

/* Those of the cursor's thread, in its frame. */
int cprec_each_register(struct cprec_cursor *cursor,
			int (*visit)(void *context,
				     const struct cprec_register *reg),
			void *context, struct cprec_failure *why);

/* One of at most 8 bytes, by its number. */
int cprec_register_value(struct cprec_cursor *cursor, uint32_t number,
			 uint64_t *out, struct cprec_failure *why);

/* ------- names and lines ------- */

/* What an address is called. */
struct cprec_place {
	const char *symbol;	/* "main+4", "libc.so.6!environ"; NULL */
	const char *data;	/* "stats.factors[1]"; NULL: no variable */
	const char *module;	/* path; NULL: none is there */
	const char *function;	/* "Server::serve(int)"; NULL: not known */
	const char *linkage_name;	/* if it is another one; else NULL */
	uint64_t offset;	/* in the function, or in the module's file */
	const char *file;	/* of the source; NULL: not known */
	const char *directory;	/* of `file`, if that is relative; or NULL */
	uint32_t line;		/* 0: not known */
};

int cprec_find_place(struct cprec_cursor *cursor, uint64_t addr,
		     const struct cprec_place **out, struct cprec_failure *why);

/* What the module's file says of the part that has an address. */
struct cprec_unit {
	const char *section;	/* ".text"; NULL: not known */

	/* Of the debugging information; NULL: there is none, or it does not
	 * say. */
	const char *file, *directory;	/* of the source, as it was compiled */
	const char *language;	/* "c++", as gdb calls it */
	const char *producer;	/* "GNU C17 12.2.0 -g" */
	uint32_t dwarf;		/* version */
	bool has_macros;
};

/* CPREC_NOT_FOUND if no file is there that knows anything of it. */
int cprec_find_unit(struct cprec_cursor *cursor, uint64_t addr,
		    const struct cprec_unit **out, struct cprec_failure *why);

enum cprec_symbol_kind {
	CPREC_SYMBOL_OTHER,
	CPREC_SYMBOL_DATA,
	CPREC_SYMBOL_FUNCTION,
};

struct cprec_symbol {
	uint64_t addr, length;
	enum cprec_symbol_kind kind;
	const char *name;	/* as people write it */
	const char *linkage_name;
	const char *module;	/* "libz.so.1" */
	bool is_program;	/* of the program itself */
	const char *file;	/* NULL: not known */
	uint32_t line;
};

/*
 * Functions and variables of what is mapped; `pattern` is
 * [LIBRARY!][FILE:]NAME, with '*', '?' and "[...]" as in shells, or NULL for
 * all.  CPREC_NOT_FOUND if nothing is called so.
 */
int cprec_each_symbol(struct cprec_cursor *cursor, const char *pattern,
		      int (*visit)(void *context,
				   const struct cprec_symbol *symbol),
		      void *context, struct cprec_failure *why);

/*
 * The path and text of a source file on this machine, found as gdb does;
 * before that in `folders`, with ':' between them, or NULL.
 */
struct cprec_text {
	const char *path;
	const char *text;	/* all of it */
	size_t length;
	size_t lines;
	int64_t changed;	/* seconds since 1970 */
};

int cprec_read_source(struct cprec_recording *recording, const char *file,
		      const char *directory, const char *folders,
		      const struct cprec_text **out, struct cprec_failure *why);

/* ------- code ------- */

struct cprec_code {
	size_t size;
	uint64_t start, end;	/* instructions that begin in between; both 0:
				   the function that the frame is in */
	uint64_t count;		/* at most so many; 0: all up to `end` */
	bool att;		/* AT&T's syntax, not Intel's */
};

struct cprec_instruction {
	uint64_t addr;
	const uint8_t *bytes;	/* NULL: these are not known */
	uint32_t length;
	const char *text;	/* "mov rbp, rsp"; NULL: it is none */
	const char *symbol;	/* "main+4"; NULL */
	bool has_target;
	uint64_t target;	/* of a jump or call */
	const char *target_symbol;	/* or NULL */
};

int cprec_each_instruction(struct cprec_cursor *cursor,
			   const struct cprec_code *code,
			   int (*visit)(void *context,
					const struct cprec_instruction *one),
			   void *context, struct cprec_failure *why);

/* ------- what would happen if ------- */

struct cprec_diversion;

/*
 * A copy of the moment at which a cursor is, that goes its own way: its memory
 * and registers can be changed, and the cursor's thread can run on from there,
 * to call one of its functions say.  Nothing of it is kept.  There is no kernel
 * in it: system calls are answered that change nothing but its memory, and
 * those whose answer the recording has, as getpid(); sleep takes no time.
 * What is asked of cursors meanwhile is answered as recorded.
 */
int cprec_diversion_begin(struct cprec_diversion **out,
			  struct cprec_cursor *cursor,
			  struct cprec_failure *why);

/* NULL is allowed. */
void cprec_diversion_end(struct cprec_diversion *diversion);

/*
 * From now on the cursor's thread is the one that runs, with the registers that
 * it has there; the cursor is at the same position.
 */
int cprec_diversion_thread(struct cprec_diversion *diversion,
			   struct cprec_cursor *cursor,
			   struct cprec_failure *why);

int cprec_diversion_each_register(struct cprec_diversion *diversion,
				  int (*visit)(void *context,
					       const struct cprec_register *reg),
				  void *context, struct cprec_failure *why);

/* `bytes` has as many as the register, the lowest first. */
int cprec_diversion_set_register(struct cprec_diversion *diversion,
				 const char *name, const uint8_t *bytes,
				 struct cprec_failure *why);

int cprec_diversion_read(struct cprec_diversion *diversion, uint64_t addr,
			 uint64_t length, const struct cprec_memory **out,
			 struct cprec_failure *why);

/* Also where the program may not; CPREC_INPUT where nothing is mapped. */
int cprec_diversion_write(struct cprec_diversion *diversion, uint64_t addr,
			  const uint8_t *bytes, uint64_t length,
			  struct cprec_failure *why);

/* By address, with what was mapped in it. */
int cprec_diversion_each_mapping(
	struct cprec_diversion *diversion,
	int (*visit)(void *context, const struct cprec_mapping *mapping),
	void *context, struct cprec_failure *why);

struct cprec_diversion_run {
	size_t size;
	uint64_t most;			/* instructions; 0: any number */
	const uint64_t *breaks;		/* but not where it begins */
	size_t break_count;

	/* What it prints: to 1, standard output, or 2.  May be NULL. */
	void (*printed)(void *context, uint32_t descriptor,
			const uint8_t *bytes, uint64_t length);
	void *context;
};

enum cprec_diversion_stop {
	CPREC_DIVERSION_STEPPED,	/* `most` instructions */
	CPREC_DIVERSION_AT_BREAK,
	CPREC_DIVERSION_AT_SIGNAL,	/* the kernel would send one */
	CPREC_DIVERSION_EXITED,		/* the thread, or the process */
};

/*
 * `*signal`: CPREC_DIVERSION_AT_SIGNAL.  CPREC_INPUT: it makes a system call that
 * cannot be answered.  CPREC_NOT_FOUND: nobody knows what memory holds that it
 * accesses.  Then it stands before that, or some instructions before.
 */
int cprec_diversion_run(struct cprec_diversion *diversion,
			const struct cprec_diversion_run *run,
			enum cprec_diversion_stop *out, uint32_t *signal,
			struct cprec_failure *why);

/* ------- callers and variables ------- */

struct cprec_frame {
	uint64_t number;	/* 0 is the innermost */
	uint64_t pc, sp;
	uint64_t code;		/* in the instruction that it executes */
	bool is_sure;		/* else it is a guess */
	bool is_signal;		/* the next one is what a signal interrupted */
	bool is_inlined;	/* into the next one */
	const struct cprec_place *place;	/* of `code` */
	bool is_tail_call;	/* it jumped to the one before, and nothing of
				   it is on the stack: registers are those of
				   its caller */
};

/*
 * The frames of the cursor's thread.  `*end` is why they end there, NULL if
 * nobody called the outermost one; `end` may be NULL.
 */
int cprec_each_frame(struct cprec_cursor *cursor,
		     int (*visit)(void *context,
				  const struct cprec_frame *frame),
		     void *context, const char **end,
		     struct cprec_failure *why);

struct cprec_variable {
	const char *name;	/* NULL: it has none */
	const char *type;	/* NULL: not known */
	const char *value;	/* also if it has none: "<optimized out>" */
	bool is_argument;
	bool is_scalar;
	const char *entry;	/* of an argument, what it was when the function
				   was called, if its caller tells; or NULL */
	const char *brief;	/* the value in a few words: "..." for what has
				   parts; of containers, what they are */
};

/*
 * Arguments and local variables of the cursor's frame, those of inner blocks
 * first.  CPREC_NOT_FOUND if no debugging information tells of it.
 */
int cprec_each_variable(struct cprec_cursor *cursor,
			int (*visit)(void *context,
				     const struct cprec_variable *variable),
			void *context, struct cprec_failure *why);

/*
 * What the function at an address has returned, where the cursor's thread
 * stands behind its call, with its turn.  `*out` is NULL if it returns nothing,
 * and has no type if that is not known.
 */
int cprec_find_returned(struct cprec_cursor *cursor, uint64_t function,
			const struct cprec_variable **out,
			struct cprec_failure *why);

/* How a value is to be shown. */
struct cprec_format {
	size_t size;
	char letter;		/* one of "xduotcfsa", as in gdb; 0: by type */
	bool is_raw;		/* bytes are asked for, whatever the type */
	uint64_t length;	/* bytes that are numbers; 0: by the type */
	bool is_value;		/* a number is no address, but itself */
};

struct cprec_value {
	const char *type;	/* "struct node *"; NULL: not known */
	const char *text;	/* "{id = 3, next = 0x0}"; NULL: ... */
	const char *no_text;	/* ... because of this */
	bool has_addr;		/* it is in memory, at: */
	uint64_t addr;
	bool is_code;		/* a function */
	uint64_t length;	/* of its type; 0: not known */
	const uint8_t *bytes;	/* `length` bytes; NULL: not known, or more than
				   CPREC_VALUE_MOST */
	const uint8_t *known;	/* of each, 1 or 0 */
};

#define CPREC_VALUE_MOST (UINT64_C(1) << 20)

/*
 * Evaluates an expression of C, C++ or Rust in the cursor's frame, a symbol
 * ("libc.so.6!environ") or an address: "head->name", "*argv@argc", "$rsp".
 */
int cprec_evaluate(struct cprec_cursor *cursor, const char *expression,
		   const struct cprec_format *format,
		   const struct cprec_value **out, struct cprec_failure *why);

/*
 * What type an expression has, or the name of a type means: "struct node *".
 * With `whole`, members are there, and names of typedefs are resolved, as by
 * gdb's ptype.
 */
int cprec_find_type(struct cprec_cursor *cursor, const char *text, bool whole,
		    const char **out, struct cprec_failure *why);

/*
 * Whether an expression makes sense in the code at `pc`, before a thread comes
 * there: CPREC_INPUT, and which name, member or word does not.  Values are not
 * looked at.
 */
int cprec_check_expression(struct cprec_cursor *cursor, const char *expression,
			   uint64_t pc, struct cprec_failure *why);

/*
 * The memory that an expression means, and how long it is: as `cprec last
 * --addr` takes it.  One that is in no memory is CPREC_INPUT.
 */
int cprec_find_address(struct cprec_cursor *cursor, const char *expression,
		       uint64_t *addr, uint64_t *length,
		       struct cprec_failure *why);

/* Bits of bytes, from the lowest of the first byte on. */
struct cprec_bits {
	uint64_t addr, length;		/* of the bytes */
	uint32_t bit_offset, bit_size;	/* bit_size 0: all of them are meant */
	bool is_signed;
};

/* The same of a bit-field, too. */
int cprec_find_bits(struct cprec_cursor *cursor, const char *expression,
		    struct cprec_bits *out, struct cprec_failure *why);

/* Visits what the beginning of an expression may become. */
int cprec_complete(struct cprec_cursor *cursor, const char *typed,
		   int (*visit)(void *context, const char *text),
		   void *context, struct cprec_failure *why);

/* ------- history ------- */

enum cprec_access_kind {
	CPREC_BY_INSTRUCTION,
	CPREC_BY_KERNEL,	/* in a call, or for a signal */
	CPREC_BY_OTHERS,	/* another process, some time before */
	CPREC_MAPPED,		/* there is other memory from here on, */
	CPREC_UNMAPPED,		/* or none, */
	CPREC_CLEARED,		/* or zeros */
};

struct cprec_access {
	struct cprec_position before, after;
	uint32_t tid;
	enum cprec_access_kind kind;
	bool is_write;
	bool is_change;		/* as far as the bytes are known */
	uint64_t pc;		/* of the instruction, or of the call's */
	const char *by;		/* "read()", "signal 11"; NULL: itself, or
				   CPREC_BY_OTHERS */
	uint64_t addr, length;	/* the part of what was asked for */
	/* NULL: more than can be told. */
	const uint8_t *old_bytes, *old_known, *new_bytes, *new_known;
	const struct cprec_place *place;	/* of `pc` */
};

struct cprec_accesses {
	size_t size;
	uint64_t addr, length;		/* of memory; at least 1 byte */
	bool reads, writes;		/* neither: writes */
	bool changes;			/* only those that change bytes */
	bool last;			/* only the last one */
	bool has_value;			/* only those that leave, or find: */
	uint64_t value;
	uint64_t limit;			/* no more than the first so many; 0 */
	bool has_from, has_to;
	struct cprec_position from, to;	/* else the start, and the end */

	/* Places are named then; other questions are CPREC_BUSY. */
	int (*visit)(void *context, const struct cprec_access *access);
	void *context;
	uint32_t tid;			/* only what this thread does; 0: any */

	/* Bits of the memory: only writes that change them are told, with all
	 * of the memory.  0: no bits are meant. */
	uint32_t bit_offset, bit_size;
};

/* Oldest first.  That there is none is no error. */
int cprec_each_access(struct cprec_recording *recording,
		      const struct cprec_accesses *question,
		      struct cprec_failure *why);

struct cprec_register_write {
	struct cprec_position before;
	uint32_t tid;
	uint64_t pc;
	const char *by;		/* "read()", "signal 11"; NULL: itself */
	const char *name;
	uint32_t length;
	const uint8_t *old_bytes, *new_bytes;
	const struct cprec_place *place;	/* of `pc` */
};

/*
 * What wrote a register of the cursor's thread last, before its position.
 * `*out` is NULL if nothing did since the thread began.
 */
int cprec_find_register_write(struct cprec_cursor *cursor, const char *name,
			      const struct cprec_register_write **out,
			      struct cprec_failure *why);

/* ------- conditions ------- */

/* A condition was false, or not known, right before, and is true now. */
struct cprec_became {
	struct cprec_position at;	/* where it is true */
	struct cprec_position old_at;	/* where it was not, if `has_old` */
	bool has_old;
	bool is_place;		/* control came to `pc`; else that wrote, or: */
	const char *by;		/* "read()", "signal 11"; NULL */
	uint32_t tid;
	uint64_t pc;
	const struct cprec_place *place;	/* of `pc` */
};

struct cprec_condition {
	size_t size;
	const char *text;		/* "counter > 5 && head != 0" */
	const char *where;		/* the code in which it is asked, as in
					   cprec_each_place(); NULL: where its
					   variables are, or everywhere */
	uint32_t tid;			/* 0: whatever any thread does */
	bool last;			/* only the last time */
	bool has_from, has_to;
	struct cprec_position from, to;
	uint64_t limit;			/* the first so many; 0: all */

	/* All may be asked, but for calls, visits and conditions. */
	int (*met)(void *context, const struct cprec_became *met);
	void *context;
};

/*
 * Finds when a condition became true.  `*was_true`, which may be NULL: it was
 * at the beginning.  CPREC_NOT_FOUND: it was never known.
 */
int cprec_each_condition(struct cprec_recording *recording,
			 const struct cprec_condition *question,
			 bool *was_true, struct cprec_failure *why);

/* ------- calls of functions ------- */

enum cprec_call_end {
	CPREC_CALL_RUNS,	/* it is not over at the end of the question */
	CPREC_CALL_RETURNED,
	CPREC_CALL_LEFT,	/* by longjmp() or an exception */
	CPREC_CALL_THREAD_ENDED,
	CPREC_CALL_PROCESS_ENDED,
	CPREC_CALL_REPLACED,	/* another program was executed */
};

struct cprec_call {
	uint64_t number;	/* from 0, in the order in which they begin */
	const char *function;	/* "Server::serve(int)" */
	const char *linkage_name;
	const char *module;	/* "libz.so.1" */
	bool is_program;	/* of the program itself */
	struct cprec_position at;
	uint32_t tid;
	uint64_t pc, sp;	/* of the first instruction, there */
	uint64_t caller;	/* in the instruction that calls, or jumps */
	bool is_jump;
	uint32_t depth;		/* in how many of the others it is */
	bool has_arguments;	/* else they were not asked for */
	const struct cprec_variable *const *arguments;
	size_t argument_count;

	/* When it is over: */
	enum cprec_call_end end;
	struct cprec_position ended;	/* unless it was left */
	bool has_instructions;
	uint64_t instructions;
	const struct cprec_variable *returned;	/* NULL: nothing */
};

struct cprec_call_count {
	const char *function, *linkage_name, *module;
	bool is_program;
	uint64_t calls;		/* that are over */
	uint64_t instructions;	/* in them */
};

struct cprec_calls {
	size_t size;
	const char *const *patterns;	/* as in cprec_each_symbol() */
	size_t pattern_count;
	uint32_t tid;			/* 0: all threads */
	bool has_from, has_to;
	struct cprec_position from, to;
	bool has_depth_most;
	uint64_t depth_most;
	uint64_t limit;			/* 0: none */
	bool no_values;			/* neither arguments nor results */

	/*
	 * May be NULL.  The cursor is where a call begins, and where it has
	 * returned: what is asked of that place costs no replay.  All else may
	 * be asked, too, but for calls, visits and conditions.  Of a call that ended
	 * otherwise, it is NULL.
	 */
	int (*begins)(void *context, const struct cprec_call *call,
		      struct cprec_cursor *cursor);
	int (*ends)(void *context, const struct cprec_call *call,
		    struct cprec_cursor *cursor);

	/* Told of each function, in the end. */
	int (*counts)(void *context, const struct cprec_call_count *count);
	void *context;
};

/* CPREC_NOT_FOUND: no function is called so. */
int cprec_each_call(struct cprec_recording *recording,
		    const struct cprec_calls *question,
		    struct cprec_failure *why);

/* ------- each time that code was executed ------- */

struct cprec_met {
	size_t point;		/* its index */
	struct cprec_position at;
	uint32_t tid;
	const char *function;	/* NULL: no function is meant */
};

struct cprec_log {
	size_t size;
	const char *const *points;	/* as in cprec_each_place() */
	size_t point_count;
	uint32_t tid;			/* 0: all threads */
	bool has_from, has_to;
	struct cprec_position from, to;

	/*
	 * The cursor is there, in the frame of the function that is meant; as in
	 * `struct cprec_calls`.
	 */
	int (*met)(void *context, const struct cprec_met *met,
		   struct cprec_cursor *cursor);
	void *context;

	/*
	 * Expressions that will be asked at all points: one that can never have a
	 * value at any of them is CPREC_INPUT, before any visit.
	 */
	const char *const *expressions;
	size_t expression_count;
};

int cprec_each_visit(struct cprec_recording *recording,
		     const struct cprec_log *question,
		     struct cprec_failure *why);

/* ------- system calls and signals ------- */

enum cprec_event_kind {
	CPREC_CALL_BEGINS,
	CPREC_CALL_ENDS,
	CPREC_SIGNAL,
	CPREC_THREAD_ENDS,
};

struct cprec_event {
	enum cprec_event_kind kind;
	struct cprec_position at;
	struct cprec_position began;	/* CPREC_CALL_ENDS */
	uint32_t tid;
	uint64_t number;	/* of the call or signal */
	const char *name;	/* "openat", "SIGSEGV" */
	uint64_t args[6];	/* of a call */
	const char *const *arguments;	/* the same as texts, as strace(1) has
				   them; of a call that begins, NULL where they
				   are not known yet */
	size_t argument_count;
	int64_t result;		/* CPREC_CALL_ENDS; CPREC_THREAD_ENDS: a status,
				   or minus a signal */
	const char *result_text;	/* "-1 ENOENT (No such ...)"; NULL */
	const char *error;	/* "ENOENT"; NULL: none */
	const char *text;	/* all of it: "close(3) = 0"; of a signal
				   "{si_signo=SIGSEGV, ...}" */
};

struct cprec_events {
	size_t size;
	uint32_t tid;			/* 0: all threads */
	bool has_from, has_to;
	struct cprec_position from, to;
	uint32_t string_most;		/* characters of strings; 0: 32 */
	bool begins;			/* also CPREC_CALL_BEGINS */

	/* Other questions are CPREC_BUSY, but for names of places. */
	int (*visit)(void *context, const struct cprec_event *event);
	void *context;
};

int cprec_each_event(struct cprec_recording *recording,
		     const struct cprec_events *question,
		     struct cprec_failure *why);

/* ------- what the program printed ------- */

struct cprec_output {
	struct cprec_position at;	/* it has been written */
	uint32_t tid;
	uint32_t descriptor;		/* 1 or 2 */
	uint64_t addr, length;		/* what was written */
	const char *text;		/* `length` bytes; '?' if unknown */
};

/* Other questions may be asked. */
int cprec_each_output(struct cprec_recording *recording,
		      int (*visit)(void *context,
				   const struct cprec_output *output),
		      void *context, struct cprec_failure *why);

#ifdef __cplusplus
}
#endif

#endif
