"""Finds the user's login for a registry: in docker's configuration, or by asking the credential
helper that it names.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from metier.errors import ConfigError
from metier.supply.sources.docker_config import LoginHelper, find_login, read_helper

if TYPE_CHECKING:
    from collections.abc import Mapping

    from metier.supply.sources.docker_config import RegistryLogin

MAX_CONFIG_BYTES = 4 * 1024 * 1024
MAX_ANSWER_BYTES = 64 * 1024
HELPER_SECONDS = 60
"""How long a helper may take: it may ask its user."""


def login_for(host: str, env: Mapping[str, str], home: str) -> RegistryLogin | None:
    """Give the login for a registry; nothing where the user has none for it."""
    folder = env.get("DOCKER_CONFIG") or (f"{home}/.docker" if home else "")
    if not folder:
        return None
    path = os.path.join(folder, "config.json")
    try:
        with open(path, "rb") as file:
            data = file.read(MAX_CONFIG_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigError(
            f"cannot read {path}: {error.strerror}",
            hint="check its permissions",
            code="docker-config",
        ) from error
    if len(data) > MAX_CONFIG_BYTES:
        raise ConfigError(
            f"{path} is larger than {MAX_CONFIG_BYTES:,} bytes",
            hint="DOCKER_CONFIG names the folder of another one",
            code="docker-config",
        )
    found = find_login(data, host, path)
    return _ask(found, env) if isinstance(found, LoginHelper) else found


def _ask(helper: LoginHelper, env: Mapping[str, str]) -> RegistryLogin | None:
    """Ask a helper; one that knows no login for this registry fails, as the protocol has it."""
    name = f"docker-credential-{helper.name}"
    program = shutil.which(name, path=env.get("PATH", os.defpath))
    if program is None:
        raise ConfigError(
            f"docker's configuration names {name}, which is not installed",
            hint="install it, or log in again without it",
            code="docker-config",
        )
    try:
        done = subprocess.run(  # noqa: S603 - the user's own helper, by a checked name
            [program, "get"],
            input=helper.server.encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=dict(env),
            timeout=HELPER_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ConfigError(
            f"{name} did not answer",
            hint=f"try it: echo {helper.server} | {name} get",
            code="docker-config",
        ) from error
    if done.returncode:
        return None
    return read_helper(done.stdout[:MAX_ANSWER_BYTES], helper.name)
