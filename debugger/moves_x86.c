/* SPDX-License-Identifier: GPL-2.0-or-later */
/* moves_x86.c - moves of x86-64 and of i386; see moves.h */
#include "debugger/moves.h"

#include <stdio.h>
#include <string.h>

bool move_begins_with(const char *text, const char *const *words)
{
	size_t size = strcspn(text, " ");

	for (; *words; words++)
		if (strlen(*words) == size && !strncmp(text, *words, size))
			return true;
	return false;
}

static bool is_string_move(const char *text)
{
	static const char *const moves[] = {
		"movsb", "movsw", "movsd", "movsq", NULL
	};

	if (!strncmp(text, "rep ", 4))
		text += 4;
	return move_begins_with(text, moves) && strstr(text, "si]");
}

/* ------- registers ------- */

static bool find_in(char first, const char *name, struct move_part *out)
{
	static const char *const wholes[] = { "ax", "bx", "cx", "dx", "si",
					      "di", "bp", "sp" };
	bool is_vector = !strncmp(name, "xmm", 3);
	size_t size = strlen(name);
	size_t digits = size ? strspn(name + (is_vector ? 3 : 1),
				      "0123456789") : 0;
	char core[3] = "";

	*out = (struct move_part){ 0 };
	if (digits && (is_vector || *name == 'r')) {
		snprintf(out->name, sizeof(out->name), "%.*s",
			 (int)digits + (is_vector ? 3 : 1), name);
		return true;
	}
	if (size == 3 && strchr("re", *name))
		memcpy(core, name + 1, 2);
	else if (size == 2 || (size == 3 && name[2] == 'l'))
		memcpy(core, name, 2);
	if (core[0] && core[1] == 'l')	/* "al" */
		core[1] = 'x';
	for (size_t i = 0; i < sizeof(wholes) / sizeof(*wholes); i++)
		if (!strcmp(wholes[i], core))
			return snprintf(out->name, sizeof(out->name), "%c%s",
					first, core) > 0;
	return false;
}

static bool find_64(const char *name, struct move_part *out)
{
	return find_in('r', name, out);
}

static bool find_32(const char *name, struct move_part *out)
{
	return find_in('e', name, out);
}

/* ------- instructions ------- */

/* One operand, up to a comma. */
static void add_part(bool (*find)(const char *, struct move_part *),
		     const char *from, struct move *out)
{
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(from, ","), from);
	if (find(name, &out->parts[out->count]))
		out->count++;
}

/* The destination comes first. */
static void read_any(bool (*find)(const char *, struct move_part *),
		     const char *text, struct move *out)
{
	static const char *const moves[] = {
		"mov", "movabs", "movaps", "movapd", "movups", "movupd",
		"movdqa", "movdqu", "movq", "movd", "movss", "movsd", "movzx",
		"movsx", "movsxd", "movnti", "movntdq", "movntps", "lddqu",
		"push", "pop", NULL
	};
	const char *first = text + strcspn(text, " "), *comma, *last;
	bool pushes = !strncmp(text, "push", 4);
	bool pops = !strncmp(text, "pop", 3);

	*out = (struct move){ 0 };
	if (is_string_move(text))
		out->kind = MOVE_MEMORY;
	if (out->kind != MOVE_NONE || !move_begins_with(text, moves))
		return;
	first += strspn(first, " ");
	comma = strrchr(first, ',');
	last = comma ? comma + 1 + strspn(comma + 1, " ") : first;
	if (pushes || pops) {
		out->kind = strchr(first, '[') ? MOVE_MEMORY :
			    pushes ? MOVE_STORE : MOVE_LOAD;
		add_part(find, first, out);
		return;
	}
	out->kind = strchr(last, '[') ? MOVE_LOAD :
		    strchr(first, '[') ? MOVE_STORE : MOVE_REGISTER;
	if (out->kind != MOVE_STORE)
		add_part(find, first, out);
	if (out->kind != MOVE_LOAD)
		add_part(find, last, out);
}

static void read_64(const char *text, struct move *out)
{
	read_any(find_64, text, out);
}

static void read_32(const char *text, struct move *out)
{
	read_any(find_32, text, out);
}

const struct moves moves_x86_64 = { read_64, find_64 };
const struct moves moves_i386 = { read_32, find_32 };
