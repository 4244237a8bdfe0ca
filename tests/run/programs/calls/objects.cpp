// SPDX-License-Identifier: GPL-2.0-or-later
// Calls of C++, for calls.py.
#include <stdexcept>
#include <string>
#include <vector>

#define OWN __attribute__((noinline, noclone, noipa))

struct Point { int x, y; };
struct Empty {};

struct Counted {
	int n;
	OWN explicit Counted(int n) : n(n) {}
	OWN Counted(const Counted &other) : n(other.n + 1) {}
	OWN ~Counted() { n = 0; }
};

class Server {
public:
	OWN explicit Server(int port) : port(port) {}
	virtual ~Server() = default;
	OWN virtual int serve(const std::string &what);
	OWN int serve(int times);
	OWN Point at(Point from, Empty, double scale) const;
	OWN Counted count(Counted other);
private:
	int port;
};

int Server::serve(const std::string &what)
{
	return port + (int)what.size();
}

int Server::serve(int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += serve(std::string("x"));
	return sum;
}

Point Server::at(Point from, Empty, double scale) const
{
	return { (int)(from.x * scale) + port, from.y };
}

Counted Server::count(Counted other)
{
	return Counted(other.n + port);
}

template <typename T> OWN T twice(T value)
{
	return value + value;
}

OWN static int throws(int depth)
{
	Counted local(depth);

	if (!depth)
		throw std::runtime_error("deep");
	return throws(depth - 1) + local.n;
}

OWN static int catches(int depth)
{
	try {
		return throws(depth);
	} catch (const std::exception &) {
		return -depth;
	}
}

OWN static bool rethrows(int depth)
{
	try {
		throws(depth);
	} catch (...) {
		throw;
	}
	return true;
}

int main()
{
	Server server(80);
	std::vector<int> list;

	server.serve("hello");
	server.serve(2);
	server.at({ 1, 2 }, Empty(), 1.5);
	server.count(Counted(5));
	twice(21);
	twice(1.25);
	for (int i = 0; i < 3; i++)
		catches(i);
	try {
		rethrows(1);
	} catch (const std::runtime_error &) {
		list.push_back(twice(4));
	}
	return 0;
}
