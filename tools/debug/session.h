/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - what the commands of a debugger's prompt work on
 *
 * A session stands somewhere: at a position, in a thread, and in one of its
 * frames.  A function that was inlined and begins right there has not been
 * entered yet, for the user: it is hidden, and the frame is that of its caller.
 *
 * Ownership:  the session's, until it ends.
 * Errors:     those of library/cprec.h; `why` is never NULL.
 */
#ifndef CPREC_TOOLS_DEBUG_SESSION_H
#define CPREC_TOOLS_DEBUG_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "library/cprec.h"

/* ------- where it stands ------- */

#define INLINED_MOST 16u

/* What tells one activation of a function from others. */
struct frame_id {
	uint64_t base;		/* 0: nobody called it */
	uint64_t function;	/* where its code begins */
	unsigned depth;		/* of inlined functions in it */
	uint64_t inlined;	/* where that of the innermost one begins */
};

/* Names last until the library is asked for another recording. */
struct spot {
	uint64_t pc;
	struct cprec_line line;
	struct {
		uint64_t start;
		const char *file;	/* where it is called */
		uint32_t line;
	} inlined[INLINED_MOST];	/* the innermost first */
	unsigned inlined_count;
	unsigned beginning;	/* so many of the innermost begin here */
};

/* ------- points ------- */

enum point_kind {
	POINT_BREAK,
	POINT_WATCH,
	POINT_SYSCALL,
	POINT_SIGNAL,
};

struct point {
	unsigned number;
	enum point_kind kind;
	bool is_temporary, is_off;
	char *where;		/* as it was typed: "main", "rwatch total" */
	char *condition;	/* NULL: none */
	char *problem;		/* with it, as that was told last; NULL */
	uint32_t tid;		/* only this thread stops; 0: all */
	uint64_t ignored;	/* so many more times it does not stop */
	uint64_t hits;
	bool is_function;	/* `where` names one */
	uint64_t *places;	/* POINT_BREAK */
	size_t place_count;
	bool *lacks;		/* of each place: the condition means nothing
				   there; NULL: it does everywhere */
	struct cprec_watch watch;	/* POINT_WATCH */
	char *shown;		/* an expression for what it watches */
	char *last_bytes, *last_value;	/* of that */
};

/* ------- stops ------- */

enum stop_kind {
	STOP_STEPPED,
	STOP_MOVED,		/* to a position */
	STOP_AT_POINT,
	STOP_AT_SIGNAL,
	STOP_AT_START,
	STOP_AT_END,
	STOP_INTERRUPTED,
};

struct stop {
	enum stop_kind kind;
	struct point *point;
	uint32_t signal;
	struct cprec_stop how;	/* of the library */
	char *old_value, *new_value;	/* of a watch */
	char *event;		/* of a call that is caught */
	char *returned;		/* by the function that was left */
	char *problem;		/* with the condition of the point */
};

struct display {
	unsigned number;
	char *command;		/* "print/x total" */
};

struct session {
	struct cprec_recording *recording;
	int address_digits;	/* that its addresses are shown with */
	struct cprec_cursor *cursor;
	const char *path;
	struct cprec_position start, end;
	uint32_t tid;		/* of the thread */
	uint64_t frame;		/* of those that are shown */
	unsigned hidden;	/* inlined functions that were not entered */
	bool at_signal;		/* one is about to be delivered */
	bool at_call, at_return;	/* ... a call was caught here */

	struct point **points;
	size_t point_count, point_room;
	unsigned next_point;
	uint64_t passed[3];	/* signals that stop nobody */

	struct display *displays;
	size_t display_count, display_room;
	unsigned next_display;

	struct cprec_position *visited;	/* places where it stopped */
	size_t visited_count, visited_room, visited_at;

	char *listed_file;	/* what `list` shows next */
	char *listed_directory;
	uint32_t listed_line, listed_first;
	uint64_t examined;	/* what `x` shows next, */
	char examined_letter;	/* ... and how */
	unsigned examined_unit;
	char *looked_for;	/* by `last` */
	char *looked_shown;	/* an expression for its value; NULL */
	struct cprec_bits looked;	/* where it is */

