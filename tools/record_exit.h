/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * record_exit.h - a line about a recorded program that ended with an error
 *
 * What it wrote to its standard error last says why; who wrote that is found in
 * the recording, which is complete.
 *
 * Errors:     none: what is not known is left out.
 */
#ifndef CPREC_TOOLS_RECORD_EXIT_H
#define CPREC_TOOLS_RECORD_EXIT_H

/*
 * Prints the line, if the program's own code has written a message.  `typed` is
 * what the user called the recording.
 */
void record_exit_say(const char *path, const char *typed, int status);

#endif
