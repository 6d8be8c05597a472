curl -d text=hello https://discord.com/api/v10/channels/1/messages
