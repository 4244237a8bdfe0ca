/* SPDX-License-Identifier: GPL-2.0-or-later */
/* heap_functions.c - see heap_functions.h */
#include "replayer/session/heap_functions.h"

#include <stdlib.h>
#include <string.h>

struct row {
	const char *name;
	enum heap_role role;
};

/* By name, as strcmp() has them. */
static const struct row rows[] = {
	{ "aligned_alloc", HEAP_ALLOCATES_SECOND },
	{ "calloc", HEAP_ALLOCATES_MANY },
	{ "cfree", HEAP_FREES },
	{ "dallocx", HEAP_FREES },
	{ "free", HEAP_FREES },
	{ "free_aligned_sized", HEAP_FREES },
	{ "free_sized", HEAP_FREES },
	{ "mallctl", HEAP_WORKS },
	{ "malloc", HEAP_ALLOCATES },
	{ "malloc_info", HEAP_WORKS },
	{ "malloc_stats", HEAP_WORKS },
	{ "malloc_trim", HEAP_WORKS },
	{ "malloc_usable_size", HEAP_TELLS_SIZE },
	{ "mallocx", HEAP_ALLOCATES },
	{ "mallopt", HEAP_WORKS },
	{ "memalign", HEAP_ALLOCATES_SECOND },
	{ "posix_memalign", HEAP_ALLOCATES_AT },
	{ "pvalloc", HEAP_ALLOCATES_PAGES },
	{ "rallocx", HEAP_RESIZES },
	{ "realloc", HEAP_RESIZES },
	{ "reallocarray", HEAP_RESIZES_MANY },
	{ "reallocf", HEAP_RESIZES },
	{ "sallocx", HEAP_TELLS_SIZE },
	{ "sdallocx", HEAP_FREES },
	{ "valloc", HEAP_ALLOCATES },
	{ "xallocx", HEAP_TELLS_SIZE },
};

/*
 * These do as those of the same name without it: glibc's and musl's own names,
 * and those that jemalloc, tcmalloc, mimalloc, rpmalloc, dlmalloc and oneTBB
 * have beside, or instead of, the usual ones.
 */
static const char *const prefixes[] = {
	"__libc_", "_rjem_", "dl", "je_", "mi_", "rp", "scalable_", "tc_",
};

/* What programs, too, may call so; but not with one of these before it. */
static const struct row prefixed_rows[] = {
	{ "aligned_free", HEAP_FREES },
	{ "aligned_malloc", HEAP_ALLOCATES },
	{ "delete", HEAP_FREES },
	{ "deletearray", HEAP_FREES },
	{ "free_aligned", HEAP_FREES },
	{ "free_size", HEAP_FREES },
	{ "free_size_aligned", HEAP_FREES },
	{ "malloc_aligned", HEAP_ALLOCATES },
	{ "malloc_small", HEAP_ALLOCATES },
	{ "mallocn", HEAP_ALLOCATES_MANY },
	{ "new", HEAP_ALLOCATES },
	{ "newarray", HEAP_ALLOCATES },
	{ "reallocn", HEAP_RESIZES_MANY },
	{ "usable_size", HEAP_TELLS_SIZE },
	{ "zalloc", HEAP_ALLOCATES },
	{ "zalloc_aligned", HEAP_ALLOCATES },
	{ "zalloc_small", HEAP_ALLOCATES },
};

/* What only glibc has, and says with symbols of its own. */
static const struct row own_rows[] = {
	{ "__libc_freeres", HEAP_WORKS },
	{ "__libc_thread_freeres", HEAP_WORKS },
	{ "__malloc_arena_thread_freeres", HEAP_WORKS },
	{ "tcache_thread_shutdown", HEAP_WORKS },
};

/*
 * operator new and delete, for one object and for arrays.  What is behind that
 * are the arguments: "RKSt9nothrow_t", "St11align_val_t"; but "Pv" is the place
 * that one has already.
 */
static enum heap_role role_in_cpp(const char *name)
{
	static const char *const behind[] = {
		"", "RKSt9nothrow_t", "St11align_val_t",
		"St11align_val_tRKSt9nothrow_t",
	};
	bool is_new = !strncmp(name, "_Znwm", 5) || !strncmp(name, "_Znam", 5);

	if (!is_new && strncmp(name, "_ZdlPv", 6) && strncmp(name, "_ZdaPv", 6))
		return HEAP_NONE;
	name += is_new ? 5 : 6;
	name += !is_new && *name == 'm';
	for (size_t i = 0; i < sizeof(behind) / sizeof(*behind); i++)
		if (!strcmp(name, behind[i]))
			return is_new ? HEAP_ALLOCATES : HEAP_FREES;
	return HEAP_NONE;
}

static int compare(const void *name, const void *row)
{
	return strcmp(name, ((const struct row *)row)->name);
}

#define FIND(name, list)                                                      \
	find(name, list, sizeof(list) / sizeof(*(list)))

static enum heap_role find(const char *name, const struct row *list,
			   size_t count)
{
	const struct row *row = bsearch(name, list, count, sizeof(*list),
					compare);

	return row ? row->role : HEAP_NONE;
}

static enum heap_role role_behind_prefix(const char *name)
{
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++) {
		size_t size = strlen(prefixes[i]);
		enum heap_role role;

		if (strncmp(name, prefixes[i], size) != 0)
			continue;
		role = FIND(name + size, rows);
		return role ? role : FIND(name + size, prefixed_rows);
	}
	return HEAP_NONE;
}

enum heap_role heap_role_of(const char *name)
{
	enum heap_role role = FIND(name, rows);

	if (!role)
		role = FIND(name, own_rows);
	if (!role)
		role = role_behind_prefix(name);
	return role ? role : role_in_cpp(name);
}

bool heap_has_role(const char *name)
{
	return heap_role_of(name) != HEAP_NONE;
}

/*
 * Inside of glibc, they have a prefix.  Its free() may have jumped to the
 * function that says what is wrong, and be no frame any more.
 */
bool heap_is_allocator(const char *shown)
{
	const char *mark = strchr(shown, '!');
	const char *name = mark ? mark + 1 : shown;

	if (!strncmp(name, "__GI_", 5))
		name += 5;
	if (!strcmp(name, "malloc_printerr") ||
	    !strcmp(name, "malloc_printerr_tail"))
		return true;
	return strncmp(name, "_Z", 2) != 0 && heap_has_role(name);
}

bool module_is_c_library(const char *path)
{
	static const char *const names[] = { "libc.so", "libc-2.", "libc.musl",
					     "ld-musl" };
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}
