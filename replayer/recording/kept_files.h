/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kept_files.h - which builds modules are, and what their files held; files of
 * theirs, here or where a member has them
 */
#ifndef CPREC_REPLAYER_RECORDING_KEPT_FILES_H
#define CPREC_REPLAYER_RECORDING_KEPT_FILES_H

#include <stdint.h>

#include "formats/module_files.h"
#include "formats/module_sums.h"

struct failure;
struct recording;
struct trace_reader;

/* All modules of which the recording says it; none in older ones. */
int recording_modules(struct recording *recording,
		      const struct module_list **out, struct failure *why);

/* ERR_NOT_FOUND, with the reason: the recording does not say it. */
int recording_module_sum(struct recording *recording, const char *path,
			 struct module_sum *out, struct failure *why);

/* Writes a file that is kept into `fd`, which is empty.  ERR_CORRUPT. */
int recording_kept_file(struct recording *recording,
			const struct kept_file *file, int fd,
			struct failure *why);

/*
 * Visits its pieces in their order, chunks of `*out`, which has them: together
 * they have the file's size.  What `visit` returns, if it is not 0, ends this.
 * ERR_CORRUPT.
 */
int recording_kept_pieces(struct recording *recording,
			  const struct kept_file *file,
			  const struct trace_reader **out,
			  int (*visit)(void *context, size_t chunk,
				       size_t size),
			  void *context, struct failure *why);

/* How many bytes it takes in the recording that has it. */
int recording_kept_bytes(struct recording *recording,
			 const struct kept_file *file, uint64_t *bytes,
			 struct failure *why);

/* The number of the process whose recording has it; 0: this one's. */
uint32_t recording_kept_by(const struct recording *recording,
			   const struct kept_file *file);

#endif
