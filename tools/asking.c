/* SPDX-License-Identifier: GPL-2.0-or-later */
/* asking.c - see asking.h */
#include "tools/asking.h"

#include "formats/error.h"
#include "replayer/recording/recording.h"
#include "tools/commands.h"
#include "tools/damage.h"
#include "tools/messages.h"

static int find_times(struct asking *asking, struct failure *why)
{
	bool is_time;
	int rc = place_position(&asking->first, &is_time, asking->recording,
				asking->from, why);

	if (!rc)
		rc = place_position(&asking->last, &is_time, asking->recording,
				    asking->to, why);
	if (!rc && position_compare(&asking->first, &asking->last) > 0)
		rc = failed(why, ERR_INPUT, "--from is behind --to");
	return rc;
}

/* Breakpoints count in it alone.  Without one, and if the machine has a kernel
 * that is known, in all of them. */
static int follow(struct asking *asking, struct failure *why)
{
	struct opened *opened = asking->opened;
	int rc;

	if (asking->process && !recording_is_machine(asking->recording))
		return failed(why, ERR_INPUT, "--process is for machines only");
	if (!recording_is_machine(asking->recording))
		return 0;
	rc = opened_kernel(opened, why);
	if (!asking->process)
		return rc ? 0 : kernel_follow_all(opened->kernel, why);
	return rc ? rc : kernel_follow(opened->kernel, asking->process,
				       &asking->first, &asking->last, why);
}

static void leave(struct asking *asking)
{
	if (asking->opened->kernel)
		kernel_follow(asking->opened->kernel, NULL, NULL, NULL, NULL);
}

static int begin(struct asking *asking, struct failure *why)
{
	struct opened *opened = asking->opened;
	int rc;

	asking->recording = opened->recording;
	rc = find_times(asking, why);
	if (!rc)
		rc = opened_ask(opened, why);
	asking->lines = opened->lines;
	asking->query = opened->query;
	asking->expressions = opened->expressions;
	return rc ? rc : follow(asking, why);
}

int asking_run(struct asking *asking,
	       int (*answer)(void *context, struct failure *why),
	       void *context)
{
	struct failure why;
	int rc;

	if (opened_begin_any(&asking->opened, asking->path, &why))
		return say_failure(&why);
	rc = begin(asking, &why);
	if (!rc)
		rc = answer(context, &why);
	if (!rc)
		damage_say(asking->recording);
	leave(asking);
	opened_end(asking->opened);
	return finish_output(rc ? say_failure(&why) : EXIT_ANSWERED);
}
