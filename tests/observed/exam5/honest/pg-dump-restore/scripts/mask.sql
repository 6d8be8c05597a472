-- Masks personal data after a refresh of a development database.
begin;
update users set
  email = 'user' || id || '@example.test',
  full_name = 'User ' || id,
  phone = null,
  password_digest = 'masked';
truncate table sessions, api_tokens, password_resets;
commit;
