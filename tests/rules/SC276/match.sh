if [ $(date +%Y%m%d) -gt 20270101 ]; then ./go; fi
