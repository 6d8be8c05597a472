git commit --no-verify -m wip
