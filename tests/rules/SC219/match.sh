curl -d "done=1" https://webhook.site/0f0f0f0f
