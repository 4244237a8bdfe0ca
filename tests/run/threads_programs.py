# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs that tests/run/threads.py records: a line each in PROGRAMS."""
import hashlib
import os
import random
import re
import socket
import subprocess
import time

PYTHON = "/usr/bin/python3"


class Program:
    """How to run one program with threads or processes.

    `command` gets the inputs and the number of a free port, and returns the
    argument vector.  `drive` is for servers: it is called while the program
    runs, ends it, and returns what clients saw.  `left` returns what is to be
    compared of the files that it left.  `normal` removes from output what
    differs from run to run.  Of a program with `children`, the first process's
    recording does not hold all output.  `sample` programs are run by the short
    version too; their packages are in setup's list, the others' are nginx-light,
    curl, fzf and default-jre-headless.
    """

    def __init__(self, name, command, drive=None, left=None, normal=None,
                 children=False, sample=True, status=0):
        self.name = name
        self.command = command
        self.drive = drive
        self.left = left
        self.normal = normal
        self.children = children
        self.sample = sample
        self.status = status


class Failed(Exception):
    """What did not go as it should."""


def text(i):
    return i.words("text", i.size(8 << 20, 600 << 10))


# ------- python3 -------

PYTHON_THREADS = """
import concurrent.futures, hashlib, queue, random, threading, time, zlib
total, lock = 0, threading.Lock()
def add(n):
    global total
    for _ in range(n):
        with lock:
            total += 1
threads = [threading.Thread(target=add, args=(@N@,)) for _ in range(8)]
for t in threads: t.start()
for t in threads: t.join()
print(total)

jobs, results = queue.Queue(4), queue.Queue()
def work():
    while (job := jobs.get()) is not None:
        results.put((job, hashlib.sha256(b'x' * job).hexdigest()[:8]))
workers = [threading.Thread(target=work) for _ in range(4)]
for w in workers: w.start()
for job in range(0, @N@, 7): jobs.put(job)
for w in workers: jobs.put(None)
for w in workers: w.join()
print(sorted(results.queue)[:5], results.qsize())

with concurrent.futures.ThreadPoolExecutor(6) as pool:
    sizes = pool.map(lambda n: len(zlib.compress(random.Random(n).randbytes(20000))), range(20))
    print(sum(sizes))
barrier, seen = threading.Barrier(5), []
def meet(n):
    for _ in range(20):
        barrier.wait()
        with lock: seen.append(n)
        barrier.wait()
group = [threading.Thread(target=meet, args=(n,)) for n in range(5)]
for t in group: t.start()
for t in group: t.join()
print([sorted(seen[n:n + 5]) == list(range(5)) for n in range(0, 100, 5)].count(True))

turn, condition, order = [0], threading.Condition(), []
def take(me):
    for _ in range(50):
        with condition:
            condition.wait_for(lambda: turn[0] % 3 == me)
            turn[0] += 1
            order.append(me)
            condition.notify_all()
group = [threading.Thread(target=take, args=(n,)) for n in range(3)]
for t in group: t.start()
for t in group: t.join()
print(''.join(map(str, order)))
local, event = threading.local(), threading.Event()
timer = threading.Timer(0.02, event.set); timer.start()
print(event.wait(30), threading.active_count() >= 1)
def fail(): raise ValueError('in a thread')
threading.excepthook = lambda a: print('caught', a.exc_value)
t = threading.Thread(target=fail); t.start(); t.join()
threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()
"""

PYTHON_PROCESSES = """
import multiprocessing as m, os, time
def square(n): return n * n
def produce(queue, n):
    for i in range(n): queue.put((os.getpid() > 0, i))
def add(lock, value, array, n):
    for i in range(n):
        with lock: value.value += 1
        array[i % 4] += 1 if i < 0 else 0
def talk(end):
    while (word := end.recv()) != 'end': end.send(word.upper())
    end.close()
def main():
    m.set_start_method('fork')
    with m.Pool(3) as pool:
        print(sum(pool.map(square, range(@N@))), pool.apply(square, (7,)))
        print(sorted(pool.imap_unordered(square, range(10))))
    queue = m.Queue()
    workers = [m.Process(target=produce, args=(queue, 20)) for _ in range(2)]
    for w in workers: w.start()
    print(sorted(queue.get() for _ in range(40))[-1])
    for w in workers: w.join()
    lock, value, array = m.Lock(), m.Value('i', 0), m.Array('i', 4)
    workers = [m.Process(target=add, args=(lock, value, array, 30)) for _ in range(3)]
    for w in workers: w.start()
    for w in workers: w.join()
    print(value.value, list(array), [w.exitcode for w in workers])
    here, there = m.Pipe()
    talker = m.Process(target=talk, args=(there,)); talker.start()
    for word in 'a', 'bc', 'end':
        here.send(word)
        if word != 'end': print(here.recv())
    talker.join()
    sleeper = m.Process(target=time.sleep, args=(1000,)); sleeper.start()
    sleeper.terminate(); sleeper.join(); print(sleeper.exitcode)
main()
"""


