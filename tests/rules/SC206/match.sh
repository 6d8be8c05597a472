echo ZWNobyBoZWxsbwo= | base64 -d | sh
