/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * special.h - calls whose arguments say what the others are
 *
 * Each shows one argument of a call, if it is not a usual one; special.c has
 * the table.
 */
#ifndef CPREC_VM_LINUX_TEXT_SPECIAL_H
#define CPREC_VM_LINUX_TEXT_SPECIAL_H

#include <inttypes.h>

#include "vm/linux/text/text_internal.h"

typedef enum shown special_argument(struct showing *showing, unsigned index);

/* ------- special_files.c ------- */

special_argument special_opened, special_made_flags, special_made_node,
	special_access_flags, special_statx_flags, special_filled_path,
	special_directory, special_random_bytes, special_file_control,
	special_device_control;

/* ------- special_processes.c ------- */

special_argument special_cloned, special_cloned_anew, special_executed,
	special_waited, special_processors, special_process_control,
	special_thread_pointer, special_closed_range, special_futex;

/* ------- what they have in common ------- */

static inline bool is_call(const struct showing *showing,
			   enum linux_call_index call)
{
	return showing->row && linux_call_kind(showing->row) == call;
}

static inline enum shown show_unsigned(struct showing *showing, uint64_t value)
{
	fprintf(showing->out, "%u", (unsigned)value);
	return SHOWN;
}

static inline enum shown show_hex(struct showing *showing, uint64_t value)
{
	fprintf(showing->out, "%#" PRIx64, value);
	return SHOWN;
}

#endif
