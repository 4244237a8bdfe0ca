# SPDX-License-Identifier: GPL-2.0-or-later
"""Makes the inputs of the recorded programs: always the same bytes."""
import os
import random
import subprocess

WORDS = ("time address value thread segment frame page cache index packet "
         "memory register write read call return block trace record replay "
         "the of and to in is that for it as was with be by on not he at "
         "zebra quilt 0x1000 3.14159 --- [x] foo_bar a,b;c").split()

# Everything is as old as this, so that listings do not change.
MTIME = 1_000_000_000


class Inputs:
    """A folder of inputs, each made when it is first asked for."""

    def __init__(self, folder, small):
        self.folder = folder
        self.small = small

    def size(self, full, small):
        return small if self.small else full

    def make(self, name, writer):
        """The path, relative to a run's folder, of a file or tree."""
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            writer(path)
        return os.path.join("..", "inputs", name)

    def text(self, name, contents, mode=0o644):
        def write(path):
            with open(path, "w") as file:
                file.write(contents)
            os.chmod(path, mode)
        return self.make(name, write)

    def words(self, name, size):
        """Lines of words and numbers, `size` bytes of them."""
        def write(path):
            source = random.Random(1)
            left = size
            with open(path, "w") as file:
                while left > 0:
                    count = source.randint(1, 12)
                    line = " ".join(source.choices(WORDS, k=count))
                    line = f"{source.randint(0, 10 ** 9)} {line}\n"[:left]
                    file.write(line)
                    left -= len(line)
        return self.make(name, write)

    def numbers(self, name, count):
        def write(path):
            source = random.Random(2)
            with open(path, "w") as file:
                for _ in range(count):
                    file.write(f"{source.randint(-10 ** 12, 10 ** 12)}\n")
        return self.make(name, write)

    def large(self, name, size):
        """Bytes that are neither random nor monotonous, quickly made."""
        def write(path):
            source = random.Random(3)
            block = " ".join(source.choices(WORDS, k=40_000)).encode()
            with open(path, "wb") as file:
                left = size
                while left > 0:
                    start = source.randrange(len(block) - 4096)
                    piece = block[start:start + source.randint(64, 4096)]
                    piece += source.randbytes(64)
                    file.write(piece[:left])
                    left -= len(piece)
        return self.make(name, write)

    def tree(self, name, folders, files):
        def write(path):
            source = random.Random(4)
            for i in range(folders):
                folder = os.path.join(path, f"d{i % 10}", f"e{i}")
                os.makedirs(folder)
                for j in range(files):
                    self._leaf(source, folder, j)
            os.symlink("d0", os.path.join(path, "link"))
            for folder, inside, _ in os.walk(path, topdown=False):
                for entry in inside:
                    os.utime(os.path.join(folder, entry), (MTIME, MTIME),
                             follow_symlinks=False)
            os.utime(path, (MTIME, MTIME))
        return self.make(name, write)

    @staticmethod
    def _leaf(source, folder, number):
        path = os.path.join(folder, f"file {number}.txt")
        with open(path, "w") as file:
            for _ in range(source.randint(0, 30)):
                file.write(" ".join(source.choices(WORDS, k=8)) + "\n")
        os.chmod(path, source.choice((0o644, 0o600, 0o755)))
        os.utime(path, (MTIME - number, MTIME - number))

    def compressed(self, name, original, program):
        def write(path):
            with open(path, "wb") as file:
                subprocess.run([program, "-c", os.path.join(
                    self.folder, os.path.basename(original))],
                    stdout=file, check=True)
        return self.make(name, write)

    def program(self, name, source, *options, compiler="gcc"):
        """A C program, compiled."""
        text = os.path.join(self.folder, name + ".c")
        self.text(name + ".c", source)

        def write(path):
            subprocess.run([compiler, "-O1", "-o", path, text, *options],
                           check=True)
        return self.make(name, write)

    def c_source(self, name, lines):
        """A preprocessed C file that keeps an optimizer busy."""
        def write(path):
            source = random.Random(5)
            with open(path, "w") as file:
                written = 0
                number = 0
                while written < lines:
                    function = c_function(source, number)
                    file.write(function)
                    written += function.count("\n")
                    number += 1
        return self.make(name, write)


def c_function(source, number):
    a, b, c = (source.randint(1, 99) for _ in range(3))
    callee = source.randrange(number) if number else 0
    call = f"f{callee}(a - 1, p)" if number else "0"
    return f"""struct s{number} {{ int x; long y[{a}]; struct s{number} *next; }};
int f{number}(int a, long *p)
{{
	long sum = {b};
	struct s{number} local = {{ a, {{ {b}, {c} }}, 0 }};

	for (int i = 0; i < a % {c + 1}; i++) {{
		switch (i % {c % 7 + 2}) {{
		case 0:
			sum += p[i] * {a};
			break;
		case 1:
			sum ^= local.y[i % {a}] << {b % 31};
			break;
		default:
			sum -= (long)i * {c} / (p[0] | 1);
		}}
		local.y[i % {a}] += sum;
	}}
	if (a > {b} && p[1] != {c})
		sum += {call};
	return (int)(sum ^ local.x ^ (long)((double)sum * {a}.{b}));
}}
"""
