#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Large programs: the same output natively and recorded, and the recordings of
all their processes verify.  No suite runs this: it takes ten minutes, and the
programs are not among those that ./setup installs.

usage: large.py --cprec C [--keep FOLDER] [NAME...]

The names are chromium, postgresql and ffmpeg; without any, it is all of them.
Speaks TAP; what is not installed is skipped, and said.
"""
import argparse
import glob
import hashlib
import os
import pwd
import shutil
import subprocess
import sys
import time

sys.dont_write_bytecode = True
from tap import CprecTap, equal, expect, main, recordings  # noqa: E402

LONG = 3600
PROGRAMS = "chromium", "postgresql", "ffmpeg"

# What the page says is only known to who executes it.
PAGE = """<!doctype html>
<title>A page</title>
<p id=sum>nothing</p>
<script>
let sum = 0;
for (let i = 0; i < 1000; i++)
    sum += i * i;
document.getElementById("sum").textContent = `the sum is ${sum}`;
const list = document.createElement("ul");
for (const word of ["three", "small", "words"].sort()) {
    const item = document.createElement("li");
    item.textContent = word.toUpperCase();
    list.append(item);
}
document.body.append(list);
</script>
"""

QUERIES = """
CREATE TABLE town (name text PRIMARY KEY, people int, founded date);
INSERT INTO town SELECT 'town ' || i, i * 7919 % 10007, date '1200-01-01' + i
    FROM generate_series(1, 5000) AS i;
CREATE INDEX ON town (people);
ANALYZE town;
BEGIN; DELETE FROM town WHERE people < 100; ROLLBACK;
UPDATE town SET people = people + 1 WHERE name LIKE '%7';
SELECT count(*), sum(people), min(founded), max(founded) FROM town;
SELECT name, people FROM town ORDER BY people DESC, name LIMIT 5;
EXPLAIN (COSTS off) SELECT * FROM town WHERE people = 77;
WITH RECURSIVE f(n, a, b) AS (SELECT 1, 0::numeric, 1::numeric
    UNION ALL SELECT n + 1, b, a + b FROM f WHERE n < 100)
    SELECT a FROM f ORDER BY n DESC LIMIT 1;