def python(name, script, full, small):
    return lambda i, port: [PYTHON, i.text(name, script.replace(
        "@N@", str(i.size(full, small))))]


# ------- sqlite3 -------

SQLITE = r"""#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct sqlite3; struct sqlite3_stmt;
int sqlite3_open(const char *, struct sqlite3 **);
int sqlite3_close(struct sqlite3 *);
int sqlite3_busy_timeout(struct sqlite3 *, int);
int sqlite3_exec(struct sqlite3 *, const char *, int (*)(void *, int, char **, char **), void *, char **);
const char *sqlite3_errmsg(struct sqlite3 *);
enum { THREADS = 4 };
static struct sqlite3 *shared;
static int rows;
static int show(void *context, int count, char **values, char **names)
{ (void)context; (void)names; for (int i = 0; i < count; i++) printf("%s%c", values[i], i + 1 < count ? ' ' : '\n'); return 0; }
static void run(struct sqlite3 *db, const char *sql)
{ if (sqlite3_exec(db, sql, show, NULL, NULL)) { printf("%s: %s\n", sql, sqlite3_errmsg(db)); exit(1); } }
static struct sqlite3 *connect(void)
{ struct sqlite3 *db; if (sqlite3_open("threads.db", &db)) exit(2); sqlite3_busy_timeout(db, 600000); return db; }
static void *work(void *argument)
{ struct sqlite3 *db = connect(); char sql[200];
for (int i = 0; i < rows; i++) { snprintf(sql, sizeof(sql), "begin immediate; insert into t values (%d, %d, hex(%d * %d)); update n set v = v + 1; commit;", (int)(long)argument, i, i, i + 7); run(db, sql); }
sqlite3_close(db); return NULL; }
static void *share(void *argument)
{ char sql[200];
for (int i = 0; i < rows; i++) { snprintf(sql, sizeof(sql), "insert into s values (%d, %d);", (int)(long)argument, i); run(shared, sql); }
return NULL; }
static void all(void *(*routine)(void *))
{ pthread_t threads[THREADS];
for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, routine, (void *)i);
for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL); }
int main(int argc, char **argv)
{ struct sqlite3 *db = connect(); rows = argc > 1 ? atoi(argv[1]) : 10;
run(db, "pragma journal_mode = wal; pragma synchronous = off; create table t (who, n, text); create table n (v); insert into n values (0);");
all(work);
run(db, "select count(*), sum(n), count(distinct text) from t; select v from n; select who, max(n) from t group by who order by who;");
sqlite3_open(":memory:", &shared);
run(shared, "create table s (who, n)");
all(share);
run(shared, "select count(*), sum(who), sum(n) from s");
run(db, "pragma integrity_check");
return sqlite3_close(db) || sqlite3_close(shared); }
"""


def sqlite(i, port):
    return [i.program("sqlite", SQLITE, "-pthread", "-l:libsqlite3.so.0"),
            i.size("100", "12")]


# ------- servers -------

def wait_for(port, process, seconds):
    """Until somebody listens there."""
    end = time.monotonic() + seconds
    while process.poll() is None and time.monotonic() < end:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Failed("the server does not listen" if process.poll() is None else
                 f"the server has ended: {process.returncode}")


def client(seconds, *argv, **more):
    try:
        done = subprocess.run(argv, capture_output=True, timeout=seconds,
                              **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"no answer in {seconds} s: {' '.join(argv)}")
    return done.stdout + done.stderr


# Of the package redis-tools, which starts no service: the server is the same
# file, and goes by its name.
REDIS_FILE = "/usr/bin/redis-check-rdb"


def redis(i, port):
    return ["sh", "-c", f'ln -s {REDIS_FILE} redis-server && exec "$0" "$@"',
            "./redis-server", "--port", str(port), "--bind", "127.0.0.1",
            "--save", "", "--dir", ".", "--loglevel", "warning"]


REDIS = """set greeting hello
get greeting
incr counter
incrby counter 41
rpush list a b c d
lrange list 0 -1
sadd set x y z
scard set
zadd sorted 3 three 1 one 2 two
zrange sorted 0 -1 withscores
hset hash field value
hgetall hash
eval "local s = 0 for i = 1, 1000 do s = s + i end return s" 0
setrange greeting 1 EL
get greeting
multi
incr counter
exec
expire list 1000
type list
dbsize
nonsense
flushall async
dbsize
"""


