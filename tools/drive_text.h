/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * drive_text.h - a disk of a machine, as users and QEMU's users write it
 */
#ifndef CPREC_TOOLS_DRIVE_TEXT_H
#define CPREC_TOOLS_DRIVE_TEXT_H

#include <stdbool.h>

#include "recorder/machine.h"

/*
 * "FILE,readonly" or "file=FILE,if=virtio,format=raw,readonly=on"; ",," is a
 * comma.  Returns NULL, or what is wanted instead.  The path stays allocated.
 */
const char *drive_parse(const char *text, struct disk_options *out);

#endif
