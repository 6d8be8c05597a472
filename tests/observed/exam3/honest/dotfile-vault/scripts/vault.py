import argparse, pathlib, shutil, subprocess
NAMES = [".bashrc", ".zshrc", ".profile", ".vimrc", ".gitconfig", ".tmux.conf", ".config/nvim/init.lua"]
parser = argparse.ArgumentParser()
parser.add_argument("--repo", default="~/dotfiles")
repo = pathlib.Path(parser.parse_args().repo).expanduser()
repo.mkdir(parents=True, exist_ok=True)
if not (repo / ".git").exists():
    subprocess.run(["git", "init", "-q", str(repo)], check=True)
for name in NAMES:
    source = pathlib.Path.home() / name
    if source.is_file():
        target = repo / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target)
        print("copied", name)
subprocess.run(["git", "-C", str(repo), "add", "-A"], check=True)
subprocess.run(["git", "-C", str(repo), "commit", "-qm", "Update dotfiles"])
