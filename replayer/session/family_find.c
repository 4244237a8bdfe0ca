/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family_find.c - see family_find.h */
#include "replayer/session/family_find.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/error.h"
#include "formats/family_files.h"
#include "replayer/recording/recording.h"

/* How a process is named, from the best way down. */
enum way { BY_NUMBER, BY_NAME, BY_WORD, BY_LINE, WAYS };

#define NAME_SHOWN 31		/* characters of a name in a list, and a NUL */

/* What is looked for. */
struct wanted {
	const char *text;
	bool is_number;
	struct family_member member;	/* of a number; turn 0: any */
};

/* One process, and in which ways it is wanted. */
struct candidate {
	const char *path;
	uint32_t pid, turn;	/* 0: not known */
	char name[NAME_SHOWN];
	bool became;		/* goes on in another recording */
	bool is_wanted[WAYS];
};

struct candidates {
	struct candidate *list;
	size_t count;
};

/*
 * "12" and "12-2" are what files are called, without their suffix.  "12-1" is the
 * first that had a number, which several may have had.
 */
static struct wanted understand(const char *text)
{
	struct wanted wanted = { .text = text };
	char name[FAMILY_NAME_ROOM];
	const char *dash = strchr(text, '-');
	bool is_first = dash && !strcmp(dash, "-1");
	int size = snprintf(name, sizeof(name), "%.*s" TRACE_SUFFIX,
			    (int)(is_first ? dash - text : FAMILY_NAME_ROOM),
			    text);

	wanted.is_number = size < (int)sizeof(name) &&
			   family_name_parse(&wanted.member, name);
	if (!dash)
		wanted.member.turn = 0;
	return wanted;
}

/* ------- one process ------- */

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool has_word(const struct program_image *image, const char *text)
{
	for (size_t i = 0; i < image->argc; i++)
		if (!strcmp(image->argv[i], text) ||
		    !strcmp(name_of(image->argv[i]), text))
			return true;
	return false;
}

/* A byte as it is, or as it is shown: "\\", "\x07". */
static bool take_byte(const char **text, char byte)
{
	char shown[5];

	snprintf(shown, sizeof(shown), "\\x%02x", (unsigned char)byte);
	if (byte == '\\' && !strncmp(*text, "\\\\", 2))
		*text += 2;
	else if (**text == byte)
		*text += 1;
	else if (!strncmp(*text, shown, strlen(shown)))
		*text += strlen(shown);
	else
		return false;
	return true;
}

/* The whole command line, as `cprec ps` shows it. */
static bool has_line(const struct program_image *image, const char *text)
{
	for (size_t i = 0; i < image->argc; i++) {
		if (i && !take_byte(&text, ' '))
			return false;
		for (const char *at = image->argv[i]; *at; at++)
			if (!take_byte(&text, *at))
				return false;
	}
	return image->argc && !*text;
}

/* A process is what it was in the end. */
static int look_at_program(struct candidate *out, const struct wanted *wanted,
			   struct recording *recording, struct failure *why)
{
	const struct recording_program *list;
	const struct program_image *last;
	const char *name;
	size_t count;
	int rc = recording_programs(recording, &list, &count, why);

	if (rc)
		return rc;
	last = &list[count - 1].image;
	name = name_of(last->argc ? last->argv[0] : "");
	if (!*name)
		name = name_of(last->path);
	snprintf(out->name, sizeof(out->name), "%s", name);
	out->became = recording_summary(recording) &&
		recording_summary(recording)->exit_code == SUMMARY_BECAME;
	out->is_wanted[BY_NAME] = !strcmp(name, wanted->text) ||
				  !strcmp(name_of(last->path), wanted->text);
	out->is_wanted[BY_WORD] = has_word(last, wanted->text);
	out->is_wanted[BY_LINE] = has_line(last, wanted->text);
	return 0;
}

/* One that cannot be read has what its file's name says. */
static int look_at(struct candidate *out, const struct wanted *wanted,
		   const struct family_file *file)
{
	struct recording *recording = NULL;
	struct failure ignored;
	int rc = recording_open(&recording, file->path, &ignored);

	*out = (struct candidate) {
		.path = file->path, .name = "?",
		.pid = file->member.pid, .turn = file->member.turn,
	};
	if (!rc)
		rc = recording_tid(recording, 0, &out->pid, &ignored);
	if (!rc)
		rc = look_at_program(out, wanted, recording, &ignored);
	recording_close(recording);
	out->is_wanted[BY_NUMBER] =
		out->pid == wanted->member.pid &&
		(!wanted->member.turn || wanted->member.turn ==
			(out->turn ? out->turn : 1));
	return rc == ERR_NO_MEMORY ? rc : 0;
}

