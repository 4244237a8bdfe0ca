/* SPDX-License-Identifier: GPL-2.0-or-later */
/* recording.c - see recording.h */
#include "replayer/recording/recording.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/error.h"
#include "formats/registers.h"
#include "replayer/recording/chunks.h"
#include "replayer/recording/end.h"
#include "replayer/recording/recording_data.h"

int recording_open(struct recording **out, const char *path,
		   struct failure *why)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	uint32_t arch;
	int rc;

	if (!recording)
		return failed(why, ERR_NO_MEMORY, "out of memory");
	rc = trace_reader_open(&recording->reader, path, why);
	if (rc)
		goto undo;
	arch = trace_reader_header(recording->reader)->arch;
	recording->table = reg_table(arch);
	if (!recording->table) {
		rc = failed(why, ERR_VERSION,
			    "'%s' is of machine type %" PRIu32
			    ", which this build does not know", path, arch);
		goto undo;
	}
	rc = recording_order(recording,
			     trace_reader_count(recording->reader), why);
	if (rc)
		goto undo;
	rc = recording_find_end(recording, why);
	if (rc)
		goto undo;
	*out = recording;
	return 0;

undo:
	recording_close(recording);
	return rc;
}

const char *recording_file_path(const struct recording *recording)
{
	return trace_reader_path(recording->reader);
}

/* Also ends a recording that recording_open() left half made. */
void recording_close(struct recording *recording)
{
	if (!recording)
		return;
	recording_forget_programs(recording);
	page_versions_release(&recording->versions);
	slices_release(&recording->slices);
	free(recording->event_times.list);
	free(recording->moments.list);
	module_files_release(&recording->modules);
	module_sums_release(&recording->sums);
	recording_forget(recording);
	meta_release(&recording->meta);
	summary_release(&recording->summary);
	trace_reader_close(recording->reader);
	free(recording);
}

void recording_cancel_by(struct recording *recording, const atomic_bool *flag)
{
	recording->cancelled = flag;
}

const atomic_bool *recording_cancelled(const struct recording *recording)
{
	return recording->cancelled;
}
