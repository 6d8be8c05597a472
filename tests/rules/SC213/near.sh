nohup ./server.sh &
