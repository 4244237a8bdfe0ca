/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lines.h - source lines of a recording's code
 *
 * Taken from the debugging information of the program and its libraries: as the
 * recording keeps it, else where their files are still there and the ones that
 * were recorded.  Where there is none, or it says nothing, the recording's own
 * symbols name the function.
 *
 * Ownership:  lines_destroy() frees; names are valid until then.  The
 *             recording is borrowed.
 * Errors:     ERR_NO_MEMORY.  What is not known is no error.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_LINES_H
#define CPREC_REPLAYER_SYMBOLS_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <elfutils/libdw.h>

#include "formats/symbols.h"
#include "replayer/symbols/call_sites.h"
#include "replayer/symbols/row_tables.h"
#include "replayer/symbols/scopes.h"

struct Dwfl_Module;
struct dwarf_places;
struct failure;
struct lines;
struct names;
struct recording;
struct symbol_tables;

struct source_line {
	const char *file;	/* NULL: not known */
	unsigned line;		/* 0: not known */
	const char *directory;	/* that `file` is in, if its name is relative;
				   NULL: not known */
	char function[2048];	/* "main", "libz.so.1!inflate", "f(int)"; "" if
				   nothing covers the address */
	char linkage_name[2048];	/* if it is another one: "_Z1fi" */
	char module[128];	/* "libz.so.1"; "" if nothing is mapped there */
	uint64_t offset;	/* from the function's start; without a
				   function the address in the module's file */
};

int lines_create(struct lines **out, struct recording *recording,
		 struct failure *why);
void lines_destroy(struct lines *lines);

/* What symbols say; borrowed. */
struct names *lines_names(struct lines *lines);

/* For file_symbol_at(); borrowed. */
struct symbol_tables *lines_symbol_tables(struct lines *lines);

/*
 * The file of the module at `addr` at time `t`, or NULL; less `*bias`, the
 * address is as in it.
 */
struct Dwfl_Module *lines_module(struct lines *lines, uint64_t t,
				 uint64_t addr, uint64_t *bias);

/* As unit_find(), unit_at(); of no module, NULL. */
Dwarf_Die *lines_unit(struct lines *lines, struct Dwfl_Module *module,
		      uint64_t addr, uint64_t *bias);
Dwarf_Die *lines_unit_at(struct lines *lines, Dwarf *dwarf, uint64_t addr);

/*
 * The file on this machine that a module with this path is in, where only its
 * symbols say so; NULL: there is none.  The text is the lines'.
 */
const char *lines_module_path(struct lines *lines, const char *path);

/*
 * Names the code or data at `addr` as names_of() does; what the recording has
 * no symbol of, by those in the file with the debugging information.
 */
bool lines_symbol(struct lines *lines, uint64_t t, uint64_t addr, char *text,
		  size_t room);

/*
 * Where a module (as lines_dwarf() counts them) has an offset from the thread's
 * pointer; that is the one of what is `*inside` the module's variables of each
 * thread.  False if it has none: it calls a function.
 */
bool lines_thread_block(struct lines *lines, uint64_t t, size_t number,
			uint64_t *place, uint64_t *inside);

/*
 * Where in that block the variable of this name is, as the linker knows it.  False
 * if there is none, or several are called so.
 */
bool lines_thread_symbol(struct lines *lines, uint64_t t, size_t number,
			 const char *name, uint64_t *inside);

/*
 * The file of the module that has a variable of this name for each thread, by
 * the symbols in the file: recordings have none of these.  NULL: none has.
 */
const char *lines_thread_local(struct lines *lines, uint64_t t,
			       const char *name);

/*
 * Where the program's own variable of this name is at time `t`, as the linker
 * knows it.  What is linked with a variable of a library may have a copy, which
 * is then what all use.
 */
bool lines_own_variable(struct lines *lines, uint64_t t, const char *name,
			uint64_t *addr);

/* Whether another module than the program has what is there for itself. */
bool lines_is_hidden(struct lines *lines, uint64_t t, uint64_t addr);

/*
 * Where the function of this name is at time `t`, as linkers know it: the first
 * that other modules can see, else any.  False if there is none.
 */
