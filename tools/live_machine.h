/* SPDX-License-Identifier: GPL-2.0-or-later */
/* live_machine.h - `cprec run --at`: a machine goes on where a recording was */
#ifndef CPREC_TOOLS_LIVE_MACHINE_H
#define CPREC_TOOLS_LIVE_MACHINE_H

#include "recorder/machine.h"

/* Of the options, drives and the network count.  Returns the exit status. */
int live_machine_run(const char *path, const char *at,
		     struct machine_options *options);

#endif
