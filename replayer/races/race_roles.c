/* SPDX-License-Identifier: GPL-2.0-or-later */
/* race_roles.c - see race_roles.h */
#include "replayer/races/race_roles.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "formats/symbols.h"
#include "replayer/symbols/symbols.h"

/* Sorted by name, as strcmp() does. */
static const struct {
	const char *name;
	enum race_role role;
} functions[] = {
	{ "aligned_alloc", ROLE_NEW_ALIGNED },
	{ "calloc", ROLE_NEW_ARRAY },
	{ "cfree", ROLE_FREE },
	{ "exit", ROLE_EXIT },
	{ "free", ROLE_FREE },
	{ "malloc", ROLE_NEW },
	{ "memalign", ROLE_NEW_ALIGNED },
	{ "posix_memalign", ROLE_NEW_AT },
	{ "pthread_clockjoin_np", ROLE_JOIN },
	{ "pthread_create", ROLE_CREATE },
	{ "pthread_detach", ROLE_JOIN },
	{ "pthread_exit", ROLE_LEAVE },
	{ "pthread_join", ROLE_JOIN },
	{ "pthread_rwlock_clockrdlock", ROLE_READ_LOCK },
	{ "pthread_rwlock_clockwrlock", ROLE_WRITE_LOCK },
	{ "pthread_rwlock_rdlock", ROLE_READ_LOCK },
	{ "pthread_rwlock_timedrdlock", ROLE_READ_LOCK },
	{ "pthread_rwlock_timedwrlock", ROLE_WRITE_LOCK },
	{ "pthread_rwlock_tryrdlock", ROLE_READ_LOCK },
	{ "pthread_rwlock_trywrlock", ROLE_WRITE_LOCK },
	{ "pthread_rwlock_unlock", ROLE_UNLOCK },
	{ "pthread_rwlock_wrlock", ROLE_WRITE_LOCK },
	{ "pthread_timedjoin_np", ROLE_JOIN },
	{ "pthread_tryjoin_np", ROLE_JOIN },
	{ "pvalloc", ROLE_NEW },
	{ "realloc", ROLE_RESIZE },
	{ "reallocarray", ROLE_RESIZE_ARRAY },
	{ "thrd_create", ROLE_CREATE },
	{ "thrd_detach", ROLE_JOIN },
	{ "thrd_exit", ROLE_LEAVE },
	{ "thrd_join", ROLE_JOIN },
	{ "valloc", ROLE_NEW },
};

static enum race_role role_of_name(const char *name)
{
	size_t low = 0, high = sizeof(functions) / sizeof(functions[0]);

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int order = strcmp(name, functions[middle].name);

