/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage.h - what is to be said of a recording that is not whole
 */
#ifndef CPREC_TOOLS_DAMAGE_H
#define CPREC_TOOLS_DAMAGE_H

struct recording;

/*
 * One sentence that names the file: it is still being written, was cut short,
 * or a part is damaged or missing that could be done without.  NULL if the
 * recording is whole, or without memory; free() it.
 */
char *damage_describe(const struct recording *recording);

/* The same as a note; what was answered may not be all. */
void damage_say(const struct recording *recording);

#endif
