/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * server_internal.h - a debugger's connection, for the files that make it up
 *
 * server.c takes requests and has the table of them; resume.c runs and tells
 * why it stopped; state.c tells of threads, registers and memory; points.c
 * keeps breakpoints, codes.c their conditions and commands; diversions.c changes
 * what may be changed; commands.c has those of "monitor", and plans.c where they
 * lead; objects.c and files.c are what a debugger reads as files, file_names.c
 * finds which, and made_files.c makes some.
 */
#ifndef CPREC_DEBUGGER_SERVER_INTERNAL_H
#define CPREC_DEBUGGER_SERVER_INTERNAL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/agent.h"
#include "debugger/copies.h"
#include "debugger/text.h"
#include "library/cprec.h"

struct server_options;
struct target;
struct wire;

/* Threads that a client may mean. */
#define ANY_THREAD 0u
#define ALL_THREADS UINT32_MAX

/* Why the program stands where it does. */
enum stop_why {
	STOPPED_PLAIN,		/* a step is done, or nothing has run */
	STOPPED_MOVED,		/* a plan led there, */
	STOPPED_ELSEWHERE,	/* to another program, with other libraries */
	STOPPED_BREAK,
	STOPPED_WATCH,
	STOPPED_SIGNAL,
	STOPPED_AT_START,	/* of the recording: it goes no further */
	STOPPED_AT_END,
	STOPPED_BY_USER,
	STOPPED_AT_CALL,	/* of the kernel, */
	STOPPED_AT_RETURN,	/* and behind it */
	STOPPED_AT_EXEC,	/* another program comes */
	STOPPED_AT_FORK,
	STOPPED_AT_VFORK,
	STOPPED_VFORK_DONE,
};

struct stop_told {
	enum stop_why why;
	uint32_t tid;
	uint32_t signal;	/* of Linux */
	uint64_t addr;		/* STOPPED_WATCH */
	unsigned watch;		/* STOPPED_WATCH: 2 write, 3 read, 4 access */
	uint64_t call;		/* STOPPED_AT_CALL, STOPPED_AT_RETURN */
	uint32_t child;		/* STOPPED_AT_FORK, STOPPED_AT_VFORK */
};

/* Bytes of one watchpoint, and of what a plan follows. */
#define WATCHED_MOST (UINT64_C(1) << 32)

struct watchpoint {
	unsigned type;		/* 2 write, 3 read, 4 access */
	uint64_t addr, length;
};

/* Agent expressions. */
struct code_list {
	struct agent_code *codes;
	size_t count;
};

/* What belongs to a breakpoint. */
struct break_codes {
	uint64_t type;
	struct code_list conditions;	/* one of them is true; or none */
	struct code_list commands;	/* then it prints, and stops nobody */
};

/* What was printed on a way back. */
struct heard {
	struct heard_part {
		struct heard_part *next;
		struct cprec_position at;
		size_t size;
		char bytes[];
	} *last;
	size_t count, size;
	bool is_short;
};

/* Registers that a debugger may know. */
#define REGISTERS_MOST 96

/* Values of registers, in the order of debuggers. */
struct values {
	struct {
		bool is_known;
		uint8_t bytes[16];
	} list[REGISTERS_MOST];
};

/* What a debugger has changed. */
struct diverted {
	struct cprec_diversion *diversion;	/* NULL: nothing */
	uint32_t tid;
	struct stop_told stop;	/* why it stood where it began */
	struct values before;	/* registers, there */
	bool has_run, has_written;
	bool has_failed;	/* it lacks something: nothing is asked of it
				   once registers are what they were */
};

/*
 * A debugger that is moved by its user's command knows nothing of it.  When it
 * steps back, it expects to find another place, can be interrupted, and tells
 * its front ends.  So a command makes a plan, and the next run backwards, of
 * whatever kind, goes there.
 */
enum plan_kind {
	PLAN_NONE,
	PLAN_GOTO,
	PLAN_LAST,		/* to what changed memory last */
	PLAN_REGISTER,		/* ... or a register */
};

struct plan {
	enum plan_kind kind;
	char at[100];		/* PLAN_GOTO; PLAN_LAST: before; "": here */
	char name[16];		/* PLAN_REGISTER */
	uint64_t addr, length;	/* PLAN_LAST */
	uint32_t bit_offset, bit_size;	/* ... of it, if not 0 */

	/* What was found the last time. */
	struct cprec_failure why;	/* nothing, because of this; or "" */
	bool is_interrupted;
	char *found;		/* lines about a change; NULL: none */
	struct copy_source source;
};

