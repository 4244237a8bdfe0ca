/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * session.h - what users ask of a recording
 *
 * This room answers questions with as little replay as possible, and
 * understands texts as users write them.  It never prints and never ends the
 * process: the commands are built on it.
 *
 * Other rooms include this header only:
 *
 *	backtrace.h	who called whom in a thread
 *	calls_list.h	system calls and signals, in order
 *	calls.h		calls of functions, and how they ended
 *	call_functions.h	which functions those are
 *	call_stacks.h	the calls that threads are in
 *	changes.h	each change of some memory
 *	log_points.h	each time that a line or a function was executed
 *	marks.h		each time that a replay comes to some code
 *	crash.h		how a signal ended a program
 *	diversion.h	what would happen if
 *	family_find.h	which process is meant
 *	function_places.h	where the code of functions is, inlined or not
 *	heap.h		blocks that were allocated, and what was done to them
 *	heap_functions.h	which functions are an allocator's
 *	history.h	who accessed memory, and when
 *	kernel.h	processes of a machine's kernel, their mappings, its log
 *	kernel_calls.h	what its programs ask it for
 *	kernel_programs.h	names of the programs that run on it
 *	index_build.h	all of the index at once
 *	known_memory.h	memory where a replayer stands
 *	last_words.h	what a program wrote to its standard error last
 *	mappings.h	what is mapped where
 *	numbers.h	numbers and addresses as texts
 *	times.h		times as texts
 *	thread_names.h	what threads are called
 *	trail.h		single steps, of the stretch just replayed
 *	clocks.h	times of day as texts
 *	code.h		instructions
 *	places.h	both, as times and addresses of a recording
 *	outputs.h	what the program wrote, and when
 *	query.h		what an address held at a time
 *	register_history.h	what wrote a register last
 *	segment_uses.h	which segments may have accessed some memory
 *	sources.h	files of source code
 *	steps.h		each instruction
 */
#ifndef CPREC_REPLAYER_SESSION_SESSION_H
#define CPREC_REPLAYER_SESSION_SESSION_H

#include "replayer/session/backtrace.h"
#include "replayer/session/call_functions.h"
#include "replayer/session/call_stacks.h"
#include "replayer/session/calls.h"
#include "replayer/session/calls_list.h"
#include "replayer/session/changes.h"
#include "replayer/session/clocks.h"
#include "replayer/session/code.h"
#include "replayer/session/crash.h"
#include "replayer/session/diversion.h"
#include "replayer/session/family_find.h"
#include "replayer/session/function_places.h"
#include "replayer/session/heap.h"
#include "replayer/session/heap_functions.h"
#include "replayer/session/history.h"
#include "replayer/session/kernel.h"
#include "replayer/session/kernel_calls.h"
#include "replayer/session/kernel_programs.h"
#include "replayer/session/index_build.h"
#include "replayer/session/known_memory.h"
#include "replayer/session/last_words.h"
#include "replayer/session/mappings.h"
#include "replayer/session/log_points.h"
#include "replayer/session/marks.h"
#include "replayer/session/numbers.h"
#include "replayer/session/outputs.h"
#include "replayer/session/places.h"
#include "replayer/session/query.h"
#include "replayer/session/register_history.h"
#include "replayer/session/segment_uses.h"
#include "replayer/session/sources.h"
#include "replayer/session/spaces.h"
#include "replayer/session/steps.h"
#include "replayer/session/thread_names.h"
#include "replayer/session/times.h"
#include "replayer/session/trail.h"

#endif
