/* SPDX-License-Identifier: GPL-2.0-or-later */
/* calls_32.c - system calls with structures or arguments of 32 bits */
#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned failures;

static void check(const char *what, int is_so)
{
	if (is_so)
		return;
	printf("FAILED: %s (errno %d)\n", what, errno);
	failures++;
}

#define CHECK(condition) check(#condition, !!(condition))

/* ------- files ------- */

static void offsets(int fd)
{
	const off_t far = (off_t)5 << 32;
	struct flock lock = { .l_type = F_WRLCK, .l_start = far, .l_len = 10 };
	char text[8] = "";
	struct iovec parts[2] = { { text, 2 }, { text + 2, 3 } };

	CHECK(pwrite(fd, "hello", 5, far) == 5);
	CHECK(pread(fd, text, 5, far) == 5 && !strcmp(text, "hello"));
	CHECK(lseek(fd, far + 3, SEEK_SET) == far + 3);
	CHECK(lseek(fd, -1, SEEK_CUR) == far + 2);
	CHECK(read(fd, text, 3) == 3 && !memcmp(text, "llo", 3));
	CHECK(preadv(fd, parts, 2, far) == 5 && !strcmp(text, "hello"));
	CHECK(!fcntl(fd, F_SETLK, &lock));
	lock.l_type = F_RDLCK;
	CHECK(!fcntl(fd, F_GETLK, &lock) && lock.l_type == F_UNLCK);
	CHECK(!posix_fadvise(fd, far, far, POSIX_FADV_RANDOM));
	CHECK(!posix_fallocate(fd, far, 100));
	CHECK(!ftruncate(fd, far + 4096));
	CHECK(!sync_file_range(fd, far, 4096, SYNC_FILE_RANGE_WRITE));
	CHECK(readahead(fd, far, 4096) == 0);
}

static void about(int fd, const char *name)
{
	const struct timespec times[2] = { { 1000000000, 123456789 },
					   { 2000000000, 987654321 } };
	struct stat file, again;
	struct statfs system;
	struct statx more;

	CHECK(!futimens(fd, times));
	CHECK(!fstat(fd, &file) && !stat(name, &again));
	CHECK(file.st_size == ((off_t)5 << 32) + 4096);
	CHECK(file.st_ino == again.st_ino && file.st_dev == again.st_dev);
	CHECK(file.st_mtim.tv_sec == 2000000000 &&
	      file.st_mtim.tv_nsec == 987654321);
	CHECK(S_ISREG(file.st_mode) && file.st_nlink == 1 && !file.st_uid ==
	      !getuid());
	CHECK(!statx(AT_FDCWD, name, 0, STATX_ALL, &more) &&
	      more.stx_ino == file.st_ino);
	CHECK(!statfs(name, &system) && system.f_bsize >= 512 &&
	      system.f_namelen == 255 && system.f_blocks >= system.f_bfree);
	CHECK(fcntl(fd, F_GETFL) & O_RDWR);
}

static void mapped(int fd)
{
	const off_t far = (off_t)5 << 32;
	char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			far);

	CHECK(at != MAP_FAILED && !strcmp(at, "hello"));
	at[0] = 'j';
	CHECK(!msync(at, 4096, MS_SYNC));
	at = mremap(at, 4096, 8192, MREMAP_MAYMOVE);
	CHECK(at != MAP_FAILED && !strcmp(at, "jello"));
	CHECK(!munmap(at, 8192));
	at = sbrk(65536);
	CHECK(at != (char *)-1);
	memset(at, 1, 65536);
}

static void copied(int fd, const char *folder)
{
	off_t from = (off_t)5 << 32;
	int to = open(folder, O_TMPFILE | O_RDWR, 0600), ends[2];
	loff_t start = from;
	char text[8] = "";

	CHECK(to >= 0 && !pipe2(ends, O_CLOEXEC));
	CHECK(sendfile(to, fd, &from, 5) == 5);
	CHECK(from == ((off_t)5 << 32) + 5);
	CHECK(pread(to, text, 5, 0) == 5 && !strcmp(text, "jello"));
	CHECK(splice(fd, &start, ends[1], NULL, 5, 0) == 5);
	CHECK(start == from);
	CHECK(read(ends[0], text, 5) == 5 && !strcmp(text, "jello"));
	start = (off_t)5 << 32;
	from = 100;
	CHECK(copy_file_range(fd, &start, to, &from, 5, 0) == 5);
	CHECK(from == 105);
}

