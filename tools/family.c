/* SPDX-License-Identifier: GPL-2.0-or-later */
/* family.c - see family.h */
#include "tools/family.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/error.h"
#include "formats/family_path.h"
#include "replayer/recording/recording.h"
#include "tools/print.h"

struct member {
	uint32_t pid;
	json_t *object;
};

struct family {
	const struct trace_header *header;
	struct stat own;		/* the file that was asked about */
	bool only_numbers;		/* of members, no objects */
	struct member *list;
	size_t count;
};

json_t *parent_describe(const struct recording *recording)
{
	const struct origin *origin = &recording_meta(recording)->origin;
	json_t *parent;

	if (!origin->parent)
		return json_null();
	parent = json_object();
	json_set_count(parent, "pid", origin->parent);
	json_set_count(parent, "tid", origin->thread);
	json_set_count(parent, "at", origin->time);
	return parent;
}

/* The process's number, which is that of its first thread. */
static int find_number(struct recording *recording, uint32_t *pid,
		       struct failure *why)
{
	struct key_frame frame;
	int rc = recording_key_frame(recording, 0, &frame, why);

	if (rc)
		return rc;
	*pid = frame.tid;
	key_frame_release(&frame);
	return 0;
}

/* What the file says of its process. */
static int describe(struct recording *recording, struct member *member,
		    struct failure *why)
{
	const struct recording_program *list;
	const struct program_image *last;
	size_t count;
	int rc = recording_programs(recording, &list, &count, why);

	if (rc)
		return rc;
	last = &list[count - 1].image;
	json_set_count(member->object, "pid", member->pid);
	json_object_set_new(member->object, "parent",
			    parent_describe(recording));
	json_object_set_new(member->object, "program",
			    json_arguments(last->argv, last->argc));
	json_set_text(member->object, "path", last->path);
	json_set_count(member->object, "instructions",
		       recording_end(recording) - recording_start(recording));
	return 0;
}

static void add_member(struct family *family, const char *path, bool is_own)
{
	struct member member = { .object = json_object() };
	struct member *more = reallocarray(family->list, family->count + 1,
					   sizeof(*more));
	struct recording *recording = NULL;
	struct failure why;

	if (!more) {
		json_decref(member.object);
		return;
	}
	family->list = more;
	json_set_text(member.object, "file", path);
	json_object_set_new(member.object, "this", json_boolean(is_own));
	if (recording_open(&recording, path, &why) ||
	    find_number(recording, &member.pid, &why) ||
	    (!family->only_numbers && describe(recording, &member, &why)))
		json_set_text(member.object, "error", why.text);
	recording_close(recording);
	family->list[family->count++] = member;
}

/* Whether a file is a recording, and of this family. */
static bool is_member(const struct family *family, const char *path)
{
	struct trace_reader *reader;
	bool is_one;

	if (trace_reader_open(&reader, path, NULL))
		return false;
	is_one = !memcmp(trace_reader_header(reader)->id, family->header->id,
			 sizeof(family->header->id));
	trace_reader_close(reader);
	return is_one;
}

/* Another name of the file that was asked about would not be found again. */
static void look_at(struct family *family, const char *path)
{
	struct stat status;
	bool is_own;

	if (stat(path, &status) || !S_ISREG(status.st_mode))
		return;
	is_own = status.st_dev == family->own.st_dev &&
		 status.st_ino == family->own.st_ino;
	if (is_own || is_member(family, path))
		add_member(family, path, is_own);
}

static const char *file_of(const struct member *member)
{
	return json_string_value(json_object_get(member->object, "file"));
}

static int by_process(const void *left, const void *right)
{
	const struct member *a = left, *b = right;

	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return strcmp(file_of(a), file_of(b));
}

/* Looks at all recordings in a folder, whatever their names are. */
static void search_folder(struct family *family, const char *folder)
{
	size_t more = strlen(TRACE_SUFFIX);
	DIR *entries = opendir(folder);
	struct dirent *entry;

	while (entries && (entry = readdir(entries))) {
		size_t size = strlen(entry->d_name);
		char *path;

		if (size <= more ||
		    strcmp(entry->d_name + size - more, TRACE_SUFFIX) != 0 ||
		    asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		look_at(family, path);
		free(path);
	}
	if (entries)
		closedir(entries);
}

/* A first file may have the name of another one's child: has it children? */
static void search_own(struct family *family, const char *path)
{
	char *folder = family_folder(path);

	if (folder)
		search_folder(family, folder);
	free(folder);
}

static void search(struct family *family, const struct recording *recording)
{
	const struct trace_reader *reader = recording_reader(recording);
	const char *path = trace_reader_path(reader);
	struct family_path names;

	family->header = trace_reader_header(reader);
	if (stat(path, &family->own) || family_path_find(&names, path))
		return;
	look_at(family, names.first);
	search_folder(family, names.folder);
	if (names.is_member)
		search_own(family, path);
	family_path_release(&names);
}

/* Copies of one file are of one process; a damaged one is of number 0. */
size_t family_others(const struct recording *recording)
{
	struct family family = { .only_numbers = true };
	uint32_t last = 0;
	size_t count = 0;

	search(&family, recording);
	if (family.count)
		qsort(family.list, family.count, sizeof(*family.list),
		      by_process);
	for (size_t i = 0; i < family.count; i++) {
		count += family.list[i].pid != last;
		last = family.list[i].pid;
		json_decref(family.list[i].object);
	}
	free(family.list);
	return count ? count - 1 : 0;
}

json_t *family_describe(const struct recording *recording)
{
	struct family family = { 0 };
	json_t *list = json_array();

	search(&family, recording);
	if (family.count)
		qsort(family.list, family.count, sizeof(*family.list),
		      by_process);
	for (size_t i = 0; i < family.count; i++)
		json_array_append_new(list, family.list[i].object);
	free(family.list);
	return list;
}
