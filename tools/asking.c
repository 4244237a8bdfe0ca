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

static int begin(struct asking *asking, struct failure *why)
{
	int rc = find_times(asking, why);

	if (!rc)
		rc = lines_create(&asking->lines, asking->recording, why);
	if (!rc)
		rc = query_create(&asking->query, asking->recording, why);
	if (!rc)
		rc = expressions_create(&asking->expressions, asking->lines,
					asking->query, why);
	return rc;
}

static void end(struct asking *asking)
{
	expressions_destroy(asking->expressions);
	query_destroy(asking->query);
	lines_destroy(asking->lines);
}

int asking_run(struct asking *asking,
	       int (*answer)(void *context, struct failure *why),
	       void *context)
{
	struct failure why;
	int rc;

	if (recording_open(&asking->recording, asking->path, &why))
		return say_failure(&why);
	rc = begin(asking, &why);
	if (!rc)
		rc = answer(context, &why);
	end(asking);
	if (!rc)
		damage_say(asking->recording);
	recording_close(asking->recording);
	return finish_output(rc ? say_failure(&why) : EXIT_ANSWERED);
}
