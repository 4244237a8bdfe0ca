/* SPDX-License-Identifier: GPL-2.0-or-later */
/* programs.c - which process this is, and which programs it executes */
#include "recorder/recorder_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* What the process executes now. */
static struct program_image present_image(const struct recorder *rec,
					  char directory[4096])
{
	struct program_image image = {
		.argv = rec->trace.argv ? rec->trace.argv :
				    (char **)(uintptr_t)
					    rec->options->program.argv,
		.path = (char *)(uintptr_t)linux_program(rec->process),
		.directory = directory,
	};

	while (image.argv[image.argc])
		image.argc++;
	if (!getcwd(directory, 4096))
		directory[0] = '\0';
	return image;
}

int programs_write_meta(struct recorder *rec, struct failure *why)
{
	const struct recorder_options *options = rec->options;
	char host[220], directory[4096], made_by[128];
	struct program_image image = present_image(rec, directory);
	struct output out = { 0 };
	struct utsname name;
	struct meta meta = {
		.argv = image.argv,
		.argc = image.argc,
		.path = image.path,
		.directory = image.directory,
		.host = host,
		.made_by = made_by,
		.started = (uint64_t)time(NULL),
		.cache_entries = options->cache_entries,
		.processor = *processor_of(rec->trace.header.arch),
		.origin = rec->trace.origin,
	};

	rec->trace.executed = false;
	if (uname(&name))
		memset(&name, 0, sizeof(name));
	snprintf(host, sizeof(host), "%s %s %s", name.sysname, name.release,
		 name.machine);
	snprintf(made_by, sizeof(made_by), "%s, %s", options->made_by,
		 vm_engine());
	memcpy(meta.run, rec->trace.run, sizeof(meta.run));
	meta_encode(&out, &meta);
	return trace_writer_chunk(rec->trace.writer, CHUNK_META, 0, 0, 0, &out,
				  why);
}

/* ------- exec ------- */

static void free_arguments(char **argv)
{
	for (size_t i = 0; argv && argv[i]; i++)
		free(argv[i]);
	free(argv);
}

static char **copy_arguments(char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < count; i++) {
		copy[i] = strdup(argv[i]);
		if (!copy[i]) {
			free_arguments(copy);
			return NULL;
		}
	}
	return copy;
}

void programs_executed(void *context, char *const *argv)
{
	struct recorder *rec = context;
	char **copy = copy_arguments(argv);

	if (!copy) {
		effects_out_of_memory(rec);
		return;
	}
	free_arguments(rec->trace.argv);
	rec->trace.argv = copy;
	rec->trace.executed = true;
}

int programs_write(struct recorder *rec, struct failure *why)
{
	char directory[4096];
	struct program_image image;
	struct output out = { 0 };

	if (!rec->trace.executed)
		return 0;
	rec->trace.executed = false;
	image = present_image(rec, directory);
	program_image_encode(&out, &image);
	return trace_writer_chunk(rec->trace.writer, CHUNK_PROGRAM,
				  rec->stream->number, rec->segment.number,
				  vm_steps(rec->vm), &out, why);
}

void programs_release(struct recorder *rec)
{
	free_arguments(rec->trace.argv);
	rec->trace.argv = NULL;
}
