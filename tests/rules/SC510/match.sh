docker run -v /var/run/docker.sock:/var/run/docker.sock someone/helper:latest