static void listed(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int found = 0;

	while (dir && (entry = readdir(dir)))
		found += !strcmp(entry->d_name, "file");
	CHECK(dir && found == 1 && !closedir(dir));
}

static void files(void)
{
	char folder[] = "/tmp/cprec-calls-XXXXXX", name[64];
	int fd;

	CHECK(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/file", folder);
	fd = open(name, O_CREAT | O_RDWR | O_EXCL, 0640);
	CHECK(fd >= 0);
	offsets(fd);
	about(fd, name);
	mapped(fd);
	copied(fd, folder);
	listed(folder);
	CHECK(!unlink(name) && !rmdir(folder));
	close(fd);
}

/* ------- time ------- */

static void on_alarm(int number)
{
	(void)number;
}

static void times_and_timers(void)
{
	const struct itimerspec soon = { .it_value = { 0, 1000000 } };
	const struct itimerval also = { .it_value = { 0, 1000 } };
	struct itimerspec left;
	struct itimerval old;
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL,
				  .sigev_signo = SIGALRM };
	struct timespec now, then, pause = { 0, 2000000 };
	struct timeval day;
	struct tms used;
	timer_t timer;
	uint64_t expired;
	int fd = timerfd_create(CLOCK_MONOTONIC, 0), number;
	sigset_t alarms;

	CHECK(!clock_gettime(CLOCK_MONOTONIC, &now) && now.tv_nsec >= 0 &&
	      now.tv_nsec < 1000000000);
	CHECK(!clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL));
	CHECK(!clock_gettime(CLOCK_MONOTONIC, &then));
	CHECK((then.tv_sec - now.tv_sec) * 1000000000LL + then.tv_nsec -
	      now.tv_nsec >= 2000000);
	CHECK(!syscall(SYS_nanosleep, &pause, NULL));
	CHECK(!gettimeofday(&day, NULL) && day.tv_sec > 1600000000);
#ifdef SYS_time
	CHECK(syscall(SYS_time, NULL) >= day.tv_sec);
#endif
	CHECK(!clock_getres(CLOCK_REALTIME, &pause) && pause.tv_nsec > 0);
	CHECK(times(&used) != -1 && used.tms_utime >= 0);
	CHECK(!timerfd_settime(fd, 0, &soon, NULL));
	CHECK(read(fd, &expired, 8) == 8 && expired == 1);
	CHECK(!timerfd_gettime(fd, &left) && !left.it_value.tv_nsec);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	signal(SIGALRM, on_alarm);
	sigprocmask(SIG_BLOCK, &alarms, NULL);
	CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer));
	CHECK(!timer_settime(timer, 0, &soon, NULL));
	CHECK(!sigwait(&alarms, &number) && number == SIGALRM);
	CHECK(!timer_delete(timer));
	CHECK(!setitimer(ITIMER_REAL, &also, &old) && !old.it_value.tv_usec);
	CHECK(!sigwait(&alarms, &number));
	close(fd);
}

/* ------- waiting ------- */

static void waiting(void)
{
	const struct timespec limit = { 0, 1000000 };
	struct timeval left = { 0, 1000 };
	struct epoll_event event = { .events = EPOLLIN,
				     .data.u64 = 0x1122334455667788 };
	struct epoll_event got;
	int many = epoll_create1(0), fd = eventfd(3, 0), pipes[2];
	struct pollfd one = { fd, POLLIN, 0 };
	sigset_t none;
	fd_set set;

	sigemptyset(&none);
	CHECK(!pipe(pipes));
	CHECK(!epoll_ctl(many, EPOLL_CTL_ADD, fd, &event));
	CHECK(epoll_wait(many, &got, 1, 1000) == 1);
	CHECK(got.data.u64 == 0x1122334455667788);
	CHECK(epoll_pwait(many, &got, 1, 1000, &none) == 1);
	CHECK(poll(&one, 1, -1) == 1 && one.revents == POLLIN);
	CHECK(ppoll(&one, 1, &limit, &none) == 1);
	FD_ZERO(&set);
	FD_SET(pipes[0], &set);
	CHECK(select(pipes[0] + 1, &set, NULL, NULL, &left) == 0);
	CHECK(!left.tv_usec && !FD_ISSET(pipes[0], &set));
	FD_SET(fd, &set);
	CHECK(pselect(fd + 1, &set, NULL, NULL, &limit, &none) == 1);
	CHECK(FD_ISSET(fd, &set));
}

