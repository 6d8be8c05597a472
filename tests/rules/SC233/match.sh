curl -d text=hello https://discord.com/api/webhooks/1/abc
