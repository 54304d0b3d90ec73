"""System calls that a learner's code may make, by a filter in the kernel (seccomp). It holds behind both lines of `jail`.

The code may compute, use files and start programs. For all else there is no such call: no network, no keys, no
namespaces, no priorities, no limits and no attributes of others, and nothing that a later kernel brings.
"""

import ctypes
import platform
import struct
import sys

# By machine: AUDIT_ARCH, and the numbers of the calls (from the kernel's tables, which never change).
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
# A call, its number on x86_64, and on aarch64; "-" where there is none.
ALLOWED = """
read 0 63, write 1 64, open 2 -, close 3 57, stat 4 -, fstat 5 80, lstat 6 -, poll 7 -, lseek 8 62, mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214, rt_sigaction 13 134,
rt_sigprocmask 14 135, rt_sigreturn 15 139, pread64 17 67, pwrite64 18 68, readv 19 65, writev 20 66, access 21 -, pipe 22 -, select 23 -, sched_yield 24 124, mremap 25 216, msync 26 227,
mincore 27 232, madvise 28 233, dup 32 23, dup2 33 -, nanosleep 35 101, setitimer 38 103, getpid 39 172, sendfile 40 71, recvfrom 45 207, recvmsg 47 212, shutdown 48 210, getsockname 51 204,
getpeername 52 205, socketpair 53 199, setsockopt 54 208, getsockopt 55 209, fork 57 -, vfork 58 -, execve 59 221, exit 60 93, wait4 61 260, kill 62 129, uname 63 160, fsync 74 82,
fdatasync 75 83, truncate 76 45, ftruncate 77 46, getcwd 79 17, chdir 80 49, fchdir 81 50, rename 82 -, mkdir 83 -, rmdir 84 -, link 86 -, unlink 87 -, symlink 88 -, readlink 89 -, umask 95 166,
gettimeofday 96 169, getrlimit 97 163, getrusage 98 165, sysinfo 99 179, getuid 102 174, getgid 104 176, geteuid 107 175, getegid 108 177, setpgid 109 154, getppid 110 173, getpgrp 111 -,
setsid 112 157, getgroups 115 158, getpgid 121 155, getsid 124 156, rt_sigtimedwait 128 137, rt_sigsuspend 130 133, sigaltstack 131 132, statfs 137 43, fstatfs 138 44, arch_prctl 158 -,
setrlimit 160 164, gettid 186 178, getxattr 191 8, lgetxattr 192 9, fgetxattr 193 10, listxattr 194 11, llistxattr 195 12, flistxattr 196 13, time 201 -, futex 202 98, sched_getaffinity 204 123,
getdents64 217 61, set_tid_address 218 96, restart_syscall 219 128, fadvise64 221 223, clock_gettime 228 113, clock_getres 229 114, clock_nanosleep 230 115, exit_group 231 94, epoll_wait 232 -,
epoll_ctl 233 21, tgkill 234 131, waitid 247 95, openat 257 56, mkdirat 258 34, newfstatat 262 79, unlinkat 263 35, renameat 264 38, linkat 265 37, symlinkat 266 36, readlinkat 267 78,
faccessat 269 48, pselect6 270 72, ppoll 271 73, set_robust_list 273 99, epoll_pwait 281 22, fallocate 285 47, eventfd2 290 19, epoll_create1 291 20, dup3 292 24, pipe2 293 59, preadv 295 69,
pwritev 296 70, getcpu 309 168, renameat2 316 276, getrandom 318 278, membarrier 324 283, copy_file_range 326 285, statx 332 291, rseq 334 293, close_range 436 436, openat2 437 437,
faccessat2 439 439, epoll_pwait2 441 441, times 100 153, alarm 37 -
"""
# These say that they did it, and do nothing: to copy a file in one's own folder sets its rights, and nobody needs those.
# A lock would hold up whoever else reads the file, and in one's own folder there is nobody else.
SILENT = """
chmod 90 -, fchmod 91 52, fchmodat 268 53, fchmodat2 452 452, chown 92 -, fchown 93 55, lchown 94 -, fchownat 260 54, utime 132 -, utimes 235 -, futimesat 261 -, utimensat 280 88, setxattr 188 5,
lsetxattr 189 6, fsetxattr 190 7, removexattr 197 14, lremovexattr 198 15, fremovexattr 199 16, flock 73 32
"""
ALLOW, REFUSE, DONE, NO_SUCH, NO_TERMINAL = 0x7FFF0000, 0x50001, 0x50000, 0x50026, 0x50019  # EPERM; 0; ENOSYS; ENOTTY
# A call, its numbers, which of its arguments decides, the values that are allowed, and the answer to others.
BY_ARGUMENT = (
    ("prlimit64", (302, 261), 0, [0], REFUSE),  # of oneself
    ("sched_setaffinity", (203, 122), 0, [0], REFUSE),
    ("socket", (41, 198), 0, [1], REFUSE),  # of this machine
    ("fcntl", (72, 25), 1, [*range(6), 1030, 1032], DONE),  # copies and flags of a file, and a look at its locks
    ("ioctl", (16, 29), 1, [0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451], NO_TERMINAL),  # is it one? what waits?
    ("prctl", (157, 167), 0, [1, 3, 15, 16, 23, 38, 39, 0x53564D41], REFUSE),  # its name, and what ends it
)
CLONE, NEW_NAMESPACES, SENDTO = (56, 220), 0x7E020080, (44, 206)
SET_SECCOMP, FILTER, TSYNC, NO_NEW_PRIVILEGES = {X86_64: 317, AARCH64: 277}, 1, 1, 38
NUMBER, ARCH, ARGS = 0, 4, 16  # where they stand in what the filter sees
LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06

