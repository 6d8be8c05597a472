"""What a hostile script tries with files: to read what is not its own, and to write where it may not."""

from __future__ import annotations

import os
from functools import partial

from fakes.attempts import ASKED, content, tried, trying, writing

# --- reading

for _name in ("key", "home", "data", "vault", "config", "other", "mark"):
    trying("read", f"planted {_name}")(partial(lambda name: content(ASKED[name]), _name))
for _path in (
    "/etc/shadow",
    "/etc/sudoers",
    "/root",
    "/sys",
    "/proc/kcore",
    "/proc/keys",
    "/proc/kallsyms",
    "/dev/kmsg",
    "/dev/mem",
    "/boot",
    "/proc/cmdline",
    "/proc/diskstats",
    "/proc/interrupts",
    "/proc/zoneinfo",
    "/proc/sys/kernel/random/boot_id",
):
    trying("read", _path)(partial(content, _path))


@trying("read")
def the_root() -> object:
    return sorted(os.listdir("/"))


@trying("read")
def environments_of_all_processes() -> object:
    return {pid: tried(partial(content, f"/proc/{pid}/environ")) for pid in pids()}


def pids() -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdigit()]


@trying("read")
def processes() -> object:
    return {pid: str(content(f"/proc/{pid}/comm")).strip() for pid in pids()}


@trying("read")
def how_the_first_process_was_started() -> object:
    return str(content("/proc/1/cmdline")).split("\0")


@trying("read")
def descriptors() -> object:
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            found[name] = os.readlink(f"/proc/self/fd/{name}")
        except OSError:
            continue  # that of the listing itself
    return found


@trying("read")
def descriptors_of_the_first_process() -> object:
    return [os.readlink(f"/proc/1/fd/{name}") for name in os.listdir("/proc/1/fd")]


@trying("read")
def anything_planted_anywhere() -> object:
    """Look into every file but the system's own, and through the roots of all processes, for what was planted."""
    wanted = [bytes.fromhex(one) for one in ASKED["planted"]]
    tops = ["/", *(f"/proc/{pid}/{way}" for pid in pids() for way in ("root", "cwd"))]
    looked, found = 0, []
    for top in tops:
        for folder, folders, files in os.walk(top):
            folders[:] = [one for one in folders if folder != top or one not in {"usr", "proc"}]
            for name in files:
                try:
                    with open(
                        os.path.join(folder, name),
                        "rb",
                        opener=lambda path, flags: os.open(path, flags | os.O_NONBLOCK),
                    ) as file:
                        data = file.read(1 << 18) or b""
                except OSError:
                    continue
                looked += 1
                found += [os.path.join(folder, name) for one in wanted if one in data]
    return {"looked": looked > 5, "found": found}


@trying("read")
def links_in_the_skill() -> object:
    """Follow every link that the skill came with."""
    got = {}
    for name in sorted(os.listdir("/skill/links")):
        got[name] = tried(partial(content, f"/skill/links/{name}"))
    return got


@trying("read")
def the_kernel_s_word_on_this_process() -> object:
    lines = str(content("/proc/self/status")).splitlines()
    status = {line.partition(":")[0]: line.partition(":")[2].strip() for line in lines}
    return {
        name: status.get(name)
        for name in (
            "NoNewPrivs",
            "Seccomp",
            "CapEff",
            "CapPrm",
            "CapBnd",
            "CapAmb",
            "CapInh",
            "Uid",
        )
    }


# --- writing

PLACES = (
    "/",
    "/usr",
    "/usr/bin",
    "/etc",
    "/skill",
    "/skill/scripts",
    "/dev",
    "/proc",
    "/run",
    "/run/secrets",
    "/home",
    "/var",
    "/lib",
    "/bin",
)
for _path in PLACES:
    trying("write", f"a file in {_path}")(partial(writing, os.path.join(_path, "planted")))
KNOBS = {
    "/proc/sys/kernel/core_pattern": "|/scratch/x",
    "/proc/sys/kernel/modprobe": "/scratch/x",
    "/proc/sys/vm/overcommit_memory": "1",
    "/proc/sys/kernel/hostname": "x",
    "/proc/sysrq-trigger": "h",
    "/proc/self/uid_map": "0 0 1",
    "/proc/self/oom_score_adj": "-1000",
    "/proc/1/oom_score_adj": "-1000",
    "/etc/passwd": "x",
    "/etc/ld.so.preload": "x",
    "/skill/SKILL.md": "x",
    "/skill/scripts/go.sh": "x",
    "/proc/1/mem": "x",
    "/dev/sda": "x",
    "/sys/kernel/uevent_helper": "x",
}
for _path, _text in KNOBS.items():
    trying("write", f"into {_path}")(partial(writing, _path, _text, made=False))


@trying("write")
def rename_the_script() -> None:
    os.rename("/skill/scripts/go.sh", "/skill/scripts/gone.sh")


@trying("write")
def remove_the_skill() -> None:
    os.unlink("/skill/SKILL.md")


@trying("write")
def make_the_skill_writable() -> None:
    os.chmod("/skill/SKILL.md", 0o777)  # noqa: S103 - that is the attempt


@trying("write")
def reopen_a_descriptor_to_write() -> object:
    number = os.open("/skill/SKILL.md", os.O_RDONLY)
    return writing(f"/proc/self/fd/{number}")


@trying("write", "scratch, which is allowed")
def scratch() -> object:
    return [writing(f"{folder}/own") for folder in ("/scratch", "/tmp", "/home/skill", "/dev/shm")]


# --- folders that were lent


@trying("lent")
def read_what_was_lent() -> object:
    return content(f"{ASKED['read']}/note")


@trying("lent")
def write_to_what_was_lent_to_read() -> object:
    return writing(f"{ASKED['read']}/planted")


@trying("lent")
def change_what_was_lent_to_read() -> object:
    number = os.open(f"{ASKED['read']}/note", os.O_WRONLY)
    return os.write(number, b"x")


@trying("lent")
def write_to_what_was_lent_to_change() -> object:
    return writing(f"{ASKED['write']}/made")


@trying("lent")
def follow_a_link_out_of_what_was_lent() -> object:
    return content(f"{ASKED['read']}/way-out")


@trying("lent")
def climb_out_of_what_was_lent() -> object:
    return sorted(os.listdir(f"{ASKED['write']}/../.."))


@trying("lent")
def a_program_that_runs_as_its_owner() -> None:
    writing(f"{ASKED['write']}/made")
    os.chmod(f"{ASKED['write']}/made", 0o6755)  # noqa: S103 - that is the attempt


@trying("lent")
def a_device_in_what_was_lent() -> None:
    os.mknod(f"{ASKED['write']}/device", 0o060666, os.makedev(8, 0))
