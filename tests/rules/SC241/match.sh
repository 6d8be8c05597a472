cp agent.plist ~/Library/LaunchAgents/net.example.agent.plist