		if (!order)
			return functions[middle].role;
		if (order < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return ROLE_NONE;
}

static int add(struct race_roles *roles, uint64_t pc, enum race_role role)
{
	if (pc < roles->low)
		roles->low = pc;
	if (pc > roles->high)
		roles->high = pc;
	return number_map_set(&roles->entries, pc, role);
}

/* A function that only glibc has; the second one in static programs. */
static bool is_glibc(const char *name)
{
	return !strcmp(name, "gnu_get_libc_version") ||
	       !strcmp(name, "__libc_setup_tls");
}

/* Of the names that a function has, one that serves counts. */
static int add_service(struct race_roles *roles, uint64_t pc, const char *name)
{
	struct race_service service = race_service_of(name);
	uint64_t code = service.kind | (uint64_t)service.stream << 8 |
			(uint64_t)service.gives << 16;

	if (!code && number_map_find(&roles->services, pc))
		return 0;
	return number_map_set(&roles->services, pc, code);
}

/*
 * By which a thread takes its part of a loop, or one of several takes what is
 * for one only: that orders nothing.  In loops that have ordered parts, a
 * thread may wait there; these have other names with gcc.
 */
static enum race_role role_in_runtime(const char *name)
{
	static const char *const parts[] = {
		"GOMP_loop_dynamic_", "GOMP_loop_guided_",
		"GOMP_loop_maybe_nonmonotonic_", "GOMP_loop_nonmonotonic_",
		"GOMP_loop_runtime_", "GOMP_loop_static_",
		"GOMP_loop_ull_dynamic_", "GOMP_loop_ull_guided_",
		"GOMP_loop_ull_maybe_nonmonotonic_",
		"GOMP_loop_ull_nonmonotonic_", "GOMP_loop_ull_runtime_",
		"GOMP_loop_ull_static_", "GOMP_sections_next",
		"GOMP_sections_start", "GOMP_single_start",
		"__kmpc_dispatch_init_", "__kmpc_dispatch_next_",
		"__kmpc_single",
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (!strncmp(name, parts[i], strlen(parts[i])))
			return ROLE_SHARE;
	return ROLE_NONE;
}

static int add_function(struct race_roles *roles, uint64_t pc,
			const char *name)
{
	enum race_role role = role_of_name(name);
	int rc = add_service(roles, pc, name);

	if (!rc && role != ROLE_NONE)
		rc = add(roles, pc, role);
	return rc;
}

/* With a version or without. */
static bool is_named(const char *name, const char *wanted)
{
	size_t size = strcspn(name, "@");

	return strlen(wanted) == size && !memcmp(name, wanted, size);
}

/* Streams of the standard, and what libstdc++ fills in as it is needed. */
static bool is_of_runtime(const char *name)
{
	static const char *const names[] = {
		"_ZSt3cin", "_ZSt4cerr", "_ZSt4clog", "_ZSt4cout", "_ZSt4wcin",
		"_ZSt5wcerr", "_ZSt5wclog", "_ZSt5wcout",
		"_ZN12_GLOBAL__N_17ctype_cE", "_ZN12_GLOBAL__N_17ctype_wE",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_named(name, names[i]))
			return true;
	return false;
}

static int add_object(struct race_roles *roles, const struct symbol *symbol,
		      uint64_t addr)
{
	if (is_of_runtime(symbol->name))
		return race_codes_add(&roles->runtime, addr,
				      addr + symbol->size);
	if (!strcmp(symbol->name, "stdin"))
		roles->stdin_at = addr;
	else if (!strcmp(symbol->name, "stdout"))
		roles->stdout_at = addr;
	else if (is_named(symbol->name, "_thread_db_sizeof_pthread"))
		roles->descriptor_at = addr;
	return 0;
}

/* Of the files that are the library's, libpthread is none of the kind. */
static void set_library(struct race_roles *roles,
			const struct symbols *symbols, uint64_t bias)
{
	bool is_program = race_home_of_file(symbols->path) == HOME_PROGRAM;

	/* A static program may load another library for its modules. */
	if (roles->program ||
	    (!is_program && !symbols_find(symbols, "memcpy")))
		return;
	roles->library = (struct race_code) {
		symbols->link_base + bias, symbols->link_end + bias,
	};
	roles->program = is_program ? symbols : NULL;
}

/* Of gcc and clang: an atomic change by what the processor can do. */
static bool is_helper(const struct symbol *symbol)
{
	static const char prefix[] = "__aarch64_";

	return symbol->type == SYMBOL_FUNCTION &&
	       !strncmp(symbol->name, prefix, sizeof(prefix) - 1);
}

static int add_module(struct race_roles *roles, const struct symbols *symbols,
		      uint64_t bias, struct race_homes *homes)
{
	enum race_home home = race_home_of_file(symbols->path);
	bool has_library = false;
	int rc = 0;

	if (home == HOME_CPP)
		rc = race_codes_add(&roles->runtime, symbols->link_base + bias,
				    symbols->link_end + bias);
	for (size_t i = 0; i < symbols->count && !rc; i++) {
		const struct symbol *symbol = &symbols->list[i];
		uint64_t addr = symbol->addr + bias;

		roles->is_glibc |= is_glibc(symbol->name);
		if (symbol->type == SYMBOL_OBJECT)
			rc = add_object(roles, symbol, addr);
		else if (symbol->type == SYMBOL_FUNCTION &&
			 race_home_of(homes, addr) == HOME_C_LIBRARY) {
			rc = add_function(roles, addr, symbol->name);
			has_library = true;
		} else if (home == HOME_RUNTIME &&
			   role_in_runtime(symbol->name) != ROLE_NONE)
			rc = add(roles, addr, role_in_runtime(symbol->name));
		else if (home == HOME_PROGRAM && is_helper(symbol))
			rc = race_homes_add_helper(homes, addr,
						   addr + symbol->size);
	}
	if (has_library)
		set_library(roles, symbols, bias);
	return rc;
}

bool race_roles_is_runtime(const struct race_roles *roles, uint64_t addr)
{
	const struct race_codes *runtime = &roles->runtime;

	for (size_t i = 0; i < runtime->count; i++)
		if (runtime->list[i].start <= addr &&
		    addr < runtime->list[i].end)
			return true;
	return false;
}

struct race_service race_roles_service(const struct race_roles *roles,
				       uint64_t pc)
{
	const uint64_t *code = number_map_find(&roles->services, pc);
	struct race_service service = { SERVICE_NONE, 0, false };

	if (code)
		service = (struct race_service) {
			.kind = (uint8_t)*code, .stream = (uint8_t)(*code >> 8),
			.gives = *code >> 16,
		};
	else if (roles->library.end && !roles->program)
		service.kind = SERVICE_CALLER;
	return service;
}

int race_roles_find(struct race_roles *roles, struct names *names, uint64_t t,
		    struct race_homes *homes)
{
	const struct symbols *symbols;
	uint64_t bias;
	int rc = 0;

	race_homes_forget_helpers(homes);
	number_map_clear(&roles->entries);
	number_map_clear(&roles->services);
	*roles = (struct race_roles) {
		.entries = roles->entries, .services = roles->services,
		.runtime = { roles->runtime.list, 0, roles->runtime.room },
		.low = UINT64_MAX,
	};
	for (size_t i = 0; !rc && (symbols = names_mapped(names, t, i, &bias));
	     i++)
		rc = add_module(roles, symbols, bias, homes);
	race_homes_change(homes);
	return rc;
}

void race_roles_release(struct race_roles *roles)
{
	number_map_release(&roles->entries);
	number_map_release(&roles->services);
	free(roles->runtime.list);
	*roles = (struct race_roles) { .low = UINT64_MAX };
}
