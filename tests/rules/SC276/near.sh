if [ $(date +%s) -gt "$expires" ]; then renew; fi
