// SPDX-License-Identifier: GPL-2.0-or-later
// uncaught.cpp - dies of an exception
#include <stdexcept>

namespace app {

struct Server {
	int limit;
	int serve(int n) const
	{
		if (n > limit)
			throw std::out_of_range("more than there is");
		return n;
	}
};

}

int main(int argc, char **)
{
	app::Server server{argc};

	return server.serve(7);
}
