id deploy
