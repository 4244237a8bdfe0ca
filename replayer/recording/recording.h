/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * recording.h - a recording, opened for reading
 *
 * This room puts the chunks of a trace file in order and reads them: segments
 * with their key frames, streams, packets, threads, programs, stored pages.  It
 * never runs a guest, so it needs no engine and no processor of the guest's
 * kind, and it answers no question that needs one.
 *
 * Each thread of the guest is a stream.  A segment has one key frame of the
 * process, which is that of the thread that runs when it starts, and others for
 * threads.  A recording that was cut short is usable up to its last whole
 * segment part: a segment counts as soon as its key frame is there.
 *
 * Other rooms include this header only; it has all that is theirs:
 *
 *	segments.h	what was recorded; segments, their key frames and times
 *	streams.h	streams and their bytes
 *	packets.h	packets, one after the other
 *	threads.h	threads by their numbers
 *	clock.h		what the clock on the wall said
 *	devices.h	what devices of a machine were
 *	execs.h		which thread a stream is
 *	stream_times.h	who ran when
 *	thread_steps.h	how far threads are
 *	program_list.h	the programs that the process was
 *	mapped.h	what is mapped where
 *	module_symbols.h	symbols of modules
 *	kept_files.h	builds of modules, and files of theirs
 *	kept_parts.h	these files, a part at a time
 *	position.h	places in the execution, finer than times
 *	positions.h	which segment holds one
 *	snapshots.h	contents of pages
 *
 * Units:      times and steps are retired instructions; segments count from 0.
 * Ownership:  what a function returns by pointer-to-const belongs to the
 *             recording; what it fills in is the caller's to release.
 * Errors:     those of trace_file.h; ERR_NOT_FOUND.
 * Threads:    one at a time (it keeps a cache of unpacked pages).
 */
#ifndef CPREC_REPLAYER_RECORDING_RECORDING_H
#define CPREC_REPLAYER_RECORDING_RECORDING_H

#include <stdatomic.h>

#include "replayer/recording/broken_turns.h"
#include "replayer/recording/clock.h"
#include "replayer/recording/devices.h"
#include "replayer/recording/execs.h"
#include "replayer/recording/kept_files.h"
#include "replayer/recording/kept_parts.h"
#include "replayer/recording/mapped.h"
#include "replayer/recording/module_symbols.h"
#include "replayer/recording/packets.h"
#include "replayer/recording/position.h"
#include "replayer/recording/positions.h"
#include "replayer/recording/program_list.h"
#include "replayer/recording/segments.h"
#include "replayer/recording/snapshots.h"
#include "replayer/recording/stream_times.h"
#include "replayer/recording/streams.h"
#include "replayer/recording/thread_steps.h"
#include "replayer/recording/threads.h"

int recording_open(struct recording **out, const char *path,
		   struct failure *why);
void recording_close(struct recording *recording);

/* The name of its file. */
const char *recording_file_path(const struct recording *recording);

/*
 * What asks or replays it, and is made from now on, ends soon while the flag is
 * set: ERR_CANCELLED.  NULL, at first: never.  Others may set it at any time.
 */
void recording_cancel_by(struct recording *recording, const atomic_bool *flag);
const atomic_bool *recording_cancelled(const struct recording *recording);

#endif
