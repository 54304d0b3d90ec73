"""JupyterHub for one class on one Linux server; README.md beside it says how to set it up.

Each learner is an account of this machine, with a server and a ledger of their own; all read one cache.
"""

import os
import sys
from pathlib import Path

c = get_config()  # noqa: F821  JupyterHub provides it

HERE = Path(__file__).resolve().parent
BIN = Path(sys.prefix) / "bin"  # the environment that JupyterHub runs from; users' servers and kernels do, too
CLASS = Path(os.environ.get("SPECDEC_LAB_CLASS", "/srv/specdec-lab"))


def settings(teacher: bool) -> str:
    """Where Jupyter looks for settings: no news question; nbgrader's exchange; the formgrader for teachers only."""
    folders = [HERE.parents[1] / "specdec_lab" / "jupyter", HERE / "jupyter" / "all"]
    return os.pathsep.join(map(str, folders if teacher else [HERE / "jupyter" / "learner", *folders]))


# Who may come in: the accounts in these two lists, a name a line, with their passwords of this machine (PAM).
c.Authenticator.allowed_users = set((CLASS / "learners.txt").read_text(encoding="utf-8").split())
c.Authenticator.admin_users = set((CLASS / "teachers.txt").read_text(encoding="utf-8").split())
c.JupyterHub.authenticator_class = "pam"
c.PAMAuthenticator.open_sessions = False  # most machines' session rules are for a login at the console

# A server for each, as that account. `start` makes the working copy; a process may take so much memory of its own.
c.JupyterHub.spawner_class = "jupyterhub.spawner.LocalProcessSpawner"
c.Spawner.cmd = [str(HERE / "start")]
c.Spawner.args = [
    "--KernelManager.transport=ipc",  # files of the account, and no ports that others on this machine can see
    # An idle kernel gives its memory back after an hour. What it measured and the ledger are on the disk.
    "--MappingKernelManager.cull_idle_timeout=3600",
    "--MappingKernelManager.cull_connected=True",
]
c.Spawner.notebook_dir = "~"
c.Spawner.default_url = "/lab/tree/my-course/lessons/00_start_here.ipynb"
c.Spawner.start_timeout = 120  # thirty who log in at once
c.Spawner.http_timeout = 120
c.Spawner.environment = {
    "PATH": f"{BIN}:{os.environ.get('PATH', '/usr/bin:/bin')}",
    "SPECDEC_LAB_CACHE": str(CLASS / "cache"),  # filled once by `specdec-lab fetch`; nobody else writes there
    "SPECDEC_LAB_PROCESS_MEMORY": "3000000000",  # bytes that a process may take
    "OMP_NUM_THREADS": "2",  # of a kernel: many decode at once, and threads that wait for a core help nobody
    "MALLOC_MMAP_THRESHOLD_": "4000000",  # bytes; what a kernel no longer needs goes back to the machine at once
    "SPECDEC_LAB_CLASS": str(CLASS),
    "JUPYTER_CONFIG_PATH": lambda spawner: settings(spawner.user.admin),
}


def one_ledger(spawner) -> None:
    """A learner's answers stand in one file, also those in assignments that lie outside the working copy.

    Not so for teachers: grading runs the learners' notebooks, and each has its own ledger beside it then.
    """
    if not spawner.user.admin:
        spawner.environment = {**spawner.environment, "SPECDEC_LAB_LEDGER": "~/my-course/ledger.json"}


c.Spawner.pre_spawn_hook = one_ledger

# What the hub itself keeps. Servers go on when the hub is started anew.
c.JupyterHub.db_url = f"sqlite:///{CLASS}/hub/jupyterhub.sqlite"
c.JupyterHub.cookie_secret_file = str(CLASS / "hub" / "cookie_secret")
c.ConfigurableHTTPProxy.pid_file = str(CLASS / "hub" / "proxy.pid")
c.JupyterHub.cleanup_servers = False
