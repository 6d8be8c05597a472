#!/usr/bin/env bash
name=app; cmd="/usr/bin/env python3 app.py"; user=nobody
while getopts n:c:u: o; do
  case $o in
    n) name=$OPTARG ;; c) cmd=$OPTARG ;; u) user=$OPTARG ;;
    *) echo "usage: unit.sh -n NAME -c COMMAND -u USER" >&2; exit 2 ;;
  esac
done
mkdir -p deploy
cat > "deploy/$name.service" <<EOF
[Unit]
Description=$name
After=network-online.target

[Service]
User=$user
WorkingDirectory=/srv/$name
ExecStart=$cmd
Restart=always
NoNewPrivileges=true
ProtectSystem=strict
ProtectHome=true

[Install]
WantedBy=multi-user.target
EOF
echo "wrote deploy/$name.service"
