"""Running a skill's script: what it may have and how a sandbox is told (pure), and the sandbox itself (`proc`).

Before a run, all of it values:

- `plan` cuts down what a skill declares; `interpreters` and `environments` say by what it is read; `gate`, `acts`, `answers` and
  `tags` are the rules for code skills, `inside` is the program that calls one.
- `bubblewrap` makes a command line of a cage, `seccomp` a filter, for the machine that `system` has looked at.

The run, from the outside in:

- `proc` is the whole of it on one page: `wiring` makes the pipes, all of which `ends` holds and closes; `stream` drives the run in
  two threads, with `feeding` for its input; `cell` is the one bubblewrap in it.
- `cell` lays `landlock`, sets the `limits` while bubblewrap waits, joins a `cgroup`, and has the `watchdog` count the rest.
- `failing` reads what bubblewrap says where nothing could begin; `layers` tries it all once, for the doctor.
- `bare` is the same without any sandbox, for who has said twice that they want that.

Afterwards: `output` makes what was printed fit to be shown, behind the `veil` that hides secrets.
"""
