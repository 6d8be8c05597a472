sudo setenforce 0
