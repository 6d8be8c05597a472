curl -s http://169.254.10.20/status