def drive_redis(process, port, folder, small, seconds):
    wait_for(port, process, seconds)
    at = "-p", str(port)
    seen = client(seconds, "redis-cli", *at, input=REDIS.encode())
    bench = client(seconds, "redis-benchmark", *at, "-q", "-c", "10", "-n",
                   "500" if small else "5000", "-t", "set,get,incr,lpush,mset")
    seen += b"\n".join(sorted({line.split(b":")[0].strip() for line in
                               bench.replace(b"\r", b"\n").split(b"\n")}))
    seen += client(seconds, "redis-cli", *at, "get", "counter:__rand_int__")
    seen += client(seconds, "redis-cli", *at, "bgsave")
    while b"rdb_bgsave_in_progress:0" not in client(
            seconds, "redis-cli", *at, "info", "persistence"):
        time.sleep(0.05)
    seen += client(seconds, "redis-cli", *at, "shutdown", "nosave")
    return seen


def without_numbers(data):
    """Logs have process numbers and times."""
    return re.sub(rb"\d+", b"N", data)


NGINX = """daemon off;
worker_processes 2;
error_log stderr warn;
pid nginx.pid;
thread_pool default threads=4;
events { worker_connections 64; }
http {
    access_log off;
    client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fcgi;
    uwsgi_temp_path uwsgi; scgi_temp_path scgi;
    aio threads;
    sendfile off;
    gzip on; gzip_types *;
    server { listen 127.0.0.1:@PORT@; root www; autoindex on; }
}
"""


def nginx(i, port):
    # Written anew for each run: the port differs.
    return ["sh", "-c", "mkdir www && for n in 1 2 3 4 5 6 7 8; do "
            f"head -c ${{n}}0000 {text(i)} >www/$n.txt; done && "
            f"printf '%s' '{NGINX}' | sed s/@PORT@/{port}/ >nginx.conf && "
            'if [ "$(id -u)" = 0 ]; then echo "user root;" >>nginx.conf; fi; '
            "exec /usr/sbin/nginx -e stderr -p . -c nginx.conf"]


def drive_nginx(process, port, folder, small, seconds):
    wait_for(port, process, seconds)
    seen = b""
    for round_ in range(1 if small else 5):
        names = [f"http://127.0.0.1:{port}/{n}.txt" for n in range(1, 9)]
        body = client(seconds, "curl", "--no-progress-meter", "--parallel",
                      "--output", "got-#1", f"http://127.0.0.1:{port}/[1-8].txt",
                      cwd=folder)
        for n in range(1, 9):
            with open(os.path.join(folder, f"got-{n}"), "rb") as got:
                body += hashlib.sha256(got.read()).hexdigest().encode()
        body += client(seconds, "curl", "-s", "--compressed", names[0])[-100:]
        body += client(seconds, "curl", "-s", "-o", os.devnull, "-w",
                       "%{http_code} %{size_download}",
                       f"http://127.0.0.1:{port}/none")
        seen += body
    process.terminate()
    return seen


# ------- builds and clones -------

def make_project(i):
    """30 files, each with its own functions, and a main() that calls them."""
    count = i.size(30, 4)

    def write(path):
        source = random.Random(6)
        os.mkdir(path)
        with open(os.path.join(path, "all.h"), "w") as header:
            for n in range(count):
                header.write(f"unsigned f{n}(unsigned x);\n")
        for n in range(count):
            a, b = source.randint(3, 99), source.randint(3, 99)
            with open(os.path.join(path, f"f{n}.c"), "w") as file:
                file.write(f'#include <string.h>\n#include "all.h"\n'
                           f"unsigned f{n}(unsigned x)\n{{\n"
                           f"\tchar t[{a}];\n\tmemset(t, (int)x, {a});\n"
                           f"\tfor (unsigned i = 0; i < {b}; i++)\n"
                           f"\t\tx = x * {a}u + (unsigned char)t[i % {a}];\n"
                           f"\treturn x ^ {b}u;\n}}\n")
        with open(os.path.join(path, "main.c"), "w") as file:
            file.write('#include <stdio.h>\n#include "all.h"\nint main(void)\n'
                       "{\n\tunsigned x = 1;\n" + "".join(
                           f"\tx = f{n}(x);\n" for n in range(count)) +
                       '\tprintf("%u\\n", x);\n\treturn 0;\n}\n')
        with open(os.path.join(path, "Makefile"), "w") as file:
            file.write("OBJECTS := $(patsubst %.c,%.o,$(wildcard *.c))\n"
                       "program: $(OBJECTS)\n\tgcc -o $@ $(sort $^)\n"
                       "%.o: %.c all.h\n\tgcc -O2 -c -o $@ $<\n")
    return i.make("project", write)


def make(i, port):
    return ["sh", "-c", f"cp -r {make_project(i)} made && cd made && "
            "exec make -s -j4"]


