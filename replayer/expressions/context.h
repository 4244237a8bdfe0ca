/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * context.h - where an expression is evaluated: a time, a thread, its frame
 *
 * Memory is asked of the query; registers need a replay, and are fetched when
 * somebody needs them.
 *
 * Ownership:  context_release() ends all but what was borrowed; what
 *             context_take() gives lasts until context_set() or the end.
 * Errors:     ERR_NOT_FOUND (no such thread), those of query.h.
 */
#ifndef CPREC_REPLAYER_EXPRESSIONS_CONTEXT_H
#define CPREC_REPLAYER_EXPRESSIONS_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/number_map.h"
#include "formats/registers.h"
#include "replayer/expressions/dies.h"
#include "replayer/expressions/place.h"
#include "replayer/expressions/types.h"
#include "replayer/recording/recording.h"

struct failure;
struct frame;
struct lines;
struct query;

/* Registers of any architecture's table. */
#define REGS_MOST 128u

/* A module's debugging information, while it is where it is. */
struct context_module {
	Dwarf *dwarf;
	uint64_t bias;
	size_t number;		/* as lines_dwarf() counts them */
	bool is_program;
};

/* The function that a thread is in. */
struct code_frame {
	bool is_known;		/* there is debugging information of it */
	const struct context_module *module;
	uint64_t pc;		/* as in the module's file */
	Dwarf_Die unit;
	Dwarf_Die scopes[SCOPES_MOST];	/* the outermost first */
	size_t count;
};

/* What was found of code, as long as the modules are where they are. */
#define FRAMES_KEPT 64u

struct kept_frame {
	bool is_there;
	uint64_t code;
	unsigned inlined;
	struct code_frame frame;
};

struct context_index {
	Dwarf *dwarf;
	struct die_index index;
};

struct context_memory;
struct replayer;
struct trace;

/*
 * A name that means nothing here, or is nowhere now; or a member that its type
 * does not have, a register that there is not, types that do not go together.
 */
enum mistake { MISTAKE_NONE, MISTAKE_HERE, MISTAKE_NAME, MISTAKE_MEMBER };

struct context {
	struct lines *lines;
	struct query *query;
	struct recording *recording;
	struct types types;

	struct expression_place place;

	struct context_module *modules;
	size_t module_count, module_room;
	bool is_complete;	/* of a machine: context_complete() was called, */
	struct context_module *first_modules;	/* ... and before, these were */
	struct context_index **indexes;	/* of all times */
	size_t index_count, index_room;

	bool has_registers;
	struct reg_file registers;
	bool is_lost[REGS_MOST];	/* the frame's callees did not keep it */
	bool asked_lost;	/* somebody has asked for one that is lost */
	uint64_t code;		/* in the instruction that the frame executes */
	unsigned inlined;	/* functions within it that stand there, too */
	bool is_tail_call;	/* it jumped to the frame before */
	bool has_frame;
	struct code_frame frame;
	struct kept_frame *frames;	/* FRAMES_KEPT, by address; or NULL */
	unsigned callers;	/* it has been entered from, see
				   entry_values.h, */
	unsigned callers_asked;	/* and all that were asked meanwhile */
	struct context_memory *taken;
	unsigned members;	/* looked at since then */

	struct trace *trace;	/* NULL: nobody traces */
	bool no_frame;		/* variables of functions are not meant */
	bool only_begun;	/* nor those that have no value yet */
	bool only_visible;	/* nor what only other modules can see */
	const char *frame_option;	/* see expressions.h */
	bool is_raw;		/* containers are shown by their members */
	uint64_t elements;	/* of one value that are shown; 0: default */
	bool is_terse;		/* of names that are unknown, no more is told */
	bool only_types;	/* memory that is not known is zeros */
	bool is_elsewhere;	/* the thread does not stand in that code */
	enum mistake mistake;	/* the last one, for who sets it to none */
	struct number_map begins;	/* see begun.h: first code, by entry */
	struct replayer *live;	/* it stands there, and cannot move; or NULL */
};

void context_init(struct context *context, struct lines *lines,
		  struct query *query, struct recording *recording);
void context_release(struct context *context);

