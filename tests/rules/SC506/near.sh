npx some-tool@1.2.3
