"""System calls that a learner's code may not make, by a filter in the kernel (seccomp). It holds behind both lines of `jail`.

What the code needs is to compute and to use its own files. So there are no sockets but pairs, no keys, no namespaces, no
watching and tracing of others, no memory that counts for nobody, no rights of files, and no limits of other processes.
"""

import ctypes
import platform
import struct
import sys

# By machine: AUDIT_ARCH, and the numbers of the calls (from the kernel's tables, which never change).
X86_64, AARCH64 = 0xC000003E, 0xC00000B7
REFUSED = {  # name: (x86_64, aarch64; None where there is no such call)
    "connect": (42, 203), "bind": (49, 200), "listen": (50, 201), "sendmsg": (46, 211), "sendmmsg": (307, 269),
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "semget": (64, 190), "msgget": (68, 186), "mq_open": (240, 180),
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272),
    "mknod": (133, None), "mknodat": (259, 33), "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "unshare": (272, 97), "setns": (308, 268), "fsopen": (430, 430),
    "open_tree": (428, 428), "move_mount": (429, 429), "sethostname": (170, 161), "io_setup": (206, 0), "io_uring_setup": (425, 425),
    "inotify_init": (253, None), "inotify_init1": (294, 26), "fanotify_init": (300, 262), "add_key": (248, 217), "request_key": (249, 218),
    "keyctl": (250, 219), "perf_event_open": (298, 241), "memfd_create": (319, 279), "memfd_secret": (447, 447), "bpf": (321, 280),
    "userfaultfd": (323, 282), "syslog": (103, 116), "personality": (135, 92), "pidfd_open": (434, 434),
}  # fmt: skip
# These say that they did it, and do nothing: to copy a file in one's own folder sets its rights, and nobody needs those.
SILENT = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None), "fchown": (93, 55),
    "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None), "futimesat": (261, None),
    "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "removexattr": (197, 14),
    "lremovexattr": (198, 15), "fremovexattr": (199, 16),
}  # fmt: skip
# Only for oneself: the first argument names a process, and must be 0. setpriority has it in the second.
OWN = {"prlimit64": (302, 261, 0), "sched_setaffinity": (203, 122, 0), "sched_setscheduler": (144, 119, 0),
       "sched_setattr": (314, 274, 0), "ioprio_set": (251, 30, 1), "setpriority": (141, 140, 1)}  # fmt: skip
SOCKET, CLONE, CLONE3, SENDTO = (41, 198), (56, 220), (435, 435), (44, 206)
UNIX, NEW_NAMESPACES = 1, 0x7E020080
ALLOW, REFUSE, DONE, NO_SUCH = 0x7FFF0000, 0x00050001, 0x00050000, 0x00050026  # EPERM; 0; ENOSYS: glibc takes another
SET_SECCOMP, FILTER, TSYNC, NO_NEW_PRIVILEGES = {X86_64: 317, AARCH64: 277}, 1, 1, 38
NUMBER, ARCH, ARGS = 0, 4, 16  # where they stand in what the filter sees
LOAD, EQUAL, ANY_BIT, AT_LEAST, RETURN = 0x20, 0x15, 0x45, 0x35, 0x06


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


def lines(arch: int) -> list[tuple[int, int, int, int]]:
    """The filter as lines (what, jump if so, jump if not, number)."""
    of = 0 if arch == X86_64 else 1
    program = [(LOAD, 0, 0, ARCH), (EQUAL, 1, 0, arch), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, NUMBER)]
    if arch == X86_64:  # the same calls once more, for programs with short pointers
        program += [(AT_LEAST, 0, 1, 0x40000000), (RETURN, 0, 0, REFUSE)]
    for table, answer in ((REFUSED, REFUSE), (SILENT, DONE)):
        for numbers in table.values():
            if (number := numbers[of]) is not None:
                program += [(EQUAL, 0, 1, number), (RETURN, 0, 0, answer)]
    program += [(EQUAL, 0, 1, CLONE3[of]), (RETURN, 0, 0, NO_SUCH)]
    for *numbers, place in OWN.values():
        program += if_number(numbers[of], [(LOAD, 0, 0, ARGS + 8 * place), (EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)])
    program += if_number(SOCKET[of], [(LOAD, 0, 0, ARGS), (EQUAL, 1, 0, UNIX), (RETURN, 0, 0, REFUSE)])
    program += if_number(CLONE[of], [(LOAD, 0, 0, ARGS), (ANY_BIT, 0, 1, NEW_NAMESPACES), (RETURN, 0, 0, REFUSE)])
    to_whom = [(LOAD, 0, 0, ARGS + 32), (EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE), (LOAD, 0, 0, ARGS + 36), (EQUAL, 1, 0, 0), (RETURN, 0, 0, REFUSE)]  # fmt: skip
    return [*program, *if_number(SENDTO[of], to_whom), (RETURN, 0, 0, ALLOW)]


def if_number(number: int, then: list[tuple[int, int, int, int]]) -> list[tuple[int, int, int, int]]:
    """Lines for one call alone; behind them the number is loaded again."""
    return [(EQUAL, 0, len(then) + 1, number), *then, (LOAD, 0, 0, NUMBER)]