/*
 * From now on the code is that at `pc`, less `inlined` functions within it, as if
 * the thread stood there, with the registers that it has.
 */
int context_stand_at(struct context *context, uint64_t pc, unsigned inlined,
		     struct failure *why);

/* From now on all is as at this place.  ERR_NOT_FOUND: no such frame. */
int context_set(struct context *context, const struct expression_place *place,
		struct failure *why);

/*
 * The same, while a backtrace visits the frame, which has the number of
 * `place`: nobody looks for it again.
 */
int context_enter(struct context *context, const struct expression_place *place,
		  const struct frame *frame, struct failure *why);

/*
 * The same, where a replay stands that is under way, until the next
 * context_set(): modules are where they were at the place before.
 */
void context_set_live(struct context *context, struct replayer *replayer,
		      const struct expression_place *place);

/* Room for what an evaluation needs; zeroed.  NULL without memory. */
void *context_take(struct context *context, size_t size);

/* The index of a module, made if there is none yet; NULL without memory. */
const struct die_index *context_index(struct context *context,
				      const struct context_module *module);

/*
 * What takes a while to be found is among the modules from now on: those of a
 * machine's kernel.  Whether there are more than before.
 */
bool context_complete(struct context *context);

/* The entry of the variable that is always there; false if there is none. */
bool context_variable_at(struct context *context, uint64_t addr,
			 Dwarf_Die *out);

/* The module with this debugging information, or NULL. */
const struct context_module *context_module_with(struct context *context,
						 const Dwarf *dwarf);

/* The module that an entry is of. */
const struct context_module *context_module_of(struct context *context,
					       Dwarf_Die *die);

/*
 * Says of what is at `addr` that its type is not known, and why:
 * ERR_NOT_FOUND.
 */
int context_no_type(struct context *context, uint64_t addr,
		    struct failure *why);

/* Whether the program has no debugging information: its path, or NULL. */
const char *context_plain_program(struct context *context, bool *is_gone);

/* Bytes of which some are not known are an error: ERR_NOT_FOUND. */
int context_read(struct context *context, uint64_t addr, uint8_t *bytes,
		 size_t size, struct failure *why);

/* The same, of those that are known: `known` is 1 or 0 for each. */
int context_look(struct context *context, uint64_t addr, uint8_t *bytes,
		 uint8_t *known, size_t size, struct failure *why);

/* Registers of the frame; some may be lost. */
int context_registers(struct context *context, const struct reg_file **out,
		      struct failure *why);

/* The same, for one of them: ERR_NOT_FOUND if it is lost. */
int context_register(struct context *context, unsigned reg,
		     const struct reg_file **out, struct failure *why);

/*
 * The function that the code is of, less `inlined` ones within it; `is_known` may
 * be false.
 */
void context_find_code(struct context *context, uint64_t pc, unsigned inlined,
		       struct code_frame *frame);

/* The function that it is in; the same. */
int context_frame(struct context *context, const struct code_frame **out,
		  struct failure *why);

/*
 * Visits all frames from the innermost on; a result other than 0 ends it.
 * ERR_INPUT: no frames are meant, or a replay is running.
 */
int context_each_frame(struct context *context,
		       int (*visit)(void *opaque, uint64_t number,
				    const struct code_frame *frame),
		       void *opaque, struct failure *why);

/* What the innermost function is called; NULL if that is not known. */
const char *code_frame_function(const struct code_frame *frame);

/*
 * What the innermost function is called, if it has a variable of this name in
 * some block; NULL: it has none.
 */
const char *code_frame_declares(const struct code_frame *frame,
				const char *name);

/* A variable or argument of the function, in the innermost block that has it. */
bool code_frame_variable(const struct code_frame *frame, const char *name,
			 Dwarf_Die *out);

/*
 * From now on the frame is that of the caller, or of a function that jumped
 * here, until context_leave_caller().  ERR_NOT_FOUND: there is none, or callers
 * cannot be told here.
 */
struct context_callee;
int context_enter_caller(struct context *context, struct context_callee **out,
			 struct failure *why);
void context_leave_caller(struct context *context,
			  struct context_callee *callee);

/* The canonical frame address of that function's frame. */
int context_frame_address(struct context *context, uint64_t *out,
			  struct failure *why);

#endif
