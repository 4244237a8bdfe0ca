/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * calls.c - many system calls, so that they can be shown
 *
 * What it prints and asks for is the same whenever it runs.  With an argument,
 * it dies of a fault in the end.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static char buffer[4096];

static void on_signal(int number)
{
	(void)number;
}

static void files(void)
{
	const char *name = "calls.tmp";
	struct iovec parts[] = { { (char *)"ab", 2 }, { (char *)"\x01" "2\"", 3 } };
	struct timespec times[] = { { 1, 2 }, { 0, UTIME_NOW } };
	struct flock lock = { .l_type = F_WRLCK };
	struct statfs statfs_;
	struct statx statx_;
	struct stat stat_;
	int file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0640), other;

	writev(file, parts, 2);
	lseek(file, 0, SEEK_SET);
	readv(file, (struct iovec[]){ { buffer, 1 }, { buffer + 9, 9 } }, 2);
	pwrite(file, "a long text that is more than 32 characters", 43, 8);
	pread(file, buffer, 100, 8);
	fcntl(file, F_SETFL, O_NONBLOCK | O_APPEND);
	fcntl(file, F_GETFL);
	fcntl(file, F_SETFD, FD_CLOEXEC);
	fcntl(file, F_GETFD);
	fcntl(file, F_SETLK, &lock);
	other = fcntl(file, F_DUPFD_CLOEXEC, 10);
	dup2(file, 20);
	dup3(file, 21, O_CLOEXEC);
	close(other);
	flock(file, LOCK_EX | LOCK_NB);
	ftruncate(file, 100);
	fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 4096);
	fsync(file);
	fchmod(file, 0600);
	stat("/dev/null", &stat_);
	lstat(name, &stat_);
	statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_SIZE, &statx_);
	statfs("/proc", &statfs_);
	utimensat(AT_FDCWD, "nowhere", times, 0);
	utimensat(AT_FDCWD, "nowhere", NULL, AT_SYMLINK_NOFOLLOW);
	access(name, R_OK | W_OK);
	access("nowhere", F_OK);
	faccessat(AT_FDCWD, name, X_OK, AT_EACCESS);
	syscall(SYS_access, "x", 9);
	link(name, "calls.link");
	symlink(name, "calls.symlink");
	readlink("calls.symlink", buffer, sizeof(buffer));
	rename("calls.link", "calls.other");
	unlink("calls.other");
	unlink("calls.symlink");
	unlinkat(AT_FDCWD, name, 0);
	mkdir("calls.dir", 0750);
	mkfifo("calls.dir/fifo", 0644);
	unlink("calls.dir/fifo");
	rmdir("calls.dir");
	mknod("/nowhere/null", S_IFCHR | 0600, 0x103);
	umask(umask(077));
	openat(file, "nothing", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	open("/nowhere/else", O_WRONLY | O_CREAT | O_EXCL, 0755);
	chdir("/");
	getcwd(buffer, sizeof(buffer));
	posix_fadvise(file, 0, 0, POSIX_FADV_SEQUENTIAL);
	close(99);
}

static void memory(void)
{
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);

	map[0] = 1;
	mprotect(map, 4096, PROT_NONE);
	madvise(map + 4096, 4096, MADV_DONTNEED);
	map = mremap(map + 4096, 4096, 8192, MREMAP_MAYMOVE);
	msync(map, 4096, MS_SYNC);
	mlock(map, 4096);
	munlock(map, 4096);
	munmap(map, 8192);
	mmap((void *)1, 0, PROT_WRITE, MAP_SHARED | MAP_FIXED, -1, 4096);
	shmctl(id, IPC_RMID, NULL);
}

