/* SPDX-License-Identifier: GPL-2.0-or-later */
/* steps.c - see steps.h */
#include "replayer/session/steps.h"

#include <stdatomic.h>

#include "replayer/replayer.h"
#include "vm/vm.h"

struct steps {
	const struct steps_question *question;
	struct replayer *rep;
	unsigned pc_reg;
	struct step step;
	atomic_bool is_over;
	int rc;
};

struct replayer *steps_replayer(const struct steps *steps)
{
	return steps->rep;
}

/* The guest may not have written down yet where it stands. */
uint64_t steps_register(const struct steps *steps, unsigned reg)
{
	return reg == steps->pc_reg ? steps->step.pc :
				      replayer_reg(steps->rep, reg);
}

static void tell(struct steps *steps)
{
	if (steps->rc)
		return;
	steps->rc = steps->question->met(steps->question->context, steps,
					 &steps->step);
	if (!steps->rc)
		return;
	atomic_store(&steps->is_over, true);
	replayer_halt(steps->rep);
}

static void on_instruction(void *context, uint64_t time, guest_addr pc)
{
	struct steps *steps = context;

	steps->step = (struct step) {
		.at = { time, EVENTS_ALL }, .pc = pc,
		.stream = replayer_stream(steps->rep),
	};
	tell(steps);
}

/* Between two instructions. */
static void tell_now(struct steps *steps)
{
	steps->step = (struct step) {
		.at = replayer_now(steps->rep),
		.stream = replayer_stream(steps->rep),
		.pc = replayer_reg(steps->rep, steps->pc_reg),
	};
	tell(steps);
}

static void on_turn(void *context, bool after)
{
	if (!after)
		tell_now(context);
}

int steps_run(const struct steps_question *question, struct failure *why)
{
	struct steps steps = { .question = question };
	const struct replay_observer observer = {
		.guest = { .instruction = on_instruction,
			   .code = VM_EVERYWHERE, .context = &steps },
		.turn = on_turn, .context = &steps,
	};
	const struct replay_until until = {
		.to = question->to, .interrupt = &steps.is_over,
	};
	struct replay_stop stop;
	int rc = query_replayer(question->query, &steps.rep, why);

	if (!rc)
		rc = replayer_seek(steps.rep, &question->from, why);
	if (rc)
		return rc;
	steps.pc_reg = recording_reg_table(
		query_recording(question->query))->pc;
	rc = replayer_observe(steps.rep, &observer, why);
	if (!rc)
		rc = replayer_run(steps.rep, &until, &stop, why);
	replayer_unobserve(steps.rep, &observer);
	if (!rc && !steps.rc && !replayer_has_ended(steps.rep))
		tell_now(&steps);
	return rc ? rc : steps.rc;
}
