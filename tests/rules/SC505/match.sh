npx cowsay hello