	char *again;		/* what an empty line does */
	bool is_batch, has_color, is_terminal;
	bool is_over;
	int status;
	unsigned depth;		/* of files of commands */
};

/* One command; what `run` gets is behind its name, without blanks. */
struct verb {
	const char *name;
	const char *others;	/* short forms, with blanks between; NULL */
	int (*run)(struct session *session, const char *args,
		   struct cprec_failure *why);
	const char *arguments;	/* NULL: none */
	const char *summary;
	enum { REPEATS_NOT, REPEATS, REPEATS_BARE } repeats;
	enum { TAKES_WORDS, TAKES_EXPRESSION, TAKES_PLACE, TAKES_TIME,
	       TAKES_FILE, TAKES_TOPIC, TAKES_VERB, TAKES_SIGNAL,
	       TAKES_CAUGHT } takes;
};

/* ------- verbs.c ------- */

extern const struct verb verbs[];	/* NULL names end it */

/* What a word means; CPREC_INPUT if nothing, or several. */
int verb_find(const char *word, size_t length, const struct verb **out,
	      struct cprec_failure *why);

/* Carries out a line. */
int session_do(struct session *session, const char *line,
	       struct cprec_failure *why);

/* Says what went wrong, in `why`; returns CPREC_INPUT. */
int wrong(struct cprec_failure *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The same, of memory; returns CPREC_NO_MEMORY. */
int no_memory(struct cprec_failure *why);

/* A number, or `otherwise` if there is none; CPREC_INPUT. */
int take_count(const char *args, uint64_t otherwise, uint64_t *out,
	       struct cprec_failure *why);

/* A word; `*args` is behind it and the blanks.  NULL without memory. */
char *take_word(const char **args);

/* The same of all that is left. */
bool is_word(const char *args, const char *word);

/* ------- plain.c ------- */

/* Carries out a file of commands. */
int session_read(struct session *session, const char *path,
		 struct cprec_failure *why);

/* ------- edit.c ------- */

struct editor;

struct editor *editor_begin(struct session *session);

/* The next line, without its end; NULL: there is no more. */
const char *editor_line(struct editor *editor);
void editor_end(struct editor *editor);

/* ------- complete.c ------- */

/* What the beginning of a line may become. */
struct completions {
	char **list;
	size_t count, room;
	char *common;		/* what all begin with */
	bool is_whole;		/* behind a single one is a blank */
};

/* `*from` is the part of the line that they are for. */
void completions_find(struct session *session, const char *typed,
		     const char **from, struct completions *all);
void completions_release(struct completions *all);

/* ------- spots.c ------- */

/* The instruction that the cursor's thread executes next. */
int find_pc(struct cprec_cursor *cursor, uint64_t *out,
	    struct cprec_failure *why);

/* The innermost frame's, whichever is meant. */
int spot_find(struct session *session, struct spot *out,
	      struct cprec_failure *why);

/* Of the innermost frame: where nothing is hidden, and with `hidden`. */
int frame_find(struct session *session, const struct spot *spot,
	       struct frame_id *out, struct cprec_failure *why);
void frame_hide(struct frame_id *frame, const struct spot *spot,
		unsigned hidden);
bool frame_is(const struct frame_id *one, const struct frame_id *other);

/* Without what is inlined. */
bool frame_is_stack(const struct frame_id *one, const struct frame_id *other);

/* Who called a frame, and where that goes on. */
struct caller {
	struct frame_id frame;	/* `base` is 0 if it is not known */
	uint64_t pc;
	bool is_known;
	bool is_signal;		/* of the frame: its caller is what a signal
				   interrupted */
};

/* Of the frame with this number, the hidden ones counted. */
int caller_find(struct session *session, uint64_t number, struct caller *out,
		struct cprec_failure *why);

/* What begins here and was not entered is hidden, unless somebody wants to stop
 * right there. */
int session_hide(struct session *session, struct cprec_failure *why);

/* The cursor means this thread, and its frame. */
int session_select(struct session *session, uint32_t tid, uint64_t frame,
		   struct cprec_failure *why);

/* ------- points.c ------- */

/* Takes over what `made` has. */
int point_add(struct session *session, const struct point *made,
	      struct point **out, struct cprec_failure *why);
bool point_has(const struct point *point, uint64_t pc);

/* Whether the function that the point is set on may be called so. */
bool point_means(const struct point *point, const char *function);
void point_delete(struct session *session, struct point *point);
void points_forget(struct session *session);

/* What all watches have now is remembered. */
int points_look(struct session *session, struct cprec_failure *why);

/* What a watch has now: all of it, as digits, and as a value.  NULL: it cannot
 * be told. */
char *watch_bytes(struct session *session, const struct point *point);
char *watch_value(struct session *session, const struct point *point);

/* An expression for a value wherever the program is: by its type and address.
 * NULL: there is none. */
char *shown_by(const struct cprec_value *value);

/* The number that a bit-field is; NULL: not known.  free() it. */
char *bits_text(const struct cprec_bits *bits, const uint8_t *bytes,
		const uint8_t *known);

/*
 * What a part of memory is where the cursor stands: a bit-field, if `what` is one,
 * which may be NULL; or what the expression says.  NULL: it cannot be told.
 */
char *shown_value(struct cprec_cursor *cursor, const struct cprec_bits *what,
		  const char *shown);

/* "SIGUSR1"; "signal 34" of one without a name. */
#define SIGNAL_TEXT 32
const char *signal_name(char text[SIGNAL_TEXT], uint32_t signal);

/* Whether any system calls are caught. */
bool catches_calls(const struct session *session);

/* Where the next call is that is caught, or the last one before; no further
 * than a limit, which may be NULL. */
struct catching {
	bool is_found, is_return;
	struct cprec_position at;
	struct point *point;
	char *text;		/* free() it */
};
int catch_next(struct session *session, bool backwards,
	       const struct cprec_position *limit, struct catching *out,
	       struct cprec_failure *why);

/* Whether the thread is one that stops, and the condition is true where the cursor
 * is: 1, 0, or less.
 * One that cannot be told is true: that is a place to look, as in gdb.  `*problem` is
 * why, or NULL; it may be NULL. */
int point_is_met(struct cprec_cursor *cursor, const struct point *point,
		 char **problem);

int do_break(struct session *, const char *, struct cprec_failure *);
int do_tbreak(struct session *, const char *, struct cprec_failure *);
int do_watch(struct session *, const char *, struct cprec_failure *);
int do_rwatch(struct session *, const char *, struct cprec_failure *);
int do_awatch(struct session *, const char *, struct cprec_failure *);
int do_catch(struct session *, const char *, struct cprec_failure *);
int do_delete(struct session *, const char *, struct cprec_failure *);
int do_enable(struct session *, const char *, struct cprec_failure *);
int do_disable(struct session *, const char *, struct cprec_failure *);
int do_condition(struct session *, const char *, struct cprec_failure *);
int do_ignore(struct session *, const char *, struct cprec_failure *);
int do_handle(struct session *, const char *, struct cprec_failure *);
int info_breakpoints(struct session *, const char *, struct cprec_failure *);
int info_signals(struct session *, const char *, struct cprec_failure *);

/* The places that a text means, as breakpoints are set; free() them.
 * `*is_function`, which may be NULL: it names one. */
int find_places(struct session *session, const char *where, uint64_t **out,
		size_t *count, bool *is_function, struct cprec_failure *why);

/* Whether an expression makes sense in the frame that is looked at. */
int check_here(struct session *session, const char *expression,
	       struct cprec_failure *why);

/* "26" is a line of the file that is looked at: "list.c:26"; free() it. */
int whole_place(struct session *session, const char *where, char **out,
		struct cprec_failure *why);

/* ------- resume.c ------- */

/* Where a step ends, besides: `base` 0 means any frame. */
struct resume_break {
	bool is_set;
	uint64_t pc, base;
};

/*
 * Runs until something happens.  `*reached`: it is at the break, which is the
 * thread's alone.
 */
int run_until(struct session *session, bool backwards,
	      const struct resume_break *own, struct stop *stop, bool *reached,
	      struct cprec_failure *why);

/*
 * One instruction of the thread, or those as long as it is in a range.
 * `*happened`: something else has stopped it.
 */
int walk_on(struct session *session, bool backwards, uint64_t start,
	    uint64_t end, struct stop *stop, bool *happened,
	    struct cprec_failure *why);

void stop_release(struct stop *stop);

/* ------- steps.c ------- */

struct step_kind {
	bool backwards;
	bool over_calls;
	bool one;		/* an instruction, not a line */
	bool until;		/* no line before it in the function */
	bool out;		/* to what called; not what led there */
};

int step_once(struct session *session, const struct step_kind *kind,
	      struct stop *stop, struct cprec_failure *why);

/* Runs until the frame is left, forwards; or back to before it was called. */
int step_out(struct session *session, struct stop *stop, bool *reached,
	     struct cprec_failure *why);
int step_back_out(struct session *session, struct stop *stop,
		  struct cprec_failure *why);

/* ------- moves.c ------- */

int do_step(struct session *, const char *, struct cprec_failure *);
int do_next(struct session *, const char *, struct cprec_failure *);
int do_stepi(struct session *, const char *, struct cprec_failure *);
int do_nexti(struct session *, const char *, struct cprec_failure *);
int do_finish(struct session *, const char *, struct cprec_failure *);
int do_continue(struct session *, const char *, struct cprec_failure *);
int do_run(struct session *, const char *, struct cprec_failure *);
int do_until(struct session *, const char *, struct cprec_failure *);
int do_advance(struct session *, const char *, struct cprec_failure *);
int do_reverse_step(struct session *, const char *, struct cprec_failure *);
int do_reverse_next(struct session *, const char *, struct cprec_failure *);
int do_reverse_stepi(struct session *, const char *, struct cprec_failure *);
int do_reverse_nexti(struct session *, const char *, struct cprec_failure *);
int do_reverse_finish(struct session *, const char *, struct cprec_failure *);
int do_reverse_continue(struct session *, const char *,
			struct cprec_failure *);

/* ------- stops.c ------- */

/* It has moved, and stands where `stop` says: what is shown of that. */
int session_stopped(struct session *session, struct stop *stop,
		    bool shows_frame, struct cprec_failure *why);

/* "[5000 (12.5%) thread 71 main list.c:26]" */
int show_status(struct session *session, struct cprec_failure *why);

/* What is in color, if there is any. */
enum tint { TINT_NONE, TINT_NUMBER, TINT_NAME, TINT_FILE, TINT_DIM };
void tint(const struct session *session, enum tint tint);

/* ------- travel.c ------- */

/* The cursor is in another place: whoever has the turn there is looked at. */
int session_arrive(struct session *session, struct cprec_failure *why);
int session_visit(struct session *session, struct cprec_failure *why);

/* Where 'main' begins; at the start, which is `*found`, if there is none. */
int go_to_main(struct session *session, bool *found,
	       struct cprec_failure *why);
int do_goto(struct session *, const char *, struct cprec_failure *);
int do_by(struct session *, const char *, struct cprec_failure *);
int do_back(struct session *, const char *, struct cprec_failure *);
int do_forward(struct session *, const char *, struct cprec_failure *);
int do_when(struct session *, const char *, struct cprec_failure *);
int do_last(struct session *, const char *, struct cprec_failure *);

/* ------- bookmarks.c ------- */

int do_bookmark(struct session *, const char *, struct cprec_failure *);
int do_bookmarks(struct session *, const char *, struct cprec_failure *);
int delete_bookmark(struct session *, const char *, struct cprec_failure *);

/* ------- frames.c ------- */

/* What is shown of a frame; names last as those of spots. */
struct shown_frame {
	uint64_t number, pc, code, sp;
	char function[1024];
	const char *file, *directory, *module;
	uint32_t line;
	bool is_sure, is_signal, is_inlined, is_tail_call;
	bool in_call;		/* of what is inlined into it */
};

/* The one that is meant. */
int find_frame(struct session *session, struct shown_frame *out,
	       struct cprec_failure *why);

int do_backtrace(struct session *, const char *, struct cprec_failure *);
int do_frame(struct session *, const char *, struct cprec_failure *);
int do_up(struct session *, const char *, struct cprec_failure *);
int do_down(struct session *, const char *, struct cprec_failure *);
int info_frame(struct session *, const char *, struct cprec_failure *);
int info_locals(struct session *, const char *, struct cprec_failure *);
int info_args(struct session *, const char *, struct cprec_failure *);

/* The frame, as a line; and its source line. */
int show_frame(struct session *session, bool has_number,
	       struct cprec_failure *why);
int show_source_line(struct session *session, struct cprec_failure *why);

/* ------- values.c ------- */

int do_print(struct session *, const char *, struct cprec_failure *);
int do_whatis(struct session *, const char *, struct cprec_failure *);
int do_ptype(struct session *, const char *, struct cprec_failure *);
int do_examine(struct session *, const char *, struct cprec_failure *);
int do_display(struct session *, const char *, struct cprec_failure *);
int do_undisplay(struct session *, const char *, struct cprec_failure *);
int do_registers(struct session *, const char *, struct cprec_failure *);
int show_displays(struct session *session, struct cprec_failure *why);

/* An address that an expression means, or has as its value. */
int find_address(struct session *session, const char *expression,
		 uint64_t *out, struct cprec_failure *why);

/* ------- sources.c ------- */

int do_list(struct session *, const char *, struct cprec_failure *);
int do_disassemble(struct session *, const char *, struct cprec_failure *);

/* One line; CPREC_NOT_FOUND if there is none. */
int find_source_line(struct session *session, const char *file,
		     const char *directory, uint32_t line, const char **out,
		     size_t *length, struct cprec_failure *why);

/* ------- asks.c ------- */

int do_info(struct session *, const char *, struct cprec_failure *);

/* The names behind 'info'; NULL: no more. */
const char *topic_name(size_t number);
int do_thread(struct session *, const char *, struct cprec_failure *);
int do_threads(struct session *, const char *, struct cprec_failure *);
int do_process(struct session *, const char *, struct cprec_failure *);
int do_processes(struct session *, const char *, struct cprec_failure *);
int do_maps(struct session *, const char *, struct cprec_failure *);
int do_output(struct session *, const char *, struct cprec_failure *);
int do_calls(struct session *, const char *, struct cprec_failure *);
int do_log(struct session *, const char *, struct cprec_failure *);
int do_strace(struct session *, const char *, struct cprec_failure *);

/* A question about all of the recording is over; `rc` is what became of it. */
int ask_end(struct session *session, int rc, struct cprec_failure *why);

/* ------- info.c ------- */

int info_line(struct session *, const char *, struct cprec_failure *);
int info_source(struct session *, const char *, struct cprec_failure *);
int info_symbol(struct session *, const char *, struct cprec_failure *);

/* ------- history.c ------- */

int do_history(struct session *, const char *, struct cprec_failure *);

/* ------- progress of searches: search.c ------- */

/*
 * A question begins that may take long: Ctrl-C cancels it, and a terminal shows
 * how far it is.  search_end() tells whether it was cancelled.
 */
void search_begin(struct session *session, bool backwards);
bool search_end(struct session *session);

/* An answer is printed already: the terminal is for that. */
void search_speaks(void);

/* Where Ctrl-C is to be heard at all. */
void search_listen(struct cprec_recording *recording);

#endif
