/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * shm_count.c - how often a segment of shared memory is attached
 *
 * A segment that a guest attaches is mapped by the host twice, for the guest
 * and for its kernel, and in pieces; each counts as attached, which shmctl(2)
 * must not show.
 */
#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "vm/linux/host/host.h"
#include "vm/linux/ipc/ipc_internal.h"
#include "vm/linux/process.h"

/* How often a segment is attached, by some processes. */
struct tally {
	uint64_t host;		/* as the host counts */
	uint64_t guest;		/* as the guest is to see it */
};

/* A line of /proc/PID/maps. */
struct line {
	uint64_t start, end, offset;
};

static bool is_part(const char *text, int id, struct line *line)
{
	unsigned long long inode;
	int name = 0;

	return sscanf(text,
		      "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %*s %llu %n",
		      &line->start, &line->end, &line->offset, &inode,
		      &name) == 4 &&
	       inode == (unsigned long long)id && name &&
	       !strncmp(text + name, SHM_NAME_START, strlen(SHM_NAME_START));
}

/* Whether the host has it in pieces only for their permissions. */
static bool goes_on(const struct line *before, const struct line *line)
{
	return before->end && line->start <= before->end &&
	       line->start - line->offset == before->start - before->offset;
}

/* Counts the mappings of a process, and those that are not of one piece. */
static void count_lines(const char *pid, int id, uint64_t *lines,
			uint64_t *whole)
{
	struct line before = { 0 }, line;
	char path[64], text[512];
	FILE *maps;

	*lines = *whole = 0;
	snprintf(path, sizeof(path), "/proc/%.20s/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(text, sizeof(text), maps)) {
		if (!is_part(text, id, &line))
			continue;
		*lines += 1;
		*whole += !goes_on(&before, &line);
		before = line;
	}
	if (maps)
		fclose(maps);
}

/*
 * Our processes have each segment twice, while they attach or detach it once
 * or thrice.
 */
static void count_in(struct linux_process *process, const char *pid, int id,
		     struct tally *ours, struct tally *others)
{
	bool is_ours = is_relative((uint32_t)atoi(pid));
	struct tally *tally = is_ours ? ours : others;
	uint64_t lines, whole;

	if (!tally)
		return;
	count_lines(pid, id, &lines, &whole);
	tally->host += lines;
	if (atoi(pid) == getpid())
		tally->guest += memory_count_attached(process->memory,
						      (uint64_t)id);
	else
		tally->guest += is_ours ? whole / 2 : lines;
}

/* By all processes; without `others` only by ours. */
static void count_all(struct linux_process *process, int id,
		      struct tally *ours, struct tally *others)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (isdigit((unsigned char)entry->d_name[0]))
			count_in(process, entry->d_name, id, ours, others);
	if (folder)
		closedir(folder);
}

/*
 * What the host counts and what processes have is read one after the other,
 * while they attach, detach and end.  The memory of one that has ended may even
 * stay for a moment, when somebody reads its maps.  So it is read until every
 * mapping that the host counts is found.  What is not found then is of
 * processes that are kept from us.
 */
bool shm_count(struct linux_process *process, int id, uint64_t *count)
{
	struct tally ours = { 0 }, others = { 0 };
	uint64_t host = *count;

	count_all(process, id, &ours, NULL);
	if (host != ours.host) {
		ours = (struct tally){ 0 };
		count_all(process, id, &ours, &others);
	}
	*count = ours.guest + (host > ours.host ? host - ours.host : 0);
	return host == ours.host + others.host;
}