/* What is told next where it stands, if it goes on in this direction. */
struct told_next {
	bool is_there, backwards;
	struct cprec_position at;
	struct stop_told stop;
};

struct server {
	struct cprec_recording *recording;
	struct cprec_cursor *cursor;
	const struct target *target;
	uint8_t places[128];	/* of cprec.h's registers in it, and 1 */
	struct wire *wire;
	atomic_bool interrupted;
	_Atomic uint64_t interrupted_at;	/* milliseconds; 0: not */
	atomic_bool is_gone;	/* the client is: nothing runs any more */
	bool is_over;

	bool has_crash;
	struct cprec_crash crash;	/* how a signal ended the program */
	bool tells_execs, tells_forks, tells_vforks;	/* it understands them */

	uint32_t pid;
	bool means_other;	/* "Hg": another process, which is not here */
	uint32_t general;	/* thread of registers and memory: "Hg" */
	uint32_t meant;		/* by state_thread() */
	uint32_t resumed;	/* of runs: "Hc" */
	uint32_t stepping;	/* that is thought to step */
	struct stop_told stop;
	struct told_next next;

	struct plan plan;
	bool knows_failures;	/* the debugger does, of commands */

	bool no_diversion;
	struct diverted diverted;

	bool is_physical;	/* addresses of a machine are */
	uint32_t numbers[REGISTERS_MOST];	/* of registers: cprec.h's */
	size_t pc_number;

	uint64_t *breaks;	/* addresses; some may be there twice */
	struct break_codes *break_codes;	/* of each */
	size_t break_count, break_room;
	struct heard *heard;	/* while it goes back; else NULL */
	bool was_in_line;	/* what ran last were steps of a line, */
	bool is_in_line;	/* and what runs now may belong to it */
	struct watchpoint *watches;
	size_t watch_count, watch_room;
	bool catches;		/* system calls: these, or all if there is none */
	uint64_t *caught;
	size_t caught_count;
	bool in_vfork;		/* it was told so, and that alone */
	uint64_t passed[2];	/* signals, by their numbers, that stop nobody */

	struct text auxv;	/* of the program that began at `auxv_at` */
	struct cprec_position auxv_at;

	size_t args_size;	/* of the request under way, without its name */
	struct text reply;
	struct text object;	/* that was read last, */
	char object_name[128];	/* and its name */
	struct open_file *files;	/* that it has open, by their numbers */
	size_t file_count;
	struct library_name *library_names;	/* of the list told last */
	void (*note)(const char *text);
	const struct server_options *options;
};

/* ------- server.c ------- */

/* Time has moved to another place: who is there is what has stopped. */
int server_stand(struct server *server, struct cprec_failure *why);

/* What runs next can be interrupted again. */
void server_ready(struct server *server);

/* Asked once, before something runs: it is not to. */
bool server_is_interrupted(struct server *server);

/* Goes to where main() is about to begin; if there is none, to the start. */
int server_find_main(struct server *server, struct cprec_failure *why);

/* ------- replies ------- */

