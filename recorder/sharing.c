/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sharing.c - what the processes of a family have in common is stored once
 *
 * The table of the family is made when the first process makes a child.  The
 * first recording names no other one: it is whole by itself.  All others name
 * what is in the files of those that were there before them, and of those that
 * run beside them.
 */
#include "recorder/recorder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------- telling others ------- */

/* The keys of what a chunk has. */
struct note {
	uint32_t count;
	struct page_key keys[];
};

static struct note *make_note(const struct page_key *keys, uint32_t count)
{
	struct note *note = malloc(sizeof(*note) + count * sizeof(*keys));

	if (!note)
		return NULL;
	note->count = count;
	memcpy(note->keys, keys, count * sizeof(*keys));
	return note;
}

static void tell(const struct recorder *rec, const struct page_key *key,
		 uint64_t id)
{
	/* Items that are elsewhere have no key. */
	if (id < PLACE_IDS && (key->low || key->high))
		family_table_put(rec->trace.table, key,
				 place_make(rec->pages.number, id));
}

/* There is no table yet: what is to be told when there is one. */
static void keep_for_later(struct recorder *rec, const struct page_key *key,
			   uint64_t id)
{
	struct known_files *known = &rec->trace.known;

	if (known->count < KNOWN_FILES_MOST)
		known->list[known->count++] = (struct known_file){ *key, id };
}

/* Symbols are found by their chunk, kept files by their number. */
static uint64_t id_of(const struct chunk_info *info)
{
	return info->kind == CHUNK_PIECE ? info->first : info->offset;
}

/* The writer's thread does not run while the table is made. */
static void on_written(void *context, const struct chunk_info *info,
		       const void *its_note)
{
	struct recorder *rec = context;
	const struct note *note = its_note;

	if (info->kind == CHUNK_PAGES)
		for (uint32_t i = 0; i < note->count; i++)
			tell(rec, &note->keys[i], info->first + i);
	else if (rec->trace.table)
		tell(rec, note->keys, id_of(info));
	else
		keep_for_later(rec, note->keys, id_of(info));
}

void sharing_watch(struct recorder *rec)
{
	trace_writer_watch(rec->trace.writer, on_written, rec);
}

/* ------- a family ------- */

static struct member present_member(const struct recorder *rec,
				    const struct family_member *name)
{
	struct member member = { .name = *name };

	memcpy(member.run, rec->trace.run, sizeof(member.run));
	return member;
}

void sharing_begin(struct recorder *rec)
{
	const struct known_files *known = &rec->trace.known;
	struct member first =
		present_member(rec, &(struct family_member){
					    .pid = (uint32_t)getpid() });

	if (rec->trace.table || rec->trace.is_child)
		return;
	rec->trace.table = family_table_create();
	if (!rec->trace.table)
		return;
	rec->pages.number = family_table_join(rec->trace.table, &first);
	for (size_t i = 0; i < known->count; i++)
		tell(rec, &known->list[i].key, known->list[i].id);
}

/* Everything that the parent's snapshots knew is new to this trace. */
static void know_pages_anew(struct recorder *rec)
{
	struct page_store parent = rec->pages;

	if (page_store_init(&rec->pages)) {
		rec->pages = parent;
		bases_release(&rec->pages.bases);
		effects_out_of_memory(rec);
		return;
	}
	page_store_each(&parent, 0, UINT64_MAX, effects_mark_page, rec);
	page_store_release(&parent);
}

void sharing_inherit(struct recorder *rec, const struct family_member *name)
{
	struct member member = present_member(rec, name);
	uint32_t number = rec->trace.table ?
				  family_table_join(rec->trace.table, &member) :
				  0;

	rec->trace.is_child = true;
	rec->trace.header.features = number ? FEATURE_MEMBERS : 0;
	if (!number) {
		rec->trace.table = NULL;
		know_pages_anew(rec);
	} else if (page_store_inherit(&rec->pages, number)) {
		effects_out_of_memory(rec);
	} else {
		page_store_share(&rec->pages, rec->trace.table);
	}
}

