/* SPDX-License-Identifier: GPL-2.0-or-later */
/* bookmarks.c - positions with names */
#include <stdlib.h>
#include <string.h>

#include "tools/debug/session.h"
#include "tools/print.h"

/* What is between the quotes, if there are any. */
static char *unquoted(const char *text)
{
	size_t length = strlen(text);

	if (length > 1 && text[0] == '"' && text[length - 1] == '"')
		return strndup(text + 1, length - 2);
	return strdup(text);
}

/* "NAME", and its text in quotes or without */
int do_bookmark(struct session *session, const char *args,
		struct cprec_failure *why)
{
	struct cprec_position at = cprec_cursor_position(session->cursor);
	char place[CPREC_POSITION_TEXT];
	char *name, *text;
	int rc;

	if (!*args)
		return wrong(why, "a name is missing: bookmark NAME \"TEXT\"");
	name = take_word(&args);
	text = unquoted(args);
	rc = name && text ? cprec_set_bookmark(session->recording, name, at,
					       text, why) :
			    no_memory(why);
	if (!rc)
		printf("%s is %s.\n", name, cprec_position_text(place, at));
	free(name);
	free(text);
	return rc;
}

static int on_bookmark(void *context, const struct cprec_bookmark *bookmark)
{
	char place[CPREC_POSITION_TEXT];
	bool *any = context;

	*any = true;
	printf("%-14s %s", cprec_position_text(place, bookmark->at),
	       bookmark->name);
	if (*bookmark->text) {
		fputs("  ", stdout);
		print_escaped(stdout, bookmark->text, strlen(bookmark->text));
	}
	putchar('\n');
	return 0;
}

int do_bookmarks(struct session *session, const char *args,
		 struct cprec_failure *why)
{
	bool any = false;
	int rc = cprec_each_bookmark(session->recording, on_bookmark, &any,
				     why);

	(void)args;
	if (!rc && !any)
		puts("There are no bookmarks.");
	return rc;
}

int delete_bookmark(struct session *session, const char *args,
		    struct cprec_failure *why)
{
	if (!*args)
		return wrong(why, "a name is missing: delete bookmark NAME");
	return cprec_delete_bookmark(session->recording, args, why);
}
