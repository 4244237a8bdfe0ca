# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that tests/run/matrix.py records: a line each in PROGRAMS."""
import os
import re
import subprocess

PYTHON = "/usr/bin/python3"
JIT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "programs/jit")


class Program:
    """How to run one program.

    `command` gets the inputs and returns the argument vector.  `stdin` does
    likewise and returns a path.  `status` is how it ends natively.  `normal`
    makes output comparable that depends on time; a replay must still give the
    recorded bytes.  `sample` programs are run by the short version too.
    `package` is one that ./setup does not install: without it, the program is
    left out.
    """

    def __init__(self, name, command, stdin=None, normal=None, sample=True,
                 status=0, package=None):
        self.name = name
        self.command = command
        self.stdin = stdin
        self.normal = normal
        self.sample = sample
        self.status = status
        self.package = package


def without_seconds(data):
    return re.sub(rb"in \d+\.\d+s", b"in Ns", data)


def only_shape(data):
    """Of `openssl speed`: what does not depend on the processor."""
    lines = [re.sub(rb"[\d.]+k?", b"N", line) for line in data.splitlines()
             if not line.startswith(b"CPUINFO")]
    return b"\n".join(b" ".join(line.split()) for line in lines)


# ------- inputs that several programs share -------

def tree(i):
    return i.tree("tree", i.size(300, 30), i.size(30, 8))


def text(i):
    return i.words("text", i.size(8 << 20, 200 << 10))


def numbers(i):
    return i.numbers("numbers", i.size(500_000, 8_000))


def large(i):
    return i.large("large", i.size(50 << 20, 1 << 20))


def object_file(i):
    return i.size("/usr/bin/python3", "/usr/bin/sort")


def compiler(driver, name):
    return subprocess.run([driver, "-print-prog-name=" + name], check=True,
                          capture_output=True, text=True).stdout.strip()


def cc1():
    return compiler("gcc", "cc1")


# ------- scripts -------

BC = """scale = 60
define f(n) { if (n < 2) return (1); return (n * f(n - 1)); }
for (i = 0; i < @N@; i++) { s += 1 / f(j); t = t * 3 + i; if (++j > 30) j = 0 }
s
length(t)
e(1) + a(1) * 4
sqrt(2)
2^3000
"""

PERL = r"""my %h; my $x = 12345;
for my $i (1 .. @N@) { $x = ($x * 1103515245 + 12345) % 2147483648;
  $h{sprintf("k%03d", $x % 997)} += $i; }
my $text = join(",", map { "$_=$h{$_}" } sort keys %h);
my $n = () = $text =~ /k(\d)\1\d=(\d+)/g;
print "$n ", length($text), "\n", substr($text, 0, 200), "\n";
printf("%.10f %e %s\n", atan2(1, 1) * 4, exp(10), scalar reverse "abc");
local $_ = $text; tr/a-z0-9/n-za-m5-90-4/; s/(\d+)/<$1>/g; print substr($_, 0, 99), "\n";
print STDERR "warned\n"; exit 3;
"""

BASH = r"""declare -A seen; total=0
for ((i = 0; i < @N@; i++)); do
  key=k$((i * 7919 % 101)); seen[$key]=$((${seen[$key]:-0} + i)); ((total += i % 7))
done
fib() { local n=$1; if ((n < 2)); then r=$n; else fib $((n - 1)); local a=$r
  fib $((n - 2)); r=$((a + r)); fi; }
fib 12; echo "$total $r ${#seen[@]} ${seen[k5]}"
while IFS=' ' read -r a b; do [[ $a =~ ^[0-9]+$ ]] && echo "${b^^} ${a: -2}"; done <<<'123 word
45 other'
trap 'echo trapped' USR1; kill -USR1 $$; printf '%05d %s\n' 42 "${BASH_VERSINFO[0]}"
echo to stderr >&2; exit 7
"""

