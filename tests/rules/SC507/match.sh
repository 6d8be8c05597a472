go install example.net/tool@latest
