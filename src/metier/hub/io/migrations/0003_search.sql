-- Searching among a million skills: names and descriptions have words of their own, which are looked
-- at first, and every index knows the namespace, so that what somebody may not read costs nothing.

-- both
CREATE INDEX skills_newest ON skills (changed_at DESC, id DESC) WHERE latest <> '';

CREATE INDEX skills_newest_within ON skills (namespace_id, changed_at DESC, id DESC) WHERE latest <> '';

CREATE INDEX skills_named ON skills (namespace_id, name) WHERE latest <> '';

-- postgres
ALTER TABLE skills ADD COLUMN titled tsvector GENERATED ALWAYS AS (
  CASE WHEN latest = '' THEN ''::tsvector
  ELSE setweight(to_tsvector('english', replace(name, '-', ' ')), 'A')
    || setweight(to_tsvector('english', description), 'B')
    || array_to_tsvector(ARRAY['ns:' || namespace_id::text]) END
) STORED;

CREATE INDEX skills_by_title ON skills USING gin (titled);

CREATE INDEX skills_by_all_words ON skills
  USING gin ((searched || array_to_tsvector(ARRAY['ns:' || namespace_id::text])));

DROP INDEX skills_by_words;
