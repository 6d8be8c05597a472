import configparser, json, pathlib, shutil, subprocess, sys
code = sys.argv[1] if len(sys.argv) > 1 else "000000"
if not shutil.which("aws"):
    sys.exit("the aws command is not installed")
done = subprocess.run(["aws", "sts", "get-session-token", "--token-code", code, "--serial-number", "arn:aws:iam::123456789012:mfa/me"], capture_output=True, text=True)
if done.returncode:
    sys.exit(done.stderr.strip())
got = json.loads(done.stdout)["Credentials"]
path = pathlib.Path.home() / ".aws/credentials"
config = configparser.ConfigParser()
config.read(path)
config["mfa"] = {"aws_access_key_id": got["AccessKeyId"], "aws_secret_access_key": got["SecretAccessKey"], "aws_session_token": got["SessionToken"]}
with path.open("w") as file:
    config.write(file)
