/* SPDX-License-Identifier: GPL-2.0-or-later */
/* function_places.c - see function_places.h */
#include "replayer/session/function_places.h"

#include "formats/error.h"

void function_place_find(struct lines *lines, uint64_t t,
			 struct call_function *function, guest_addr entry,
			 struct function_place *out)
{
	*out = (struct function_place) {
		.function = function, .entry = entry,
		.stop = code_place_of_function(lines, t, entry),
	};
	out->has_code = function_code_find(lines, t, entry, &out->code);
}

unsigned function_place_inlines(struct lines *lines,
				const struct function_place *place,
				guest_addr addr)
{
	return place->has_code ?
		       function_code_inlines(lines, &place->code, addr) : 0;
}

struct visits {
	function_place_visit *visit;
	void *context;
};

static int on_copy(void *context, const struct function_code *copy)
{
	const struct visits *visits = context;
	const struct function_place place = {
		.entry = copy->entry, .stop = copy->place,
		.has_code = true, .code = *copy,
	};

	return visits->visit(visits->context, &place);
}

int function_places_visit(struct call_functions *functions, uint64_t t,
			  size_t number, struct inlined_copies *copies,
			  function_place_visit *visit, void *context,
			  struct failure *why)
{
	struct visits visits = { visit, context };
	int rc = call_functions_list(functions, t, number, why);
	uint64_t bias;

	names_mapped(lines_names(functions->lines), t, number, &bias);
	for (size_t i = functions->module; i < functions->count && !rc; i++) {
		struct call_function *function = functions->list[i];
		struct function_place place;

		function_place_find(functions->lines, t, function,
				    function->addr + bias, &place);
		rc = visit(context, &place);
	}
	return rc ? rc : inlined_places_visit(functions->lines, t, number,
					      functions->patterns, copies,
					      on_copy, &visits);
}

static int ignore_copy(void *context, const struct function_code *copy)
{
	(void)context;
	(void)copy;
	return 0;
}

int function_copies_count(struct lines *lines, uint64_t t,
			  const struct symbol_pattern *pattern,
			  struct inlined_copies *out, struct failure *why)
{
	uint64_t bias;
	int rc = 0;

	*out = (struct inlined_copies) { 0 };
	for (size_t i = 0; !rc && names_mapped(lines_names(lines), t, i, &bias);
	     i++)
		rc = inlined_places_visit(lines, t, i, pattern, out,
					  ignore_copy, NULL);
	return rc ? failed(why, rc, "out of memory") : 0;
}