PYTHON_DICTS = """
import collections, functools, random
random.seed(1)
d = {}
for i in range(@N@):
    k = random.randrange(5000)
    d[k] = d.get(k, 0) + i
    if i % 7 == 0:
        d.pop(random.randrange(5000), None)
c = collections.Counter(str(v)[-2:] for v in d.values())
print(len(d), sum(d.values()), c.most_common(5))
@functools.lru_cache(None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(300), sorted(d)[:5], 3 ** 500 % 10 ** 30)
class A:
    def __init__(self, x): self.x = x
    def __lt__(self, o): return self.x < o.x
print(min(A(random.random()) for _ in range(1000)).x)
try:
    [][1]
except IndexError as e:
    print(e)
"""

PYTHON_CALLS = """
def f(a, b): return a + b if a & 1 else a - b
class C:
    def __init__(self, n): self.n = n
    def m(self, x): return f(self.n, x)
d = {}
for i in range(%d):
    d[i %% 1009] = d.get(i %% 997, 0) + C(i).m(3)
print(sum(d.values()), len(str(d)))
"""

PYTHON_RE = """
import re
text = open("@TEXT@").read()
print(len(re.findall(r'\\b(\\w+) \\1\\b', text)))
print(len(re.sub(r'(\\d+)', lambda m: str(int(m[1]) + 1), text)))
print(re.search(r'(?P<a>zebra|quilt).*?(?P<b>0x[0-9a-f]+)', text).groupdict())
print(sum(map(len, re.split(r'[,;\\s]+', text))))
"""

PYTHON_JSON = """
import json, sys, zlib, hashlib, struct, base64, datetime, decimal
data = {'list': [{'n': i, 'f': i / 7, 's': chr(97 + i % 26) * (i % 20)}
        for i in range(@N@)], 'nested': [[[None, True, False]]]}
text = json.dumps(data, indent=1, sort_keys=True)
assert json.loads(text) == data
print(len(text), zlib.crc32(text.encode()), hashlib.sha256(text.encode()).hexdigest())
packed = zlib.compress(text.encode(), 6)
assert zlib.decompress(packed).decode() == text
print(base64.b64encode(struct.pack('<dIq', 1.5, 7, -1)), datetime.date(2000, 2, 29))
print(decimal.Decimal(2).sqrt(), float('1e-320'), 0.1 + 0.2, 1e22, 5e-324)
print('done', file=sys.stderr)
"""

PYTHON_SQLITE = """
import sqlite3
db = sqlite3.connect('file.db')
db.execute('create table t (id integer primary key, name text, value real)')
db.executemany('insert into t (name, value) values (?, ?)',
               (('n%d' % (i * 7919 % 1009), i / 3) for i in range(@N@)))
db.execute('create index i on t (name)')
db.commit()
print(db.execute('select count(*), sum(value), avg(id) from t').fetchone())
for row in db.execute('select name, count(*) c from t group by name order by c desc, name limit 5'):
    print(row)
"""

PYTHON_SOCKETS = """
import os, select, signal, socket, threading
server = socket.socket()
server.bind(('127.0.0.1', 0))
server.listen(5)
poller = select.epoll()
clients = []
for i in range(5):
    client = socket.create_connection(server.getsockname())
    there, _ = server.accept()
    poller.register(there, select.EPOLLIN)
    clients.append((client, there))
for i, (client, there) in enumerate(clients):
    client.sendall(b'message %d ' % i * @N@)
    total = 0
    while True:
        ready, _, _ = select.select([there], [], [], 0.01)
        if not ready:
            break
        total += len(there.recv(4096))
    print(i, total)
a, b = socket.socketpair()
a.send(b'pair'); print(b.recv(10), b.getsockopt(socket.SOL_SOCKET, socket.SO_TYPE))
r, w = os.pipe(); os.write(w, b'pipe'); print(os.read(r, 10), os.pipe2(0) != None)
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); u.bind(('127.0.0.1', 0))
u.sendto(b'datagram', u.getsockname()); print(u.recvfrom(100)[0])
hits = []
signal.signal(signal.SIGALRM, lambda *_: hits.append(1))
signal.setitimer(signal.ITIMER_REAL, 0.02, 0)
signal.pause(); print('alarm', hits)
"""