SELECT json_agg(name ORDER BY name) FROM town WHERE people > 10000;
SELECT 1 / 0;
"""

# The client asks twice, the second time a server that was started again.
POSTGRESQL = """
PATH=$1:$PATH; export PGHOST=$PWD PGUSER=me PGDATABASE=postgres
initdb -D data -U me -A trust -E UTF8 --locale=C >initdb.log || exit
server="-k $PWD -c listen_addresses= -c max_connections=10"
pg_ctl -D data -l log -o "$server" -w -t 900 start >/dev/null || exit
psql -X -f queries.sql 2>&1
pg_ctl -D data -m fast -w -t 900 stop >/dev/null || exit
pg_ctl -D data -l log -o "$server" -w -t 900 start >/dev/null || exit
psql -X -c 'SELECT sum(people) FROM town' 2>&1
pg_ctl -D data -m fast -w -t 900 stop >/dev/null
grep -E 'PANIC|TRAP|terminated by signal' log
grep -c 'database system is ready' log
"""

FFMPEG = ["ffmpeg", "-v", "error", "-nostdin", "-f", "lavfi", "-i",
          "testsrc2=size=320x240:rate=25:duration=2", "-f", "lavfi", "-i",
          "sine=frequency=440:duration=2", "-c:v", "libx264", "-preset",
          "medium", "-x264-params", "cpu-independent=1", "-c:a", "aac", "-flags", "+bitexact", "-fflags",
          "+bitexact", "-threads", "2", "-y", "out.mkv"]


class Missing(Exception):
    """What is to be installed."""


def find(name, package):
    path = shutil.which(name)
    if not path:
        raise Missing(package)
    return path


class Tests(CprecTap):
    def test(self, name, function, *arguments, **more):
        try:
            super().test(name, function, *arguments, **more)
        except Missing as missing:
            print(f"ok {self.count} - {name} # SKIP not installed:"
                  f" apt-get install {missing}", flush=True)

    def folder_of(self, name, how):
        """An empty one."""
        folder = os.path.join(self.folder, name, how)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        return folder

    def execute(self, command, folder, as_user=None):
        """Status, what was written, and seconds."""
        if as_user:
            for path in self.folder, os.path.dirname(folder), folder:
                os.chmod(path, 0o755)
            for path, _, files in os.walk(folder):
                for name in [path, *(os.path.join(path, f) for f in files)]:
                    os.chown(name, as_user.pw_uid, as_user.pw_gid)
        begun = time.monotonic()
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, timeout=LONG,
            capture_output=True, text=True,
            env=dict(os.environ, HOME=folder, TZ="UTC", LC_ALL="C.UTF-8"),
            **({"user": as_user.pw_uid, "group": as_user.pw_gid,
                "extra_groups": []} if as_user else {}))
        return done, time.monotonic() - begun

    def compare(self, name, command, prepare, result, as_user=None):
        """`result` makes what is compared of a folder and what was printed."""
        seconds, results = [], []
        for how in "native", "recorded":
            folder = self.folder_of(name, how)
            prepare(folder)
            whole = command(folder)
            if how == "recorded":
                trace = os.path.join(folder, "trace.cpr")
                whole = [self.options.cprec, "record", "-q", "-o", trace,
                         "--", *whole]
            done, taken = self.execute(whole, folder, as_user)
            equal(done.returncode, 0, f"{how}: {done.stderr[-2000:]}; status")
            results.append(result(folder, done.stdout))
            seconds.append(taken)
        equal(results[1], results[0], "recorded")
        expect(results[0], "there is no output")
        return trace, seconds

    def verify(self, trace, seconds):
        every = recordings(trace)
        begun = time.monotonic()
        wrong = []
        for path in every:
            done = subprocess.run([self.options.cprec, "verify", "-q", path],
                                  capture_output=True, text=True, timeout=LONG)
            if done.returncode or done.stderr:
                wrong.append(f"{path}: {done.stderr.strip()}")
        expect(not wrong, "\n".join(wrong))
        size = sum(os.path.getsize(path) for path in every) / 1e6
        return (f"natively {seconds[0]:.1f} s, recorded {seconds[1]:.1f} s,"
                f" {len(every)} recordings, {size:.0f} MB, verified in"
                f" {time.monotonic() - begun:.0f} s")

    # ------- programs -------

    def chromium(self):
        """Headless; --no-sandbox is what containers need, too.  Its processes
        wait 15 seconds for each other, which is little on a busy machine."""
        program = find("chromium", "chromium")

        def prepare(folder):
            with open(os.path.join(folder, "page.html"), "w") as page:
                page.write(PAGE)

        def command(folder):
            return [program, "--headless=new", "--no-sandbox", "--disable-gpu",
                    f"--ipc-connection-timeout={LONG}",
                    f"--user-data-dir={folder}/user", "--dump-dom",
                    f"file://{folder}/page.html"]

        def result(_, printed):
            expect("the sum is 332833500" in printed and
                   "<li>SMALL</li>" in printed, f"output {printed!r}")
            return printed

        return self.verify(*self.compare("chromium", command, prepare, result))

    def postgresql(self):
        """It does not start as root."""
        folders = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
        if not folders or not os.path.exists(folders[-1] + "/initdb"):
            raise Missing("postgresql")
        user = None if os.getuid() else pwd.getpwnam("nobody")

        def prepare(folder):
            with open(os.path.join(folder, "queries.sql"), "w") as queries:
                queries.write(QUERIES)

        def command(_):
            return ["sh", "-c", POSTGRESQL, "sh", folders[-1]]

        def result(_, printed):
            expect("218922995834555169026" in printed and
                   "division by zero" in printed, f"output {printed!r}")
            return printed

        return self.verify(*self.compare("postgresql", command, prepare,
                                         result, user))

    def ffmpeg(self):
        """The bytes of the film do not depend on the processor."""
        find("ffmpeg", "ffmpeg")

        def result(folder, _):
            with open(os.path.join(folder, "out.mkv"), "rb") as film:
                return hashlib.sha256(film.read()).hexdigest()

        return self.verify(*self.compare("ffmpeg", lambda _: FFMPEG,
                                         lambda _: None, result))


def run_all(options, folder):
    unknown = set(options.names) - set(PROGRAMS)
    if unknown:
        sys.exit(f"large.py: it knows no {', '.join(sorted(unknown))}")
    tests = Tests(options, folder)
    for name in options.names or PROGRAMS:
        tests.test(name, getattr(tests, name))
    return tests.summary()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these")
    sys.exit(main(run_all, parser=parser))