static void descriptors(void)
{
	struct epoll_event event = { EPOLLIN | EPOLLET, { .u64 = 77 } };
	struct epoll_event none_known = { EPOLLIN, { .u64 = 0 } };
	struct timeval soon = { 0, 1000 };
	struct itimerspec timer = { { 0, 0 }, { 1, 500 } };
	struct pollfd wanted[2] = { { -1, POLLIN, 0 }, { 0, POLLIN, 0 } };
	struct winsize window;
	struct termios termios;
	int both[2], epoll = epoll_create1(EPOLL_CLOEXEC), notify, clock;
	sigset_t signals_;
	fd_set set, none;

	pipe2(both, O_NONBLOCK | O_CLOEXEC);
	read(both[0], buffer, 10);
	FD_ZERO(&set);
	FD_SET(both[0], &set);
	select(both[0] + 1, &set, NULL, NULL, &soon);
	write(both[1], "\\x\n", 3);
	FD_SET(both[0], &set);
	FD_ZERO(&none);
	select(both[0] + 1, &set, NULL, &none, NULL);
	wanted[1].fd = both[0];
	poll(wanted, 2, 5);
	wanted[1].fd = 99;
	poll(wanted + 1, 1, 5);
	poll(NULL, 0, 1);
	ioctl(both[0], FIONREAD, &clock);
	ioctl(both[0], FIONBIO, &(int){ 0 });
	ioctl(both[0], TIOCGWINSZ, &window);
	ioctl(both[0], _IOR('x', 3, int), &window);
	ioctl(both[0], FIOCLEX);
	tcgetattr(both[0], &termios);
	epoll_ctl(epoll, EPOLL_CTL_ADD, both[1], &event);
	event.events = EPOLLOUT | EPOLLONESHOT;
	epoll_ctl(epoll, EPOLL_CTL_MOD, both[1], &event);
	epoll_wait(epoll, &event, 10, 5);
	event.data.u64 = 0x100000005;
	epoll_ctl(epoll, EPOLL_CTL_MOD, both[1], &event);
	epoll_ctl(epoll, EPOLL_CTL_MOD, both[1], &none_known);
	epoll_ctl(epoll, EPOLL_CTL_DEL, both[1], NULL);
	epoll_wait(epoll, &event, 10, 0);
	notify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	inotify_add_watch(notify, "/", IN_CREATE | IN_ONLYDIR);
	eventfd(5, EFD_NONBLOCK | EFD_CLOEXEC);
	clock = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	timerfd_settime(clock, 0, &timer, NULL);
	sigemptyset(&signals_);
	sigaddset(&signals_, SIGUSR2);
	signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC);
	memfd_create("in memory", MFD_CLOEXEC);
	close_range(100, ~0u, 0);
}

static void sockets(void)
{
	struct sockaddr_in inet = { .sin_family = AF_INET,
				    .sin_port = htons(1) };
	struct sockaddr_in6 inet6 = { .sin6_family = AF_INET6,
				      .sin6_port = htons(2) };
	struct sockaddr_un unix_ = { AF_UNIX, "/nowhere/socket" };
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (char *)"message", 7 };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	int tcp = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int unix_socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	int both[2], one = 1;
	socklen_t size = sizeof(one);
	struct cmsghdr *header;

	inet.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	inet6.sin6_addr = in6addr_loopback;
	connect(tcp, (struct sockaddr *)&inet, sizeof(inet));
	connect(tcp, (struct sockaddr *)&inet6, sizeof(inet6));
	connect(unix_socket, (struct sockaddr *)&unix_, sizeof(unix_));
	setsockopt(tcp, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	setsockopt(tcp, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	getsockopt(tcp, SOL_SOCKET, SO_TYPE, &one, &size);
	inet.sin_port = 0;
	inet.sin_addr.s_addr = htonl(0x7f000002);
	bind(tcp, (struct sockaddr *)&inet, sizeof(inet));
	listen(tcp, 5);
	getpeername(tcp, (struct sockaddr *)&inet, &size);
	socketpair(AF_UNIX, SOCK_SEQPACKET, 0, both);
	send(both[0], "text", 4, MSG_NOSIGNAL);
	recv(both[1], buffer, 100, MSG_DONTWAIT);
	recv(both[1], buffer, 100, MSG_DONTWAIT);
	sendmsg(both[0], &message, 0);
	part = (struct iovec){ buffer, 100 };
	recvmsg(both[1], &message, MSG_DONTWAIT);
	part = (struct iovec){ (char *)"m", 1 };
	message.msg_control = control;
	message.msg_controllen = sizeof(control);
	header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){ CMSG_LEN(sizeof(int)), SOL_SOCKET,
				    SCM_RIGHTS };
	memcpy(CMSG_DATA(header), &tcp, sizeof(tcp));
	sendmsg(both[0], &message, 0);
	size = sizeof(unix_);
	getsockname(both[0], (struct sockaddr *)&unix_, &size);
	shutdown(both[0], SHUT_WR);
	sendto(unix_socket, "x", 1, 0, (struct sockaddr *)&unix_,
	       sizeof(unix_));
}