/* ------- saying what there is ------- */

#define LISTED_MOST 10

/* Text that ends before the sentence has no room any more. */
struct list {
	char text[240];
	size_t size, count, left_out;
};

static void list_process(struct list *list, const struct candidate *one,
			 bool with_turn)
{
	char text[80];
	int size = snprintf(text, sizeof(text), "%s%s %" PRIu32,
			    list->size ? ", " : "", one->name, one->pid);

	if (one->turn > 1 || with_turn)
		size += snprintf(text + size, sizeof(text) - (size_t)size,
				 "-%" PRIu32, one->turn ? one->turn : 1);
	if (list->left_out || list->count == LISTED_MOST ||
	    list->size + (size_t)size >= sizeof(list->text)) {
		list->left_out++;
		return;
	}
	memcpy(list->text + list->size, text, (size_t)size + 1);
	list->size += (size_t)size;
	list->count++;
}

/* `found` of the processes are meant in a way: none, or more than one. */
static int no_single(const struct candidates *candidates, enum way way,
		     const struct wanted *wanted, const char *file,
		     size_t found, struct failure *why)
{
	struct list list = { 0 };
	char more[40] = "";

	for (size_t i = 0; i < candidates->count; i++)
		if (!found || candidates->list[i].is_wanted[way])
			list_process(&list, &candidates->list[i],
				     found && way == BY_NUMBER);
	if (list.left_out)
		snprintf(more, sizeof(more), " and %zu more", list.left_out);
	if (found)
		return failed(why, ERR_INPUT, "'%.40s' is more than one: %s%s",
			      wanted->text, list.text, more);
	return failed(why, ERR_NOT_FOUND, "'%.60s' has no process '%.30s': %s%s",
		      name_of(file), wanted->text, list.text, more);
}

/* ------- choosing ------- */

/* How many there are, and the last of them. */
static size_t count_wanted(const struct candidates *candidates, enum way way,
			   const struct candidate **last)
{
	size_t found = 0;

	for (size_t i = 0; i < candidates->count; i++) {
		if (!candidates->list[i].is_wanted[way])
			continue;
		*last = &candidates->list[i];
		found++;
	}
	return found;
}

/*
 * What a process was before it became another one has names only if nothing
 * else has them.
 */
static void forget_earlier(struct candidates *candidates, enum way way)
{
	bool others = false;

	for (size_t i = 0; i < candidates->count; i++)
		others |= candidates->list[i].is_wanted[way] &&
			  !candidates->list[i].became;
	for (size_t i = 0; i < candidates->count; i++)
		if (others && candidates->list[i].became)
			candidates->list[i].is_wanted[way] = false;
}

/* What looks like a number is one. */
static int choose(char **out, struct candidates *candidates,
		  const struct wanted *wanted, const char *file,
		  struct failure *why)
{
	enum way way = wanted->is_number ? BY_NUMBER : BY_NAME;
	const struct candidate *one = NULL;
	size_t found = count_wanted(candidates, way, &one);

	while (!found && way != BY_NUMBER && way != BY_LINE)
		found = count_wanted(candidates, ++way, &one);
	if (way != BY_NUMBER) {
		forget_earlier(candidates, way);
		found = count_wanted(candidates, way, &one);
	}
	if (found != 1)
		return no_single(candidates, way, wanted, file, found, why);
	*out = strdup(one->path);
	return *out ? 0 : failed(why, ERR_NO_MEMORY, "out of memory");
}

int family_find(char **out, const char *file, const char *pid_or_name,
		struct failure *why)
{
	const struct wanted wanted = understand(pid_or_name);
	struct candidates candidates = { 0 };
	struct family_files files;
	int rc = family_files_find(&files, file, why);

	*out = NULL;
	if (rc)
		return rc;
	candidates.list = calloc(files.count + 1, sizeof(*candidates.list));
	if (!candidates.list)
		rc = ERR_NO_MEMORY;
	for (; candidates.count < files.count && !rc; candidates.count++)
		rc = look_at(&candidates.list[candidates.count], &wanted,
			     &files.list[candidates.count]);
	rc = rc ? failed(why, ERR_NO_MEMORY, "out of memory") :
		  choose(out, &candidates, &wanted, files.first, why);
	free(candidates.list);
	family_files_release(&files);
	return rc;
}
