sudo apt-get update
