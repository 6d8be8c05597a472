docker run -v $PWD:/src someone/helper:latest
docker run -v /etc/localtime:/etc/localtime:ro nginx
