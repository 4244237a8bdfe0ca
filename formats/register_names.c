/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register_names.c - what is said of names that no register has */
#include <stdio.h>
#include <string.h>

#include "formats/nearest.h"
#include "formats/registers.h"

static size_t stem_size(const char *name)
{
	return strcspn(name, "0123456789");
}

/* Whether two names differ only in their numbers. */
static bool is_next(const char *name, const char *next)
{
	size_t size = stem_size(name);

	return name[size] && next[size] && size == stem_size(next) &&
	       !strncmp(name, next, size);
}

static bool is_listed(const struct reg_info *info)
{
	return reg_is_general(info) || info->kind == REG_FLOAT ||
	       info->kind == REG_VECTOR;
}

/* "rax, rbx, r8 to r15, xmm0 to xmm15" */
static void list_names(const struct reg_table *table, char *text, size_t room)
{
	size_t used = 0;

	*text = '\0';
	for (unsigned i = 0; i < table->count && used < room; i++) {
		unsigned last = i;

		if (!is_listed(&table->regs[i]))
			continue;
		while (last + 1 < table->count &&
		       is_next(table->regs[i].name, table->regs[last + 1].name))
			last++;
		used += (size_t)snprintf(text + used, room - used, "%s%s%s%s",
					 used ? ", " : "", table->regs[i].name,
					 last > i ? " to " : "",
					 last > i ? table->regs[last].name :
						    "");
		i = last;
	}
}

int reg_not_found(const struct reg_table *table, const char *name,
		  enum error code, struct failure *why)
{
	const char *plain = name + (*name == '$');
	char list[200], text[NEAREST_TEXT];
	struct nearest nearest;

	nearest_begin(&nearest, plain, strlen(plain));
	for (unsigned i = 0; i < table->count; i++)
		nearest_offer(&nearest, table->regs[i].name);
	if (*nearest.name)
		return failed(why, code, "there is no register '%.40s'%s", name,
			      nearest_text(&nearest, text));
	list_names(table, list, sizeof(list));
	return failed(why, code, "there is no register '%.40s', but %s", name,
		      list);
}
