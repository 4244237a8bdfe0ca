/* SPDX-License-Identifier: GPL-2.0-or-later */
/* demangle.c - see demangle.h */
#include "replayer/symbols/demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

/* Longer ones cost time, and are no help. */
#define MANGLED_MOST 4096u

/* Those of C++, Rust (both schemes) and D begin with an underscore. */
static bool is_mangled(const char *name)
{
	return name[0] == '_' && strchr("ZRD", name[1]) && name[1] &&
	       strnlen(name, MANGLED_MOST + 1) <= MANGLED_MOST;
}

static char *demangle_plain(const char *name)
{
	if (!is_mangled(name))
		return NULL;
	/* What a function returns is no part of how people call it. */
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO |
				    DMGL_RET_DROP);
}

/* Nor is the version that a linker has added. */
char *demangle(const char *name)
{
	const char *version = *name ? strchr(name + 1, '@') : NULL;
	char *cut, *plain;

	if (!version)
		return demangle_plain(name);
	cut = strndup(name, (size_t)(version - name));
	plain = cut ? demangle_plain(cut) : NULL;
	if (!plain)
		return cut;
	free(cut);
	return plain;
}

void demangle_into(char *text, size_t room, const char *name)
{
	char *plain = demangle(name);

	snprintf(text, room, "%s", plain ? plain : name);
	free(plain);
}

static const char *skip_blanks(const char *text)
{
	return text + strspn(text, " ");
}

/* Behind "(int, char (*)()) const", if that is there. */
static const char *skip_arguments(const char *text)
{
	unsigned depth = 0;

	if (*text != '(')
		return text;
	do {
		depth += *text == '(';
		depth -= *text == ')';
		text++;
	} while (depth && *text);
	text = skip_blanks(text);
	return strncmp(text, "const", 5) ? text : text + 5;
}

bool demangle_is(const char *demangled, const char *wanted)
{
	while (*(wanted = skip_blanks(wanted))) {
		demangled = skip_blanks(demangled);
		if (*demangled == '(' && *wanted != '(')
			demangled = skip_blanks(skip_arguments(demangled));
		/* "main()::x": the linker's name of main has none. */
		if (*wanted == '(' && *demangled == ':')
			wanted = skip_blanks(skip_arguments(wanted));
		if (*demangled++ != *wanted++)
			return false;
	}
	return !*skip_blanks(skip_arguments(skip_blanks(demangled)));
}

/* The last identifier before the arguments is in the mangled name as it is. */
bool demangle_may_be(const char *mangled, const char *wanted)
{
	size_t end = strcspn(wanted, "(<"), start;
	char part[128];

	if (!is_mangled(mangled))
		return false;
	if (strstr(wanted, "operator") || strchr(wanted, '~'))
		return true;
	start = end;
	while (start && (isalnum((unsigned char)wanted[start - 1]) ||
			 wanted[start - 1] == '_'))
		start--;
	if (start == end || end - start >= sizeof(part))
		return true;
	memcpy(part, wanted + start, end - start);
	part[end - start] = '\0';
	return strstr(mangled, part) != NULL;
}

/* ------- names with scopes ------- */

void name_plain(char *out, size_t room, const char *name)
{
	size_t used = 0;
	unsigned angles = 0;

	while (*name && used + 1 < room) {
		const char *anonymous = "(anonymous namespace)::";
		unsigned depth = 0;

		if (!strncmp(name, anonymous, strlen(anonymous))) {
			name += strlen(anonymous);
			continue;
		}
		angles += *name == '<';
		angles -= *name == '>' && angles;
		if (*name == '(' && !angles) {
			do {
				depth += *name == '(';
				depth -= *name == ')';
				name++;
			} while (*name && depth);
			name += strspn(name, " ");
			if (!strcmp(name, "const"))	/* of a method */
				name += strlen("const");
			continue;
		}
		if (*name != ' ')
			out[used++] = *name;
		name++;
	}
	out[used] = '\0';
}

const char *name_last(const char *name)
{
	const char *last = name;
	unsigned depth = 0;

	for (; *name; name++) {
		if (strchr("<([{", *name))
			depth++;
		else if (strchr(">)]}", *name) && depth)
			depth--;
		else if (!depth && name[0] == ':' && name[1] == ':')
			last = name + 2;
	}
	return last;
}
