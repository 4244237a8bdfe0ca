/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * names.h - symbols of a recording, read when somebody asks
 *
 * Names belong to a time: a process maps and unmaps modules, and may become
 * another program, at any instruction.  One object is enough for all times; it
 * keeps what is mapped around the time that was asked for last.
 *
 * Ownership:  the recording is borrowed; names_destroy() frees.  Modules are
 *             borrowed from the names.
 * Errors:     ERR_NOT_FOUND, those of recording.h.
 * Threads:    one at a time.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_NAMES_H
#define CPREC_REPLAYER_SYMBOLS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/symbols.h"
#include "replayer/symbols/parts.h"

struct failure;
struct names;
struct nearest;
struct recording;

int names_create(struct names **out, struct recording *recording,
		 struct failure *why);
void names_destroy(struct names *names);

/*
 * Of a machine: who knows what the process has mapped whose addresses are asked
 * for.  When they are, and not known for time `t`, `show` is called, which calls
 * the others, unless all is as it was when that was called last; NULL: nobody.
 */
struct names_asked {
	void (*show)(void *context, uint64_t t);
	bool (*is_same)(void *context, uint64_t t);

	/* Once, when something is asked for that is not the kernel's own: calls
	 * names_add_lasting() for what is there at all times. */
	void (*add_lasting)(void *context);
	void *context;
};
void names_ask(struct names *names, const struct names_asked *asked);

/* Takes over an open file; which module it is, or MODULE_NONE. */
size_t names_add_file(struct names *names, const char *path, int fd);

void names_add_part(struct names *names, const struct module_part *part);

/* A module that has no file, and is where its symbols say: takes them over. */
int names_add_lasting(struct names *names, struct symbols *symbols);

/* Where the sections of its file are, which users may have: takes them over. */
struct module_section {
	char *name;
	uint64_t addr;
};
struct module_sections {
	struct module_section *list;
	size_t count;
};
void module_sections_release(struct module_sections *sections);
int names_add_sections(struct names *names, const char *module,
		       struct module_sections *sections);

/* Those; a module of which none were added has none. */
const struct module_sections *names_sections(const struct names *names,
					     const char *module);

/* The file of a module that was added; else -1.  It stays the names'. */
int names_file(const struct names *names, const struct symbols *symbols);

/*
 * The pieces of memory of such a module, each with its symbols, by number, from
 * any of them.  NULL: there are no more; it is a module of another kind.
 */
const struct symbols *names_lasting(const struct names *names,
				    const struct symbols *symbols,
				    size_t number);

/* A machine's kernel that has no file with symbols; NULL: there is none. */
const struct symbols *names_kernel(const struct names *names);

/* What the names are of. */
struct recording *names_recording(const struct names *names);

/*
 * Finds `name` in any module that is mapped at time `t`, the program first.
 * "MODULE!NAME" looks in that module only.  ERR_NOT_FOUND.
 */
int names_find(struct names *names, uint64_t t, const char *name,
	       uint64_t *addr, uint64_t *size, struct failure *why);

/*
 * Offers names for one that is not there: the program's own, or those of all
 * else.
 */
void names_offer(struct names *names, uint64_t t, bool own,
		 struct nearest *nearest);

/* Whether what is named at time `t` can be read: why it cannot. */
int names_check(struct names *names, uint64_t t, struct failure *why);

/*
 * Names the code or data at `addr`: "main+0x12" or "libc.so.6!free+0x4" for
 * another module than the program.  False if nothing covers it.
 */
bool names_of(struct names *names, uint64_t t, uint64_t addr, char *text,
	      size_t room);

/*
 * The module with the code or data at `addr`, or NULL; less `*bias`, the
 * address is as in the module's file.
 */
const struct symbols *names_module(struct names *names, uint64_t t,
				   uint64_t addr, uint64_t *bias);

/* The one whose file has this path, at whatever time; NULL: there is none. */
const struct symbols *names_at_path(struct names *names, const char *path);

/*
 * Until when, and not longer, what is mapped of modules is as at time `t`, as
 * far as is known without looking into the next segment.
 */
int names_until(struct names *names, uint64_t t, uint64_t *until,
		struct failure *why);

/* The one of the program, or NULL. */
int names_program(struct names *names, uint64_t t, const struct symbols **out,
		  struct failure *why);

/* The same, or NULL, and where it is; `*bias` as in names_module(). */
const struct symbols *names_own(struct names *names, uint64_t t,
				uint64_t *bias);

/* From now on names_mapped() has all, also what takes a while to be found. */
void names_complete(struct names *names, uint64_t t);

/* The same, of those that are mapped the one with this number, from 0. */
const struct symbols *names_mapped(struct names *names, uint64_t t,
				   size_t number, uint64_t *bias);

#endif
