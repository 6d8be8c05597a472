npx -y some-tool@latest
