systemctl status nginx
ls ~/Library/LaunchAgents
