/* SPDX-License-Identifier: GPL-2.0-or-later */
/* members.c - see members.h */
#include "replayer/recording/members.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/array.h"
#include "formats/error.h"
#include "replayer/recording/unpack_pages.h"

/*
 * Unpacked chunks that are kept of each file: 4 MiB.  A choice, as there may
 * be many of them.
 */
#define CHUNKS_KEPT 64

int members_add(struct members *members, const struct trace_reader *reader,
		size_t index, struct failure *why)
{
	const struct chunk_info *info = trace_reader_info(reader, index);
	struct member member;
	uint8_t *bytes;
	int rc;

	if (info->first != members->count + 1 ||
	    members->count + 1 >= PAGE_PLACE_MEMBERS)
		return trace_reader_damaged(reader, index, ERR_CORRUPT,
					    "number", why);
	rc = trace_reader_chunk(reader, index, &bytes, why);
	if (rc)
		return rc;
	rc = member_decode(&member, bytes, info->size);
	free(bytes);
	if (rc)
		return trace_reader_damaged(reader, index, rc, "contents", why);
	if (array_room(members->list, members->count, members->room))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	members->reader = reader;
	members->list[members->count++] =
		(struct member_file){ .member = member };
	return 0;
}

/* ------- opening ------- */

/* Its path, in a family. */
static char *path_in(const struct family_path *family,
		     const struct family_member *name)
{
	char file[FAMILY_NAME_ROOM], *path;

	if (!name->turn)
		return strdup(family->first);
	family_name(file, name);
	return asprintf(&path, "%s/%s", family->folder, file) < 0 ? NULL : path;
}

/* Where it should be: none refers to others but those in the folder. */
static int find_path(char **out, const struct members *members,
		     const struct family_member *name, struct failure *why)
{
	const char *own = trace_reader_path(members->reader);
	struct family_path family;
	int rc = 0;

	*out = NULL;
	if (family_path_find(&family, own))
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (!family.is_member)
		rc = failed(why, ERR_CORRUPT, "'%s' needs the recording of"
			    " process %" PRIu32 ", and is not in the folder of"
			    " its family", own, name->pid);
	else
		*out = path_in(&family, name);
	family_path_release(&family);
	if (!rc && !*out)
		rc = failed(why, ERR_NO_MEMORY, "out of memory");
	return rc;
}

/* It has the family's id; now, whether it is of the run that is meant. */
static int check_run(const struct member *member,
		     const struct trace_reader *reader, struct failure *why)
{
	struct meta meta = { 0 };
	uint8_t *bytes;
	bool is_same;
	int rc;

	if (!trace_reader_count(reader) ||
	    trace_reader_info(reader, 0)->kind != CHUNK_META)
		return failed(why, ERR_CORRUPT, "it does not say whose it is");
	rc = trace_reader_chunk(reader, 0, &bytes, why);
	if (rc)
		return rc;
	rc = meta_decode(&meta, bytes, trace_reader_info(reader, 0)->size);
	free(bytes);
	is_same = !rc && !memcmp(meta.run, member->run, sizeof(meta.run));
	meta_release(&meta);
	return is_same ? 0 : failed(why, ERR_CORRUPT,
				    "it is of another process");
}

static int check(const struct members *members, const struct member *member,
		 const struct trace_reader *reader, struct failure *why)
{
	const struct trace_header *ours = trace_reader_header(members->reader);

	if (memcmp(trace_reader_header(reader)->id, ours->id,
		   sizeof(ours->id)) != 0)
		return failed(why, ERR_CORRUPT, "it is of another program");
	return check_run(member, reader, why);
}

static int list_pages(struct stored_pages *pages,
		      const struct trace_reader *reader, struct failure *why)
{
	int rc = 0;

	pages->kept_most = CHUNKS_KEPT;
	for (size_t i = 0; i < trace_reader_count(reader) && !rc; i++)
		if (trace_reader_info(reader, i)->kind == CHUNK_PAGES)
			rc = stored_pages_add(pages, reader, i, why);
	return rc;
}

static int open_member(const struct members *members, struct member_file *file,
		       const char *path, struct failure *why)
{
	struct trace_reader *reader;
	struct failure reason;
	int rc = trace_reader_open(&reader, path, &reason);

	if (!rc) {
		rc = check(members, &file->member, reader, &reason);
		if (!rc)
			rc = list_pages(&file->pages, reader, &reason);
		if (rc)
			trace_reader_close(reader);
		else
			file->reader = reader;
	}
	if (!rc)
		return 0;
	stored_pages_release(&file->pages);
	return failed(why, rc, "'%s' needs '%s', of process %" PRIu32 ": %s",
		      trace_reader_path(members->reader), path,
		      file->member.name.pid, reason.text);
}

int members_open(struct members *members, uint32_t number,
		 struct member_file **out, struct failure *why)
{
	struct member_file *file;
	char *path;
	int rc;

	if (number - 1 >= members->count)
		return failed(why, ERR_CORRUPT,
			      "'%s' names process %" PRIu32 " of %zu",
			      members->reader ?
				      trace_reader_path(members->reader) : "",
			      number, members->count);
	file = *out = &members->list[number - 1];
	if (file->reader)
		return 0;
	rc = find_path(&path, members, &file->member.name, why);
	if (!rc)
		rc = open_member(members, file, path, why);
	free(path);
	return rc;
}

/* ------- pages ------- */

int members_page(void *context, const struct page_place *place,
		 uint8_t bytes[GUEST_PAGE], struct failure *why)
{
	struct member_file *file;
	int rc = members_open(context, place->member, &file, why);

	return rc ? rc : stored_pages_read(&file->pages, file->reader,
					   place->id, bytes, why);
}

int members_pages(void *context, uint32_t number, struct page_want *list,
		  size_t count, struct failure *why)
{
	struct member_file *file;
	int rc = members_open(context, number, &file, why);

	return rc ? rc : stored_pages_read_all(&file->pages, file->reader, list,
					       count, why);
}

void members_release(struct members *members)
{
	for (size_t i = 0; i < members->count; i++) {
		stored_pages_release(&members->list[i].pages);
		trace_reader_close(members->list[i].reader);
	}
	free(members->list);
	*members = (struct members){ 0 };
}