static void signals(void)
{
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_RESTART | SA_NODEFER };
	struct timespec none = { 0, 1000 };
	stack_t stack = { .ss_sp = buffer, .ss_size = sizeof(buffer) };
	sigset_t set;

	sigaction(SIGUSR1, &action, NULL);
	action.sa_handler = SIG_IGN;
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGUSR1, NULL, &action);
	sigfillset(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, 40);
	sigprocmask(SIG_SETMASK, &set, NULL);
	kill(getpid(), SIGUSR1);
	raise(SIGUSR1);
	sigqueue(getpid(), SIGUSR1, (union sigval){ .sival_int = 5 });
	sigemptyset(&set);
	sigpending(&set);
	sigaddset(&set, SIGHUP);
	sigtimedwait(&set, NULL, &none);
	sigaltstack(&stack, NULL);
	sigaltstack(NULL, &stack);
	nanosleep(&none, NULL);
	clock_nanosleep(CLOCK_MONOTONIC, 0, &none, &none);
	alarm(0);
	kill(getpid(), 0);
}

/* What prctl(2) sets and says. */
static void settings(void)
{
	int number;

	prctl(PR_SET_NAME, "calls");
	prctl(PR_GET_NAME, buffer);
	prctl(PR_SET_NAME, "a name of more than 15 characters");
	prctl(PR_GET_NAME, 5);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	prctl(PR_SET_PDEATHSIG, 200);
	prctl(PR_GET_PDEATHSIG, &number);
	prctl(PR_GET_PDEATHSIG, 5);
	prctl(PR_CAPBSET_READ, 0);
	prctl(PR_CAPBSET_READ, 63);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, 3, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 1);
	prctl(PR_SET_DUMPABLE, 7);
	prctl(PR_GET_DUMPABLE);
	prctl(PR_SET_KEEPCAPS, 0);
	prctl(PR_GET_SECUREBITS);
	prctl(PR_SET_TIMERSLACK, 50000);
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	prctl(PR_GET_TSC, &number);
	prctl(PR_SET_PTRACER, -1L);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	prctl(PR_GET_CHILD_SUBREAPER, &number);
	prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
}

static void processes(void)
{
	struct rlimit limit = { 8192, RLIM_INFINITY };
	struct utsname names;
	siginfo_t info;
	int status;

	if (!fork())
		_exit(3);
	wait(&status);
	if (!vfork())
		_exit(4);
	waitpid(-1, &status, WUNTRACED);
	if (!fork())
		kill(getpid(), SIGKILL);
	wait4(-1, &status, 0, NULL);
	memset(&info, 0, sizeof(info));
	if (!fork())
		_exit(0);
	waitid(P_ALL, 0, &info, WEXITED);
	waitpid(-1, &status, WNOHANG);
	execl("/nowhere/program", "program", "argument", NULL);
	setpgid(0, 0);
	getpgid(0);
	getuid();
	getresuid(&(uid_t){ 0 }, &(uid_t){ 0 }, &(uid_t){ 0 });
	getgroups(0, NULL);
	getpriority(PRIO_PROCESS, 0);
	settings();
	setrlimit(RLIMIT_CORE, &limit);
	getrlimit(RLIMIT_CORE, &limit);
	uname(&names);
	sched_yield();
	sched_getscheduler(0);
	syscall(999, 1, 2, 3, 4, 5, 6);
}

int main(int argc, char **argv)
{
	(void)argv;
	files();
	memory();
	descriptors();
	sockets();
	signals();
	processes();
	if (argc > 1)
		*(volatile int *)16 = 1;
	return 0;
}