bool lines_function(struct lines *lines, uint64_t t, const char *name,
		    uint64_t *addr);

/* The name that the linker knows an entry by; NULL if it has no name. */
const char *lines_linkage_name(Dwarf_Die *entry);

/* Names a function, by its entry, as people write it: "Server::serve(int)". */
void lines_set_function(struct source_line *line, Dwarf_Die *function);

/* The same, of the one with the code at `addr`, or inlined there. */
void lines_name_function(struct lines *lines, uint64_t t, uint64_t addr,
			 Dwarf_Die *function, struct source_line *line);

/* The line of the code at `addr` at time `t`. */
void lines_find(struct lines *lines, uint64_t t, uint64_t addr,
		struct source_line *out);

/* The row of the line table that this code is of; false if of none. */
bool lines_row(struct lines *lines, uint64_t t, uint64_t addr,
	       struct code_row *out);

/* scopes_find(), scopes_each_function(): the lines keep what they know. */
size_t lines_scopes(struct lines *lines, Dwarf_Die *unit, uint64_t addr,
		    Dwarf_Die out[SCOPES_MOST]);

int lines_each_function(struct lines *lines, Dwarf_Die *unit,
			int (*visit)(void *context, Dwarf_Die *function),
			void *context);

/* call_sites_of(): the same. */
struct call_sites *lines_call_sites(struct lines *lines, Dwarf_Die *function);

/*
 * Visits the code at time `t` that has lines, if the program is one file,
 * libraries included; nothing if it has no debugging information, or needs
 * shared libraries.
 */
int lines_each_code(struct lines *lines, uint64_t t,
		    int (*visit)(void *context, uint64_t start, uint64_t end),
		    void *context);

/* Whether anybody wants to know what this module has. */
typedef bool lines_wanted(const char *path);

/*
 * Visits the global and static variables whose type is an atomic one, and
 * those parts of arrays and structures that are, in modules that are wanted
 * and mapped at time `t`.  A visit that returns an error ends it.
 */
int lines_each_atomic(struct lines *lines, uint64_t t, lines_wanted *wanted,
		      int (*visit)(void *context, uint64_t addr,
				   uint64_t size),
		      void *context);

/* Adds what is said of atomics, for the code of such modules. */
int lines_add_places(struct lines *lines, uint64_t t, lines_wanted *wanted,
		     struct dwarf_places *out);

/* A symbol of a module, where it is at a time. */
struct lines_symbol {
	const char *name;	/* as the linker knows it */
	const char *module;	/* "libz.so.1" */
	bool is_program;
	uint64_t addr, size;
	enum symbol_type type;
	bool is_resolver;	/* what it returns is the function's address;
				   false also if that is not known */
};

/*
 * Visits the symbols of all that is mapped at time `t`: those that the
 * recording has, by address, and then those that only files with debugging
 * information have.  A visit that returns an error ends it.
 */
int lines_each_symbol(struct lines *lines, uint64_t t,
		      int (*visit)(void *context,
				   const struct lines_symbol *symbol),
		      void *context, struct failure *why);

/* The same of the module with this number (names_mapped()). */
int lines_each_symbol_of(struct lines *lines, uint64_t t, size_t number,
			 int (*visit)(void *context,
				      const struct lines_symbol *symbol),
			 void *context, struct failure *why);

/* Whether a library is called so: as its file, or without the last numbers. */
bool module_is_called(const char *file, const char *library);

/*
 * The debugging information of the module with this number (names_mapped()),
 * or NULL; `*bias` is added to the addresses in it.  `*is_last` if there is no
 * such module.
 */
Dwarf *lines_dwarf(struct lines *lines, uint64_t t, size_t number,
		   uint64_t *bias, bool *is_last);

/*
 * The canonical address of the frame that the code at `addr` has at time `t`,
 * as a register (numbered as in DWARF) and an offset; false if it is not known
 * to be such.
 */
bool lines_frame(struct lines *lines, uint64_t t, uint64_t addr,
		 unsigned *reg, uint64_t *offset);

/* The same, of code that has aligned its stack: where that address is stored. */
bool lines_frame_stored(struct lines *lines, uint64_t t, uint64_t addr,
			unsigned *reg, uint64_t *offset);

#endif
