env NODE_ENV=test npm test
printenv HOME
