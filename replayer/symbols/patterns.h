/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * patterns.h - which functions and variables somebody means
 *
 *	[LIBRARY!][FILE:]NAME
 *
 * NAME is as in the program, with '*', '?' and '[...]' as in shells; it need
 * not have the arguments.  FILE is one of the source, with or without its
 * folders, and may have wildcards, too.
 *
 * Ownership:  symbol_pattern_release() frees; a zeroed pattern means all.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_REPLAYER_SYMBOLS_PATTERNS_H
#define CPREC_REPLAYER_SYMBOLS_PATTERNS_H

#include <stdbool.h>
#include <stddef.h>

struct symbol_pattern {
	char *asked;		/* NULL: all */
	char *text;		/* holds: */
	const char *library;	/* NULL: any */
	const char *file;	/* NULL: any */
	const char *name;
	bool any_scope;		/* it may lack scopes: "f" is "app::f", too */
	char **links;		/* what is meant, too, as the linker knows it */
	size_t link_count, link_room;
};

int symbol_pattern_init(struct symbol_pattern *pattern, const char *text);
void symbol_pattern_release(struct symbol_pattern *pattern);

/*
 * Whether the name is meant: as the linker knows it, and as people write it.
 */
bool symbol_pattern_is(const struct symbol_pattern *pattern, const char *name,
		       const char *plain);

/* From now on, what the linker knows by this name is meant, too. */
int symbol_pattern_add(struct symbol_pattern *pattern, const char *link);

/* How long the scope is that it lacks to mean a name: of "app::", 5; or 0. */
size_t symbol_pattern_lacks(const struct symbol_pattern *pattern,
			    const char *plain);

/* How long a name as people write it is without the arguments. */
size_t symbol_name_size(const char *plain);

/* Whether a path is that of a source file: "file.c" is, of "/src/file.c". */
bool source_file_is(const char *path, const char *file);

#endif
