// SPDX-License-Identifier: GPL-2.0-or-later
// Functions in namespaces, and one whose name has brackets, for calls.py.
#define OWN __attribute__((noinline, noclone, noipa))

namespace app {

struct Server {
	int port;
	OWN int serve(int times);
	OWN int serve_all(int times);
	OWN int fine(int times);
};

int Server::serve(int times)
{
	return port + times;
}

int Server::fine(int times)
{
	return times;
}

OWN int fine(int times)
{
	return times;
}

int Server::serve_all(int times)
{
	return serve(times) + serve(1);
}

}

template <typename F> OWN int apply(F function, int value)
{
	return function(value);
}

int main()
{
	app::Server server = { 80 };

	return apply([&](int n) { return server.serve_all(n); }, 2) != 163;
}
