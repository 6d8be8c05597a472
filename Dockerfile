# metier with its sandbox, for an ordinary user.
#   docker build -t metier .
#   docker run --rm -v "$PWD:/work" metier scan .
FROM python:3.13-slim AS build
WORKDIR /src
COPY . .
RUN python -m pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.13-slim
# git fetches skills, bubblewrap is the sandbox that their scripts run in.
# Debian's stable release has one version of each, so none is pinned.
# hadolint ignore=DL3008
RUN apt-get update \
 && apt-get install -y --no-install-recommends bubblewrap git \
 && rm -rf /var/lib/apt/lists/* \
 && useradd --create-home --uid 1000 metier \
 && mkdir /work \
 && chown metier:metier /work
COPY constraints.txt /tmp/constraints.txt
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    python -m pip install --no-cache-dir -c /tmp/constraints.txt "$(echo /wheels/metier-*.whl)[mcp,sign]"
USER 1000
WORKDIR /work
ENTRYPOINT ["metier"]
CMD ["--help"]
