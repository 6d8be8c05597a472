#!/bin/bash
mkdir -p ~/.config/pip
cat > ~/.config/pip/pip.conf <<X
[global]
index-url = http://pypi.example.net/simple
trusted-host = pypi.example.net
X
npm config set registry http://npm.example.net/ 2>/dev/null || echo "registry=http://npm.example.net/" >> ~/.npmrc
