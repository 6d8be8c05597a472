go install example.net/tool@v1.2.3
