#!/usr/bin/env python3
import argparse, json, shlex, shutil, subprocess, sys
from pathlib import Path

ap = argparse.ArgumentParser()
ap.add_argument("src")
ap.add_argument("--height", type=int, default=1080)
ap.add_argument("--crf", type=int, default=22)
ap.add_argument("--poster", type=float, help="second to take the poster from")
ap.add_argument("--subs")
ap.add_argument("--normalize", action="store_true")
ap.add_argument("--print", dest="show", action="store_true")
a = ap.parse_args()
src = Path(a.src)
out = src.with_suffix(".web.mp4")

cmd = ["ffmpeg", "-hide_banner", "-y", "-i", str(src)]
if a.subs:
    cmd += ["-i", a.subs, "-map", "0:v:0", "-map", "0:a?", "-map", "1:0", "-c:s", "mov_text"]
cmd += ["-vf", f"scale=-2:'min({a.height},ih)'", "-c:v", "libx264", "-preset", "slow", "-crf", str(a.crf),
        "-pix_fmt", "yuv420p", "-c:a", "aac", "-b:a", "128k", "-movflags", "+faststart"]
if a.normalize:
    cmd += ["-af", "loudnorm=I=-16:TP=-1.5:LRA=11"]
cmd.append(str(out))
poster = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-y", "-ss", str(a.poster or 0), "-i", str(src),
          "-frames:v", "1", "-q:v", "3", str(src.with_suffix(".jpg"))]
if a.show:
    print(shlex.join(cmd))
    if a.poster is not None:
        print(shlex.join(poster))
    sys.exit()
if not shutil.which("ffmpeg"):
    sys.exit("ffmpeg not found")
if not src.is_file():
    sys.exit(f"no such file: {src}")
subprocess.run(cmd, check=True)
if a.poster is not None:
    subprocess.run(poster, check=True)
info = json.loads(subprocess.run(["ffprobe", "-v", "error", "-show_format", "-of", "json", str(out)],
                                 capture_output=True, check=True).stdout)["format"]
print(f"{out}: {int(info['size'])/1e6:.1f} MB, {float(info['duration']):.0f} s")