Line = tuple[int, int, int, int]  # of the filter: what, how many lines to leave out if so, how many if not, a number


def refuse_calls() -> bool:
    """Put the filter on this process, all of its threads, and all that they start. Returns whether it is there."""
    arch = {"x86_64": X86_64, "aarch64": AARCH64}.get(platform.machine())
    if sys.platform != "linux" or arch is None:
        return False
    program = b"".join(struct.pack("HBBI", *line) for line in lines(arch))
    code = ctypes.create_string_buffer(program, len(program))
    head = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(code))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    return libc.syscall(SET_SECCOMP[arch], FILTER, TSYNC, ctypes.create_string_buffer(head, len(head))) == 0


def lines(arch: int) -> list[Line]:
    """The filter. A call that stands nowhere in it is answered as if this kernel had none of that number."""
    of = 0 if arch == X86_64 else 1
    program = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, arch), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, NUMBER)]
    if arch == X86_64:  # the same calls once more, for programs with short pointers
        program += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]
    for table, answer in ((ALLOWED, ALLOW), (SILENT, DONE)):
        for number in numbers(table, of):
            program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    for _, number, place, values, answer in BY_ARGUMENT:
        program += if_number(number[of], only(ARGS + 8 * place, values, answer))
    program += if_number(CLONE[of], [(LOAD, 0, 0, ARGS), (ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, REFUSE)])
    to_whom = [*only(ARGS + 32, [0], REFUSE), *only(ARGS + 36, [0], REFUSE)]  # both halves of an address
    return [*program, *if_number(SENDTO[of], to_whom), (RETURN, 0, 0, NO_SUCH)]


def numbers(table: str, of: int) -> list[int]:
    """The numbers of a table's calls on one kind of machine."""
    return [int(row.split()[1 + of]) for row in table.split(",") if row.split()[1 + of] != "-"]


def only(argument: int, values: list[int], answer: int) -> list[Line]:
    """Lines that give this answer where an argument has none of these values."""
    tests = [(EQUAL, n, 0, value) for n, value in zip(reversed(range(1, 1 + len(values))), values)]
    return [(LOAD, 0, 0, argument), *tests, (RETURN, 0, 0, answer)]


def if_number(number: int, then: list[Line]) -> list[Line]:
    """Lines for one call alone, which is allowed where they give no other answer."""
    return [(EQUAL, 0, len(then) + 1, number), *then, (RETURN, 0, 0, ALLOW)]
