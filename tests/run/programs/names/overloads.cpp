/* SPDX-License-Identifier: GPL-2.0-or-later */
/* overloads.cpp - functions of one name, told apart by arguments; see names.py */
#include <string>

extern "C" {
#include "mark.h"
}

namespace app {

class Server {
public:
	int serve(int n) { return n + 1; }
	int serve(const std::string &text) { return (int)text.size(); }
	int serve(const char *text) const { return text[0]; }
	int once(long n) { return (int)n; }
};

int plain(int a)
{
	static int kept = 5;

	return a + kept++;
}

double plain(double a)
{
	static int kept = 6;

	return a + kept++;
}

namespace {
int hidden(int a) { return a; }
long hidden(long a, char *b) { return a + (b != nullptr); }
}

}

static int only(int a) { return a; }

template <typename T> T twice(T a) { return a + a; }

int main()
{
	app::Server server;
	const app::Server constant;
	int sum = server.serve(1) + server.serve(std::string("abc")) +
		  constant.serve("x") + server.once(3) + app::plain(1) +
		  (int)app::plain(2.0) + app::hidden(1) +
		  (int)app::hidden(1L, nullptr) + only(3) + twice(2) +
		  (int)twice(2.0);

	MARK();
	return sum == 0;
}
