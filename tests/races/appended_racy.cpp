/* SPDX-License-Identifier: GPL-2.0-or-later */
/* appended_racy.cpp - the library of C++ changes a string for two threads */
#include <string>
#include "race.h"

static std::string words;

static void append()
{
	for (int i = 0; i < 5; i++)
		words.append("appended");	/* RACE:words */
}

int main()
{
	/* What two threads free at once would end the program. */
	words.reserve(200);
	race(append, append);
	return words.empty();
}
