/* SPDX-License-Identifier: GPL-2.0-or-later */
/* appended_racy.cpp - the library of C++ writes to a stream for two threads */
#include <sstream>
#include "race.h"

static std::ostringstream words;

static void append()
{
	for (int i = 0; i < 5; i++)
		words.write("appended", 8);	/* RACE:words */
}

int main()
{
	/* What two threads free at once would end the program. */
	words.str(std::string(200, ' '));
	race(append, append);
	return words.str().empty();
}
