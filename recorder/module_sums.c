/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * module_sums.c - what files of modules hold when they are mapped
 *
 * What the program never uses of them is in no recording.  By these checksums a
 * reader knows whether a file still has it.
 */
#include "recorder/recorder_internal.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "formats/file_status.h"

/* Each process of a family maps the same ones: they are read once. */
static const struct module_sum *find_sum(struct summed_files *summed, int fd)
{
	struct summed_file *file = &summed->list[summed->next % SUMMED_MOST];
	struct fixed_parts parts;
	struct stat status;

	if (fstat(fd, &status))
		return NULL;
	for (size_t i = 0; i < SUMMED_MOST; i++)
		if (summed->list[i].sum.size &&
		    is_unchanged_file(&summed->list[i].status, &status))
			return &summed->list[i].sum;
	if (fixed_parts_find(&parts, fd) ||
	    fixed_parts_sum(&file->sum, &parts, fd)) {
		file->sum.size = 0;
		return NULL;
	}
	file->status = status;
	summed->next++;
	return &file->sum;
}

void module_sums_add(struct recorder *rec, const char *path,
		     struct output *list)
{
	const struct module_sum *sum;
	int fd;

	if (!path[0] || strlen(path) > REGION_NAME_MAX)
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	sum = find_sum(&rec->summed, fd);
	if (sum)
		module_sum_encode(list, path, sum);
	close(fd);
}

int module_sums_write(struct recorder *rec, struct output *list,
		      struct failure *why)
{
	if (!list->size || list->error)
		return 0;
	return trace_writer_chunk(rec->trace.writer, CHUNK_MODULE_SUMS, 0,
				  rec->segment.number, 0, list, why);
}