PYTHON_FILES = """
import mmap, os, shutil, stat, sys, tempfile, time
os.mkdir('d'); os.chdir('d')
for i in range(50):
    with open('f%d' % i, 'w') as f: f.write('x' * i * 100)
os.rename('f3', 'g3'); os.link('f4', 'l4'); os.symlink('f5', 's5'); os.unlink('f6')
os.chmod('f7', 0o400); os.truncate('f8', 10); os.utime('f9', (1, 2))
print(sorted(os.listdir('.'))[:10], os.readlink('s5'), os.stat('l4').st_nlink)
print(oct(os.stat('f7').st_mode), os.stat('f8').st_size, os.stat('f9').st_mtime)
with open('m', 'w+b') as f:
    f.write(bytes(10000)); f.flush()
    m = mmap.mmap(f.fileno(), 0); m[5000:5005] = b'hello'; m.flush()
    f.seek(4999); print(f.read(7)); m.close()
shutil.copy('f9', 'copy'); print(os.path.getsize('copy'), os.access('f7', os.W_OK) or 'no')
try: open('/nonexistent')
except OSError as e: print(e.errno, e.strerror)
fd = os.open('x', os.O_RDWR | os.O_CREAT); os.pwrite(fd, b'abc', 5); print(os.pread(fd, 10, 0))
os.dup2(fd, 77); os.close(77); print(os.isatty(0), os.umask(0o22) >= 0, os.getcwd().endswith('/d'))
time.sleep(0.01); print(os.path.realpath('/proc/self/exe')); sys.exit(5)
"""

MODULE_RUNNER = """
import random, sys, unittest
random.seed(1)
names, without = sys.argv[1], sys.argv[2:]
def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        elif not any(name in test.id() for name in without):
            yield test
suite = unittest.TestSuite(flat(unittest.defaultTestLoader.loadTestsFromName('test.' + names)))
result = unittest.TextTestRunner(verbosity=2).run(suite)
sys.exit(not result.wasSuccessful())
"""

SQL = """pragma journal_mode = delete;
create table t (id integer primary key, name text, value integer);
begin;
with recursive c(n) as (select 1 union all select n + 1 from c where n < @N@)
insert into t (name, value) select 'name' || (n * 7919 % 10007), n * n % 1000003 from c;
@INSERTS@
commit;
create index by_name on t (name);
select count(*), sum(value), min(name), max(name) from t;
select name, count(*), total(value) from t group by name order by 2 desc, 1 limit 10;
select t.id, u.id from t join t u on u.name = t.name and u.id > t.id order by 1, 2 limit 10;
update t set value = value + 1 where id % 3 = 0;
delete from t where id % 5 = 0;
select count(*), avg(value) from t;
explain query plan select * from t where name = 'name5';
"""

SEGV = """#include <stdio.h>
int main(void) { puts("before"); fflush(stdout); fputs("err\\n", stderr);
volatile int *p = (int *)16; for (int i = 0; i < 1000; i++) if (i == 777) *p = i;
return 0; }
"""

ABORT = """#include <stdio.h>
#include <stdlib.h>
int main(void) { printf("partial"); fflush(stdout); char *volatile a = malloc(10);
free(a); abort(); }
"""

UNCAUGHT = """#include <signal.h>
#include <stdio.h>
int main(void) { puts("raising"); fflush(stdout); raise(SIGTERM); puts("no"); }
"""

HELLO = """#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static _Thread_local int local = 5;
int main(int argc, char **argv) {
for (int i = 1; i < argc; i++) printf("%s %zu\\n", argv[i], strlen(argv[i]));
for (double x = 0.5; x < 40; x *= 1.7) printf("%.17g %.17g %a\\n", sin(x), log(x), exp(x));
printf("%d %s\\n", local + argc, getenv("HELLO") ? "set" : "not set"); return 42; }
"""


# ------- the table -------

