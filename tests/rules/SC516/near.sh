node fetch.js https://example.net/page
