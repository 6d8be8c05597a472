git push --force-with-lease origin feature
