/* SPDX-License-Identifier: GPL-2.0-or-later */
/* kinds.cpp - virtual bases, static members, pointers to members, numbers of
 * many bits; see names.py */
extern "C" {
#include "mark.h"
}

namespace app {

struct Base {
	int base = 10;
	static const int limit;
};
const int Base::limit = 99;

struct Left : virtual Base {
	int l = 11;
};
struct Right : virtual Base {
	int r = 12;
};
struct Both : Left, Right {
	int both = 13;
};
struct More : virtual Both {
	int more = 14;
};

inline namespace v2 {
struct Point {
	int x = 1, y = 2;
	struct Inner {
		int a, b;
	} inner = { 3, 4 };
	int sum() const { return x + y; }
	virtual int area() { return x * y; }
	virtual int around() { return 2 * (x + y); }
};
} // namespace v2

struct Shape {
	static int instances;
	static Point first;
	int number;
	int tell(int by) { return number + by; }
	static int all() { return instances; }
	Shape() : number(++instances) {}
	virtual ~Shape() {}
};
int Shape::instances;
Point Shape::first;

struct Square : Shape {
	double side = 2.5;
};

struct Bits {
	int low : 3, middle : 5;
	unsigned high : 4;
	long wide : 40;
};

} // namespace app

app::Both both;
app::More more;
app::Left left;
app::Shape shape;
app::Square square;
app::Shape &reference = square;
app::Point point;
app::Point *pointer = &point;
int app::Point::*member = &app::Point::y;
int app::Point::*none = nullptr;
app::Point::Inner app::Point::*inner = &app::Point::inner;
int (app::Point::*sum)() const = &app::Point::sum;
int (app::Point::*area)() = &app::Point::area;
int (app::Point::*around)() = &app::Point::around;
int (app::Shape::*tell)(int) = &app::Shape::tell;
int app::Both::*of_both = &app::Both::both;
struct { int app::Point::*member; int other; } nested = { member, 3 };
app::Bits bits = { -3, -4, 9, -123456789 };
__int128 big = (__int128)1 << 70, negative_big = -big;
unsigned __int128 huge = ~(unsigned __int128)0;
long double precise = 1.5L;
double half = -2.5, large = 1e300, letter = 65.75, many[3] = { 1, 2.25, -3 };
float real = 97.5f;
long integer = -7;
signed char small = -2;
char text[8] = "letters";
bool truth = true;
enum class Kind : short { A = -1, B = 2 } kind = Kind::A;

int main()
{
	MARK();
	return (point.*sum)() + (point.*area)() + (point.*around)() +
	       (shape.*tell)(1) + app::Shape::all() + left.l == 0;
}