def made(folder):
    program = os.path.join(folder, "made", "program")
    with open(program, "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest().encode()
    return client(60, program) + digest


def repository(i):
    commits = i.size(500, 40)

    def write(path):
        subprocess.run(["git", "init", "-q", "--bare", path], check=True)
        lines = []
        source = random.Random(7)
        for n in range(commits):
            body = "".join(f"line {source.randint(0, 999)}\n"
                           for _ in range(20))
            message = f"commit {n}\n"
            lines.append(
                f"commit refs/heads/master\nmark :{n + 1}\n"
                f"committer A <a@b> {1_000_000_000 + n} +0000\n"
                f"data {len(message)}\n{message}" +
                (f"from :{n}\n" if n else "") +
                f"M 100644 inline d{n % 7}/f{n % 23}.txt\n"
                f"data {len(body)}\n{body}")
        subprocess.run(["git", "-C", path, "fast-import", "--quiet"],
                       input="\n".join(lines).encode(), check=True)
        subprocess.run(["git", "-C", path, "symbolic-ref", "HEAD",
                        "refs/heads/master"], check=True)
    return i.make("repository.git", write)


def clone(i, port):
    return ["git", "clone", "-q", "--no-local", repository(i), "cloned"]


def cloned(folder):
    at = os.path.join(folder, "cloned")
    return (client(60, "git", "-C", at, "fsck", "--strict") +
            client(60, "git", "-C", at, "log", "--format=%H %s") +
            client(60, "git", "-C", at, "status", "--short"))


# ------- shells -------

BASH = r"""set -o pipefail
trap 'echo usr1' USR1
trap 'echo exit $?' EXIT
for i in 1 2 3; do seq $((i * 100)) | sort -rn | head -n 2 | tr '\n' ' '; done; echo
false | true; echo "$? ${PIPESTATUS[*]}"
kill -USR1 $$; (kill -USR1 $$); sleep 0.05
coproc tr a-z A-Z; echo word >&${COPROC[1]}; exec {COPROC[1]}>&-; cat <&${COPROC[0]}; wait $!
diff <(seq 5) <(seq 2 6); while read -r a b; do echo "$b $a"; done < <(paste <(seq 3) <(seq 4 6))
f() { trap 'echo inner; return 3' INT; kill -INT $BASHPID; echo not reached; }
(f; echo "f $?"); for i in {1..@N@}; do x=$(echo $i | cat); done; echo $x
yes | head -n 1000 | wc -l; { sleep 0.1; echo slow; } & { echo quick; } ; wait
timeout 0.2 sleep 10; echo $?; (exec 3>&1; echo deep | (cat >&3)) | cat; exit 4
"""


def bash(i, port):
    return ["bash", i.text("script.bash", BASH.replace(
        "@N@", i.size("50", "5")))]


# ------- other runtimes -------

def go(i, port):
    return ["fzf", "--filter=packet tim", "--no-sort"]


def certificate(i):
    def write(path):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048",
                        "-nodes", "-keyout", os.devnull, "-subj", "/CN=a",
                        "-days", "1000", "-out", path], check=True,
                       stderr=subprocess.DEVNULL)
    return i.make("certificate.pem", write)


def java(i, port):
    return ["keytool", "-printcert", "-file", certificate(i)]


def with_input(command, source):
    """A shell gives the program its input."""
    return lambda i, port: ["sh", "-c", 'exec "$@" <"$0"', source(i),
                            *command(i, port)]


PROGRAMS = [
    Program("xz", lambda i, port: [
        "xz", "-T4", "-c", "-2", i.size("--block-size=1MiB",
                                        "--block-size=150KiB"), text(i)]),
    Program("pigz", lambda i, port: ["pigz", "-p4", "-n", "-c", text(i)]),
    Program("unpigz", lambda i, port: [
        "pigz", "-p4", "-d", "-c", i.compressed("text.gz", text(i), "gzip")],
            sample=False),
    Program("zstd", lambda i, port: [
        "zstd", "-T4", "-B512K", "-3", "-q", "-c", i.large(
            "large", i.size(16 << 20, 3 << 20))]),
    Program("sort", lambda i, port: [
        "sort", "--parallel=4", "-S", "20M", "-n", i.numbers(
            "numbers", i.size(500_000, 150_000))], sample=False),
    Program("threading", python("threading_.py", PYTHON_THREADS, 2000, 200)),
    Program("multiprocessing", python("processes.py", PYTHON_PROCESSES, 1000,
                                      50), children=True),
    Program("sqlite3", sqlite),
    Program("redis", redis, drive=drive_redis, normal=without_numbers),
    Program("nginx", nginx, drive=drive_nginx, normal=without_numbers,
            children=True, sample=False),
    Program("make", make, left=made, children=True, sample=False),
    Program("git", clone, left=cloned, children=True),
    Program("bash", bash, children=True, status=4),
    Program("go", with_input(go, text), sample=False),
    Program("java", java, sample=False),
]