def script(name, contents, mode=0o644):
    return lambda i: [PYTHON, i.text(name, contents, mode)]


def sized(name, contents, full, small):
    return lambda i: [PYTHON, fill(i, name, contents, full, small)]


def fill(i, name, contents, full, small):
    """A text with a number that depends on how much is to be done."""
    return i.text(name, contents.replace("@N@", str(i.size(full, small))))


def module(name, *without, sample=False):
    return Program("cpython-" + name, lambda i: [
        PYTHON, i.text("module.py", MODULE_RUNNER), name, *without],
        normal=without_seconds, sample=sample)


def busybox(applet, *arguments, stdin=None, status=0):
    return Program("busybox-" + applet, lambda i: [
        "busybox", applet, *(a(i) if callable(a) else a for a in arguments)],
        stdin=stdin, sample=applet in ("sort", "sha1sum"), status=status)


PROGRAMS = [
    Program("ls", lambda i: ["ls", "-lR", tree(i)]),
    Program("cat", lambda i: ["cat", text(i), numbers(i), "-"], stdin=text),
    Program("sort", lambda i: ["sort", "-rn", numbers(i)]),
    Program("sort-text", lambda i: ["sort", "-k2", text(i)], sample=False),
    Program("wc", lambda i: ["wc", text(i), numbers(i)]),
    Program("sha256sum", lambda i: ["sha256sum", large(i)]),
    Program("gzip", lambda i: ["gzip", "-c", large(i)]),
    Program("gunzip", lambda i: [
        "gzip", "-dc", i.compressed("large.gz", large(i), "gzip")]),
    Program("bzip2", lambda i: [
        "bzip2", "-c", i.large("middle", i.size(8 << 20, 200 << 10))]),
    Program("bunzip2", lambda i: [
        "bzip2", "-dc", i.compressed("middle.bz2", i.large(
            "middle", i.size(8 << 20, 200 << 10)), "bzip2")], sample=False),
    Program("grep", lambda i: ["grep", "-rn", "re[cp][ol][a-z]* the",
                               tree(i)]),
    Program("sed", lambda i: [
        "sed", "-E", r"s/([0-9]+) (\w+)/\2 \1/; /zebra/d; y/abc/xyz/",
        text(i)]),
    Program("mawk", lambda i: [
        "mawk", "{ n[$2]++; s += $1 } END { for (k in n) t += n[k] * length(k)"
        "; printf \"%d %.6f\\n\", t, s / NR; print sin(1) }", text(i)]),
    Program("find", lambda i: [
        "find", tree(i), "-type", "f", "-size", "-2", "-printf",
        r"%p %s %m %T@\n"]),
    Program("tar", lambda i: ["tar", "-cf", "-", tree(i)]),
    Program("bc", lambda i: ["bc", "-l", fill(
        i, "in.bc", BC, 20_000, 300)]),
    Program("perl", lambda i: ["perl", fill(
        i, "in.pl", PERL, 1_000_000, 20_000)], status=3),
    Program("bash", lambda i: ["bash", fill(
        i, "in.bash", BASH, 100_000, 2_000)], status=7),
    Program("python-dicts", sized("dicts.py", PYTHON_DICTS, 500_000, 10_000)),
    Program("python-re", lambda i: [PYTHON, i.text(
        "expressions.py", PYTHON_RE.replace("@TEXT@", text(i)))], sample=False),
    Program("python-json", sized("json_.py", PYTHON_JSON, 30_000, 500)),
    Program("python-sqlite", sized("sqlite.py", PYTHON_SQLITE, 100_000,
                                   1_000)),
    Program("python-sockets", sized("sockets.py", PYTHON_SOCKETS, 5_000, 300)),
    Program("python-files", script("files.py", PYTHON_FILES), status=5),
    Program("script", lambda i: [i.text(
        "script.py", "#!/usr/bin/python3 -s\nimport sys\nprint(sys.argv)\n",
        0o755), "an argument", ""], sample=False),
    Program("luajit", lambda i: [
        "luajit", os.path.join(JIT, "all.lua"), i.size("3000000", "50000")],
        status=4),
    Program("node", lambda i: [
        "node", os.path.join(JIT, "all.js"), i.size("500000", "20000")],
        sample=False, status=6, package="nodejs"),
    Program("sqlite3", lambda i: ["sqlite3", "file.db"], stdin=lambda i: fill(
        i, "in.sql", SQL.replace("@INSERTS@", "".join(
            f"insert into t (name, value) values ('x{n}', {n});\n"
            for n in range(i.size(100_000, 1_000)))), 100_000, 2_000)),
    Program("objdump", lambda i: ["objdump", "-d", object_file(i)]),
    Program("cc1", lambda i: [
        cc1(), "-quiet", "-O2", "-fpreprocessed", i.c_source(
            "in.i", i.size(5_000, 40)), "-o", "/dev/stdout"]),
    Program("openssl-speed", lambda i: [
        "openssl", "speed", "-seconds", "1", "-bytes", "1024", "-evp",
        "aes-128-cbc"], normal=only_shape),
    Program("openssl-dgst", lambda i: ["openssl", "dgst", "-sha512",
                                       large(i)], sample=False),
    busybox("sort", "-n", numbers),
    busybox("sha1sum", text),
    busybox("awk", "{ s += $1 } END { print s, NR }", text),
    busybox("sed", "-n", "s/the/THE/gp", text),
    busybox("gzip", "-c", text),
    busybox("find", tree, "-name", "*1.txt"),
    busybox("ls", "-lR", tree),
    busybox("od", "-x", text),
    busybox("tr", "a-z", "A-Z", stdin=text),
    busybox("sh", "-c", "i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done;"
            " echo $i; exit 9", status=9),
    busybox("diff", text, numbers, status=1),
    busybox("factor", "600851475143", "18446744073709551557"),
    Program("dd", lambda i: ["dd", "if=" + large(i), "bs=64k", "status=none",
                             "conv=swab"], sample=False),
    Program("od", lambda i: ["od", "-t", "fDx1", numbers(i)], sample=False),
    Program("diff", lambda i: ["diff", text(i), numbers(i)], status=1,
            sample=False),
    Program("seq", lambda i: ["seq", "-w", "0", "0.5",
                              i.size("100000", "500")]),
    Program("printenv", lambda i: ["printenv"]),
    Program("no-such-file", lambda i: ["cat", "/nonexistent"], status=1),
    module("test_math"),
    module("test_float"),
    module("test_long"),
    module("test_re", "test_regression_gh94675"),
    module("test_json", "TestTool", "TestMain"),
    module("test_struct", "at_runtime_shutdown"),
    module("test_bytes", "test_check_encoding_errors"),
    module("test_unicode", "test_check_encoding_errors"),
    module("test_zlib"),
    module("test_dict"),
    module("test_set"),
    module("test_sort", sample=True),
    module("test_string"),
    Program("segv", lambda i: [i.program("segv", SEGV)], status=-11),
    Program("abort", lambda i: [i.program("abort", ABORT)], status=-6),
    Program("uncaught", lambda i: [i.program("uncaught", UNCAUGHT)],
            status=-15),
    Program("killed-bash", lambda i: ["bash", "-c", "echo a; kill -INT $$"],
            sample=False, status=-2),
    Program("static", lambda i: [i.program(
        "static", HELLO, "-static", "-lm"), "a", "b c", ""], status=42),
    Program("static-pie", lambda i: [i.program(
        "static-pie", HELLO, "-static-pie", "-fPIE", "-lm"), "x"], status=42),
    Program("no-pie", lambda i: [i.program(
        "no-pie", HELLO, "-no-pie", "-lm"), "y"], sample=False, status=42),
    Program("musl", lambda i: [i.program(
        "musl", HELLO, "-static", compiler="musl-gcc"), "m"], status=42),
    Program("musl-dynamic", lambda i: [i.program(
        "musl-dynamic", HELLO, compiler="musl-gcc"), "m"],
            sample=False, status=42),
]
