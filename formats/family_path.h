/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * family_path.h - names of the recordings of one family
 *
 * The first process's recording has any name, FILE.  Those of all others are
 * in one folder beside it, FILE.d: PID.cpr, or PID-2.cpr and so on if a number
 * of a process was given again.  So FILE and FILE.d, moved together, stay
 * together.
 *
 * Ownership:  strings that are returned are the caller's to free();
 *             family_path_release() frees what family_path_find() fills in.
 * Errors:     ERR_NO_MEMORY.
 */
#ifndef CPREC_FORMATS_FAMILY_PATH_H
#define CPREC_FORMATS_FAMILY_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of names of files, by custom; those of children have it always. */
#define TRACE_SUFFIX ".cpr"

/* Behind the name of the first file: the folder of the others. */
#define FAMILY_FOLDER_SUFFIX ".d"

/* Room for the name of a file in the folder. */
#define FAMILY_NAME_ROOM 32

/* Which process, by its number and how often that has been given. */
struct family_member {
	uint32_t pid;
	uint32_t turn;		/* from 1 */
};

/* "1234.cpr", or "1234-2.cpr" in the second turn. */
void family_name(char name[FAMILY_NAME_ROOM],
		 const struct family_member *member);

/* Whether a file's name, without folders, is as family_name() makes them. */
bool family_name_parse(struct family_member *out, const char *name);

/* "FILE.d" for "FILE"; NULL when out of memory. */
char *family_folder(const char *first);

/*
 * The side file of a recording (side_file.h): "FILE.idx"; one part of it,
 * "FILE.idx.PART".  That of a recording in a packed file stands beside the
 * packed one.  NULL when out of memory.
 */
char *family_side_file(const char *recording, const char *part);

/* Its bookmarks (bookmarks.h): "FILE.marks", likewise. */
char *family_bookmarks_file(const char *recording);

/* Whether a name in the folder is that of a side file, or of bookmarks. */
bool family_name_is_side(const char *name);

/* Where the files of a family are. */
struct family_path {
	char *first;		/* FILE */
	char *folder;		/* FILE.d; FILE itself, if it is packed */
	bool is_packed;		/* packed.h */
	bool is_member;		/* the path was of a file in FILE.d */
	struct family_member member;	/* then: which; zeros, if the name of one
					   in a packed file does not say */
};

/*
 * Finds the family of a file by its name, which may be a symbolic link.  A
 * file of a name like "x.d/12.cpr" is taken for a member of x's family, though
 * it may be a first one: whoever looks compares what is in the files.
 */
int family_path_find(struct family_path *out, const char *path);
void family_path_release(struct family_path *path);

#endif