void reply(struct server *server, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A request that was not understood. */
void reply_nonsense(struct server *server);

/* The debugger's user sees it, while something runs. */
void tell_user(struct server *server, const char *bytes, size_t size);
void tell_line(struct server *server, const char *words);

/* Sends what the program prints to where it is to appear. */
void tell_printed(struct server *server, const char *bytes, size_t size);

/* What a question failed with. */
void reply_failure(struct server *server, const struct cprec_failure *why);

/* ------- state.c ------- */

/*
 * Means a thread: 0 if it is there.  ANY_THREAD and ALL_THREADS: the one that
 * stopped.
 */
int state_thread(struct server *server, uint32_t tid,
		 struct cprec_failure *why);

/* The thread whose registers and memory are asked for. */
uint32_t state_general(const struct server *server);

/*
 * Until state_return(), all is asked of another position, as it was recorded.
 */
struct elsewhere {
	struct cprec_cursor *cursor;
	struct cprec_diversion *diversion;
};
int state_visit(struct server *server, struct cprec_position at,
		struct elsewhere *out, struct cprec_failure *why);
void state_return(struct server *server, const struct elsewhere *from);

/* What is mapped. */
int state_each_mapping(struct server *server,
		       int (*visit)(void *context,
				    const struct cprec_mapping *mapping),
		       void *context);

/* Registers of the thread that is meant. */
int state_values(struct server *server, struct values *out,
		 struct cprec_failure *why);

/* Whether a register, by the debuggers' name, is the same; NULL: all. */
bool values_are_same(const struct target *target, const struct values *a,
		     const struct values *b, const char *name);

/* Reads a register of the thread that is meant, of at most 8 bytes. */
int state_register(struct server *server, const char *name, uint64_t *out,
		   struct cprec_failure *why);

/* The same where the cursor is, by the debugger's number. */
int state_number(struct server *server, size_t number, uint64_t *out,
		 struct cprec_failure *why);

/* Which of the recording's registers are the debugger's. */
int state_find_registers(struct server *server, struct cprec_failure *why);

/* All of `size` bytes; false if any is not known. */
bool state_read(struct server *server, uint64_t addr, void *out, size_t size);

/* The name of a file; false also if it is longer. */
#define PATH_LONGEST 4096
bool state_path(struct server *server, uint64_t addr, char out[PATH_LONGEST]);

/* "p1.2", "2" or "-1" */
bool state_parse_thread(struct server *server, const char **text,
			uint32_t *tid);

/* The same, and whether it is of another process. */
bool state_parse_process(struct server *server, const char **text,
			 uint32_t *tid, bool *is_other);

void state_add_expedited(struct server *server, struct text *out);

void on_all_registers(struct server *server, const char *args);
void on_register(struct server *server, const char *args);
void on_memory(struct server *server, const char *args);
void on_memory_bytes(struct server *server, const char *args);
void on_choose_thread(struct server *server, const char *args);
void on_thread_alive(struct server *server, const char *args);
void on_current_thread(struct server *server, const char *args);
void on_first_threads(struct server *server, const char *args);
void on_more_threads(struct server *server, const char *args);
void on_thread_info(struct server *server, const char *args);
void on_search(struct server *server, const char *args);

/* ------- diversions.c ------- */

/* Whether what has been changed is what is to run. */
bool diversion_runs(struct server *server);
int diversion_run_on(struct server *server, bool steps,
		     struct cprec_failure *why);
void diversion_over(struct server *server);

void on_write_memory(struct server *server, const char *args);
void on_write_bytes(struct server *server, const char *args);
void on_write_register(struct server *server, const char *args);
void on_write_registers(struct server *server, const char *args);

/* ------- commands.c ------- */

void on_command(struct server *server, const char *args);

/* ------- plans.c ------- */

/* "goto T", "last ADDR SIZE [T]", "register NAME" or "none" */
int plan_make(struct server *server, const char *args, struct text *out,
	      struct cprec_failure *why);

/*
 * Goes where it leads.  What goes wrong on the way is kept for plan_tell(); then
 * it stands where it stood.
 */
int plan_run(struct server *server, struct cprec_failure *why);

/* Where it is, and what was found: lines of a name and a value. */
int plan_tell(struct server *server, const char *args, struct text *out,
	      struct cprec_failure *why);

void plan_release(struct plan *plan);

/* ------- resume.c ------- */

void reply_stop(struct server *server);
void on_why(struct server *server, const char *args);
void on_resume(struct server *server, const char *args);
void on_resume_actions(struct server *server, const char *args);
void on_step(struct server *server, const char *args);
void on_continue(struct server *server, const char *args);
void on_step_back(struct server *server, const char *args);
void on_continue_back(struct server *server, const char *args);
void on_passed_signals(struct server *server, const char *args);
void on_run(struct server *server, const char *args);

/* ------- points.c ------- */

void on_insert(struct server *server, const char *args);
void on_remove(struct server *server, const char *args);
void breaks_release(struct server *server);

/* ------- execs.c ------- */

struct program_found {
	size_t count;			/* of those until then */
	struct cprec_position at;	/* the last of them began here */
	struct text *path;		/* of it; NULL: it is not asked for */
	bool has_next;
	struct cprec_position next;
};

/* Which program it is at a position. */
int find_program_at(struct server *server, struct cprec_position now,
		 struct program_found *out, struct cprec_failure *why);

/* Where the present program begins, or the next one does; false: none. */
bool exec_limit(struct server *server, bool backwards,
		struct cprec_position *limit);
bool exec_between(struct server *server, struct cprec_position from,
		  struct cprec_position to, struct cprec_position *limit);

/*
 * It has gone from there to where it stands, as `server->stop` says: if that is
 * in another program, this is told first; then true.
 */
bool exec_moved(struct server *server, struct cprec_position from,
		bool backwards);

/*
 * Coming back to where the present program begins, the end of the call that has
 * begun it is told first, if it is caught: then it stands there.
 */
bool exec_stands_behind(struct server *server, struct cprec_position limit);

/*
 * Stands there, on the other side of it.  A debugger that catches the call is
 * told next that it begins, or is over.
 */
int exec_stand(struct server *server, struct cprec_position limit,
	       bool backwards, struct cprec_failure *why);

/* ------- catches.c ------- */

void on_catch_calls(struct server *server, const char *args);

/* What a run is to stop at; false: no memory. */
bool catches_begin(struct server *server, struct cprec_until *until);
void catches_end(struct cprec_until *until);

/* Whether the debugger wants to know of a system call. */
bool catches_call(const struct server *server, uint64_t number);

/* It has come to a system call: whether the debugger is told. */
bool catches_stand(struct server *server, const struct cprec_stop *stop);

/* ------- codes.c ------- */

/* "[;XLENGTH,DIGITS...][;cmds:PERSISTS,XLENGTH,DIGITS...]"; false: it is not. */
bool codes_parse(struct break_codes *codes, const char *args);
void codes_release(struct break_codes *codes);

/*
 * Whether a breakpoint where it stands stops, 1 or 0; less is a failure.  All
 * there print.
 */
int breaks_are_met(struct server *server, struct cprec_failure *why);
bool breaks_have_codes(const struct server *server);

/* The same, as cprec_until.is_met, whose context is the server. */
int on_break(void *context, struct cprec_cursor *cursor);

/* A way back is over. */
void heard_end(struct server *server, struct heard *heard, bool tells);

/* ------- objects.c ------- */

void on_object(struct server *server, const char *args);

/*
 * How far from a thread's pointer, modulo 2^64, the program's own variables of
 * each thread begin; false: it has none, or another module is meant.
 */
bool program_thread_block(struct server *server, uint64_t link_map,
			  uint64_t *out);

/* ------- siginfo.c ------- */

int make_siginfo(struct server *server, struct text *out,
		 struct cprec_failure *why);

/* ------- tls.c ------- */

void on_thread_local(struct server *server, const char *args);

/* ------- files.c ------- */

void on_file(struct server *server, const char *args);
void open_files_release(struct server *server);

/* ------- file_names.c; objects.c ------- */

/* What the kernel told the program; 0: it did not. */
uint64_t program_auxv(struct server *server, uint64_t type);

/* Whether the program names it as its dynamic linker. */
bool program_is_interpreter(struct server *server, const char *path);

/* What the dynamic linker calls a library, and where that is. */
void library_names_add(struct server *server, const char *path, uint64_t addr);
void library_names_release(struct server *server);

/*
 * What a debugger is to call a file, of which something is mapped at `addr`, if
 * it looks on this machine: a link may lead to another one by now.  To be freed;
 * NULL without memory.
 */
char *program_file_name(struct server *server, const char *path, uint64_t addr);

/*
 * Opens what cprec_file_open() does, and what is mapped under another name.  Of
 * a module that cannot be had, whoever serves is told why.
 */
int program_file_open(struct server *server, const char *path,
		      struct cprec_file **out, struct cprec_failure *why);

/* The file of the recording that is mapped under this name; NULL. */
char *program_file_mapped(struct server *server, const char *path);

/* Which files of modules there are, and where. */
int files_tell(struct server *server, const char *args, struct text *out,
	       struct cprec_failure *why);

/* ------- made_files.c ------- */

/* The path of the file that is made for a machine's kernel; false: it has no
 * symbols, or its own file is there. */
bool kernel_file_path(struct server *server, struct text *out);
bool kernel_file_is(struct server *server, const char *path);

/*
 * A file of what the recording knows of a module that is mapped now; of a
 * machine, of its kernel.  Behind the bytes it has zeros, up to its size.
 */
bool program_file_make(struct server *server, const char *path,
		       struct text *out, uint64_t *size);

/* ------- made_frames.c ------- */

struct made_function {
	uint64_t addr, length;
	bool is_outermost;
};

/* Adds .debug_frame for functions of a kernel, which are in order of addresses. */
void frames_make(struct server *server, const struct text *functions,
		 struct text *out);

/* ------- signals.c ------- */

/* gdb's number of a signal of Linux; 0: it has none. */
unsigned signal_for_debugger(uint32_t signal);
uint32_t signal_from_debugger(uint64_t number);

/* "SIGSEGV, Segmentation fault", as gdb has it. */
#define SIGNAL_WORDS 64
const char *signal_words(char out[SIGNAL_WORDS], uint32_t signal);

#endif
