/* SPDX-License-Identifier: GPL-2.0-or-later */
/* trace.c - how a trace begins and ends, and the symbols in it */
#include "recorder/recorder_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "formats/elf_symbols.h"
#include "formats/symbols.h"

/*
 * Of zstd.  Higher ones take more of the second processor for smaller files;
 * the user may choose (--level).
 */
#define LEVEL_DEFAULT 1

/*
 * A process that names what others have stored stores little itself: there is
 * time to pack that better.  Measured with compilers: a tenth less, for
 * 10 ms of the second processor; 40 ms for those that store much.
 */
#define LEVEL_OF_LITTLE 6
#define LITTLE (UINT64_C(2) << 20)

int trace_make_header(struct recorder *rec, struct failure *why)
{
	rec->trace.path = strdup(rec->options->path);
	if (!rec->trace.path)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	if (getrandom(rec->trace.header.id, sizeof(rec->trace.header.id), 0) <
		    0 ||
	    getrandom(rec->trace.run, sizeof(rec->trace.run), 0) < 0)
		return failed(why, ERR_SYSTEM, "cannot get random bytes");
	return 0;
}

int trace_open(struct recorder *rec, struct failure *why)
{
	int level = rec->options->level ? rec->options->level : LEVEL_DEFAULT;
	int rc;

	rec->regs = vm_reg_table(rec->vm);
	rec->trace.header.arch = rec->regs->arch;
	if (rec->trace.file >= 0)
		rc = trace_writer_start(&rec->trace.writer, rec->trace.file,
					rec->trace.path, &rec->trace.header,
					level, why);
	else
		rc = trace_writer_open(&rec->trace.writer, rec->trace.path,
				       &rec->trace.header, level, why);
	if (!rc && rec->trace.file < 0)
		rc = trace_writer_move(rec->trace.writer, linux_hide_descriptor,
				       why);
	rec->trace.file = -1;
	if (!rc)
		sharing_watch(rec);
	if (!rc && rec->trace.header.features & FEATURE_MEMBERS &&
	    !rec->options->level)
		trace_writer_pack_first(rec->trace.writer, LEVEL_OF_LITTLE,
					LITTLE);
	if (!rc)
		rc = programs_write_meta(rec, why);
	return rc;
}

/* Names are a help: a file that cannot be read has none. */
static int write_symbols(struct recorder *rec, const char *path,
			 struct failure *why)
{
	struct symbols symbols = { 0 };
	struct output out = { 0 };
	int rc;

	if (sharing_write_symbols(rec, path, &rc, why))
		return rc;
	if (elf_symbols(&symbols, path, -1))
		return 0;
	symbols_encode(&out, &symbols);
	symbols_release(&symbols);
	if (out.error) {
		output_release(&out);
		return 0;
	}
	return sharing_write_own_symbols(rec, path, &out, why);
}

enum module_news { MODULE_OLD, MODULE_NEW, MODULE_REPLACED };

/* What is mapped there; it is noted. */
static enum module_news note_module(struct recorder *rec,
				    const struct region *region)
{
	struct recorded_process *trace = &rec->trace;
	struct recorded_module now = { .name = region->name };
	size_t i = 0;

	memory_file_at(rec->memory, region->start, &now.dev, &now.ino);
	while (i < trace->module_count && trace->modules[i].name != now.name)
		i++;
	if (i == MODULES_MOST)
		return MODULE_OLD;
	if (i == trace->module_count) {
		trace->modules[trace->module_count++] = now;
		return MODULE_NEW;
	}
	if (trace->modules[i].dev == now.dev && trace->modules[i].ino == now.ino)
		return MODULE_OLD;
	trace->modules[i] = now;
	return MODULE_REPLACED;
}

int trace_write_symbols(struct recorder *rec, struct failure *why)
{
	size_t count;
	const struct region *regions = memory_regions(rec->memory, &count);
	struct output files = { 0 }, sums = { 0 };
	int rc = 0;

	for (size_t i = 0; i < count && !rc; i++) {
		const struct region *region = &regions[i];
		enum module_news news = MODULE_OLD;

		if (region->kind == REGION_FILE && region->prot & MAY_EXEC)
			news = note_module(rec, region);
		if (news == MODULE_NEW)
			rc = write_symbols(rec, region->name, why);
		if (!rc && news == MODULE_NEW)
			rc = module_files_add(rec, region->name, &files, why);
		if (news != MODULE_OLD)
			module_sums_add(rec, region->name, &sums);
	}
	if (!rc)
		rc = module_files_write(rec, &files, why);
	if (!rc)
		rc = module_sums_write(rec, &sums, why);
	output_release(&files);
	output_release(&sums);
	return rc;
}

static int write_summary(struct recorder *rec,
			 const struct linux_result *result, struct failure *why)
{
	struct summary summary = {
		.time = vm_steps(rec->vm),
		.thread_count = rec->threads.count,
		.touched_pages = rec->touched.resolved,
		.stored_pages = rec->pages.next_id - 1,
	};
	struct output out = { 0 };

	summary.threads = calloc(rec->threads.count, sizeof(*summary.threads));
	if (!summary.threads)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rec->stream->steps = stream_steps(rec);
	rec->threads.turn_start = summary.time;
	for (size_t i = 0; i < rec->threads.count; i++) {
		const struct stream *stream = rec->threads.list[i];

		summary.threads[i] = (struct summary_thread){ stream->tid,
							      stream->steps };
		summary.cache_hits += stream->reads.total_hits;
		summary.cache_misses += stream->reads.total_misses;
	}

	if (result->outcome == LINUX_KILLED)
		summary.exit_signal = (uint32_t)result->status;
	else if (result->outcome == LINUX_BECAME)
		summary.exit_code = SUMMARY_BECAME;
	else
		summary.exit_code = (uint32_t)result->status & 0xff;
	summary_encode(&out, &summary);
	free(summary.threads);
	if (out.error)
		return failed(why, out.error, "out of memory");
	return trace_writer_chunk(rec->trace.writer, CHUNK_SUMMARY, 0,
				  rec->segment.number, 0, &out, why);
}

int trace_finish(struct recorder *rec, const struct linux_result *result,
		 struct failure *why)
{
	int rc = segment_end(rec, why);

	if (!rc)
		rc = write_summary(rec, result, why);
	return rc ? rc : trace_writer_finish(rec->trace.writer, why);
}