/* ------- processes ------- */

static void processes(void)
{
	struct rlimit limit;
	struct rusage usage;
	struct sysinfo system;
	struct utsname name;
	siginfo_t info;
	cpu_set_t cpus;
	int status;
	pid_t child = fork();

	if (!child)
		_exit(9);
	CHECK(!waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT));
	CHECK(info.si_pid == child && info.si_status == 9 &&
	      info.si_code == CLD_EXITED && info.si_signo == SIGCHLD);
	CHECK(wait4(child, &status, 0, &usage) == child);
	CHECK(WEXITSTATUS(status) == 9 && usage.ru_maxrss > 0);
	CHECK(!getrusage(RUSAGE_SELF, &usage) && usage.ru_minflt > 0);
	CHECK(!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur >= 65536);
	CHECK(!setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 }));
	CHECK(!getrlimit(RLIMIT_CORE, &limit) && !limit.rlim_max);
	CHECK(!sysinfo(&system) && system.mem_unit && system.totalram);
	CHECK(!uname(&name) && *name.machine);
	CHECK(!sched_getaffinity(0, sizeof(cpus), &cpus));
	CHECK(getpriority(PRIO_PROCESS, 0) >= -20);
	CHECK((long)geteuid() == syscall(SYS_geteuid32));
}

/* ------- messages ------- */

static void passed(int to, int from)
{
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	char byte = 'x';
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = eventfd(5, 0), other = -1;
	uint64_t value = 0;

	memset(&control, 0, sizeof(control));
	control.head.cmsg_level = SOL_SOCKET;
	control.head.cmsg_type = SCM_RIGHTS;
	control.head.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
	CHECK(sendmsg(to, &message, 0) == 1);
	memset(&control, 0, sizeof(control));
	byte = 0;
	CHECK(recvmsg(from, &message, 0) == 1 && byte == 'x');
	CHECK(control.head.cmsg_type == SCM_RIGHTS &&
	      control.head.cmsg_len == CMSG_LEN(sizeof(int)));
	memcpy(&other, CMSG_DATA(&control.head), sizeof(other));
	CHECK(read(other, &value, 8) == 8 && value == 5);
}

static void sockets(void)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX,
				    .sun_path = "\0cprec-calls-" };
	struct mmsghdr many[2];
	socklen_t size = sizeof(name), option = sizeof(int);
	char text[8] = "";
	struct iovec part = { "ab", 2 };
	int ends[2], type, here, there;

	CHECK(!socketpair(AF_UNIX, SOCK_DGRAM, 0, ends));
	CHECK(send(ends[0], "hello", 5, 0) == 5);
	CHECK(recv(ends[1], text, 8, 0) == 5 && !strcmp(text, "hello"));
	passed(ends[0], ends[1]);
	memset(many, 0, sizeof(many));
	many[0].msg_hdr.msg_iov = many[1].msg_hdr.msg_iov = &part;
	many[0].msg_hdr.msg_iovlen = many[1].msg_hdr.msg_iovlen = 1;
	CHECK(sendmmsg(ends[0], many, 2, 0) == 2 && many[1].msg_len == 2);
	CHECK(recv(ends[1], text, 8, 0) == 2);
	CHECK(!getsockopt(ends[0], SOL_SOCKET, SO_TYPE, &type, &option) &&
	      type == SOCK_DGRAM);
	here = socket(AF_UNIX, SOCK_STREAM, 0);
	there = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(!bind(here, (struct sockaddr *)&name, sizeof(sa_family_t)));
	CHECK(!listen(here, 1));
	CHECK(!getsockname(here, (struct sockaddr *)&name, &size));
	CHECK(!connect(there, (struct sockaddr *)&name, size));
	CHECK(accept(here, NULL, NULL) >= 0);
	CHECK(!shutdown(there, SHUT_RDWR));
}

