/* SPDX-License-Identifier: GPL-2.0-or-later */
/* diversions.c - what would happen if */
#include "library/handles.h"

#include <stdlib.h>
#include <string.h>

struct cprec_diversion {
	struct cprec_recording *of;
	struct diversion *inner;
	struct cprec_memory memory;
	uint8_t *bytes, *known;		/* of it */
};

PUBLIC int cprec_diversion_begin(struct cprec_diversion **out,
				 struct cprec_cursor *cursor,
				 struct cprec_failure *why)
{
	struct cprec_recording *handle = cursor->of;
	struct cprec_diversion *diversion;
	struct replayer *replayer;
	uint32_t stream, tid;
	int rc = cursor_begin(cursor, &replayer, why);

	if (!rc)
		rc = cursor_find_thread(cursor, &stream, &tid, inner(why));
	if (rc)
		return rc;
	diversion = calloc(1, sizeof(*diversion));
	if (!diversion)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	diversion->of = handle;
	rc = diversion_begin(&diversion->inner, handle->query, &cursor->at,
			     stream, inner(why));
	if (rc) {
		free(diversion);
		return rc;
	}
	*out = diversion;
	return 0;
}

PUBLIC void cprec_diversion_end(struct cprec_diversion *diversion)
{
	if (!diversion)
		return;
	diversion_end(diversion->inner);
	free(diversion->bytes);
	free(diversion->known);
	free(diversion);
}

PUBLIC int cprec_diversion_thread(struct cprec_diversion *diversion,
				  struct cprec_cursor *cursor,
				  struct cprec_failure *why)
{
	struct replayer *replayer;
	uint32_t stream, tid;
	int rc = cursor_begin(cursor, &replayer, why);

	if (!rc)
		rc = cursor_find_thread(cursor, &stream, &tid, inner(why));
	return rc ? rc : diversion_use_thread(diversion->inner, stream,
					      inner(why));
}

/* ------- registers and memory ------- */

PUBLIC int
cprec_diversion_each_register(struct cprec_diversion *diversion,
			      int (*visit)(void *context,
					   const struct cprec_register *reg),
			      void *context, struct cprec_failure *why)
{
	struct frame_registers found = { 0 };

	(void)why;
	diversion_registers(diversion->inner, &found.file);
	return tell_registers(recording_reg_table(diversion->of->recording),
			      &found, visit, context);
}

PUBLIC int cprec_diversion_set_register(struct cprec_diversion *diversion,
					const char *name, const uint8_t *bytes,
					struct cprec_failure *why)
{
	const struct reg_table *table =
		recording_reg_table(diversion->of->recording);
	struct reg_file file;

	for (unsigned i = 0; i < table->count; i++) {
		const struct reg_info *info = &table->regs[i];

		if (strcmp(info->name, name))
			continue;
		diversion_registers(diversion->inner, &file);
		memcpy(file.bytes + info->offset, bytes, info->size);
		diversion_set_registers(diversion->inner, &file);
		return 0;
	}
	return failed(inner(why), ERR_NOT_FOUND, "no register is called %s",
		      name);
}

PUBLIC int cprec_diversion_read(struct cprec_diversion *diversion,
				uint64_t addr, uint64_t length,
				const struct cprec_memory **out,
				struct cprec_failure *why)
{
	int rc;

	if (!length || length > CPREC_MEMORY_MOST ||
	    length - 1 > UINT64_MAX - addr)
		return failed(inner(why), ERR_INPUT,
			      "so many bytes cannot be read");
	free(diversion->bytes);
	free(diversion->known);
	diversion->bytes = malloc(length);
	diversion->known = malloc(length);
	if (!diversion->bytes || !diversion->known)
		return failed(inner(why), ERR_NO_MEMORY, "out of memory");
	rc = diversion_read(diversion->inner, addr, diversion->bytes,
			    diversion->known, length, inner(why));
	if (rc)
		return rc;
	diversion->memory = (struct cprec_memory) {
		.addr = addr, .length = length, .bytes = diversion->bytes,
		.known = diversion->known, .source = CPREC_FROM_REPLAY,
		.is_certain = true,
		.is_mapped = memchr(diversion->known, 1, length),
	};
	*out = &diversion->memory;
	return 0;
}

PUBLIC int cprec_diversion_write(struct cprec_diversion *diversion,
				 uint64_t addr, const uint8_t *bytes,
				 uint64_t length, struct cprec_failure *why)
{
	if (length > CPREC_MEMORY_MOST || length > UINT64_MAX - addr)
		return failed(inner(why), ERR_INPUT,
			      "so many bytes cannot be written");
	return length ? diversion_write(diversion->inner, addr, bytes, length,
					inner(why)) : 0;
}

PUBLIC int cprec_diversion_each_mapping(
	struct cprec_diversion *diversion,
	int (*visit)(void *context, const struct cprec_mapping *mapping),
	void *context, struct cprec_failure *why)
{
	struct mapping_visits visits = {
		{ .of = diversion->of, .context = context }, visit,
	};

	(void)why;
	return visits_result(&visits.visits,
			     diversion_mappings(diversion->inner,
						tell_mapping, &visits));
}

/* ------- running ------- */

static void on_printed(void *context, int descriptor, const uint8_t *bytes,
		       size_t size)
{
	const struct cprec_diversion_run *run = context;

	if (run->printed)
		run->printed(run->context, descriptor, bytes, size);
}

PUBLIC int cprec_diversion_run(struct cprec_diversion *diversion,
			       const struct cprec_diversion_run *run,
			       enum cprec_diversion_stop *out,
			       uint32_t *signal, struct cprec_failure *why)
{
	static const enum cprec_diversion_stop kinds[] = {
		[DIVERSION_STEPPED] = CPREC_DIVERSION_STEPPED,
		[DIVERSION_AT_BREAK] = CPREC_DIVERSION_AT_BREAK,
		[DIVERSION_AT_SIGNAL] = CPREC_DIVERSION_AT_SIGNAL,
		[DIVERSION_EXITED] = CPREC_DIVERSION_EXITED,
	};
	struct cprec_diversion_run asked;
	struct diversion_stop stop;
	int rc = QUESTION_TAKE(&asked, run, why);
	const struct diversion_run inner_run = {
		.most = asked.most ? asked.most : UINT64_MAX,
		.breaks = asked.breaks, .break_count = asked.break_count,
		.printed = on_printed, .context = &asked,
	};

	if (!rc)
		rc = diversion_run(diversion->inner, &inner_run, &stop,
				   inner(why));
	if (rc)
		return rc;
	*out = kinds[stop.kind];
	*signal = stop.signal;
	return 0;
}
