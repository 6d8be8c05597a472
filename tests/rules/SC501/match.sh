pip install reqeusts
npm install crossenv
