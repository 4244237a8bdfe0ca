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
#include "replayer/recording/recording.h"
#include "tools/print.h"

#define SUFFIX ".cpr"

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

static bool has_suffix(const char *name)
{
	size_t size = strlen(name);

	return size > strlen(SUFFIX) &&
	       !strcmp(name + size - strlen(SUFFIX), SUFFIX);
}

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
static void look_at(struct family *family, const char *folder,
		    const char *name)
{
	struct stat status;
	bool is_own;
	char *path;

	if (asprintf(&path, "%s%s", folder, name) < 0)
		return;
	if (!stat(path, &status) && S_ISREG(status.st_mode)) {
		is_own = status.st_dev == family->own.st_dev &&
			 status.st_ino == family->own.st_ino;
		if (is_own || is_member(family, path))
			add_member(family, path, is_own);
	}
	free(path);
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

/* The first file's name may have no suffix: "-o out" makes out, out.5.cpr. */
static bool may_be_member(const char *name, const char *own)
{
	size_t size = strlen(name);

	return has_suffix(name) || !strcmp(name, own) ||
	       (!strncmp(name, own, size) && own[size] == '.');
}

/* Looks at all files beside the one at `path`. */
static void search_folder(struct family *family, const char *path)
{
	const char *slash = strrchr(path, '/');
	size_t folder_size = slash ? (size_t)(slash + 1 - path) : 0;
	char *folder = strndup(path, folder_size);
	DIR *entries = folder ? opendir(slash ? folder : ".") : NULL;
	struct dirent *entry;

	if (entries && !stat(path, &family->own))
		while ((entry = readdir(entries)))
			if (may_be_member(entry->d_name, path + folder_size))
				look_at(family, folder, entry->d_name);
	if (entries)
		closedir(entries);
	free(folder);
}

/* A link may be elsewhere than the files. */
static void search(struct family *family, const struct recording *recording)
{
	const struct trace_reader *reader = recording_reader(recording);
	const char *path = trace_reader_path(reader);
	char *target = NULL;
	struct stat status;

	family->header = trace_reader_header(reader);
	if (!lstat(path, &status) && S_ISLNK(status.st_mode))
		target = realpath(path, NULL);
	search_folder(family, target ? target : path);
	free(target);
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