/* ------- what is written ------- */

int sharing_write_members(struct recorder *rec, struct failure *why)
{
	struct page_sharing *sharing = &rec->pages.sharing;
	int rc = 0;

	while (sharing->members_written < sharing->member_count && !rc) {
		uint32_t number = sharing->numbers[sharing->members_written++];
		const struct member *member =
			family_table_member(rec->trace.table, number);
		struct output out = { 0 };

		/* Who stored something has joined before. */
		member_encode(&out, member);
		rc = trace_writer_chunk(rec->trace.writer, CHUNK_MEMBER, 0,
					rec->segment.number,
					sharing->members_written, &out, why);
	}
	return rc;
}

int sharing_write_pages(struct recorder *rec, uint32_t count,
			struct failure *why)
{
	struct page_store *pages = &rec->pages;
	struct note *note = rec->trace.table ? make_note(pages->keys, count) :
					       NULL;
	int rc = sharing_write_members(rec, why);

	if (rc) {
		free(note);
		return rc;
	}
	return trace_writer_noted(rec->trace.writer, CHUNK_PAGES, count,
				  rec->segment.number, pages->batch_first,
				  &pages->batch.pages, note, why);
}

/* Of a file as it is now, and what of it is stored. */
static struct page_key file_key(const char *what, const char *path)
{
	char text[5000];
	struct stat status;
	int size;

	if (stat(path, &status))
		return (struct page_key){ 0 };
	size = snprintf(text, sizeof(text),
			"%s %s %lu %lu %ld %ld.%09ld %ld.%09ld", what, path,
			(unsigned long)status.st_dev,
			(unsigned long)status.st_ino, (long)status.st_size,
			(long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
			(long)status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
	if (size < 0 || size >= (int)sizeof(text))
		return (struct page_key){ 0 };
	return bytes_hash(text, (size_t)size);
}

/* Where another process has it: its number here, or 0. */
static uint32_t find_elsewhere(struct recorder *rec, const struct page_key *key,
			       uint64_t *id)
{
	uint64_t place = rec->pages.sharing.table && key->low ?
				 family_table_find(rec->trace.table, key) : 0;

	if (!place || place_number(place) == rec->pages.number)
		return 0;
	*id = place_id(place);
	return page_sharing_member(&rec->pages.sharing, place);
}

bool sharing_write_symbols(struct recorder *rec, const char *path, int *rc,
			   struct failure *why)
{
	struct page_key key = file_key("symbols", path);
	struct output out = { 0 };
	struct symbols_at at = { 0 };

	at.member = find_elsewhere(rec, &key, &at.offset);
	if (!at.member)
		return false;
	*rc = sharing_write_members(rec, why);
	if (*rc)
		return true;
	symbols_at_encode(&out, &at);
	*rc = trace_writer_chunk(rec->trace.writer, CHUNK_SYMBOLS_AT, 0,
				 rec->segment.number, 0, &out, why);
	return true;
}

int sharing_write_own_symbols(struct recorder *rec, const char *path,
			      struct output *content, struct failure *why)
{
	struct page_key key = file_key("symbols", path);

	return trace_writer_noted(rec->trace.writer, CHUNK_SYMBOLS, 0,
				  rec->segment.number, 0, content,
				  make_note(&key, 1), why);
}

bool sharing_find_file(struct recorder *rec, const char *path,
		       struct kept_file *out)
{
	struct page_key key = file_key("file", path);
	uint64_t number = 0;

	out->member = find_elsewhere(rec, &key, &number);
	out->number = (uint32_t)number;
	return out->member != 0;
}

int sharing_write_piece(struct recorder *rec, uint32_t number,
			const char *whole, struct output *content,
			struct failure *why)
{
	struct page_key key;
	struct note *note = NULL;

	if (whole) {
		key = file_key("file", whole);
		note = make_note(&key, 1);
	}
	return trace_writer_noted(rec->trace.writer, CHUNK_PIECE, 0,
				  rec->segment.number, number, content, note,
				  why);
}
