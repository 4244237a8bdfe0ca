/* SPDX-License-Identifier: GPL-2.0-or-later */
/* test_nearest.c - what a mistyped name was meant to be */
#include <string.h>

#include "formats/nearest.h"
#include "tests/unit/table.h"

static const char *const commands[] = {
	"record", "query", "info", "replay", "verify", "races", "dump", "run",
};

struct typed_row {
	const char *name;	/* what was typed */
	const char *meant;	/* NULL: nobody can tell */
};

static const struct typed_row typed_rows[] = {
	{ "recrod", "record" },
	{ "recod", "record" },
	{ "recorrd", "record" },
	{ "tecord", "record" },
	{ "rec", "record" },
	{ "verfiy", "verify" },
	{ "inof", "info" },
	{ "rnu", "run" },
	{ "race", "races" },
	{ "quer", "query" },
	{ "replya", "replay" },
	{ "frobnicate", NULL },
	{ "xyz", NULL },
	{ "q", NULL },
	{ "", NULL },
};

static void find_meant(void **state)
{
	const struct typed_row *row = *state;
	struct nearest nearest;
	char text[NEAREST_TEXT];

	nearest_begin(&nearest, row->name, strlen(row->name));
	for (size_t i = 0; i < COUNT(commands); i++)
		nearest_offer(&nearest, commands[i]);
	nearest_text(&nearest, text);
	if (row->meant) {
		assert_string_equal(nearest.name, row->meant);
		assert_non_null(strstr(text, row->meant));
	} else {
		assert_string_equal(nearest.name, "");
		assert_string_equal(text, "");
	}
}

/* The scope that was left out. */
static void find_scope(void **state)
{
	struct nearest nearest;

	(void)state;
	nearest_begin(&nearest, "Server::serve", 13);
	nearest_offer(&nearest, "app::OtherServer::serve");
	assert_string_equal(nearest.name, "");
	nearest_offer(&nearest, "Server::serves");
	nearest_offer(&nearest, "app::Server::serve");
	assert_string_equal(nearest.name, "app::Server::serve");
	nearest_begin(&nearest, "twcie", 5);
	nearest_offer(&nearest, "app::once");
	assert_string_equal(nearest.name, "");
	nearest_offer(&nearest, "app::twice");
	assert_string_equal(nearest.name, "app::twice");
}

/* Only so much of what was typed is the name. */
static void find_part(void **state)
{
	struct nearest nearest;

	(void)state;
	nearest_begin(&nearest, "quety+8", 5);
	nearest_offer(&nearest, "query");
	assert_string_equal(nearest.name, "query");
}

/* Names that are not known to be what is meant must be nearer. */
static void narrow(void **state)
{
	struct nearest nearest;

	(void)state;
	nearest_begin(&nearest, "struct", 6);
	nearest_narrow(&nearest);
	nearest_offer(&nearest, "strcat");
	assert_string_equal(nearest.name, "");
	nearest_offer(&nearest, "strict");
	assert_string_equal(nearest.name, "strict");
	nearest_begin(&nearest, "find", 4);
	nearest_narrow(&nearest);
	nearest_offer(&nearest, "tfind");
	assert_string_equal(nearest.name, "");
}

static void leave_long_names(void **state)
{
	char typed[300], name[300];
	struct nearest nearest;

	(void)state;
	memset(typed, 'a', sizeof(typed) - 1);
	typed[sizeof(typed) - 1] = '\0';
	memcpy(name, typed, sizeof(typed));
	nearest_begin(&nearest, typed, strlen(typed));
	nearest_offer(&nearest, name);
	assert_string_equal(nearest.name, "");
	nearest_begin(&nearest, "aaaa", 4);
	nearest_offer(&nearest, name);
	assert_string_equal(nearest.name, "");
}

int main(void)
{
	struct test_list list = { 0 };

	add_rows(&list, typed_rows, find_meant);
	add_test(&list, "a part of what was typed", find_part, NULL);
	add_test(&list, "a scope that was left out", find_scope, NULL);
	add_test(&list, "names that must be near", narrow, NULL);
	add_test(&list, "names that are too long", leave_long_names, NULL);
	return run_list("nearest", &list);
}