static void system_v(void)
{
	struct { long type; char text[8]; } message = { 3, "hello" };
	int id = msgget(IPC_PRIVATE, 0600), set, memory;
	struct sembuf operation = { 0, 1, 0 };
	struct msqid_ds queue;
	struct shmid_ds segment;
	struct semid_ds about;
	char *at;

	CHECK(id >= 0 && !msgsnd(id, &message, 6, 0));
	CHECK(!msgctl(id, IPC_STAT, &queue) && queue.msg_qnum == 1);
	memset(&message, 0, sizeof(message));
	CHECK(msgrcv(id, &message, 8, -5, 0) == 6 && message.type == 3);
	CHECK(!strcmp(message.text, "hello"));
	CHECK(!msgctl(id, IPC_RMID, NULL));
	set = semget(IPC_PRIVATE, 2, 0600);
	CHECK(set >= 0 && !semop(set, &operation, 1));
	CHECK(semctl(set, 0, GETVAL, 0) == 1 && !semctl(set, 1, SETVAL, 7));
	CHECK(semctl(set, 1, GETVAL, 0) == 7);
	CHECK(!semctl(set, 0, IPC_STAT, &about) && about.sem_nsems == 2);
	CHECK(!semctl(set, 0, IPC_RMID, 0));
	memory = shmget(IPC_PRIVATE, 4096, 0600);
	at = shmat(memory, NULL, 0);
	CHECK(at != (char *)-1);
	memcpy(at, "shared", 7);
	CHECK(!shmctl(memory, IPC_STAT, &segment) &&
	      segment.shm_segsz == 4096 && segment.shm_nattch == 1);
	CHECK(!shmdt(at) && !shmctl(memory, IPC_RMID, NULL));
}

static void queued(void)
{
	struct mq_attr size = { .mq_maxmsg = 2, .mq_msgsize = 16 }, got;
	char name[32], text[16] = "";
	mqd_t queue;
	unsigned priority;

	snprintf(name, sizeof(name), "/cprec-%d", getpid());
	queue = mq_open(name, O_CREAT | O_RDWR, 0600, &size);
	if (queue == (mqd_t)-1)
		return;		/* no such kernel */
	CHECK(!mq_send(queue, "hello", 6, 4));
	CHECK(!mq_getattr(queue, &got) && got.mq_msgsize == 16 &&
	      got.mq_curmsgs == 1);
	CHECK(mq_receive(queue, text, 16, &priority) == 6 && priority == 4);
	CHECK(!mq_unlink(name));
}

static void signals(void)
{
	const union sigval value = { .sival_int = 77 };
	const struct timespec limit = { 1, 0 };
	struct signalfd_siginfo read_info;
	siginfo_t info;
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN + 1);
	sigaddset(&set, SIGUSR1);
	CHECK(!sigprocmask(SIG_BLOCK, &set, NULL));
	CHECK(!sigqueue(getpid(), SIGRTMIN + 1, value));
	CHECK(sigtimedwait(&set, &info, &limit) == SIGRTMIN + 1);
	CHECK(info.si_value.sival_int == 77 && info.si_pid == getpid() &&
	      info.si_code == SI_QUEUE);
	fd = signalfd(-1, &set, 0);
	CHECK(!kill(getpid(), SIGUSR1));
	CHECK(!sigpending(&set) && sigismember(&set, SIGUSR1));
	CHECK(read(fd, &read_info, sizeof(read_info)) == sizeof(read_info) &&
	      read_info.ssi_signo == SIGUSR1);
}

int main(void)
{
	files();
	times_and_timers();
	waiting();
	processes();
	sockets();
	system_v();
	queued();
	signals();
	printf("%u failures\n", failures);
	return failures != 0;
}
