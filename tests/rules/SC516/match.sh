deno run -A https://files.example.net/main.ts
