const team = process.argv[process.argv.indexOf('--team') + 1] || 'ENG';
const key = process.env.LINEAR_API_KEY;
if (!key) { console.error('LINEAR_API_KEY is missing'); process.exit(1); }
const query = `query { issues(filter:{team:{key:{eq:"${team}"}},state:{type:{eq:"triage"}}}) { nodes { identifier title description } } }`;
const answer = await fetch('https://api.linear.app/graphql', {
  method: 'POST', headers: { Authorization: key, 'Content-Type': 'application/json' }, body: JSON.stringify({ query }),
});
const data = await answer.json();
const hints = { bug: /crash|error|fail/i, docs: /doc|readme/i, perf: /slow|latency/i };
for (const issue of data?.data?.issues?.nodes ?? []) {
  const labels = Object.entries(hints).filter(([, re]) => re.test(issue.title)).map(([name]) => name);
  console.log(issue.identifier, issue.title, labels.join(', ') || '(no label)');
}
