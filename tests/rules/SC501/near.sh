pip install requests httpx
npm install preact cross-env
