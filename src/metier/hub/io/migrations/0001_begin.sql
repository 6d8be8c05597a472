-- The hub's first schema. A line `-- sqlite`, `-- postgres` or `-- both` says for whom the rest is.
-- Times are seconds since 1970. What is a list or a table inside one value is JSON.

CREATE TABLE hub_facts (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
);

CREATE TABLE organisations (
  id {{id}},
  name TEXT NOT NULL UNIQUE,
  created_at BIGINT NOT NULL
);

CREATE TABLE namespaces (
  id {{id}},
  organisation_id BIGINT NOT NULL REFERENCES organisations (id),
  name TEXT NOT NULL UNIQUE,
  visibility TEXT NOT NULL DEFAULT 'private',
  state TEXT NOT NULL DEFAULT 'active',
  policy TEXT NOT NULL DEFAULT '{}',
  quota_bytes BIGINT NOT NULL DEFAULT 0,
  used_bytes BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);

CREATE TABLE people (
  id {{id}},
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL,
  name TEXT NOT NULL DEFAULT '',
  groups TEXT NOT NULL DEFAULT '[]',
  created_at BIGINT NOT NULL,
  seen_at BIGINT NOT NULL,
  UNIQUE (issuer, subject)
);

CREATE TABLE tokens (
  id {{id}},
  name TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE,
  role TEXT NOT NULL,
  namespace_id BIGINT REFERENCES namespaces (id),
  person_id BIGINT REFERENCES people (id),
  created_by TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT,
  used_at BIGINT
);

CREATE TABLE grants (
  id {{id}},
  kind TEXT NOT NULL,
  who TEXT NOT NULL,
  role TEXT NOT NULL,
  namespace_id BIGINT NOT NULL DEFAULT 0,
  organisation_id BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  UNIQUE (kind, who, role, namespace_id, organisation_id)
);

CREATE TABLE visits (
  hash TEXT PRIMARY KEY,
  token_id BIGINT REFERENCES tokens (id),
  person_id BIGINT REFERENCES people (id),
  secret TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT NOT NULL
);

CREATE TABLE skills (
  id {{id}},
  namespace_id BIGINT NOT NULL REFERENCES namespaces (id),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  description TEXT NOT NULL DEFAULT '',
  category TEXT NOT NULL DEFAULT '',
  latest TEXT NOT NULL DEFAULT '',
  level TEXT NOT NULL DEFAULT '',
  deprecated TEXT NOT NULL DEFAULT '',
  installs BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  changed_at BIGINT NOT NULL,
  UNIQUE (namespace_id, folded)
);

CREATE INDEX skills_by_name ON skills (folded);

CREATE INDEX skills_by_change ON skills (namespace_id, changed_at);

CREATE TABLE releases (
  id {{id}},
  skill_id BIGINT NOT NULL REFERENCES skills (id),
  version TEXT NOT NULL,
  sort_key TEXT NOT NULL,
  digest TEXT NOT NULL,
  archive TEXT NOT NULL,
  size BIGINT NOT NULL,
  state TEXT NOT NULL,
  level TEXT NOT NULL,
  score BIGINT NOT NULL,
  ruleset TEXT NOT NULL,
  findings TEXT NOT NULL,
  files TEXT NOT NULL,
  description TEXT NOT NULL,
  category TEXT NOT NULL DEFAULT '',
  body TEXT NOT NULL DEFAULT '',
  publisher TEXT NOT NULL,
  publisher_ident TEXT NOT NULL,
  provenance TEXT NOT NULL DEFAULT '{}',
  signature TEXT NOT NULL DEFAULT '',
  vouch TEXT NOT NULL DEFAULT '',
  reason TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL,
  decided_at BIGINT NOT NULL DEFAULT 0,
  UNIQUE (skill_id, version)
);

CREATE INDEX releases_by_state ON releases (state, created_at);

CREATE INDEX releases_by_archive ON releases (archive);

CREATE TABLE votes (
  id {{id}},
  release_id BIGINT NOT NULL REFERENCES releases (id),
  who TEXT NOT NULL,
  name TEXT NOT NULL,
  vote TEXT NOT NULL,
  reason TEXT NOT NULL DEFAULT '',
  at BIGINT NOT NULL,
  UNIQUE (release_id, who)
);

CREATE TABLE approvals (
  namespace_id BIGINT NOT NULL REFERENCES namespaces (id),
  number BIGINT NOT NULL,
  release_id BIGINT NOT NULL REFERENCES releases (id),
  entry TEXT NOT NULL,
  previous TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (namespace_id, number)
);

CREATE INDEX approvals_by_release ON approvals (release_id);

CREATE TABLE audit_events (
  id {{id}},
  at BIGINT NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  about TEXT NOT NULL DEFAULT '',
  namespace_id BIGINT NOT NULL DEFAULT 0,
  detail TEXT NOT NULL DEFAULT '{}',
  previous TEXT NOT NULL,
  hash TEXT NOT NULL
);

CREATE TABLE blobs (
  sha256 TEXT PRIMARY KEY,
  size BIGINT NOT NULL,
  who TEXT NOT NULL,
  created_at BIGINT NOT NULL
);

CREATE TABLE uploads (
  id TEXT PRIMARY KEY,
  who TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  size BIGINT NOT NULL,
  received BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL
);

CREATE TABLE answers (
  who TEXT NOT NULL,
  key TEXT NOT NULL,
  asked TEXT NOT NULL,
  status BIGINT NOT NULL,
  body TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (who, key)
);

CREATE TABLE webhooks (
  id {{id}},
  namespace_id BIGINT NOT NULL REFERENCES namespaces (id),
  url TEXT NOT NULL,
  secret TEXT NOT NULL,
  events TEXT NOT NULL DEFAULT '[]',
  created_by TEXT NOT NULL DEFAULT '',
  created_at BIGINT NOT NULL
);

CREATE TABLE deliveries (
  id {{id}},
  webhook_id BIGINT NOT NULL REFERENCES webhooks (id),
  event TEXT NOT NULL,
  tries BIGINT NOT NULL DEFAULT 0,
  next_at BIGINT NOT NULL,
  done_at BIGINT NOT NULL DEFAULT 0,
  said TEXT NOT NULL DEFAULT ''
);

CREATE INDEX deliveries_by_time ON deliveries (done_at, next_at);

CREATE TABLE installs (
  skill_id BIGINT NOT NULL REFERENCES skills (id),
  day TEXT NOT NULL,
  version TEXT NOT NULL,
  count BIGINT NOT NULL DEFAULT 0,
  PRIMARY KEY (skill_id, day, version)
);

-- sqlite
CREATE VIRTUAL TABLE skill_words USING fts5 (name, description, body, tokenize='porter unicode61');

-- postgres
ALTER TABLE skills ADD COLUMN searched tsvector NOT NULL DEFAULT '';

CREATE INDEX skills_by_words ON skills USING gin (searched);

-- both
INSERT INTO hub_facts (name, value) VALUES ('oldest_reader', '1');
