-- Logins that are under way at the provider, and what sending of webhooks by several processes needs.

CREATE TABLE logins (
  state TEXT PRIMARY KEY,
  nonce TEXT NOT NULL,
  verifier TEXT NOT NULL DEFAULT '',
  redirect TEXT NOT NULL,
  browser TEXT NOT NULL DEFAULT '',
  back TEXT NOT NULL DEFAULT '',
  expires_at BIGINT NOT NULL
);

ALTER TABLE deliveries ADD COLUMN leased_until BIGINT NOT NULL DEFAULT 0;

ALTER TABLE deliveries ADD COLUMN given_up_at BIGINT NOT NULL DEFAULT 0;

CREATE INDEX deliveries_by_hook ON deliveries (webhook_id, id);
