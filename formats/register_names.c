/* SPDX-License-Identifier: GPL-2.0-or-later */
/* register_names.c - what names of registers mean, and of what none has */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "formats/nearest.h"
#include "formats/registers.h"
#include "formats/stacks.h"

/* ------- what they mean ------- */

static bool find_whole(const struct reg_table *table, const char *name,
		       struct reg_named *out)
{
	const struct stack_table *stack = stack_table(table->arch);
	unsigned reg = table->count;

	if (!strcasecmp(name, "pc"))
		reg = table->pc;
	else if (!strcasecmp(name, "sp"))
		reg = table->sp;
	else if (!strcasecmp(name, "fp") && stack)
		reg = stack->fp;
	for (unsigned i = 0; i < table->count; i++)
		if (!strcasecmp(table->regs[i].name, name))
			reg = i;
	if (reg == table->count)
		return false;
	*out = (struct reg_named){ .info = table->regs[reg], .reg = reg,
				   .count = 1 };
	return true;
}

/* The registers that bytes are of, and what these are then. */
static void take_bytes(const struct reg_table *table, const char *name,
		       unsigned offset, unsigned size, struct reg_named *out)
{
	const struct reg_info *first;
	unsigned reg = 0, end = offset + size;

	while (offset - table->regs[reg].offset >= table->regs[reg].size)
		reg++;
	first = &table->regs[reg];
	*out = (struct reg_named){
		.info = { .offset = (uint16_t)offset, .size = (uint16_t)size,
			  .kind = first->kind },
		.reg = reg,
		.count = (end - first->offset + first->size - 1) / first->size,
	};
	if (size < first->size && first->kind != REG_VECTOR)
		out->info.kind = REG_NUMBER;
	for (unsigned i = 0; name[i] && i < REG_NAME_ROOM - 1; i++)
		out->name[i] = (char)tolower((unsigned char)name[i]);
	out->info.name = out->name;
}

static bool find_part(const struct reg_table *table, const char *name,
		      struct reg_named *out)
{
	const struct reg_part *part = table->parts;

	while (part->name && strcasecmp(part->name, name) != 0)
		part++;
	if (!part->name)
		return false;
	if (part->size == table->regs[part->reg].size)
		return find_whole(table, table->regs[part->reg].name, out);
	take_bytes(table, name, table->regs[part->reg].offset + part->above,
		   part->size, out);
	return true;
}

static bool find_in_series(const struct reg_table *table, const char *name,
			   struct reg_named *out)
{
	const struct reg_series *one = table->series;

	for (; one && one->stem; one++) {
		size_t length = strlen(one->stem);
		const char *digits = name + length;
		unsigned long number;
		char *end;

		if (strncasecmp(name, one->stem, length) != 0 ||
		    !isdigit((unsigned char)*digits) ||
		    (*digits == '0' && digits[1]))
			continue;
		number = strtoul(digits, &end, 10);
		if (*end || number >= one->count)
			continue;
		take_bytes(table, name, table->regs[one->first].offset +
			   (unsigned)number * one->step, one->size, out);
		return true;
	}
	return false;
}

bool reg_find(const struct reg_table *table, const char *name,
	      struct reg_named *out)
{
	name += *name == '$';
	return find_whole(table, name, out) || find_part(table, name, out) ||
	       find_in_series(table, name, out);
}

/* ------- what is said of others ------- */

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
