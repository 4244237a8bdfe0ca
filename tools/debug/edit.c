/* SPDX-License-Identifier: GPL-2.0-or-later */
/* edit.c - lines as a person types them: edited, completed, remembered */
#include <errno.h>
#include <histedit.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/debug/session.h"

#define REMEMBERED 1000

struct editor {
	struct session *session;
	EditLine *line;
	History *history;
	char *path;		/* of the history; NULL: it is not kept */
	char *typed;		/* the line read last */
};

static const char *prompt(EditLine *line)
{
	(void)line;
	return "(cprec) ";
}

/* ------- completing ------- */

static void show_completions(const struct completions *all)
{
	size_t widest = 1, columns = 0, column = 0;

	for (size_t i = 0; i < all->count; i++)
		if (strlen(all->list[i]) > widest)
			widest = strlen(all->list[i]);
	columns = 78 / (widest + 2);
	putchar('\n');
	for (size_t i = 0; i < all->count; i++) {
		printf("%-*s", (int)widest + 2, all->list[i]);
		if (++column >= columns) {
			putchar('\n');
			column = 0;
		}
	}
	if (column)
		putchar('\n');
	fflush(stdout);
}

static unsigned char complete(EditLine *line, int key)
{
	struct editor *editor;
	const LineInfo *info = el_line(line);
	char *typed = strndup(info->buffer,
			      (size_t)(info->cursor - info->buffer));
	const char *text, *from;
	struct completions all = { 0 };
	unsigned char result = CC_ERROR;

	(void)key;
	el_get(line, EL_CLIENTDATA, &editor);
	if (!typed)
		return CC_ERROR;
	text = typed + strspn(typed, " \t");
	completions_find(editor->session, text, &from, &all);
	if (all.count && strlen(all.common) > strlen(from)) {
		el_insertstr(line, all.common + strlen(from));
		if (all.count == 1 && all.is_whole)
			el_insertstr(line, " ");
		result = CC_REFRESH;
	} else if (all.count > 1) {
		show_completions(&all);
		result = CC_REDISPLAY;
	}
	completions_release(&all);
	free(typed);
	return result;
}

/* ------- remembering ------- */

static bool make_folder(char *path)
{
	for (char *at = path + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(path, 0700) && errno != EEXIST) {
			*at = '/';
			return false;
		}
		*at = '/';
	}
	return true;
}

/* Source: XDG Base Directory Specification. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	int rc = -1;

	if (state && *state == '/')
		rc = asprintf(&path, "%s/cprec/history", state);
	else if (home && *home == '/')
		rc = asprintf(&path, "%s/.local/state/cprec/history", home);
	if (rc < 0)
		return NULL;
	if (make_folder(path))
		return path;
	free(path);
	return NULL;
}

static void remember(struct editor *editor)
{
	HistEvent event;

	/* Not the same twice. */
	if (!*editor->typed ||
	    (!history(editor->history, &event, H_FIRST) && event.str &&
	     !strcmp(event.str, editor->typed)))
		return;
	history(editor->history, &event, H_ENTER, editor->typed);
}

/* ------- lines ------- */

static void set_up(struct editor *editor)
{
	HistEvent event;

	el_set(editor->line, EL_CLIENTDATA, editor);
	el_set(editor->line, EL_PROMPT, prompt);
	el_set(editor->line, EL_EDITOR, "emacs");
	el_set(editor->line, EL_HIST, history, editor->history);
	el_set(editor->line, EL_ADDFN, "cprec-complete", "complete", complete);
	el_set(editor->line, EL_BIND, "^I", "cprec-complete", NULL);
	el_set(editor->line, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_set(editor->line, EL_SIGNAL, 1);
	el_source(editor->line, NULL);
	history(editor->history, &event, H_SETSIZE, REMEMBERED);
	editor->path = history_path();
	if (editor->path)
		history(editor->history, &event, H_LOAD, editor->path);
}

struct editor *editor_begin(struct session *session)
{
	struct editor *editor = calloc(1, sizeof(*editor));

	if (!editor)
		return NULL;
	editor->session = session;
	editor->history = history_init();
	editor->line = el_init("cprec", stdin, stdout, stderr);
	if (!editor->line || !editor->history) {
		editor_end(editor);
		return NULL;
	}
	set_up(editor);
	return editor;
}

const char *editor_line(struct editor *editor)
{
	int count = 0;
	const char *line;

	errno = 0;
	/* Ctrl-C leaves the line, not the prompt. */
	while (!(line = el_gets(editor->line, &count)) || count <= 0) {
		if (errno != EINTR)
			return NULL;
		errno = 0;
		el_reset(editor->line);
		putchar('\n');
	}
	free(editor->typed);
	editor->typed = strndup(line, strcspn(line, "\n"));
	if (editor->typed)
		remember(editor);
	return editor->typed;
}

void editor_end(struct editor *editor)
{
	HistEvent event;

	if (!editor)
		return;
	if (editor->path && editor->history)
		history(editor->history, &event, H_SAVE, editor->path);
	if (editor->history)
		history_end(editor->history);
	if (editor->line)
		el_end(editor->line);
	free(editor->path);
	free(editor->typed);
	free(editor);
}
